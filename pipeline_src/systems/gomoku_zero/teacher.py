"""The teacher's games: a player without a net plays the first generation against itself."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import gomoku, kernels
from pipeline_src.players.player import Player, Position
from pipeline_src.players.registry import make_player
from pipeline_src.systems.gomoku_zero.params import GomokuTeacher

NEAR = 2
"""A slip is a stone at most so many rows and columns from another one."""


def make_teacher(teacher: GomokuTeacher) -> Player:
    """Return the player that a section names.

    Raises:
        ZugwerkError: no such player, or its moves depend on the speed of the machine.
    """
    player = make_player("gomoku", teacher.player)
    if player.limit is not None and player.limit.movetime_ms is not None:
        raise ZugwerkError(
            f"teacher.player: {teacher.player!r} is limited by time, and its games would differ from run to run; "
            "limit it by nodes or depth"
        )
    return player


def play_taught(start: Any, teacher: GomokuTeacher, games: Sequence[Any]) -> None:
    """Let the teacher play games against itself to their ends; each depends on its own generator only.

    The policy of each searched ply is the teacher's move, also where a slip is played instead of it.

    Args:
        start: the position from which the games began.
        teacher: the section.
        games: `self_play.SelfPlayGame`, with the random stones of their openings.

    Raises:
        ZugwerkError: see `make_teacher`.
    """
    player = make_teacher(teacher)
    game: Any = gomoku
    for one in games:
        player.new_game()
        while not kernels.outcome(one.state)[0]:
            (action,) = player.choose([Position(one.state, one.rng, start, tuple(one.actions))])
            policy = np.zeros(one.state.board.size, np.float32)
            policy[action] = 1
            one.policies.append(policy)
            if len(one.actions) < teacher.slip_plies and one.rng.random() < teacher.slips:
                action = _slip(one)
            one.actions.append(action)
            one.state = game.play(one.state, action)


def _slip(one: Any) -> int:
    """Return a random legal cell near a stone; on an empty board any."""
    legal = gomoku.legal_actions(one.state)
    height, width = one.state.board.shape
    near = np.zeros((height, width), bool)
    for row, column in np.argwhere(one.state.board):
        near[max(0, row - NEAR) : row + NEAR + 1, max(0, column - NEAR) : column + NEAR + 1] = True
    close = legal[near.ravel()[legal]]
    return int(one.rng.choice(close if len(close) else legal))

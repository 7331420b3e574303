"""The teacher's games: a player without a net plays the first generation against itself."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pipeline_src.arena.balance import central_cells
from pipeline_src.errors import ZugwerkError
from pipeline_src.games import gomoku, kernels
from pipeline_src.players.player import Player, Position
from pipeline_src.players.registry import make_player
from pipeline_src.systems.gomoku_zero.params import GomokuTeacher
from pipeline_src.systems.gomoku_zero.self_play import SelfPlayGame, begin

NEAR = 2
"""A slip is a stone at most so many rows and columns from another one."""


def make_teacher(teacher: GomokuTeacher) -> Player:
    """The player that a section names.

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


def play_taught(
    start: Any, teacher: GomokuTeacher, opening_plies: int, seeds: Sequence[Sequence[int]]
) -> list[SelfPlayGame]:
    """Play a game of the teacher against itself for each seed; it depends on its own seed only.

    At each searched ply the policy is the teacher's move, also where a slip is played instead of it.

    Args:
        start: an unfinished position.
        teacher: the section.
        opening_plies: largest number of random stones before the teacher takes over.
        seeds: of each game.

    Raises:
        ZugwerkError: see `make_teacher`; or the board is smaller than the square of the openings.
    """
    player = make_teacher(teacher)
    game: Any = gomoku
    cells = central_cells(start.board.shape[0], teacher.area)
    games = []
    for seed in seeds:
        one = begin(game, start, seed, opening_plies, cells)
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
        games.append(one)
    return games


def _slip(one: SelfPlayGame) -> int:
    """A random legal cell near a stone; on an empty board any."""
    legal = gomoku.legal_actions(one.state)
    height, width = one.state.board.shape
    near = np.zeros((height, width), bool)
    for row, column in np.argwhere(one.state.board):
        near[max(0, row - NEAR) : row + NEAR + 1, max(0, column - NEAR) : column + NEAR + 1] = True
    close = legal[near.ravel()[legal]]
    return int(one.rng.choice(close if len(close) else legal))

"""Games of players that choose their search depth, on a clock: `play_on_clock`, and what was chosen in them.

The clock is one of nodes, where ``nodes_per_ms`` is above 0, so that no machine decides a game; else of wall time. A
side is charged for all it does: the search, the search that fills a net's input, the forward pass. Whose clock falls
below 0 has lost on time. Every other game is played to its end, so none is adjudicated and none is drawn.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Literal

import numpy as np

from pipeline_src.games import amazons
from pipeline_src.games.amazons.board import COLOUR, EMPTY, AmazonsState
from pipeline_src.players.clocks import GameClock
from pipeline_src.players.player import Position
from pipeline_src.systems.search_depth.player import DepthPlayer


@dataclass(frozen=True, slots=True)
class ClockedMove:
    """A move for which there was a search."""

    ply: int
    side: int
    used: float
    """Share of the side's clock that was gone before it."""
    asked: int
    """Depth that was chosen; 0 where nothing chose."""
    reached: int
    """Depth that was completed."""
    nodes: int
    """That the engine searched."""
    choosing: int
    """Node equivalents that the choice was charged."""


@dataclass(frozen=True, slots=True)
class ClockedGame:
    """One finished game."""

    actions: tuple[int, ...]
    winner: Literal["first", "second"]
    time_out: bool
    """Whether it was lost on time."""
    margin: int
    """Squares left to the winner at the end: those empty ones that its amazons could still walk to; 0 on time-out."""
    moves: tuple[ClockedMove, ...]

    def nodes_of(self, side: int) -> int:
        """All that a side was charged, in nodes."""
        return sum(move.nodes + move.choosing for move in self.moves if move.side == side)


def play_on_clock(
    players: tuple[DepthPlayer, DepthPlayer],
    opening: Sequence[int],
    rng: np.random.Generator,
    clock_ms: float,
    nodes_per_ms: float,
    start: AmazonsState | None = None,
) -> ClockedGame:
    """Play one game of the Amazons to its end.

    Args:
        players: who moves first and who second.
        opening: what is played before they come in.
        rng: both draw from it.
        clock_ms: of each side.
        nodes_per_ms: what turns nodes into milliseconds; 0 charges wall time.
        start: the position before the opening; None is the standard one.
    """
    start = amazons.initial_state() if start is None else start
    state = reduce(amazons.play, opening, start)
    actions, moves = list(opening), list[ClockedMove]()
    clock = GameClock([clock_ms, clock_ms])
    while (winner := amazons.winner(state)) is None:
        side = amazons.to_play(state)
        used = 1 - clock.left_ms[side] / clock_ms
        begin = time.perf_counter()
        thought = players[side].consider(Position(state, rng, start, tuple(actions), clock.seen_by(side)))
        if thought.searched:
            choice = thought.choice
            depth, choosing = (choice.depth, choice.nodes) if choice else (0, 0)
            moves.append(
                ClockedMove(len(actions), side, used, depth, thought.result.depth, thought.result.nodes, choosing)
            )
        spent = thought.nodes / nodes_per_ms if nodes_per_ms else (time.perf_counter() - begin) * 1e3
        if not clock.spend(side, spent):
            return ClockedGame(tuple(actions), ("second", "first")[side], True, 0, tuple(moves))
        actions.append(thought.result.action)
        state = amazons.play(state, actions[-1])
    margin = squares_left(state, ("first", "second").index(winner))
    return ClockedGame(tuple(actions), winner, False, margin, tuple(moves))


def squares_left(state: Any, side: int) -> int:
    """Empty squares that amazons of ``side`` could walk to by king's steps, the other side's standing still.

    What is left of the board to a winner whose opponent cannot move; a pocket that its own arrows would spoil counts
    whole, so its moves may be fewer.
    """
    board = np.pad(state.board, 1, constant_values=-1)
    reached = board == COLOUR[side]
    own = int(reached.sum())
    while True:
        near = reached.copy()
        for axis in (0, 1):
            near |= np.roll(near, 1, axis) | np.roll(near, -1, axis)
        grown = reached | (near & (board == EMPTY))
        if int(grown.sum()) == int(reached.sum()):
            return int(reached.sum()) - own
        reached = grown

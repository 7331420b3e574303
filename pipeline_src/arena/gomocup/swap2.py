"""Openings whose colours are chosen, by our own search: swap2, and swap1, which has no third choice.

By *swap2* the first player places three stones, Black, White, Black. The second one swaps, that is takes Black; or
stays, takes White and plays; or places a white and a black stone and leaves the choice to the first player, who then
swaps or stays. White is to move wherever there is a choice: who stays is the side to move.
"""

import time
from collections.abc import Sequence

import numpy as np

from pipeline_src.arena.balance import balanced_openings, central_cells
from pipeline_src.errors import ZugwerkError
from pipeline_src.games import gomoku
from pipeline_src.games.gomoku.board import GomokuState
from pipeline_src.search.gomoku.engine import Engine, Options
from pipeline_src.search.limits import Limit

JUDGE, BOUND = "engine:nodes=10000,threats=10000,table_mb=4", 100.0
"""Who says that neither side is ahead, and by how much at most; 400 points are a factor of e in the odds."""
SIDE = 7
"""Of the square in the middle from which the stones are drawn."""
EVEN = 40.0
"""Where the search sees no more than that, two stones are placed: it cannot tell the better side."""
NODES, PAIR_NODES, PAIRS = 60_000, 10_000, 30
"""Positions that a choice looks at where no time is set, and each pair of stones; how many pairs are tried."""


def first_stones(empty: GomokuState, rng: np.random.Generator) -> tuple[int, ...]:
    """Three actions, a black stone, a white and a black one, that leave both sides a chance.

    Raises:
        ZugwerkError: a board that is not square, or so small that all stones decide the game.
    """
    height, width = empty.board.shape
    if height != width:
        raise ZugwerkError("SWAP2BOARD: only on square boards")
    seed, among = [int(rng.integers(1 << 31))], central_cells(width, min(SIDE, width))
    return balanced_openings("gomoku", empty, 1, 3, seed, JUDGE, BOUND, among)[0]


def choose(
    state: GomokuState, rng: np.random.Generator, seconds: float | None = None, may_place: bool = True
) -> str | tuple[int, int]:
    """``swap``, ``stay``, or the white and the black stone to be placed.

    Args:
        state: with White to move.
        rng: draws the stones that are looked at.
        seconds: for the choice; None is `NODES` positions.
        may_place: whether stones may be placed: after three of them by swap2.
    """
    begun, engine = time.perf_counter(), Engine(Options(table_mb=4, threats=PAIR_NODES))
    limit = Limit(nodes=NODES) if seconds is None else Limit(movetime_ms=500 * seconds)
    value = _value(engine, state, limit)
    if may_place and abs(value) <= EVEN:
        pair = _even_pair(engine, state, rng, None if seconds is None else begun + seconds)
        if pair is not None:
            return pair
    return "swap" if value < 0 else "stay"


def _even_pair(
    engine: Engine, state: GomokuState, rng: np.random.Generator, deadline: float | None
) -> tuple[int, int] | None:
    """A white and a black stone after which the search calls the position most level; None where it sees no such."""
    best, least = None, EVEN
    for _ in range(PAIRS):
        if deadline is not None and time.perf_counter() > deadline:
            break
        after, drawn = state, list[int]()
        for _ in range(2):
            if (cell := _near_middle(after, rng)) is None:
                return best
            after = gomoku.play(after, cell)
            drawn.append(cell)
        if gomoku.winner(after) is not None:
            continue
        value = abs(_value(engine, after, Limit(nodes=PAIR_NODES)))
        if value < least:
            best, least = (drawn[0], drawn[1]), value
    return best


def _value(engine: Engine, state: GomokuState, limit: Limit) -> float:
    """Mean of the values of the two deepest iterations: who moves last in a search looks better than they are."""
    values: dict[int, float] = {}
    engine.search(state, limit, on_info=lambda found: values.update({found.depth: found.value}))
    last = list(values.values())[-2:]
    return sum(last) / len(last)


def _near_middle(state: GomokuState, rng: np.random.Generator) -> int | None:
    height, width = state.board.shape
    legal: Sequence[int] = [
        int(action)
        for action in gomoku.legal_actions(state)
        if abs(action // width - height // 2) <= SIDE // 2 and abs(action % width - width // 2) <= SIDE // 2
    ]
    return int(rng.choice(legal)) if legal else None

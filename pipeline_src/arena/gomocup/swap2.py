"""Openings whose colours are chosen, by our own search: swap2, and swap1, which has no third choice.

By *swap2* the first player places three stones, Black, White, Black. The second one swaps, that is takes Black; or
stays, takes White and plays; or places a white and a black stone and leaves the choice to the first player, who then
swaps or stays. White is to move wherever there is a choice: who stays is the side to move. Values are in points of
`search.gomoku.engine`, 400 of which are a factor of e in the odds.
"""

import time

import numpy as np

from pipeline_src.games import gomoku
from pipeline_src.games.gomoku.board import GomokuState
from pipeline_src.search.gomoku.engine import Engine, Options
from pipeline_src.search.limits import Limit

SIDE = 9
"""Of the square in the middle from which stones are drawn."""
EVEN = 40.0
"""Where the search sees no more than that, two stones are placed: it cannot tell the better side."""
LEVEL = 15.0
"""No more level stones are looked for."""
NODES, DRAWN_NODES, DRAWS = 100_000, 20_000, 40
"""Positions that a choice looks at where no time is set, and each draw of stones; how many draws there are."""


def first_stones(empty: GomokuState, rng: np.random.Generator, seconds: float | None = None) -> tuple[int, ...]:
    """Three actions, a black stone, a white and a black one, after which the search calls the position most level.

    Args:
        empty: the board.
        rng: draws the stones that are looked at.
        seconds: for looking at them; None is `DRAWS` draws.
    """
    return _most_level(_engine(), empty, 3, rng, _deadline(seconds))[0]


def choose(
    state: GomokuState, rng: np.random.Generator, seconds: float | None = None, may_place: bool = True
) -> str | tuple[int, ...]:
    """``swap``, ``stay``, or the white and the black stone to be placed.

    Args:
        state: with White to move.
        rng: draws the stones that are looked at.
        seconds: for the choice; None is `NODES` positions, and `DRAWS` draws.
        may_place: whether stones may be placed: after three of them by swap2.
    """
    engine, deadline = _engine(), _deadline(seconds)
    value = _value(engine, state, Limit(nodes=NODES) if seconds is None else Limit(movetime_ms=500 * seconds))
    if may_place and abs(value) <= EVEN:
        stones, left = _most_level(engine, state, 2, rng, deadline)
        if left <= EVEN:
            return stones
    return "swap" if value < 0 else "stay"


def _engine() -> Engine:
    return Engine(Options(table_mb=4, threats=DRAWN_NODES))


def _deadline(seconds: float | None) -> float:
    return float("inf") if seconds is None else time.perf_counter() + seconds


def _most_level(
    engine: Engine, state: GomokuState, plies: int, rng: np.random.Generator, deadline: float
) -> tuple[tuple[int, ...], float]:
    """Of random stones near the middle those after which neither side is ahead, and by how much one is."""
    best: tuple[int, ...] = ()
    least = np.inf
    for _ in range(DRAWS):
        after, drawn = state, list[int]()
        while len(drawn) < plies and gomoku.winner(after) is None:
            drawn.append(int(rng.choice(_near_middle(after))))
            after = gomoku.play(after, drawn[-1])
        if gomoku.winner(after) is None:
            value = abs(_value(engine, after, Limit(nodes=DRAWN_NODES)))
            if value < least:
                best, least = tuple(drawn), value
        if best and (least <= LEVEL or time.perf_counter() > deadline):
            break
    return best, float(least)


def _value(engine: Engine, state: GomokuState, limit: Limit) -> float:
    """Mean of the values of the two deepest iterations: who moves last in a search looks better than they are."""
    values: dict[int, float] = {}
    engine.search(state, limit, on_info=lambda found: values.update({found.depth: found.value}))
    last = list(values.values())[-2:]
    return sum(last) / len(last)


def _near_middle(state: GomokuState) -> list[int]:
    """Legal actions within the square in the middle; all where there is none."""
    height, width = state.board.shape
    legal = [int(action) for action in gomoku.legal_actions(state)]
    rows, columns = (abs(np.array(legal) // width - height // 2), abs(np.array(legal) % width - width // 2))
    return [action for action, off in zip(legal, np.maximum(rows, columns), strict=True) if off <= SIDE // 2] or legal

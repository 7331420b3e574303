"""The openings swap2 and swap1, in which the players choose colours. Our own search makes the choices.

In *swap2* the first player places three stones: Black, White, Black. The second player swaps (takes Black), or stays
(takes White and plays), or places a white and a black stone and leaves the choice to the first player, who then swaps
or stays. *Swap1* has no third option. White is to move at every choice, so the player who stays is the side to move.
Values are in points of `search.gomoku.engine`; 400 points are a factor of e in the odds.
"""

import time

import numpy as np

from pipeline_src.games import gomoku
from pipeline_src.games.gomoku.board import GomokuState
from pipeline_src.jit import Need
from pipeline_src.search.gomoku.engine import Engine, Options
from pipeline_src.search.limits import Limit

SIDE = 9
"""Side of the central square from which stones are drawn."""
EVEN = 40.0
"""Up to this absolute value, two stones are placed, because the search does not prefer a side clearly."""
LEVEL = 15.0
"""An absolute value of at most this ends the search for balanced stones."""
NODES, DRAWN_NODES, DRAWS = 100_000, 20_000, 40
"""Without a time limit: positions searched for a choice, positions searched for each draw of stones, and draws."""


def first_stones(
    state: GomokuState, rng: np.random.Generator, seconds: float | None = None, count: int = 3
) -> tuple[int, ...]:
    """Return actions, black and white in turn, after which the search sees the smallest advantage.

    Args:
        state: the empty board, or one on which some stones of the opening stand.
        rng: generator for the draws.
        seconds: time for all draws; None is `DRAWS` draws.
        count: number of stones.
    """
    return _most_level(_engine(), state, count, rng, _deadline(seconds))[0]


def choose(
    state: GomokuState, rng: np.random.Generator, seconds: float | None = None, may_place: bool = True
) -> str | tuple[int, ...]:
    """Return ``swap``, ``stay``, or the white and the black stone to place.

    Args:
        state: the position, with White to move.
        rng: generator for the draws.
        seconds: time for the choice; None is `NODES` positions and `DRAWS` draws.
        may_place: whether placing two stones is allowed, as after three stones in swap2.
    """
    engine, deadline = _engine(), _deadline(seconds)
    value = _value(engine, state, Limit(nodes=NODES) if seconds is None else Limit(movetime_ms=500 * seconds))
    if may_place and abs(value) <= EVEN:
        stones, left = _most_level(engine, state, 2, rng, deadline)
        if left <= EVEN:
            return stones
    return "swap" if value < 0 else "stay"


def needs(state: GomokuState) -> list[Need]:
    """Kernels of the choices."""
    return _engine().needs(state)


def _engine() -> Engine:
    return Engine(Options(table_mb=4, threats=DRAWN_NODES))


def _deadline(seconds: float | None) -> float:
    return float("inf") if seconds is None else time.perf_counter() + seconds


def _most_level(
    engine: Engine, state: GomokuState, plies: int, rng: np.random.Generator, deadline: float
) -> tuple[tuple[int, ...], float]:
    """Return the most balanced of random stones near the middle, and the absolute value after them."""
    best: tuple[int, ...] = ()
    least = np.inf
    for _ in range(DRAWS):
        after, drawn = state, list[int]()
        while len(drawn) < plies and gomoku.winner(after) is None:
            drawn.append(int(rng.choice(_near_middle(after))))
            after = gomoku.play(after, drawn[-1])
        if gomoku.winner(after) is None:
            rest = None if deadline == np.inf else max(1.0, (deadline - time.perf_counter()) * 1000)
            value = abs(_value(engine, after, Limit(nodes=DRAWN_NODES, movetime_ms=rest)))
            if value < least:
                best, least = tuple(drawn), value
        if best and (least <= LEVEL or time.perf_counter() > deadline):
            break
    return best, float(least)


def _value(engine: Engine, state: GomokuState, limit: Limit) -> float:
    """Return the mean value of the two deepest iterations, since the side that moves last in a search looks better."""
    values: dict[int, float] = {}
    engine.search(state, limit, on_info=lambda found: values.update({found.depth: found.value}))
    last = list(values.values())[-2:]
    return sum(last) / len(last)


def _near_middle(state: GomokuState) -> list[int]:
    """Return the legal actions within the central square, or all legal actions if it has none."""
    height, width = state.board.shape
    legal = [int(action) for action in gomoku.legal_actions(state)]
    rows, columns = (abs(np.array(legal) // width - height // 2), abs(np.array(legal) % width - width // 2))
    return [action for action, off in zip(legal, np.maximum(rows, columns), strict=True) if off <= SIDE // 2] or legal

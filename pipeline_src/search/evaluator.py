"""The interface of an evaluation inside compiled code. Functions dispatch on the type of the state (`games.kernels`).

An evaluator is a NamedTuple of arrays, its weights and its scratch space; each thread needs its own. Values are those
of the side to move, in the evaluation's own unit (squares, in the Amazons). The end of a game is worth `WIN` or `-WIN`.
"""

from functools import singledispatch
from typing import Any

import numpy as np
import numpy.typing as npt

WIN = 10_000.0  # Value of a won position. Evaluations of unfinished positions are far smaller.
COUNTED = WIN - 1000  # Base of the values of `settle`, to which it adds the margin


@singledispatch
def evaluate(state: Any, evaluator: Any) -> float:
    """Return the static value of an unfinished position to the side to move.

    ``evaluate(state, make_evaluator())``, with ``make_evaluator`` of the game's evaluation, such as
    `search.amazons.evaluation`.

    Raises:
        TypeError: the state's game has no evaluation, or its evaluation is not imported.
    """
    raise TypeError(f"no evaluation of states of type {type(state).__name__}, or it is not imported")


@singledispatch
def rank(
    state: Any,
    evaluator: Any,
    actions: npt.NDArray[np.int32],
    values: npt.NDArray[np.float32],
    stop_at: float,
) -> int:
    """Write the legal actions and their one-ply values to the side to move; return their number.

    The one-ply value is the negative of the value of the position after the action; it is exactly `WIN` if the action
    wins, ``-WIN`` if it loses and 0 if it draws. After a value of at least ``stop_at``, the rest may be left out.
    ``actions`` and ``values`` have room for `games.kernels.max_actions` entries. Nothing is written if the game is
    over.
    """
    raise TypeError(f"no evaluation of states of type {type(state).__name__}, or it is not imported")


@singledispatch
def shortlist(
    state: Any,
    evaluator: Any,
    breadth: int,
    actions: npt.NDArray[np.int32],
    values: npt.NDArray[np.float32],
    stop_at: float,
) -> tuple[int, int]:
    """Rank likely actions only; return (their number, positions evaluated to find the likely ones).

    The second number is 0 if no action was left out. ``breadth`` limits the likely moves; 0 is all. Each game defines
    what it counts: in the Amazons it is (from, to), each with all its arrows.
    """
    raise TypeError(f"no evaluation of states of type {type(state).__name__}, or it is not imported")


@singledispatch
def settle(state: Any, evaluator: Any) -> tuple[bool, float]:
    """Return (whether counting decides the game, the exact value if so).

    It is cheap enough for every inner node of a search. The value of a winning side is `COUNTED` plus the margin in the
    evaluation's unit, and that of a losing side the negative: below any win on the board, above any evaluation.
    """
    raise TypeError(f"no evaluation of states of type {type(state).__name__}, or it is not imported")

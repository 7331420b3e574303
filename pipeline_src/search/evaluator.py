"""What a search asks of an evaluation inside compiled code, picked by the type of the state (`games.kernels`).

An evaluator is a NamedTuple of arrays, its weights and its scratch space; a thread needs one of its own. Values are
seen from the side to move, in the evaluation's own unit (squares, in the Amazons); a game's end is worth `WIN` or its
negative.
"""

from functools import singledispatch
from typing import Any

import numpy as np
import numpy.typing as npt

WIN = 10_000.0
"""Value of a won position. No evaluation of an unfinished one comes near it."""
COUNTED = WIN - 1000
"""What `settle` adds the margin to."""


@singledispatch
def evaluate(state: Any, evaluator: Any) -> float:
    """Value of an unfinished position without searching it."""
    raise TypeError(f"no evaluation of states of type {type(state).__name__}, or it is not imported")


@singledispatch
def rank(
    state: Any,
    evaluator: Any,
    actions: npt.NDArray[np.int32],
    values: npt.NDArray[np.float32],
    stop_at: float,
) -> int:
    """Write the legal actions and what each is worth to the side that plays it, one ply deep; return how many.

    The value is minus the opponent's of the position after the action: exactly `WIN` where it wins, ``-WIN`` where it
    loses, 0 where it draws. Once a value of at least ``stop_at`` is written, the rest may be left out. ``actions`` and
    ``values`` have room for `games.kernels.max_actions` entries. None are written where the game is over.
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
    """(as `rank`, but of those actions alone that a first look finds likely; positions evaluated for the first look).

    The latter is 0 where none was left out. What ``breadth`` counts is the game's own affair: in the Amazons
    (from, to), each with all its arrows. 0 is all.
    """
    raise TypeError(f"no evaluation of states of type {type(state).__name__}, or it is not imported")


@singledispatch
def settle(state: Any, evaluator: Any) -> tuple[bool, float]:
    """(whether the game is as good as over and counted to its end, the exact value if so).

    Cheap enough for every inner node of a search. The value is `COUNTED` plus the margin in the evaluation's unit
    for a side that wins, and the negative of that for one that loses: below any win on the board, above any evaluation.
    """
    raise TypeError(f"no evaluation of states of type {type(state).__name__}, or it is not imported")

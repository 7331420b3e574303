"""Conversion of steps to actions, so that a search over steps can answer in whole turns."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pipeline_src.games import kernels
from pipeline_src.jit import njit
from pipeline_src.jit.needs import Need
from pipeline_src.search.mcts.puct_forest import Ints


@njit(cache=True)
def _action_to(state: Any, after: Any, actions: Ints) -> int:
    wanted = kernels.position_hash(after)
    for i in range(kernels.write_actions(state, actions)):
        kernels.play(state, actions[i])
        same = kernels.position_hash(state) == wanted
        kernels.take_back(state, actions[i])
        if same:
            return int(actions[i])
    return -1


def turns_need(state: Any) -> list[Need]:
    """Return the kernels that the functions of this module call."""
    return [
        Need(kernels.outcome, (state,)),
        Need(kernels.to_play, (state,)),
        Need(kernels.play_step, (state, 0)),
        Need(kernels.max_actions, (state,)),
        Need(kernels.copy_into, (state, state)),
        Need(_action_to, (state, state, np.empty(1, np.int32))),
    ]


def copy_of(state: Any) -> Any:
    """A state of any game that shares no array with ``state``."""
    return type(state)(*(array.copy() for array in state))


def has_more(state: Any, step: int) -> bool:
    """Whether the same side steps again after ``step``."""
    after = copy_of(state)
    kernels.play_step(after, step)
    return not kernels.outcome(after)[0] and kernels.to_play(after) == kernels.to_play(state)


def actions_of(state: Any, steps: Sequence[int]) -> tuple[int, ...]:
    """Return the actions of a line of steps from ``state``; steps of an incomplete turn are left out.

    An action is identified by the position that it leads to, so that this works for any numbering of actions.
    """
    found, before, after = [], copy_of(state), copy_of(state)
    buffer = np.empty(int(kernels.max_actions(state)), np.int32)
    for step in steps:
        kernels.play_step(after, step)
        if kernels.outcome(after)[0] or kernels.to_play(after) != kernels.to_play(before):
            found.append(int(_action_to(before, after, buffer)))
            assert found[-1] >= 0, "no action of the game leads where its steps lead"
            kernels.copy_into(after, before)
    return tuple(found)

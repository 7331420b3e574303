"""Look up the moves played in a pattern by its exact key, without a search."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.jit import njit
from pipeline_src.systems.joseki.canonical import WORDS, canonical, move_images
from pipeline_src.systems.joseki.corners import Window
from pipeline_src.systems.joseki.library import Ints, Library
from pipeline_src.systems.joseki.tables import key_slot

Points = npt.NDArray[np.int16]


class Found(NamedTuple):
    """A pattern's state and n moves of one colour there."""

    state: int
    """-1 where the library does not have the pattern."""
    forms: int
    """Set of forms that are its key."""
    transitions: Ints
    """[n]: the library's, by canonical move."""
    points: Points
    """[n, 2]: where each is in the window; both entries alike but in patterns that are symmetric themselves."""


@njit(cache=True, allocates=True)
def _look_up(
    slots: Ints, keys: npt.NDArray[np.uint64], starts: Ints, move: Points, window: Window, colour: int
) -> tuple[int, int, Ints, Points]:
    key = np.empty(WORDS, np.uint64)
    forms = canonical(window, key, np.empty((2, 2, 2), np.uint64))
    state = int(slots[key_slot(slots, keys, key)])
    if state < 0:
        return state, forms, np.empty(0, np.int32), np.empty((0, 2), np.int16)
    first, end = starts[state], starts[state + 1]
    transitions, points = np.empty(end - first, np.int32), np.empty((end - first, 2), np.int16)
    count = 0
    for transition in range(first, end):
        images = move_images(move[transition], colour, forms, points[count])
        if images:
            if images == 1:
                points[count, 1] = points[count, 0]
            transitions[count] = transition
            count += 1
    return state, forms, transitions[:count], points[:count]


def look_up(library: Library, window: Window, colour: int) -> Found:
    """Look up the pattern of a window, int8 [10, 10], and the moves that BLACK or WHITE played there."""
    return Found(*_look_up(library.slots, library.keys, library.starts, library.move, window, colour))

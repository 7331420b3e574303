"""The paper's look-up: a pattern's code names its state, and the next moves are searched for.

Two codes do not tell the move between them. With each transition goes a hint, the layer of the next move: 0 is the
border of the mask, the smallest rectangle around all stones; 1 the border of the mask grown by one step, and so on
outwards; -1 that of the mask shrunk by one, inwards. Each empty point of that layer is tried, until the code of
the pattern with a stone there is that of the next state. Patterns that clash share a state here, and a move that
captures is not found: the code after it is of fewer stones.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.jit import njit
from pipeline_src.systems.joseki.canonical import window_of_key
from pipeline_src.systems.joseki.corners import EMPTY, PASS, POINTS, SIDE, Window
from pipeline_src.systems.joseki.library import Ints, Library
from pipeline_src.systems.joseki.pattern_code import pattern_code

NO_MASK = SIDE
"""Layer of every point where there is no stone, and so no mask: all are tried."""
NOT_FOUND = -1
Codes = npt.NDArray[np.uint64]


class CodeIndex(NamedTuple):
    """A library by code: U codes, V transitions."""

    codes: Codes
    """[U], ascending."""
    starts: Ints
    """[U + 1]: transitions of a code."""
    following: Codes
    """[V]: the next state's code; a pass leads back to the same one."""
    layers: npt.NDArray[np.int8]
    """[V]: hint."""
    counts: Ints
    """[V]: how often it was played."""


@njit(cache=True)
def point_layer(window: Window, point: int) -> int:
    """Layer of a point, NO_MASK in an empty window."""
    top, bottom, left, right = SIDE, -1, SIDE, -1
    for r in range(SIDE):
        for c in range(SIDE):
            if window[r, c]:
                top, bottom, left, right = min(top, r), r, min(left, c), max(right, c)
    if bottom < 0:
        return NO_MASK
    r, c = point // SIDE, point % SIDE
    return max(top - r, r - bottom, left - c, c - right)


@njit(cache=True, allocates=True)
def _codes_and_layers(
    keys: Codes, starts: Ints, move: npt.NDArray[np.int16], codes: Codes, layers: npt.NDArray[np.int8]
) -> None:
    window = np.empty((SIDE, SIDE), np.int8)
    for state in range(len(keys)):
        window_of_key(keys[state], window)
        codes[state] = pattern_code(window)
        for transition in range(starts[state], starts[state + 1]):
            point = move[transition] % (POINTS + 1)
            layers[transition] = 0 if point == PASS else point_layer(window, point)


def code_index(library: Library) -> CodeIndex:
    """The library as the paper's method has it."""
    codes, layers = np.empty(library.states, np.uint64), np.empty(library.transitions, np.int8)
    _codes_and_layers(library.keys, library.starts, library.move, codes, layers)
    of, to = codes[library.origins()], codes[library.to]
    order = np.lexsort((layers, to, of))
    of, to, layers, counts = of[order], to[order], layers[order], library.played[order]
    first = np.ones(len(of), bool)
    first[1:] = (of[1:] != of[:-1]) | (to[1:] != to[:-1]) | (layers[1:] != layers[:-1])
    summed = np.add.reduceat(counts, np.flatnonzero(first)) if len(of) else counts
    names = np.unique(codes)
    starts = np.searchsorted(of[first], np.append(names, 0)).astype(np.int32)
    starts[-1] = int(first.sum())
    return CodeIndex(names, starts, to[first], layers[first], summed.astype(np.int32))


@njit(cache=True, allocates=True)
def _look_up(index: CodeIndex, window: Window, colour: int) -> tuple[int, int, npt.NDArray[np.int16]]:
    code = pattern_code(window)
    at = np.searchsorted(index.codes, code)
    if at == index.codes.size or index.codes[at] != code:
        return -1, -1, np.empty(0, np.int16)
    first, end = index.starts[at], index.starts[at + 1]
    points = np.full(end - first, NOT_FOUND, np.int16)
    for transition in range(first, end):
        if index.following[transition] == code:
            points[transition - first] = PASS
            continue
        for point in range(POINTS):
            r, c = point // SIDE, point % SIDE
            if window[r, c] != EMPTY or point_layer(window, point) != index.layers[transition]:
                continue
            window[r, c] = colour
            after = pattern_code(window)
            window[r, c] = EMPTY
            if after == index.following[transition]:
                points[transition - first] = point
                break
    return first, end, points


def look_up_paper(index: CodeIndex, window: Window, colour: int) -> tuple[range, npt.NDArray[np.int16]]:
    """Transitions of the window's code, and the point of each for a player of ``colour``; NOT_FOUND where none fits."""
    first, end, points = _look_up(index, window, colour)
    return range(first, end), points

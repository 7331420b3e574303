"""Two earlier ways to name a pattern, for comparison: plain Zobrist hashing, and that of Gu et al. (2004).

Neither makes one name of all forms. Plain hashing has another name in each corner, reflection and colouring. Gu et al.
turn the corner, reflect it by the first move off its diagonal and recolour it by the first move, so that one position
reached by two orders of moves can have two names.
"""

import numpy as np
import numpy.typing as npt

from pipeline_src.jit import njit
from pipeline_src.systems.joseki.canonical import RECOLOURED, REFLECTED, form_point
from pipeline_src.systems.joseki.corners import BOARD, CORNERS, PASS, POINTS, SIDE, WHITE, Window, square_of
from pipeline_src.systems.joseki.sequences import Steps

KEYS = np.random.default_rng(2004).integers(0, 1 << 64, (2, BOARD * BOARD), dtype=np.uint64)
"""uint64 [2, 361]: by colour and square."""
Codes = npt.NDArray[np.uint64]


@njit(cache=True)
def zobrist_code(window: Window, corner: int, form: int) -> np.uint64:
    """Zobrist hash (1970) of a form of a window's stones, on their squares of the board in ``corner``."""
    code = np.uint64(0)
    for point in range(POINTS):
        stone = window[point // SIDE, point % SIDE]
        if stone:
            code ^= KEYS[(stone - 1) ^ (form >> 1), square_of(form_point(point, form), corner)]
    return code


@njit(cache=True)
def gu_form(points: npt.NDArray[np.int8], colours: npt.NDArray[np.int8]) -> int:
    """The form that a sequence of moves chooses: the first is black, the first off the diagonal has r < c."""
    form, first = 0, True
    for i in range(points.size):
        if points[i] == PASS:
            continue
        if first and colours[i] == WHITE:
            form |= RECOLOURED
        first = False
        r, c = points[i] // SIDE, points[i] % SIDE
        if r != c:
            return form | REFLECTED if r > c else form
    return form


@njit(cache=True)
def gu_code(window: Window, points: npt.NDArray[np.int8], colours: npt.NDArray[np.int8]) -> np.uint64:
    """Code of the position that a corner's sequence of moves (points, colours [M]) led to."""
    return zobrist_code(window, 0, gu_form(points, colours))


@njit(cache=True, allocates=True)
def earlier_codes(steps: Steps) -> tuple[Codes, Codes]:
    """Zobrist's and Gu's codes after each step, uint64 [E] each; a pass has the code before it."""
    zobrist, gu = np.empty(steps.game.size, np.uint64), np.empty(steps.game.size, np.uint64)
    points, colours = np.empty((CORNERS, BOARD * BOARD), np.int8), np.empty((CORNERS, BOARD * BOARD), np.int8)
    lengths = np.zeros(CORNERS, np.int64)
    for step in range(steps.game.size):
        if step and steps.game[step] != steps.game[step - 1]:
            lengths[:] = 0
        corner = steps.corner[step]
        points[corner, lengths[corner]] = steps.point[step]
        colours[corner, lengths[corner]] = steps.colour[step]
        lengths[corner] += 1
        end = lengths[corner]
        zobrist[step] = zobrist_code(steps.after[step], corner, 0)
        gu[step] = gu_code(steps.after[step], points[corner, :end], colours[corner, :end])
    return zobrist, gu

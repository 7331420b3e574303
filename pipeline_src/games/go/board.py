"""Board and state of Go, the start positions and their text.

Coordinates: point = row * W + column, row 0 is the top one (rank H), column 0 is file a; ``board[row, column]``. An
action is the point of the stone it places, or N = H * W, a pass. Text names file and rank as players do, without the
letter i: on 19x19 point 0 is ``A19``, point 288 ``D4``.

Variants: ``standard`` is the empty board with a komi of 7.5. ``komi-6.5`` sets another komi, in steps of half a point.
``handicap-2:dp,pd`` starts with black stones on these points (in SGF's letters: column, then row from the top) and
White to move; the number has to match the points. ``komi-0.5/handicap-2:dp,pd`` sets both. ``komi-unknown`` is a
record's that does not state its komi; the game is then played with the standard one.
"""

import re
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError

EMPTY, BLACK, WHITE = 0, 1, 2
FIRST, SECOND = 0, 1  # The sides, as `to_play` numbers them: 0 Black, 1 White, whichever side begins
SIDE, PLY, KO, PASSES, KOMI = 0, 1, 2, 3, 4  # Indices of the entries of `turn`
NOWHERE = -1  # Value of the ko point where no point is forbidden
MIN_SIDE, MAX_SIDE = 3, 25
MOVES_KEPT = 1024  # Number of plies of history that a state keeps, a power of two. As many plies can be taken back.
STANDARD_KOMI = 15  # The komi of the standard variant in half points: 7.5 points
UNKNOWN_KOMI = "komi-unknown"
MAX_KOMI = 199
"""Largest komi for either side, in half points: 99.5 points, since 650 is 6.5 in the records of some servers."""
LETTERS = "abcdefghijklmnopqrstuvwxy"  # Letters of columns and rows in SGF. The text of moves uses others (`notation`).

_RANDOM = np.random.default_rng(19)
KEYS = _RANDOM.integers(0, 1 << 64, (2, MAX_SIDE * MAX_SIDE), dtype=np.uint64)
"""uint64 [2, 625]: random numbers of the Zobrist hash (Zobrist, 1970), by colour and point."""
KO_KEYS = _RANDOM.integers(0, 1 << 64, MAX_SIDE * MAX_SIDE, dtype=np.uint64)
"""uint64 [625]: random numbers for the ko point."""
PASS_KEYS = np.array([0, *_RANDOM.integers(1, 1 << 63, 2)], np.uint64)
"""uint64 [3]: random numbers for the passes in a row."""
SIDE_KEY = np.uint64(0x9E3779B97F4A7C15)  # Random number for White to move


class GoState(NamedTuple):
    """A position and the plies that led to it: arrays only, so that numba kernels accept it. Treat it as a value.

    The kernels in `moves` change it in place; the functions in `turns` copy it first.
    """

    board: npt.NDArray[np.int8]  # [H, W]: EMPTY, BLACK or WHITE; row 0 is the top
    moves: npt.NDArray[np.int16]
    """[MOVES_KEPT]: the action of ply p at index p modulo MOVES_KEPT; -1 before that ply is played."""
    undo: npt.NDArray[np.int16]
    """[MOVES_KEPT]: the data to undo that ply: 32 * (ko point before + 1) + 16 * passes before + a bit for each
    direction (`moves.DOWN`, `moves.RIGHT`) in which stones were captured."""
    turn: npt.NDArray[np.int32]
    """[5]: side to move; plies since the start; ko point, which is forbidden to the side to move, or NOWHERE; passes in
    a row; komi in half points."""
    hash: npt.NDArray[np.uint64]
    """[1]: Zobrist hash of the board, the side to move, the ko point and the passes in a row."""


def parse_variant(variant: str) -> tuple[int, list[tuple[int, int]]]:
    """Read a variant's text, see the module's docstring: komi in half points and handicap stones (row, column).

    Raises:
        ZugwerkError: the text is not a variant.
    """
    if variant == "standard":
        return STANDARD_KOMI, []
    match = re.fullmatch(r"(?:komi-(unknown|-?\d{1,3}(?:\.[05])?))?(/?)(?:handicap-(\d{1,3}):([a-y,]+))?", variant)
    if not match or not (match[1] or match[3]) or bool(match[2]) != bool(match[1] and match[3]):
        raise _no_variant(variant)
    komi = STANDARD_KOMI if match[1] in (None, "unknown") else int(float(match[1]) * 2)
    points = match[4].split(",") if match[4] else []
    if abs(komi) > MAX_KOMI or any(len(point) != 2 for point in points) or len(set(points)) != len(points):
        raise _no_variant(variant)
    if len(points) != int(match[3] or 0):
        raise ZugwerkError(f"variant {variant!r} of Go: {match[3]} handicap stones, but {len(points)} points")
    return komi, [(LETTERS.index(point[1]), LETTERS.index(point[0])) for point in points]


def _no_variant(variant: str) -> ZugwerkError:
    return ZugwerkError(
        f"no variant {variant[:200]!r} of Go; there are standard (komi 7.5), komi-6.5, handicap-2:dp,pd, and both: "
        "komi-0.5/handicap-2:dp,pd"
    )


def format_variant(komi: int | None, stones: list[tuple[int, int]]) -> str:
    """Return the variant's text for a komi in half points, None if unknown, and handicap stones (row, column)."""
    words = [] if komi == STANDARD_KOMI else [UNKNOWN_KOMI if komi is None else f"komi-{komi / 2:g}"]
    if stones:
        points = ",".join(LETTERS[column] + LETTERS[row] for row, column in sorted(stones))
        words.append(f"handicap-{len(stones)}:{points}")
    return "/".join(words) or "standard"


def copy_state(state: GoState) -> GoState:
    """Return a copy that shares no array with ``state``."""
    return GoState(state.board.copy(), state.moves.copy(), state.undo.copy(), state.turn.copy(), state.hash.copy())


def to_play(state: GoState) -> int:
    """Return the side to move: 0 Black, 1 White."""
    return int(state.turn[SIDE])

"""The eight symmetries of a square board, as permutations of its squares.

Squares are s = (rank - 1) * W + (file - 1). With f, r = file, rank from 0 and n = size - 1:

| number | name | (f, r) goes to | inverse |
| --- | --- | --- | --- |
| 0 | identity | (f, r) | 0 |
| 1 | rotate_90 (anticlockwise, rank 1 at the bottom) | (n - r, f) | 3 |
| 2 | rotate_180 | (n - f, n - r) | 2 |
| 3 | rotate_270 | (r, n - f) | 1 |
| 4 | mirror_files | (n - f, r) | 4 |
| 5 | mirror_ranks | (f, n - r) | 5 |
| 6 | mirror_diagonal (keeps a1) | (r, f) | 6 |
| 7 | mirror_antidiagonal | (n - r, n - f) | 7 |
"""

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.amazons import BLACK, EMPTY
from pipeline_src.jit import njit

_PARTS = {
    "identity": (False, False, False),
    "rotate_90": (True, True, False),
    "rotate_180": (False, True, True),
    "rotate_270": (True, False, True),
    "mirror_files": (False, True, False),
    "mirror_ranks": (False, False, True),
    "mirror_diagonal": (True, False, False),
    "mirror_antidiagonal": (True, True, True),
}
"""Each as: swap file and rank, then mirror the file, then mirror the rank."""
INDEX = {name: number for number, name in enumerate(_PARTS)}  # Number of each symmetry by name
INVERSE = tuple(INDEX[{"rotate_90": "rotate_270", "rotate_270": "rotate_90"}.get(name, name)] for name in _PARTS)
"""Number of the symmetry that undoes symmetry g."""
COUNT = len(_PARTS)


@lru_cache(maxsize=8)
def square_maps(size: int) -> npt.NDArray[np.int16]:
    """Int16 [8, N], read-only: ``square_maps(size)[g, s]`` is the square that symmetry g takes square s to."""
    ranks, files = np.divmod(np.arange(size * size, dtype=np.int16), size)
    maps = np.empty((COUNT, size * size), np.int16)
    for row, (swap, mirror_file, mirror_rank) in zip(maps, _PARTS.values(), strict=True):
        file, rank = (ranks, files) if swap else (files, ranks)
        row[:] = (size - 1 - rank if mirror_rank else rank) * size + (size - 1 - file if mirror_file else file)
    return _frozen(maps)


@lru_cache(maxsize=8)
def board_maps(size: int) -> npt.NDArray[np.int16]:
    """Int16 [8, N], read-only: which cell of a board each cell of the board under symmetry g is taken from.

    For boards [H, W] with row 0 = rank H: ``board.ravel()[board_maps(size)[g]].reshape(H, W)`` is the board under g.
    """
    cell = np.arange(size * size).reshape(size, size)[::-1].ravel()  # of square s; its own inverse
    return _frozen(cell[square_maps(size)[list(INVERSE)][:, cell]].astype(np.int16))


def transform_boards(boards: npt.NDArray[np.int8], which: npt.NDArray[np.integer]) -> npt.NDArray[np.int8]:
    """Boards int8 [B, H, W] (row 0 = rank H), each under its own symmetry ``which`` [B]; a new array.

    Raises:
        ZugwerkError: the boards are not square, which leaves some symmetries without a meaning.
    """
    count, height, width = boards.shape
    if height != width:
        raise ZugwerkError(f"boards of {height}x{width} do not have the eight symmetries of a square")
    cells = np.take_along_axis(boards.reshape(count, -1), board_maps(width)[which].astype(np.intp), axis=1)
    return cells.reshape(boards.shape)


def transform_squares(
    squares: npt.NDArray[np.integer], which: npt.NDArray[np.integer], size: int
) -> npt.NDArray[np.int16]:
    """Squares [B], each under its own symmetry ``which`` [B]; -1 (no square) stays -1."""
    return np.where(squares >= 0, square_maps(size)[which, squares], np.int16(-1)).astype(np.int16)


def _frozen(table: npt.NDArray[np.int16]) -> npt.NDArray[np.int16]:
    table.flags.writeable = False
    return table


# A 64-bit hash of a position that all its eight symmetric forms share.
#
# It is the smallest of the Zobrist hashes of the eight forms, which are kept side by side and updated together: a piece
# on square s of the board is on ``square_maps(size)[g, s]`` of form g, so that one row of the table of keys changes
# all.
#
# The hash covers the board and the side to move. The type of a sample and the amazon that has moved are left out, so
# positions that differ only in these have equal hashes. Among n different positions, about n^2 / 2^63 pairs share a
# hash by chance: 4 in 10 million data sets at n = 1.9 M.

Words = npt.NDArray[np.uint64]
CODES = 4
BLACK_TO_MOVE = np.uint64(0x9E3779B97F4A7C15)


@lru_cache(maxsize=8)
def piece_keys(size: int) -> Words:
    """Return uint64 [4, N, 8]: the key of a piece (by board code) on a square for the hash of each symmetric form."""
    keys = np.random.default_rng(size).integers(0, 2**64, (CODES, size * size), dtype=np.uint64)
    keys[EMPTY] = 0
    return np.ascontiguousarray(keys[:, square_maps(size).T])


@njit(cache=True)
def toggle(forms: Words, keys: Words, code: int, square: int) -> None:
    """Add a piece to the hashes ``forms`` [8] of a position's symmetric forms, or take it away."""
    for g in range(COUNT):
        forms[g] ^= keys[code, square, g]


@njit(cache=True)
def start_forms(board: npt.NDArray[np.int8], keys: Words, forms: Words) -> None:
    """Set ``forms`` [8] to the hashes of a board [H, W] with row 0 = rank 1."""
    forms[:] = 0
    width = board.shape[1]
    for square in range(board.size):
        toggle(forms, keys, board[square // width, square % width], square)


@njit(cache=True)
def canonical(forms: Words, mover: int) -> np.uint64:
    """The hash of the position, from those of its symmetric forms."""
    smallest = forms[0]
    for g in range(1, COUNT):
        smallest = min(smallest, forms[g])
    return np.uint64(smallest ^ BLACK_TO_MOVE if mover == BLACK else smallest)


@njit(cache=True, allocates=True)
def _canonical_hashes(boards: npt.NDArray[np.int8], movers: npt.NDArray[np.int8], keys: Words, out: Words) -> None:
    forms = np.empty(COUNT, np.uint64)
    for b in range(boards.shape[0]):
        start_forms(boards[b, ::-1], keys, forms)
        out[b] = canonical(forms, movers[b])


def canonical_hashes(boards: npt.NDArray[np.int8], movers: npt.NDArray[np.int8]) -> Words:
    """Hashes uint64 [B] of positions.

    Args:
        boards: int8 [B, H, W], row 0 = rank H, codes 0 to 3.
        movers: int8 [B], 2 Black or 3 White.

    Raises:
        ZugwerkError: boards that are not square, or codes outside 0 to 3.
    """
    count, height, width = boards.shape
    if height != width:
        raise ZugwerkError(f"boards of {height}x{width} do not have the eight symmetries of a square")
    if count and not (boards.min() >= 0 and boards.max() < CODES):
        raise ZugwerkError(f"board codes go from 0 to {CODES - 1}, not from {boards.min()} to {boards.max()}")
    out = np.empty(count, np.uint64)
    _canonical_hashes(boards, movers, piece_keys(width), out)
    return out

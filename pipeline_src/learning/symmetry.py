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

_PARTS = {
    "identity": (False, False, False),
    "rotate_90": (True, True, False),
    "rotate_180": (False, True, True),
    "rotate_270": (True, False, True),
    "mirror_files": (False, True, False),
    "mirror_ranks": (False, False, True),
    "mirror_diagonal": (True, False, False),
    "mirror_antidiagonal": (True, True, True),
}  # Each as: swap file and rank, then mirror the file, then mirror the rank
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
    """Boards int8 [B, H, W] (row 0 = rank H), each under its own symmetry. Raises ZugwerkError: they are not square."""
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

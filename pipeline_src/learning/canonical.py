"""A 64-bit hash of a position that all its eight symmetric forms share.

It is the smallest of the Zobrist hashes of the eight forms, which are kept side by side and updated together: a piece
on square s of the board is on ``square_maps(size)[g, s]`` of form g, so that one row of the table of keys changes all.

The hash covers the board and the side to move. The type of a sample and the amazon that has moved are left out, so
positions that differ only in these have equal hashes. Among n different positions, about n^2 / 2^63 pairs share a hash
by chance: 4 in 10 million data sets at n = 1.9 M.
"""

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.amazons import BLACK, EMPTY
from pipeline_src.jit import njit
from pipeline_src.learning.symmetry import COUNT, square_maps

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
    """Hashes [B] of boards [B, H, W], row 0 = rank H, and movers 2 or 3. Raises ZugwerkError: no square, bad code."""
    count, height, width = boards.shape
    if height != width:
        raise ZugwerkError(f"boards of {height}x{width} do not have the eight symmetries of a square")
    if count and not (boards.min() >= 0 and boards.max() < CODES):
        raise ZugwerkError(f"board codes go from 0 to {CODES - 1}, not from {boards.min()} to {boards.max()}")
    out = np.empty(count, np.uint64)
    _canonical_hashes(boards, movers, piece_keys(width), out)
    return out

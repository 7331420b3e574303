"""Encode boards as the features F of Amazons-Net (patent CN 111330255 B, equation 1), with squares and legality.

F^k[i, j] is the mean of the board matrix M over the rectangle whose diagonal runs from the mover's k-th amazon to cell
(i, j), both included. M is 100 x the board code: 0 arrow, 100 empty, 200 black amazon, 300 white amazon. A summed-area
table of M gives each mean from four of its entries; they are whole numbers below 2^24, so that the sums are exact in
float32 too and each mean is the rounded quotient.

Amazons and legal squares are the same for any net; `encode_planes` encodes boards for the residual net.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.amazons import ARROW, BLACK, COLOUR, EMPTY, WHITE, format_square, from_board, from_fen, to_fen
from pipeline_src.games.rules import to_play
from pipeline_src.jit import Need, njit
from pipeline_src.search.amazons import ray_keys

AMAZONS = 4  # Planes of F: the amazons a side has
SCALE = 100

Floats = npt.NDArray[np.floating[Any]]


@njit(cache=True)
def sum_areas(board: npt.NDArray[np.int8], swap_colours: bool, table: Floats) -> None:
    """Write the summed-area table of M to ``table`` [H + 1, W + 1], whose row 0 and column 0 are zero."""
    height, width = board.shape
    for i in range(height):
        row = 0
        for j in range(width):
            code = board[i, j]
            row += SCALE * (BLACK + WHITE - code if swap_colours and code >= BLACK else code)
            table[i + 1, j + 1] = table[i, j + 1] + row


@njit(cache=True, error_model="numpy")  # without a test for division by zero, loops become vector code
def write_plane(table: Floats, square: int, plane: Floats) -> None:
    """Write F of the amazon on ``square`` to ``plane`` [H, W], row 0 = rank H, from the table of `sum_areas`."""
    height, width = plane.shape
    r, c = height - 1 - square // width, square % width
    number = plane.dtype.type
    for i in range(height):
        upper, lower = table[min(r, i)], table[max(r, i) + 1]
        rows = abs(r - i) + 1
        left, right = lower[c] - upper[c], lower[c + 1] - upper[c + 1]
        for j in range(c):
            plane[i, j] = (right - (lower[j] - upper[j])) / number(rows * (c - j + 1))
        for j in range(c, width):
            plane[i, j] = (lower[j + 1] - upper[j + 1] - left) / number(rows * (j - c + 1))


@njit(cache=True, allocates=True)
def _write_features(boards: npt.NDArray[np.int8], amazons: npt.NDArray[np.int16], out: Floats) -> None:
    count, height, width = boards.shape
    table = np.zeros((height + 1, width + 1), out.dtype)
    for b in range(count):
        sum_areas(boards[b], False, table)
        for k in range(amazons.shape[1]):
            write_plane(table, amazons[b, k], out[b, k])


def features(
    boards: npt.NDArray[np.int8],
    amazons: npt.NDArray[np.int16],
    dtype: type[np.float32] | type[np.float64] = np.float32,
) -> Floats:
    """F of given amazons.

    Args:
        boards: int8 [B, H, W], row 0 = rank H, codes 0 to 3.
        amazons: int16 [B, K], their squares s = (rank - 1) * W + (file - 1).
        dtype: float32, or float64 for all digits.

    Returns:
        ``dtype`` [B, K, H, W], 0 to 300, row 0 = rank H.

    Raises:
        ZugwerkError: a square that is not on the board.
    """
    squares = boards.shape[1] * boards.shape[2]
    if amazons.size and not (amazons.min() >= 0 and amazons.max() < squares):
        raise ZugwerkError(f"amazons on squares {amazons.min()} to {amazons.max()} of a board of {squares} squares")
    out = np.empty((*amazons.shape, *boards.shape[1:]), dtype)
    _write_features(boards, amazons, out)
    return out


class Encoded(NamedTuple):
    """Net input for B positions; N = H * W squares, s = (rank - 1) * W + (file - 1)."""

    features: npt.NDArray[np.float32]
    """float32 [B, C, H, W], row 0 = rank H: F on its raw scale 0 to 300, plane k of amazon k; or planes."""
    amazons: npt.NDArray[np.int16]  # int16 [B, 4]: squares of the mover's amazons, ascending
    legal: npt.NDArray[np.bool_]
    """bool [B, 4, N]: where amazon k may go; in a position before the arrow, row 0 = where the arrow may land."""


def encode(
    boards: npt.NDArray[np.int8],
    movers: npt.NDArray[np.int8],
    moved: npt.NDArray[np.int16],
    *,
    mover_relative: bool = False,
    moved_first: bool = False,
) -> Encoded:
    """Features, amazons and legal squares of a batch of positions, on one core.

    Args:
        boards: int8 [B, H, W], row 0 = rank H; 0 arrow, 1 empty, 2 Black, 3 White.
        movers: int8 [B], 2 or 3: the side to move.
        moved: int16 [B], square of the amazon that has moved and is about to shoot, or -1 before the move.
        mover_relative: show the mover's amazons as White's.
        moved_first: amazon 0 is the one that has moved; the others keep their order.

    Raises:
        ZugwerkError: a side to move without exactly four amazons, or ``moved`` is not one of them.
    """
    boards, movers, moved, encoded = prepare(boards, movers, moved, AMAZONS)
    check(_encode(boards, movers, moved, mover_relative, moved_first, encoded), boards, movers, moved)
    return encoded


def encode_needs() -> list[Need]:
    """Return the kernels that `encode` calls."""
    one = np.empty((1, 1, 1), np.int8), np.empty(1, np.int8), np.empty(1, np.int16)
    boards, movers, moved, encoded = prepare(*one, AMAZONS)
    return [Need(_encode, (boards, movers, moved, False, False, encoded))]


def prepare(
    boards: npt.NDArray[np.int8], movers: npt.NDArray[np.int8], moved: npt.NDArray[np.int16], planes: int
) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int8], npt.NDArray[np.int16], Encoded]:
    """Return the arguments in the form that kernels take, and the output arrays: ``legal`` all False, others undefined.

    Raises:
        ZugwerkError: arrays of unequal length.
    """
    boards = np.ascontiguousarray(boards, np.int8)
    movers, moved = np.ascontiguousarray(movers, np.int8), np.ascontiguousarray(moved, np.int16)
    count, height, width = boards.shape
    if movers.shape != (count,) or moved.shape != (count,):
        raise ZugwerkError(f"{count} boards, but movers {movers.shape} and moved {moved.shape}")
    encoded = Encoded(
        np.empty((count, planes, height, width), np.float32),
        np.empty((count, AMAZONS), np.int16),
        np.zeros((count, AMAZONS, height * width), np.bool_),
    )
    return boards, movers, moved, encoded


def check(bad: int, boards: npt.NDArray[np.int8], movers: npt.NDArray[np.int8], moved: npt.NDArray[np.int16]) -> None:
    """Raise ZugwerkError about position ``bad``, which a kernel could not encode; do nothing where it is negative."""
    if bad >= 0:
        raise ZugwerkError(_complaint(boards[bad], int(movers[bad]), int(moved[bad])))


@njit(cache=True)
def find_amazons(board: npt.NDArray[np.int8], mover: int, out: npt.NDArray[np.int16]) -> int:
    """Write the squares of the mover's amazons, ascending, to ``out`` as far as it reaches; return how many there are.

    ``board`` has row 0 = rank H.
    """
    height, width = board.shape
    n = 0
    for rank in range(height):
        for file in range(width):
            if board[height - 1 - rank, file] == mover:
                if n < out.size:
                    out[n] = rank * width + file
                n += 1
    return n


@njit(cache=True)
def mark_reach(board: npt.NDArray[np.int8], square: int, out: npt.NDArray[np.bool_]) -> None:
    """Set ``out`` [N] for each square a queen on ``square`` reaches. ``board`` has row 0 = rank H."""
    height, width = board.shape
    r, c = height - 1 - square // width, square % width
    for dr in (-1, 0, 1):
        for dc in (-1, 0, 1):
            i, j = r + dr, c + dc
            while (dr != 0 or dc != 0) and 0 <= i < height and 0 <= j < width and board[i, j] == EMPTY:
                out[(height - 1 - i) * width + j] = True
                i += dr
                j += dc


@njit(cache=True)
def mark_legal(
    board: npt.NDArray[np.int8],
    mover: int,
    shooter: int,
    moved_first: bool,
    squares: npt.NDArray[np.int16],
    legal: npt.NDArray[np.bool_],
) -> bool:
    """Write one position's rows of `Encoded.amazons` and `Encoded.legal`; False where it cannot be encoded."""
    if find_amazons(board, mover, squares) != AMAZONS:
        return False
    if shooter < 0:
        for k in range(AMAZONS):
            mark_reach(board, squares[k], legal[k])
        return True
    place = 0
    while place < AMAZONS and squares[place] != shooter:
        place += 1
    if place == AMAZONS:
        return False
    if moved_first:
        for k in range(place, 0, -1):
            squares[k] = squares[k - 1]
        squares[0] = shooter
    mark_reach(board, shooter, legal[0])
    return True


@njit(cache=True, allocates=True)
def _encode(
    boards: npt.NDArray[np.int8],
    movers: npt.NDArray[np.int8],
    moved: npt.NDArray[np.int16],
    mover_relative: bool,
    moved_first: bool,
    out: Encoded,
) -> int:
    """Fill ``out``, whose ``legal`` is all False; return -1, or the first position that cannot be encoded."""
    count, height, width = boards.shape
    table = np.zeros((height + 1, width + 1), np.float32)
    for b in range(count):
        board, squares = boards[b], out.amazons[b]
        if not mark_legal(board, movers[b], moved[b], moved_first, squares, out.legal[b]):
            return b
        sum_areas(board, mover_relative and movers[b] == BLACK, table)
        for k in range(AMAZONS):
            write_plane(table, squares[k], out.features[b, k])
    return -1


def _complaint(board: npt.NDArray[np.int8], mover: int, moved: int) -> str:
    if mover not in COLOUR:
        return f"the side to move must be {BLACK} (Black) or {WHITE} (White), not {mover}"
    side = "White" if mover == WHITE else "Black"
    amazons = int((board == mover).sum())
    fen = to_fen(from_board(board[::-1], COLOUR.index(mover)))
    if amazons != AMAZONS:
        return f"{fen}: {side} has {amazons} amazons; Amazons-Net takes positions with {AMAZONS}"
    return f"{fen}: no amazon of {side} on {format_square(moved, board.shape[1])} to shoot"


def describe_features(fen: str) -> dict[str, Any]:
    """``{"amazons": ["c1", ...], "features": [4][H][W]}`` of a position text, ready for JSON.

    The amazons are the mover's, by square ascending (file by file within rank 1, then rank 2, ...); the features F are
    unrounded float64, row 0 = the top rank.

    Raises:
        ZugwerkError: a bad FEN, or a side to move without exactly four amazons.
    """
    state = from_fen(fen)
    board = np.ascontiguousarray(state.board[::-1])
    squares = np.empty((1, AMAZONS), np.int16)
    count = find_amazons(board, COLOUR[to_play(state)], squares[0])
    if count != AMAZONS:
        raise ZugwerkError(f"{fen}: the side to move has {count} amazons; Amazons-Net takes positions with {AMAZONS}")
    return {
        "amazons": [format_square(int(s), board.shape[1]) for s in squares[0]],
        "features": features(board[None], squares, np.float64)[0].tolist(),
    }


# Input planes of the residual net: pieces, reachable squares and distances.
#
# | plane | on square s |
# | --- | --- |
# | 0, 1, 2, 3 | an amazon of the side to move; one of the other side; an arrow; nothing |
# | 4 | the amazon that has moved and is about to shoot; zeros before the move |
# | 5 | her arrow may land there; zeros before the move |
# | 6, 7, 8 | empty, and the side to move reaches it within 1, 2, 3 queen moves |
# | 9, 10, 11 | the same of the other side |
# | 12, 13 | empty, and the side to move (the other) reaches it in d king moves: 1 / d, 0 if not within 9 |
# | 14 | squares that a queen there would reach, as a fraction of 35, the most there are; empty squares only |
#
# The first planes are those of Silver et al., "A general reinforcement learning algorithm that masters chess, shogi,
# and Go through self-play", Science 362 (2018), seen from the side to move. The others are what evaluation functions of
# this game are made of (Lieberum, Theoretical Computer Science 349, 2005): queens look across the whole board, 3x3
# convolutions do not.


PLANES = 15
OWN, OTHER, ARROWS, FREE, MOVED, SHOT, OWN_QUEEN, OTHER_QUEEN, OWN_KING, OTHER_KING, MOBILITY = (
    0, 1, 2, 3, 4, 5, 6, 9, 12, 13, 14,
)  # fmt: skip
"""Where each kind of plane begins."""
QUEEN_MOVES, KING_MOVES = 3, 9
MOST_REACHED = 35.0

Planes = npt.NDArray[np.float32]


def encode_planes(boards: npt.NDArray[np.int8], movers: npt.NDArray[np.int8], moved: npt.NDArray[np.int16]) -> Encoded:
    """Planes float32 [B, 15, H, W], amazons and legal squares of a batch of positions, on one core.

    Args:
        boards: int8 [B, H, W], row 0 = rank H; 0 arrow, 1 empty, 2 Black, 3 White.
        movers: int8 [B], 2 or 3: the side to move.
        moved: int16 [B], square of the amazon that has moved and is about to shoot, or -1 before the move.

    Raises:
        ZugwerkError: a side to move without exactly four amazons, or ``moved`` is not one of them.
    """
    boards, movers, moved, encoded = prepare(boards, movers, moved, PLANES)
    check(_encode_planes(boards, movers, moved, encoded), boards, movers, moved)
    return encoded


def planes_need() -> list[Need]:
    """Return the kernels that `encode_planes` calls."""
    one = np.empty((1, 1, 1), np.int8), np.empty(1, np.int8), np.empty(1, np.int16)
    return [Need(_encode_planes, prepare(*one, PLANES))]


@njit(cache=True, allocates=True)
def _encode_planes(
    boards: npt.NDArray[np.int8], movers: npt.NDArray[np.int8], moved: npt.NDArray[np.int16], out: Encoded
) -> int:
    """Fill ``out``, whose ``legal`` is all False; return -1, or the first position that cannot be encoded."""
    count, height, width = boards.shape
    rows = np.zeros((4, height), np.int64)  # sets of squares: bit j of entry i is cell (i, j)
    runs = np.zeros((height + 2, width + 2), np.float32)
    for b in range(count):
        board, planes = boards[b], out.features[b]
        if not mark_legal(board, movers[b], moved[b], False, out.amazons[b], out.legal[b]):
            return b
        planes[:] = 0.0
        rows[:] = 0
        for i in range(height):
            for j in range(width):
                code, bit = board[i, j], 1 << j
                if code == EMPTY:
                    planes[FREE, i, j] = 1.0
                    rows[0, i] |= bit
                elif code == ARROW:
                    planes[ARROWS, i, j] = 1.0
                elif code == movers[b]:
                    planes[OWN, i, j] = 1.0
                    rows[1, i] |= bit
                else:
                    planes[OTHER, i, j] = 1.0
                    rows[2, i] |= bit
        if moved[b] >= 0:
            planes[MOVED, height - 1 - moved[b] // width, moved[b] % width] = 1.0
            for s in range(height * width):
                if out.legal[b, 0, s]:
                    planes[SHOT, height - 1 - s // width, s % width] = 1.0
        for side in range(2):
            _queen_moves(rows[1 + side], rows[0], rows[3], planes[OWN_QUEEN + QUEEN_MOVES * side :])
            _king_moves(rows[1 + side], rows[0], rows[3], planes[OWN_KING + side])
        _mobility(planes[FREE], runs, planes[MOBILITY])
    return -1


@njit(cache=True, allocates=True)
def _queen_moves(
    amazons: npt.NDArray[np.int64], free: npt.NDArray[np.int64], reached: npt.NDArray[np.int64], out: Planes
) -> None:
    """Set ``out[k]`` to 1 wherever a side gets within k + 1 queen moves. ``reached`` is scratch."""
    height, width = out.shape[1:]
    reached[:] = amazons
    for k in range(QUEEN_MOVES):
        before = reached.copy()
        for i in range(height):
            right = left = before[i]
            while (right | left) != 0:
                right, left = right << 1 & free[i], left >> 1 & free[i]
                reached[i] |= right | left
        for step in (1, -1):
            straight = rising = falling = np.int64(0)  # what slides into the next row, on three lines
            for at in range(height):
                i = at if step == 1 else height - 1 - at
                straight, rising, falling = straight & free[i], rising << 1 & free[i], falling >> 1 & free[i]
                reached[i] |= straight | rising | falling
                straight, rising, falling = straight | before[i], rising | before[i], falling | before[i]
        for i in range(height):
            bits = reached[i] & free[i]
            for j in range(width):
                out[k, i, j] = bits >> j & 1


@njit(cache=True, allocates=True)
def _king_moves(
    amazons: npt.NDArray[np.int64], free: npt.NDArray[np.int64], reached: npt.NDArray[np.int64], out: Planes
) -> None:
    """Set ``out`` to 1 / d wherever a side gets in d king moves, the fewest. ``reached`` is scratch."""
    height = out.shape[0]
    reached[:] = amazons
    for d in range(1, KING_MOVES + 1):
        above, inverse = np.int64(0), np.float32(1) / np.float32(d)
        for i in range(height):
            here = reached[i]
            near = above | here | (reached[i + 1] if i + 1 < height else 0)
            above = here
            new = (near | near << 1 | near >> 1) & free[i] & ~here
            reached[i] = here | new
            j = 0
            while new != 0:
                if new & 1:
                    out[i, j] = inverse
                new >>= 1
                j += 1


@njit(cache=True)
def _mobility(free: Planes, runs: Planes, out: Planes) -> None:
    """Set ``out`` on empty squares to the share of squares a queen there reaches. ``runs`` is zero around its edge."""
    height, width = free.shape
    for dr in (-1, 0, 1):
        for dc in (-1, 0, 1):
            if dr == 0 and dc == 0:
                continue
            for at in range(height):
                i = at if dr < 0 else height - 1 - at
                for along in range(width):
                    j = along if dc < 0 else width - 1 - along
                    # Squares met from (i, j) on: the run of the next square and that square, if it is empty.
                    runs[i + 1, j + 1] = free[i, j] * (1 + runs[i + 1 + dr, j + 1 + dc])
                    out[i, j] += runs[i + 1 + dr, j + 1 + dc]
    for i in range(height):
        for j in range(width):
            out[i, j] *= free[i, j] / np.float32(MOST_REACHED)


# Input plane of the net of rays: what stands on each square, seen by the side to move.


SHOT_AT = 4  # Code of an arrow; the others are those of `ray_keys`


def encode_kinds(boards: npt.NDArray[np.int8], movers: npt.NDArray[np.int8], moved: npt.NDArray[np.int16]) -> Encoded:
    """One plane float32 [B, 1, H, W] of kinds of squares, amazons and legal squares; see `encode.encode_planes`.

    Raises:
        ZugwerkError: a side to move without exactly four amazons, or ``moved`` is not one of them.
    """
    boards, movers, moved, encoded = prepare(boards, movers, moved, 1)
    check(_encode_kinds(boards, movers, moved, encoded), boards, movers, moved)
    return encoded


def kinds_need() -> list[Need]:
    """Return the kernels that `encode_kinds` calls."""
    one = np.empty((1, 1, 1), np.int8), np.empty(1, np.int8), np.empty(1, np.int16)
    return [Need(_encode_kinds, prepare(*one, 1))]


@njit(cache=True)
def _encode_kinds(
    boards: npt.NDArray[np.int8], movers: npt.NDArray[np.int8], moved: npt.NDArray[np.int16], out: Encoded
) -> int:
    """Fill ``out``, whose ``legal`` is all False; return -1, or the first position that cannot be encoded."""
    count, height, width = boards.shape
    for b in range(count):
        board = boards[b]
        if not mark_legal(board, movers[b], moved[b], False, out.amazons[b], out.legal[b]):
            return b
        for i in range(height):
            for j in range(width):
                code, kind = board[i, j], ray_keys.OTHER
                if code == EMPTY:
                    kind = ray_keys.EMPTY
                elif code == ARROW:
                    kind = SHOT_AT
                elif code == movers[b]:
                    kind = ray_keys.OWN
                out.features[b, 0, i, j] = kind
        if moved[b] >= 0:
            out.features[b, 0, height - 1 - moved[b] // width, moved[b] % width] = ray_keys.SHOOTS
    return -1


class Config(Protocol):
    """A frozen dataclass that fixes a net's shape and how it sees a position."""

    @property
    def size(self) -> int:
        """Squares along one side of the board."""

    @property
    def encoding(self) -> str:
        """One of `ENCODERS`: ``features`` (F), ``planes`` or ``rays``."""

    @property
    def options(self) -> Mapping[str, bool]:
        """Keyword arguments of the encoder."""


ENCODERS: Mapping[str, Callable[..., Encoded]] = {"features": encode, "planes": encode_planes, "rays": encode_kinds}
NEEDS: Mapping[str, Callable[[], list[Need]]] = {"features": encode_needs, "planes": planes_need, "rays": kinds_need}
"""Kernels that each of them calls."""


def encode_for(
    config: Config, boards: npt.NDArray[np.int8], movers: npt.NDArray[np.int8], moved: npt.NDArray[np.int16]
) -> Encoded:
    """A batch of positions as the nets of this config take them; arguments and errors as for `encode`."""
    return ENCODERS[config.encoding](boards, movers, moved, **config.options)

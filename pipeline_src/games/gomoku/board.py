"""Board and state of Gomoku, the start position, and the position text (FEN).

Coordinates: cell = row * W + column, row 0 is the top one (rank H), column 0 is file a; ``board[row, column]``, and an
action is the cell of the stone it places. Text names file and rank: on 15x15 cell 0 is ``a15``, cell 112 ``h8``.

FEN: ranks from the top one down, ``x`` a black stone, ``o`` a white one, numbers for runs of empty cells; then ``b`` or
``w`` to move; then, if it is not ``freestyle``, the variant.
"""

import re
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError

EMPTY, BLACK, WHITE = 0, 1, 2
FIRST, SECOND = 0, 1
"""Sides as ``to_play``: Black moves first."""
GOING, WON, DRAWN = 0, 1, 2
"""How a game stands: nobody has won yet, the last stone won, or the board is full."""
SIDE, PLY, STANDING, LINE, EXACT = 0, 1, 2, 3, 4
"""Entries of ``turn``."""
MIN_SIDE, MAX_SIDE = 3, 25
FILES = "abcdefghijklmnopqrstuvwxy"
RULES = ("freestyle", "exact")
"""``freestyle``: a line of at least the length wins; ``exact``: one of just the length, and a longer one is nothing."""
LINE_LENGTH = 5

KEYS = np.random.default_rng(0).integers(0, 1 << 64, (2, MAX_SIDE * MAX_SIDE), dtype=np.uint64)
"""uint64 [2, 625]: random numbers of a Zobrist hash (Zobrist, 1970), by colour and cell."""
SIDE_KEY = np.uint64(0x9E3779B97F4A7C15)
"""Of White to move."""


class FenError(ZugwerkError):
    """A position text that cannot be read; says what is wrong with it."""


class GomokuState(NamedTuple):
    """A position and the stones that led to it. Arrays, so that numba kernels take it whole; treat it as a value.

    The kernels in `moves` change it in place; the functions in `turns` copy first.
    """

    board: npt.NDArray[np.int8]
    """[H, W]: EMPTY, BLACK or WHITE; row 0 is the top."""
    moves: npt.NDArray[np.int16]
    """[N]: cells in the order of play, ``ply`` of them, -1 where that is not known; -1 too in what follows."""
    turn: npt.NDArray[np.int16]
    """[5]: side to move, ply, standing (GOING, WON or DRAWN), length of a line, 1 where only just that length wins."""
    hash: npt.NDArray[np.uint64]
    """[1]: Zobrist hash of board and side to move."""


def parse_variant(variant: str) -> tuple[int, bool]:
    """Length of a winning line, and whether only that length wins, of ``freestyle``, ``exact`` or e.g. ``freestyle-4``.

    Raises:
        ZugwerkError: no such variant.
    """
    match = re.fullmatch(r"(freestyle|exact)(?:-([1-9][0-9]?))?", variant)
    if not match:
        raise ZugwerkError(
            f"no variant {variant!r} of Gomoku; there are freestyle and exact, with a length: freestyle-4"
        )
    return int(match[2] or LINE_LENGTH), match[1] == "exact"


def format_variant(state: GomokuState) -> str:
    """The variant's text, as `parse_variant` reads it."""
    line = int(state.turn[LINE])
    return RULES[int(state.turn[EXACT])] + ("" if line == LINE_LENGTH else f"-{line}")


def initial_state(size: int = 15, variant: str = "freestyle") -> GomokuState:
    """The empty board.

    Raises:
        ZugwerkError: a size outside 3..25, no such variant, or a line longer than the board.
    """
    if not MIN_SIDE <= size <= MAX_SIDE:
        raise ZugwerkError(f"no Gomoku board of size {size}; sizes go from {MIN_SIDE} to {MAX_SIDE}")
    return from_board(np.zeros((size, size), np.int8), FIRST, variant)


def copy_state(state: GomokuState) -> GomokuState:
    """A copy that shares no array with ``state``."""
    return GomokuState(state.board.copy(), state.moves.copy(), state.turn.copy(), state.hash.copy())


def to_play(state: GomokuState) -> int:
    """Side to move: 0 Black (first), 1 White (second)."""
    return int(state.turn[SIDE])


def from_board(board: npt.NDArray[np.int8], side: int, variant: str = "freestyle") -> GomokuState:
    """State of a board int8 [H, W] with ``side`` to move, nobody knows by which moves; the board is copied.

    Raises:
        ZugwerkError: no such variant, or a line longer than the board.
    """
    from pipeline_src.games.gomoku.moves import any_line

    line, exact = parse_variant(variant)
    if line > max(board.shape):
        raise ZugwerkError(f"a line of {line} does not fit a board of {board.shape[0]}x{board.shape[1]}")
    board = np.array(board, dtype=np.int8, order="C")
    stones = np.flatnonzero(board)
    keys = KEYS[board.ravel()[stones] - 1, stones]
    key = np.bitwise_xor.reduce(keys, initial=np.uint64(0)) ^ (SIDE_KEY * np.uint64(side))
    state = GomokuState(
        board,
        np.full(board.size, -1, np.int16),
        np.array([side, len(stones), GOING, line, exact], np.int16),
        np.array([key], np.uint64),
    )
    if any_line(state, BLACK if side == SECOND else WHITE):
        state.turn[STANDING] = WON
    elif len(stones) == board.size:
        state.turn[STANDING] = DRAWN
    return state


def from_fen(fen: str) -> GomokuState:
    """Read a position text; see the module's head.

    Raises:
        FenError: wrong fields, an unknown letter, ranks of unequal length, a size outside 3..25, counts of stones that
            do not fit the side to move, or a line of the side to move on the board already.
    """
    from pipeline_src.games.gomoku.moves import any_line

    fields = fen.split()
    if len(fields) not in (2, 3) or fields[1] not in ("b", "w"):
        raise _bad(fen, "expected ranks, a space, 'b' or 'w', and perhaps a variant")
    ranks = [_read_rank(text, fen) for text in fields[0].split("/")]
    height, width = len(ranks), max(map(len, ranks))
    if not (MIN_SIDE <= height <= MAX_SIDE and MIN_SIDE <= width <= MAX_SIDE):
        raise _bad(fen, f"board {height}x{width}; sides go from {MIN_SIDE} to {MAX_SIDE}")
    if any(len(rank) != width for rank in ranks):
        raise _bad(fen, f"its ranks have {', '.join(str(len(rank)) for rank in ranks)} cells")
    board, side = np.array(ranks, np.int8), "bw".index(fields[1])
    more = int((board == BLACK).sum()) - int((board == WHITE).sum())
    if more != side:
        raise _bad(fen, f"{more} more black than white stones with {fields[1]!r} to move")
    state = from_board(board, side, fields[2] if len(fields) == 3 else "freestyle")
    if any_line(state, BLACK if side == FIRST else WHITE):
        raise _bad(fen, "the side to move has a line already")
    return state


_CODE = {"x": BLACK, "o": WHITE}
_SHOWN = 700
"""Letters of a bad text that its message repeats: more than any board needs."""


def _bad(fen: str, what: str) -> FenError:
    return FenError(f"bad FEN {fen[:_SHOWN]!r}: {what}")


def _read_rank(text: str, fen: str) -> list[int]:
    cells: list[int] = []
    for number, letter in re.findall(r"([0-9]+)|(.)", text):
        if number:
            if len(number) > 2 or int(number) == 0:
                raise _bad(fen, f"a run of {number[:20]} empty cells")
            cells += [EMPTY] * int(number)
        elif letter in _CODE:
            cells.append(_CODE[letter])
        else:
            raise _bad(fen, f"unknown letter {letter!r}; known are x o and numbers")
    return cells


def to_fen(state: GomokuState) -> str:
    """Position text of a state."""
    ranks = []
    for row in state.board:
        text = "".join(".xo"[code] for code in row)
        ranks.append(re.sub(r"\.+", lambda run: str(len(run[0])), text))
    variant = format_variant(state)
    return "/".join(ranks) + " " + "bw"[to_play(state)] + ("" if variant == "freestyle" else f" {variant}")

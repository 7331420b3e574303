"""Gomoku: five in a row, on a board of any size and with lines of any length.

Black and White in turn place a stone, Black first. In ``freestyle`` a line of five or more of one colour wins, in
``exact`` a line of exactly five; `RULES` describes ``renju`` and ``caro``. A full board is a draw.

Coordinates: cell = row * W + column, row 0 is the top one (rank H), column 0 is file a; ``board[row, column]``, and
an action is the cell of the stone it places. Text names file and rank: on 15x15 cell 0 is ``a15``, cell 112 ``h8``.

FEN: the ranks from the top down with ``x`` for a black stone, ``o`` for a white one and a number for a run of empty
cells; then ``b`` or ``w`` for the side to move; then the variant, if it is not ``freestyle``.
"""

import re
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import kernels
from pipeline_src.games.rules import divide, is_legal, legal_actions, perft, play, to_play, winner
from pipeline_src.games.stones import bad, parse_point, read_ranks, stone_diagram, write_ranks
from pipeline_src.jit import njit

EMPTY, BLACK, WHITE = 0, 1, 2
FIRST, SECOND = 0, 1  # The sides, as `to_play` numbers them: Black moves first
GOING, WON, DRAWN = 0, 1, 2  # Standing of a game: unfinished, won by the last stone, or drawn
SIDE, PLY, STANDING, LINE, RULE = 0, 1, 2, 3, 4  # Indices of the entries of `turn`
MIN_SIDE, MAX_SIDE = 3, 25
FILES = "abcdefghijklmnopqrstuvwxy"
RULES = ("freestyle", "exact", "renju", "caro")
"""``freestyle``: a line of at least the winning length wins. ``exact``: only a line of exactly that length wins.

``renju``: five in a row wins. Black needs exactly five, and a cell that makes a longer row, two fours or two threes is
illegal for Black (`forbidden`); White needs at least five. ``caro``: a line of exactly the winning length wins only if
at least one of its ends is not blocked by a stone of the opponent; a longer line always wins. Sources for Caro: manual
and protocol of Piskvork, the manager of the Gomocup ("five in a row must not be blocked by opponent at both ends";
``INFO rule`` has separate bits for exact fives, 1, and for Caro, 8), and "Caro" in Wikipedia's article on Gomoku, which
exempts longer rows."""
FREESTYLE, EXACT, RENJU, CARO = range(4)
LINE_LENGTH = 5
AT_LEAST, EXACTLY, ONE_END_OPEN = 0, 1, 2
"""Kinds of winning lines: at least the winning length; exactly that length; longer, or exactly that length with at
least one end that is not blocked."""

KEYS = np.random.default_rng(0).integers(0, 1 << 64, (2, MAX_SIDE * MAX_SIDE), dtype=np.uint64)
"""uint64 [2, 625]: random numbers of the Zobrist hash (Zobrist, 1970), by colour and cell."""
SIDE_KEY = np.uint64(0x9E3779B97F4A7C15)  # Random number for White to move


class GomokuState(NamedTuple):
    """A position and the stones that led to it: arrays only, so that numba kernels accept it. Treat it as a value.

    Kernels change it in place; Python functions copy it first.
    """

    board: npt.NDArray[np.int8]  # [H, W]: EMPTY, BLACK or WHITE; row 0 is the top
    moves: npt.NDArray[np.int16]
    """[N]: the first ``ply`` entries are the cells in the order of play, -1 where unknown; the others are -1."""
    turn: npt.NDArray[np.int16]
    """[5]: side to move, ply, standing (GOING, WON or DRAWN), length of a winning line, rule (index in `RULES`)."""
    hash: npt.NDArray[np.uint64]  # [1]: Zobrist hash of the board and the side to move


def parse_variant(variant: str) -> tuple[int, int]:
    """Read a variant such as ``freestyle-4``: the length of a winning line and the rule's index in `RULES`.

    Raises:
        ZugwerkError: the text is not a variant.
    """
    match = re.fullmatch(r"(?:renju|(freestyle|exact|caro)(?:-([1-9][0-9]?))?)", variant)
    if not match:
        raise ZugwerkError(
            f"no variant {variant!r} of Gomoku; there are {', '.join(RULES)}; all but renju take a length: freestyle-4"
        )
    return int(match[2] or LINE_LENGTH), RULES.index(match[1] or "renju")


def format_variant(state: GomokuState) -> str:
    """Return the variant's text, as `parse_variant` reads it."""
    line = int(state.turn[LINE])
    return RULES[int(state.turn[RULE])] + ("" if line == LINE_LENGTH else f"-{line}")


# The rules of Gomoku as kernels that change a state in place.


# Rows of stones on a board: their lengths, and whether they win.


Board = npt.NDArray[np.int8]
At = np.uint64
"""Type of an index that cannot be negative: numba then omits the test for indices that count from the end."""


@njit(cache=True)
def on_board(board: Board, row: int, column: int) -> bool:
    """Whether a cell is on the board."""
    height, width = board.shape
    return bool((row | column | (height - 1 - row) | (width - 1 - column)) >= 0)


@njit(cache=True)
def run(board: Board, row: int, column: int, down: int, right: int, colour: int) -> int:
    """Count the stones of ``colour`` in a row that starts at the cell after (row, column), in one direction."""
    height, width = board.shape
    found = 0
    row, column = row + down, column + right
    # One test, of the sign, for all four edges: with four of them this loop takes three times as long.
    while (row | column | (height - 1 - row) | (width - 1 - column)) >= 0 and board[At(row), At(column)] == colour:
        found += 1
        row, column = row + down, column + right
    return found


@njit(cache=True)
def line_at(board: Board, row: int, column: int, colour: int, line: int, kind: int) -> bool:
    """Whether a stone of ``colour`` on a cell, placed or not, makes a winning line; see `kind_of_line`."""
    # Written out for each direction instead of a loop.
    exact = kind == EXACTLY
    if kind > EXACTLY:
        return bool(_open_line_at(board, row, column, colour, line))
    length = 1 + run(board, row, column, 0, 1, colour) + run(board, row, column, 0, -1, colour)
    if length == line or (length > line and not exact):
        return True
    length = 1 + run(board, row, column, 1, 0, colour) + run(board, row, column, -1, 0, colour)
    if length == line or (length > line and not exact):
        return True
    length = 1 + run(board, row, column, 1, 1, colour) + run(board, row, column, -1, -1, colour)
    if length == line or (length > line and not exact):
        return True
    length = 1 + run(board, row, column, 1, -1, colour) + run(board, row, column, -1, 1, colour)
    return length == line or (length > line and not exact)


@njit(cache=True)
def _open_line_at(board: Board, row: int, column: int, colour: int, line: int) -> bool:
    """`line_at` for the kind `ONE_END_OPEN`: a line of exactly the winning length needs an end that is not blocked."""
    for d in range(4):
        down, right = (0, 1) if d == 0 else (1, d - 2)
        ahead, behind = run(board, row, column, down, right, colour), run(board, row, column, -down, -right, colour)
        if ahead + behind + 1 < line:
            continue
        if ahead + behind + 1 > line:
            return True
        shut = _stone(board, row + (ahead + 1) * down, column + (ahead + 1) * right)
        if not (shut and _stone(board, row - (behind + 1) * down, column - (behind + 1) * right)):
            return True
    return False


@njit(cache=True)
def _stone(board: Board, row: int, column: int) -> bool:
    return bool(on_board(board, row, column) and board[At(row), At(column)] != EMPTY)


# Moves forbidden to Black in Renju: a row of six or more, two fours at once, two threes at once.
#
# The definitions are those of the Renju International Federation:
#
# * A stone that makes five in a row wins and is never forbidden, in any case.
# * An *overline* is a row of six or more.
# * A *four* needs one more stone to be exactly five in a row. A row of four that makes five at either end is one four,
#   a *straight* four; ``x.xxx.x`` is two fours.
# * A *three* needs one more stone to be a straight four; that stone must be allowed itself and must not make five. So
#   whether two threes count as two depends on stones that could follow, and on those that could follow these.
#
# White may play all of these, and also wins with an overline.


FINE, FIVE, BAD = 0, 1, 2  # Verdict on a stone, threes left aside
WHAT = "six in a row, two fours or two threes"
DEEPEST = 8
"""Longest sequence of stones that is examined to decide whether a three is a three; a ninth stone counts as allowed."""
Word: Any = np.uint64
REACH = 4  # A black stone further away on a line adds nothing to an overline, a four or a three of a cell
TWOS, FOURS, TOPS = 0x7E7E7E7E, 0x7C7C7C7C, 0x80808080
"""Added to four bytes, these set the top bit of each byte of at least 2, or of at least 4."""


@njit(cache=True)
def _step(d: int) -> tuple[int, int]:
    """Return (rows, columns) from a cell to the next one in direction ``d`` of four."""
    return (0, 1) if d == 0 else (1, d - 2)


@njit(cache=True)
def _fives(board: Board, row: int, column: int, down: int, right: int, ahead: int, behind: int) -> bool:
    """Whether the first cell that is not black, ``ahead`` stones on, makes exactly five with a stone's row."""
    row, column = row + (ahead + 1) * down, column + (ahead + 1) * right
    if not on_board(board, row, column) or board[At(row), At(column)] != EMPTY:
        return False
    return bool(ahead + behind + 2 + run(board, row, column, down, right, BLACK) == 5)


@njit(cache=True)
def _verdict(board: Board, row: int, column: int) -> int:
    """Return the verdict on a black stone on the board: `FIVE`, `BAD` for an overline or two fours, or `FINE`."""
    fours, over = 0, False
    for d in range(4):
        down, right = _step(d)
        ahead, behind = run(board, row, column, down, right, BLACK), run(board, row, column, -down, -right, BLACK)
        if ahead + behind == 4:
            return FIVE
        over |= ahead + behind > 4
        found = int(_fives(board, row, column, down, right, ahead, behind))
        found += int(_fives(board, row, column, -down, -right, behind, ahead))
        fours += 1 if found == 2 and ahead + behind == 3 else found
    return BAD if over or fours > 1 else FINE


@njit(cache=True)
def _ends(board: Board, row: int, column: int, down: int, right: int) -> bool:
    """Whether a stone on a cell at the end of a row of four would make exactly five."""
    if not on_board(board, row, column) or board[At(row), At(column)] != EMPTY:
        return False
    return bool(run(board, row, column, down, right, BLACK) == 0)


@njit(cache=True)
def _makes_straight(board: Board, row: int, column: int, down: int, right: int) -> int:
    """Return the distance from a stone to the cell that makes its row a straight four; 0 if no cell does."""
    ahead, behind = run(board, row, column, down, right, BLACK), run(board, row, column, -down, -right, BLACK)
    at = ahead + 1
    if not on_board(board, row + at * down, column + at * right):
        return 0
    if board[At(row + at * down), At(column + at * right)] != EMPTY:
        return 0
    more = run(board, row + at * down, column + at * right, down, right, BLACK)
    if behind + 1 + at + more != 4:
        return 0
    end, start = at + more + 1, behind + 1
    if not _ends(board, row + end * down, column + end * right, down, right):
        return 0
    return int(at) if _ends(board, row - start * down, column - start * right, -down, -right) else 0


@njit(cache=True)
def _likely_threes(board: Board, row: int, column: int) -> int:
    """Count the directions in which a stone has a three, assuming that all following stones are allowed."""
    found = 0
    for d in range(4):
        down, right = _step(d)
        if _makes_straight(board, row, column, down, right) or _makes_straight(board, row, column, -down, -right):
            found += 1
    return found


@njit(cache=True)
def forbidden(board: Board, row: int, column: int) -> bool:
    """Whether Black may not play on an empty cell. The board is changed during the call and restored at its end.

    Args:
        board: int8 [H, W]; cells that are neither empty nor black end a row.
        row: row of the cell.
        column: column of the cell.
    """
    board[At(row), At(column)] = BLACK
    verdict = _verdict(board, row, column)
    if verdict == FINE and _likely_threes(board, row, column) > 1:
        return bool(_two_threes(board, row, column))
    board[At(row), At(column)] = EMPTY
    return bool(verdict == BAD)


@njit(cache=True)
def count_near(board: Board, near: npt.NDArray[np.int32]) -> None:
    """Count the black stones within `REACH` of each cell, in a byte for each of the four directions.

    Args:
        board: int8 [H, W].
        near: [>= H * W]; its first so many become the counts.
    """
    height, width = board.shape
    for cell in range(board.size):
        near[At(cell)] = 0
    for row in range(height):
        for column in range(width):
            if board[At(row), At(column)] != BLACK:
                continue
            for d in range(4):
                down, right = _step(d)
                for distance in range(-REACH, REACH + 1):
                    r, c = row + distance * down, column + distance * right
                    if distance != 0 and on_board(board, r, c):
                        near[At(r * width + c)] += 1 << 8 * d


@njit(cache=True)
def may_be_forbidden(near: int) -> bool:
    """Whether a cell with these counts of `count_near` can be forbidden at all.

    Two threes or fours on two lines have two other stones each, two fours on one line four, and so has an overline.
    """
    twos = (near + TWOS) & TOPS
    return bool(twos & (twos - 1) != 0 or (near + FOURS) & TOPS != 0)


@njit(cache=True)
def _two_threes(board: Board, row: int, column: int) -> bool:
    """Whether a black stone on the board has two threes. The stone is removed.

    The stack of the stones under examination lies in two words, 16 bits a stone: its cell, the next of its eight ways
    to a straight four, and whether it has a three already. The kernel allocates nothing and does not call itself.
    """
    width, depth, low, high = board.shape[1], 0, Word(0), Word(0)
    at, threes = 0, 0
    while True:
        if at == 8 or threes == 2:
            board[At(row), At(column)] = EMPTY
            if depth == 0:
                return bool(threes == 2)
            counts = 0 if threes == 2 else 1  # a straight four that is forbidden makes no three
            frame = int(low & Word(0xFFFF))
            low, high, depth = (low >> Word(16)) | (high << Word(48)), high >> Word(16), depth - 1
            cell, at, threes = frame >> 5, (frame >> 1) & 15, (frame & 1) + counts
            row, column = cell // width, cell % width
            at = (at | 1) + 1 if counts else at + 1
            continue
        down, right = _step(at >> 1)
        if at & 1:
            down, right = -down, -right
        on = _makes_straight(board, row, column, down, right)
        if on == 0:
            at += 1
            continue
        below, beside = row + on * down, column + on * right
        board[At(below), At(beside)] = BLACK
        verdict = _verdict(board, below, beside)
        if verdict == FINE and depth < DEEPEST and _likely_threes(board, below, beside) > 1:
            frame = (row * width + column) << 5 | at << 1 | threes
            high, low, depth = (high << Word(16)) | (low >> Word(48)), (low << Word(16)) | Word(frame), depth + 1
            row, column, at, threes = below, beside, 0, 0
            continue
        board[At(below), At(beside)] = EMPTY
        threes += 1 if verdict == FINE else 0
        at = (at | 1) + 1 if verdict == FINE else at + 1


Ids = npt.NDArray[np.int32]


@njit(cache=True)
def copy_into(state: GomokuState, other: GomokuState) -> None:
    """Make ``other``, a state of the same board size, equal to ``state``."""
    cells, others = state.board.flat, other.board.flat  # entry by entry: slices take twenty times as long
    for cell in range(state.board.size):
        others[cell] = cells[cell]
    for ply in range(state.moves.size):
        other.moves[ply] = state.moves[ply]
    for entry in range(state.turn.size):
        other.turn[entry] = state.turn[entry]
    other.hash[0] = state.hash[0]


@njit(cache=True)
def kind_of_line(state: GomokuState, colour: int) -> int:
    """Return the kind of line that wins for a colour: `AT_LEAST`, `EXACTLY` or `ONE_END_OPEN`."""
    rule = state.turn[RULE]
    if rule == RENJU:
        return EXACTLY if colour == BLACK else AT_LEAST
    return ONE_END_OPEN if rule == CARO else EXACTLY if rule == EXACT else AT_LEAST


@njit(cache=True)
def line_through(board: npt.NDArray[np.int8], cell: int, colour: int, line: int, kind: int) -> bool:
    """Whether a stone of ``colour`` on ``cell``, already placed or not, makes a winning line; see `kind_of_line`."""
    row = cell // board.shape[1]
    return bool(line_at(board, row, cell - row * board.shape[1], colour, line, kind))


@njit(cache=True)
def any_line(state: GomokuState, colour: int) -> bool:
    """Whether ``colour`` has a winning line anywhere."""
    board, line, kind = state.board, int(state.turn[LINE]), kind_of_line(state, colour)
    for row in range(board.shape[0]):
        for column in range(board.shape[1]):
            if board[row, column] == colour and line_at(board, row, column, colour, line, kind):
                return True
    return False


@njit(cache=True)
def nowhere_to_play(state: GomokuState) -> bool:
    """Whether it is Black's turn in Renju and every empty cell is forbidden, which is a draw."""
    if state.turn[RULE] != RENJU or state.turn[SIDE] != FIRST:
        return False
    board = state.board
    for row in range(board.shape[0]):
        for column in range(board.shape[1]):
            if board[row, column] == EMPTY and not forbidden(board, row, column):
                return False
    return True


@njit(cache=True)
def legal(state: GomokuState, action: int) -> bool:
    """Whether the game is unfinished and ``action``, any int, is an empty cell that Renju does not forbid."""
    board = state.board
    if state.turn[STANDING] != GOING or not 0 <= action < board.size:
        return False
    row = action // board.shape[1]
    if board[row, action - row * board.shape[1]] != EMPTY:
        return False
    if state.turn[RULE] != RENJU or state.turn[SIDE] != FIRST:
        return True
    return not forbidden(board, row, action - row * board.shape[1])


@njit(cache=True)
def write_actions(state: GomokuState, out: Ids) -> int:
    """Write the legal cells, ascending, to ``out``, or nothing if the game is over; return their number."""
    if state.turn[STANDING] != GOING:
        return 0
    cells, count = state.board.flat, 0
    if state.turn[RULE] == RENJU and state.turn[SIDE] == FIRST:
        width = state.board.shape[1]
        count_near(state.board, out)  # the counts of cells that are still to come lie behind the cells written
        for cell in range(state.board.size):
            doubtful = may_be_forbidden(int(out[At(cell)]))
            if cells[cell] == EMPTY and not (doubtful and forbidden(state.board, cell // width, cell % width)):
                out[At(count)] = cell
                count += 1
        return count
    for cell in range(state.board.size):
        out[At(count)] = cell  # without a branch: the next write replaces a cell that is not empty
        count += int(cells[cell] == EMPTY)
    return count


@njit(cache=True)
def _play(state: GomokuState, action: int) -> None:
    """Place a stone on a legal cell, in place."""
    board, turn = state.board, state.turn
    side, ply, cell = int(turn[SIDE]), int(turn[PLY]), int(action)
    row = cell // board.shape[1]
    column = cell - row * board.shape[1]
    board[At(row), At(column)] = side + 1
    state.moves[At(ply)] = cell
    state.hash[0] ^= KEYS[At(side), At(cell)] ^ SIDE_KEY
    turn[SIDE] = 1 - side
    turn[PLY] = ply + 1
    if line_at(board, row, column, side + 1, int(turn[LINE]), kind_of_line(state, side + 1)):
        turn[STANDING] = WON
    elif ply + 1 == board.size or nowhere_to_play(state):
        turn[STANDING] = DRAWN


@njit(cache=True)
def take_back(state: GomokuState, action: int) -> None:
    """Undo the last action, in place."""
    board, turn = state.board, state.turn
    side, ply, cell = 1 - int(turn[SIDE]), int(turn[PLY]) - 1, int(action)
    row = cell // board.shape[1]
    board[At(row), At(cell - row * board.shape[1])] = EMPTY
    state.moves[At(ply)] = -1
    state.hash[0] ^= KEYS[At(side), At(cell)] ^ SIDE_KEY
    turn[SIDE] = side
    turn[PLY] = ply
    turn[STANDING] = GOING


# Positions from a size, a board or a text.


def initial_state(size: int = 15, variant: str = "freestyle") -> GomokuState:
    """Return the empty board.

    Raises:
        ZugwerkError: the size is outside 3..25, the variant is unknown, or its line is longer than the board.
    """
    if not MIN_SIDE <= size <= MAX_SIDE:
        raise ZugwerkError(f"no Gomoku board of size {size}; sizes go from {MIN_SIDE} to {MAX_SIDE}")
    return from_board(np.zeros((size, size), np.int8), FIRST, variant)


def from_board(board: npt.NDArray[np.int8], side: int, variant: str = "freestyle") -> GomokuState:
    """Return the state for a board, int8 [H, W], with ``side`` to move and no known history. The board is copied.

    Raises:
        ZugwerkError: the variant is unknown, or its line is longer than the board.
    """
    line, rule = parse_variant(variant)
    if line > max(board.shape):
        raise ZugwerkError(f"a line of {line} does not fit a board of {board.shape[0]}x{board.shape[1]}")
    board = np.array(board, dtype=np.int8, order="C")
    stones = np.flatnonzero(board)
    keys = KEYS[board.ravel()[stones] - 1, stones]
    key = np.bitwise_xor.reduce(keys, initial=np.uint64(0)) ^ (SIDE_KEY * np.uint64(side))
    state = GomokuState(
        board,
        np.full(board.size, -1, np.int16),
        np.array([side, len(stones), GOING, line, rule], np.int16),
        np.array([key], np.uint64),
    )
    if any_line(state, BLACK if side == SECOND else WHITE):
        state.turn[STANDING] = WON
    elif len(stones) == board.size or nowhere_to_play(state):
        state.turn[STANDING] = DRAWN
    return state


def from_fen(fen: str) -> GomokuState:
    """Read a position text; the module's docstring describes the format.

    Raises:
        FenError: wrong fields, an unknown letter, ranks of unequal length, a size outside 3..25, numbers of stones that
            do not fit the side to move, or a winning line of the side to move.
    """
    fields = fen.split()
    if len(fields) not in (2, 3) or fields[1] not in ("b", "w"):
        raise bad(fen, "expected ranks, a space, 'b' or 'w', and perhaps a variant")
    board, side = read_ranks(fields[0], fen, MIN_SIDE, MAX_SIDE, "cells"), "bw".index(fields[1])
    more = int((board == BLACK).sum()) - int((board == WHITE).sum())
    if more != side:
        raise bad(fen, f"{more} more black than white stones with {fields[1]!r} to move")
    state = from_board(board, side, fields[2] if len(fields) == 3 else "freestyle")
    if any_line(state, BLACK if side == FIRST else WHITE):
        raise bad(fen, "the side to move has a line already")
    return state


def to_fen(state: GomokuState) -> str:
    """Return the position text of a state."""
    variant = format_variant(state)
    return write_ranks(state.board) + " " + "bw"[to_play(state)] + ("" if variant == "freestyle" else f" {variant}")


NAME = "gomoku"
VERSION = 1  # Version of the rules and of the action numbering. Models store it.
SIZES = tuple(range(MIN_SIDE, MAX_SIDE + 1))
VARIANTS = RULES  # Names of the variants. All but `renju` take another length of the winning line, e.g. `freestyle-4`.

__all__ = ["NAME", "SIZES", "VARIANTS", "VERSION", "format_move", "from_fen", "initial_state", "parse_move", "to_fen"]
__all__ += ["divide", "is_legal", "legal_actions", "perft", "play", "to_play", "winner"]  # the same for all games


# Text of cells: ``h8``, file and rank, rank 1 at the bottom; and of boards.


def parse_move(text: str, height: int = 15, width: int = 15) -> int:
    """Return the action id of a move's text, in upper or lower case. The form is checked, the legality is not.

    Raises:
        MoveTextError: not a cell, or not on the board.
    """
    return parse_point(text, height, width, FILES, "e.g. h8")


def format_move(action: int, height: int = 15, width: int = 15) -> str:
    """Return the text of an action id, e.g. ``h8``."""
    return f"{FILES[action % width]}{height - action // width}"


_COLOURS = {"first": "Black", "second": "White"}


def diagram(state: GomokuState) -> str:
    """Return the lines of a board, top rank first: ``x`` black, ``o`` white, ``[x]`` the last stone if it is known."""
    return stone_diagram(state.board, last_cell(state), FILES)


def standing(state: GomokuState) -> str:
    """Return a sentence with the side to move or the winner, the number of plies and the rule."""
    played = f"{state.turn[PLY]} plies, {format_variant(state)}"
    result = winner(state)
    if result is None:
        return f"{'White' if to_play(state) else 'Black'} to move after {played}"
    return f"Drawn after {played}" if result == "draw" else f"{_COLOURS[result]} won after {played}"


def last_cell(state: GomokuState) -> int:
    """Return the last cell, or -1 if it is not known."""
    ply = int(state.turn[PLY])
    return int(state.moves[ply - 1]) if ply else -1


# Gomoku for searches: an action is the cell of a stone; a step is an action.


@njit(cache=True)
def _outcome(state: GomokuState) -> tuple[bool, float]:
    return state.turn[STANDING] != GOING, -1.0 if state.turn[STANDING] == WON else 0.0


@njit(cache=True)
def _room(state: GomokuState) -> int:
    return int(state.board.size)


kernels.implement_game(
    GomokuState,
    copy_into=copy_into,
    outcome=_outcome,
    max_actions=_room,
    write_actions=write_actions,
    is_legal=legal,
    play=_play,
    take_back=take_back,
)

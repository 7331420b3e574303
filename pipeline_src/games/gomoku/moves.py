"""The rules of Gomoku as kernels that change a state in place."""

from typing import Any

import numpy as np
import numpy.typing as npt

from pipeline_src.games.gomoku.board import (
    AT_LEAST,
    BLACK,
    CARO,
    DRAWN,
    EMPTY,
    EXACT,
    EXACTLY,
    FIRST,
    GOING,
    KEYS,
    LINE,
    ONE_END_OPEN,
    PLY,
    RENJU,
    RULE,
    SIDE,
    SIDE_KEY,
    STANDING,
    WON,
    GomokuState,
)
from pipeline_src.jit import njit

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
    """Whether a stone of ``colour`` on a cell, placed or not, makes a winning line; see `moves.kind_of_line`."""
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
def play(state: GomokuState, action: int) -> None:
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

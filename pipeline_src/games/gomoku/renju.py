"""Moves forbidden to Black in Renju: a row of six or more, two fours at once, two threes at once.

The definitions are those of the Renju International Federation:

* A stone that makes five in a row wins and is never forbidden, in any case.
* An *overline* is a row of six or more.
* A *four* needs one more stone to be exactly five in a row. A row of four that makes five at either end is one four, a
  *straight* four; ``x.xxx.x`` is two fours.
* A *three* needs one more stone to be a straight four; that stone must be allowed itself and must not make five. So
  whether two threes count as two depends on stones that could follow, and on those that could follow these.

White may play all of these, and also wins with an overline.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from pipeline_src.games.gomoku.board import BLACK, EMPTY
from pipeline_src.games.gomoku.rows import At, on_board, run
from pipeline_src.jit import njit

Board = npt.NDArray[np.int8]
FINE, FIVE, BAD = 0, 1, 2
"""Verdict on a stone, threes left aside."""
WHAT = "six in a row, two fours or two threes"
DEEPEST = 8
"""Longest sequence of stones that is examined to decide whether a three is a three; a ninth stone counts as allowed."""
Word: Any = np.uint64
REACH = 4
"""A black stone further away on a line adds nothing to an overline, a four or a three of a cell."""
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

"""The static evaluation of Gomoku for `search.alphabeta` and `search.minimax`: open windows and threats.

`windows` defines these words. Each window has a weight by the number of stones that it lacks. Threats outweigh the sum
of the weights, in this order: a side to move that lacks one stone wins; a side that threatens to win on two cells wins
next; a side that forces the answer and also has an open three, and a side to move with an open three, almost always
win. Only the first two are certain.

The threats are those of Allis, van den Herik and Huntjens, "Go-Moku and threat-space search" (1993). The weights come
from matches (bench/tune_gomoku.py of commit 115887a), in which neither weights for spans nor separate weights for the
side to move made the search stronger. Where only a line of exactly the winning length wins, spans ignore the stones
beyond their ends; windows, and so everything certain, include them. In Renju the windows are those of exact lines for
both sides and ignore forbidden cells; in Caro they are those of freestyle.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.games.gomoku import moves
from pipeline_src.games.gomoku.board import EXACT, LINE, PLY, RULE, SIDE, STANDING, WON, GomokuState
from pipeline_src.games.kernels import implement
from pipeline_src.jit import njit
from pipeline_src.search import evaluator
from pipeline_src.search.evaluator import WIN
from pipeline_src.search.gomoku.windows import (
    BLOCKS,
    FOURS,
    LACKING,
    OTHER_FOURS,
    OTHER_THREES,
    OWN_FOURS,
    OWN_THREES,
    SHUT,
    THREES,
    USED,
    WINS,
    Windows,
    changes,
    make_windows,
    prepare,
    sums,
)

LOST, TWO_CELLS, MOST = 6000.0, 5000.0, 900.0
"""Values of the two certain threats, and the bound of the sum of weights."""


class Weights(NamedTuple):
    """Weights in points."""

    windows: tuple[float, ...] = (12.0, 9.0, 3.0, 1.0)
    """Weights of windows by the number of missing stones: 1, 2, 3, ... up to `LACKING`."""
    threats: tuple[float, float] = (3000.0, 2000.0)
    """Values added to the sum: for a threat to win with an open three; for an open three of the side to move."""


class GomokuEvaluator(NamedTuple):
    """The evaluation in the form that searches take: weights, tables, and scratch space for one thread."""

    windows: Windows
    threats: npt.NDArray[np.float64]
    """[2]: see `Weights`."""


def make_evaluator(weights: Weights | None = None) -> GomokuEvaluator:
    """Return an evaluator for any board and rule, by default with the default weights."""
    weights = weights or Weights()
    table = np.zeros(LACKING + 1, np.int64)
    table[1 : 1 + len(weights.windows)] = np.round(1000 * np.array(weights.windows))
    return GomokuEvaluator(make_windows(table), np.array(weights.threats))


@njit(cache=True)
def _count(counts: int, where: int, bits: int) -> int:
    return (counts >> where) & ((1 << bits) - 1)


@njit(cache=True)
def _winning_cells(state: GomokuState, colour: int) -> tuple[int, int]:
    """Return (the number of empty cells that make a line for ``colour``, 2 at most, the first of them)."""
    board, line, kind = state.board, state.turn[LINE], moves.kind_of_line(state, colour)
    n, first = 0, -1
    for cell in range(board.size):
        if board[cell // board.shape[1], cell % board.shape[1]] == 0 and moves.line_through(
            board, cell, colour, line, kind
        ):
            n += 1
            if n == 2:
                break
            first = cell
    return n, first


@njit(cache=True)
def _winning_cells_by(state: GomokuState, stone: int, colour: int) -> tuple[int, int]:
    """`_winning_cells` for the lines through a stone: on each ray the first empty cell, if stones lead up to it."""
    board, line, kind = state.board, state.turn[LINE], moves.kind_of_line(state, colour)
    height, width = board.shape
    n, first = 0, -1
    for down in range(-1, 2):
        for right in range(-1, 2):
            if down == 0 and right == 0:
                continue
            row, column = stone // width + down, stone % width + right
            while 0 <= row < height and 0 <= column < width and board[row, column] == colour:
                row, column = row + down, column + right
            if not (0 <= row < height and 0 <= column < width) or board[row, column] != 0:
                continue
            if moves.line_through(board, row * width + column, colour, line, kind):
                n += 1
                if n == 2:
                    return n, first
                first = row * width + column
    return n, first


@njit(cache=True)
def _threes_at(state: GomokuState, cell: int, colour: int) -> int:
    """Count the spans through a cell that are open threes of ``colour``."""
    board, line = state.board, state.turn[LINE]
    height, width = board.shape
    found = 0
    for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
        for back in range(line + 1):
            row, column = cell // width - back * down, cell % width - back * right
            end_row, end_column = row + line * down, column + line * right
            if row < 0 or end_row >= height or min(column, end_column) < 0 or max(column, end_column) >= width:
                continue
            if board[row, column] != 0 or board[end_row, end_column] != 0:
                continue
            stones = 0
            for i in range(1, line):
                stone = board[row + i * down, column + i * right]
                stones += 1 if stone == colour else 0 if stone == 0 else -line
            found += 1 if stones == line - 2 else 0
    return found


@njit(cache=True)
def _judge(
    worth: int, other_fours: int, cells: int, three: bool, other_threes: int, threats: npt.NDArray[np.float64]
) -> float:
    """Return the value to the side that has just moved, from its sum of weights in thousandths and from the threats.

    ``cells`` is the number of cells on which it threatens to win, ``three`` whether it also has an open three.
    """
    if other_fours > 0:
        return -LOST
    if cells >= 2:
        return TWO_CELLS
    points = min(MOST, max(-MOST, worth / 1000.0))
    if cells == 1:
        return points + threats[0] if three else points
    return points - threats[1] if other_threes > 0 else points


@njit(cache=True, nogil=True)
def value_of(state: GomokuState, evaluator: GomokuEvaluator) -> float:
    """`evaluator.evaluate`, compiled by itself, once for all searches and for calls from Python."""
    own = 2 - state.turn[SIDE]
    prepare(evaluator.windows, state)
    worth, counts = sums(evaluator.windows, state.board.reshape(state.board.size), own)
    other_fours, cells, three = _count(counts, OTHER_FOURS, 16), 0, False
    if other_fours == 0 and _count(counts, OWN_FOURS, 16) > 0:
        cells, reply = _winning_cells(state, own)
        threes = _count(counts, OWN_THREES, 16)
        three = threes > 0 and threes > _threes_at(state, reply, own)
    return -_judge(worth, other_fours, cells, three, _count(counts, OTHER_THREES, 15), evaluator.threats)


@njit(cache=True)
def _play_and_evaluate(state: GomokuState, evaluator: GomokuEvaluator, cell: int) -> float:
    moves.play(state, cell)
    over = state.turn[STANDING]
    value = WIN if over == WON else 0.0 if over else -value_of(state, evaluator)
    moves.take_back(state, cell)
    return value


@njit(cache=True, nogil=True)
def rank_up_to(
    state: GomokuState,
    evaluator: GomokuEvaluator,
    actions: npt.NDArray[np.int32],
    values: npt.NDArray[np.float32],
    stop_at: float,
) -> int:
    """`evaluator.rank`, compiled by itself, once for all searches and for calls from Python."""
    n = moves.write_actions(state, actions)
    if n == 0:
        return 0
    if state.turn[RULE] > EXACT:  # the shortcuts below do not hold with forbidden cells or blocked ends
        for i in range(n):
            values[i] = _play_and_evaluate(state, evaluator, actions[i])
        return n
    windows, own = evaluator.windows, state.turn[SIDE] + 1
    prepare(windows, state)
    worth, counts = changes(windows, state.board.reshape(state.board.size), own)
    other_fours, own_threes = _count(counts, OTHER_FOURS, 16), _count(counts, OWN_THREES, 16)
    other_threes, last = _count(counts, OTHER_THREES, 15), state.turn[PLY] + 1 == state.board.size
    if _count(counts, OWN_FOURS, 16) > 0:
        for i in range(n):
            if _count(windows.found[actions[i]], WINS, 8) > 0 and stop_at <= WIN:
                actions[0], values[0] = actions[i], WIN
                return 1
        for i in range(n):
            values[i] = _play_and_evaluate(state, evaluator, actions[i])
        return n
    gain, all_found, board, threats = windows.gain, windows.found, state.board, evaluator.threats
    kept, forced = 0, other_fours > 0 and stop_at <= WIN
    for i in range(n):
        cell, found = actions[i], all_found[actions[i]]
        left = other_fours - _count(found, BLOCKS, 8)
        if forced and left == other_fours:
            continue  # loses on the next ply; no other loss is sooner
        cells, three = 0, False
        if left == 0 and _count(found, FOURS, 8) > 0:
            row, column = cell // board.shape[1], cell % board.shape[1]
            board[row, column] = own
            cells, reply = _winning_cells_by(state, cell, own)
            threes = own_threes + _count(found, THREES, 8) - _count(found, USED, 8)
            three = threes > 0 and threes > _threes_at(state, reply, own)
            board[row, column] = 0
        value = _judge(worth + gain[cell], left, cells, three, other_threes - _count(found, SHUT, 8), threats)
        actions[kept], values[kept] = cell, 0.0 if last else value
        kept += 1
    return kept


@njit(cache=True)
def _evaluate(state: GomokuState, evaluator: GomokuEvaluator) -> float:
    return value_of(state, evaluator)


@njit(cache=True)
def _rank(
    state: GomokuState,
    evaluator: GomokuEvaluator,
    actions: npt.NDArray[np.int32],
    values: npt.NDArray[np.float32],
    stop_at: float,
) -> int:
    return rank_up_to(state, evaluator, actions, values, stop_at)


@njit(cache=True)
def _shortlist(
    state: GomokuState,
    evaluator: GomokuEvaluator,
    breadth: int,
    actions: npt.NDArray[np.int32],
    values: npt.NDArray[np.float32],
    stop_at: float,
) -> tuple[int, int]:
    return rank_up_to(state, evaluator, actions, values, stop_at), 0


@njit(cache=True)
def _settle(state: GomokuState, evaluator: GomokuEvaluator) -> tuple[bool, float]:
    return False, 0.0


implement(evaluator.settle, GomokuState, _settle)
implement(evaluator.evaluate, GomokuState, _evaluate)
implement(evaluator.rank, GomokuState, _rank)
implement(evaluator.shortlist, GomokuState, _shortlist)

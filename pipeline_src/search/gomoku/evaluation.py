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

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.games import gomoku
from pipeline_src.games.gomoku import EXACT, LINE, MAX_SIDE, PLY, RENJU, RULE, SIDE, STANDING, WON, GomokuState
from pipeline_src.games.kernels import implement, play
from pipeline_src.jit import njit
from pipeline_src.search import evaluator
from pipeline_src.search.evaluator import WIN

# The windows of a Gomoku board: the effect of one more stone, for all cells, in two passes over each line.
#
# A *window* is ``line`` cells in a row: the place of a line that wins. Those that hold stones of one colour only are
# open to that colour. A *span* is a window and one cell more, whose two ends are empty; with all cells between its ends
# but one filled by one colour, it is called an open three: one more stone there threatens to win at both ends.
#
# All is seen by the side that has just moved, here called own; the other side is to move. A window's *index* is the
# number of its own stones plus ``OTHER`` times that of the other side's; where only just a line wins, plus ``OWN_NEXT``
# and ``OTHER_NEXT`` where a stone of that side lies next to it, for a longer line would be nothing. What is to be known
# of each index lies in tables, so that the passes only slide sums along.


OTHER, OWN_NEXT, OTHER_NEXT, INDICES = 32, 1024, 2048, 4096
DEAD = 1 + OTHER  # Index of a window that is open to neither side
SUM, COUNTS, GAIN, FOUND, NEXT_GAIN, NEXT_FOUND = range(6)
"""Columns of the tables: worth to own; `OWN_FOURS` and so on; the worth that an own stone inside adds,
and what is found by it, `WINS` and so on; the worth that one next to a window adds, and what one on an end of a span
finds."""
OWN_FOURS, OTHER_FOURS, OWN_THREES, OTHER_THREES = 0, 16, 32, 48
"""Where in `COUNTS` they are counted: windows that lack one stone, spans that are open threes."""
WINS, BLOCKS, FOURS, SHUT, THREES, USED = 0, 8, 16, 24, 32, 40
"""Where in `FOUND` they are counted, by cell: an own stone there fills a window; shuts the other side's window that
lacks one stone; makes a window lack one; shuts an open three of the other side's; makes one; uses or shuts an own."""
LACKING = 6  # Largest number of missing stones for which a window has a weight


Cells = npt.NDArray[np.int8]
Ints = npt.NDArray[np.int64]


class Windows(NamedTuple):
    """Tables for one board size and rule, and scratch space for one thread."""

    weights: Ints  # [LACKING + 1], in thousandths: of a window, by the stones it lacks
    made_for: Ints
    """[4]: height, width and line length of the tables below, and whether only exactly that length counts."""
    lines: npt.NDArray[np.int32]
    """[L + 1, 3]: first cell, step and length of each line that can hold a window; then a length of 0."""
    windows: Ints  # [INDICES, 6]
    spans: Ints  # [INDICES, 6]: by the index of the cells between the ends; spans have no worth
    values: Ints  # [MAX_SIDE]: of the cells of a line, 0 empty, 1 own, OTHER
    kinds: Ints  # [2, MAX_SIDE]: of the windows and spans of a line
    gain: Ints  # [N]: by cell, the worth that an own stone there adds
    found: Ints  # [N]: by cell, the counts from `WINS` on


def make_windows(weights: Ints) -> Windows:
    """Scratch space; the tables follow when the first board is seen."""
    cells = MAX_SIDE * MAX_SIDE
    return Windows(
        weights,
        np.zeros(4, np.int64),
        np.zeros((8 * MAX_SIDE, 3), np.int32),
        np.zeros((INDICES, 6), np.int64),
        np.zeros((INDICES, 6), np.int64),
        np.zeros(MAX_SIDE, np.int64),
        np.zeros((2, MAX_SIDE), np.int64),
        np.zeros(cells, np.int64),
        np.zeros(cells, np.int64),
    )


@njit(cache=True)
def _worth(weights: Ints, stones: int, lacking: int) -> int:
    return weights[lacking] if stones > 0 and lacking < weights.size else 0


@njit(cache=True)
def _fill_window(row: Ints, own: int, other: int, shut: int, line: int, weights: Ints) -> None:
    """``shut`` has bit 0 where no own line can come here, bit 1 where none of the other side can."""
    is_own, is_other = other == 0 and shut & 1 == 0, own == 0 and shut & 2 == 0
    mine = _worth(weights, own, line - own) if is_own else 0
    theirs = _worth(weights, other, line - other) if is_other else 0
    more = _worth(weights, own + 1, line - own - 1) if is_own and own < line else 0
    own_four, other_four = is_own and own == line - 1, is_other and other == line - 1
    row[SUM], row[GAIN], row[NEXT_GAIN] = mine - theirs, more - mine + theirs, -mine
    row[COUNTS] = (int(own_four) << OWN_FOURS) + (int(other_four) << OTHER_FOURS)
    row[FOUND] = (int(own_four) << WINS) + (int(other_four) << BLOCKS) + (int(is_own and own == line - 2) << FOURS)


@njit(cache=True)
def _fill_span(row: Ints, own: int, other: int, line: int) -> None:
    own_three, other_three = other == 0 and own == line - 2, own == 0 and other == line - 2
    row[COUNTS] = (int(own_three) << OWN_THREES) + (int(other_three) << OTHER_THREES)
    row[NEXT_FOUND] = (int(other_three) << SHUT) + (int(own_three) << USED)
    row[FOUND] = row[NEXT_FOUND] + (int(other == 0 and own == line - 3) << THREES)


@njit(cache=True)
def prepare(tables: Windows, state: GomokuState) -> None:
    """Fit the tables to a board's size and rule, unless they fit already."""
    height, width = state.board.shape
    line, made = state.turn[LINE], tables.made_for
    exact = np.int64(state.turn[RULE] == EXACT or state.turn[RULE] == RENJU)
    if made[0] == height and made[1] == width and made[2] == line and made[3] == exact:
        return
    made[0], made[1], made[2], made[3] = height, width, line, exact
    n = 0
    for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
        for row in range(height):
            for column in range(width):
                if row - down >= 0 and 0 <= column - right < width:
                    continue  # not the first cell of its line
                length = width if down == 0 else height - row
                if down == 1 and right != 0:
                    length = min(length, width - column if right == 1 else column + 1)
                if length >= line:
                    tables.lines[n, 0], tables.lines[n, 1] = row * width + column, down * width + right
                    tables.lines[n, 2] = length
                    n += 1
    tables.lines[n, 2] = 0
    tables.windows[:], tables.spans[:] = 0, 0
    for own in range(line + 1):
        for other in range(line + 1 - own):
            for shut in range(4):
                at = own + OTHER * other + OWN_NEXT * shut
                _fill_window(tables.windows[at], own, other, shut, line, tables.weights)
            if own + other < line and line > 1:
                _fill_span(tables.spans[own + OTHER * other], own, other, line)


@njit(cache=True)
def _read(
    cells: Cells, start: int, step: int, length: int, line: int, exact: bool, own: int, values: Ints, kinds: Any
) -> None:
    """Write the indices of the windows and spans of a line to ``kinds``; ``values`` is scratch space."""
    for i in range(length):
        stone = cells[start + i * step]
        values[i] = 0 if stone == 0 else 1 if stone == own else OTHER
    total = np.int64(0)
    for i in range(line):
        total += values[i]
    n = length - line + 1
    kinds[0, 0] = total
    for i in range(1, n):
        total += values[i + line - 1] - values[i - 1]
        kinds[0, i] = total
    for i in range(n - 1):
        kinds[1, i] = kinds[0, i] if values[i] == 0 and values[i + line] == 0 else DEAD
    if exact:
        for i in range(n):
            before = values[i - 1] if i > 0 else 0
            after = values[i + line] if i + line < length else 0
            kinds[0, i] += OWN_NEXT if before == 1 or after == 1 else 0
            kinds[0, i] += OTHER_NEXT if before == OTHER or after == OTHER else 0


@njit(cache=True)
def sums(tables: Windows, cells: Cells, own: int) -> tuple[int, int]:
    """Return (sum of weights, counts) of a board after `prepare`; ``own`` is the colour that has just moved."""
    # Loops first take their arrays out of the tuple: passing a tuple counts references to all of its arrays.
    lines, windows, spans, values, kinds = tables.lines, tables.windows, tables.spans, tables.values, tables.kinds
    line, exact = tables.made_for[2], tables.made_for[3] == 1
    worth, counts, at = np.int64(0), np.int64(0), 0
    while lines[at, 2] > 0:
        n = lines[at, 2] - line + 1
        _read(cells, lines[at, 0], lines[at, 1], lines[at, 2], line, exact, own, values, kinds)
        for i in range(n):
            worth += windows[kinds[0, i], SUM]
            counts += windows[kinds[0, i], COUNTS]
        for i in range(n - 1):
            counts += spans[kinds[1, i], COUNTS]
        at += 1
    return int(worth), int(counts)


@njit(cache=True)
def changes(tables: Windows, cells: Cells, own: int) -> tuple[int, int]:
    """`sums`, and ``tables.gain`` and ``tables.found`` for all cells; those of cells with stones mean nothing."""
    lines, windows, spans, values, kinds = tables.lines, tables.windows, tables.spans, tables.values, tables.kinds
    line, exact, gain, found = tables.made_for[2], tables.made_for[3] == 1, tables.gain, tables.found
    for cell in range(cells.size):
        gain[cell], found[cell] = 0, 0
    worth, counts, at = np.int64(0), np.int64(0), 0
    while lines[at, 2] > 0:
        start, step, length = lines[at, 0], lines[at, 1], lines[at, 2]
        n = length - line + 1
        _read(cells, start, step, length, line, exact, own, values, kinds)
        gains, founds = np.int64(0), np.int64(0)
        for i in range(length):  # window i covers the cells i to i + line - 1; inside span i are i + 1 to i + line - 1
            cell = start + i * step
            if i < n:
                kind = kinds[0, i]
                worth += windows[kind, SUM]
                counts += windows[kind, COUNTS]
                gains += windows[kind, GAIN]
                founds += windows[kind, FOUND]
            if 1 <= i < n:
                kind = kinds[1, i - 1]
                counts += spans[kind, COUNTS]
                founds += spans[kind, FOUND]
                found[cell - step] += spans[kind, NEXT_FOUND]
            if i >= line:
                kind = kinds[0, i - line]
                gains -= windows[kind, GAIN]
                founds -= windows[kind, FOUND]
                kind = kinds[1, i - line]
                founds -= spans[kind, FOUND]
                found[cell] += spans[kind, NEXT_FOUND]
            gain[cell] += gains
            found[cell] += founds
        for i in range(n if exact else 0):
            if i > 0:
                gain[start + (i - 1) * step] += windows[kinds[0, i], NEXT_GAIN]
            if i + line < length:
                gain[start + (i + line) * step] += windows[kinds[0, i], NEXT_GAIN]
        at += 1
    return int(worth), int(counts)


LOST, TWO_CELLS, MOST = 6000.0, 5000.0, 900.0  # Values of the two certain threats, and the bound of the sum of weights


class Weights(NamedTuple):
    """Weights in points."""

    windows: tuple[float, ...] = (12.0, 9.0, 3.0, 1.0)
    """Weights of windows by the number of missing stones: 1, 2, 3, ... up to `LACKING`."""
    threats: tuple[float, float] = (3000.0, 2000.0)
    """Values added to the sum: for a threat to win with an open three; for an open three of the side to move."""


class GomokuEvaluator(NamedTuple):
    """The evaluation in the form that searches take: weights, tables, and scratch space for one thread."""

    windows: Windows
    threats: npt.NDArray[np.float64]  # [2]: see `Weights`


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
    board, line, kind = state.board, state.turn[LINE], gomoku.kind_of_line(state, colour)
    n, first = 0, -1
    for cell in range(board.size):
        if board[cell // board.shape[1], cell % board.shape[1]] == 0 and gomoku.line_through(
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
    board, line, kind = state.board, state.turn[LINE], gomoku.kind_of_line(state, colour)
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
            if gomoku.line_through(board, row * width + column, colour, line, kind):
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
    play(state, cell)
    over = state.turn[STANDING]
    value = WIN if over == WON else 0.0 if over else -value_of(state, evaluator)
    gomoku.take_back(state, cell)
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
    n = gomoku.write_actions(state, actions)
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

"""Patterns and the board that keeps them, against slow ones."""

from functools import cache

import numpy as np
import pytest

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import gomoku
from pipeline_src.games.gomoku import CARO, EXACT, FREESTYLE, LINE, RENJU, from_board, kind_of_line, line_through
from pipeline_src.jit import njit
from pipeline_src.search.gomoku import lines as patterns
from pipeline_src.search.gomoku.lines import BORDER, WINS, bring, cell_of, lift, make_lines, place, wins
from pipeline_src.search.gomoku.threats import only_answer
from pipeline_src.search.lanes import add, exchange, larger, load, load_positive, multiply_add, splat, store, total


def wins_in(row, line, rule):
    """Whether the middle stone of a row, ``x`` own, ``o`` the other's, ``#`` off the board, is in a line that wins."""
    at = len(row) // 2
    low = high = at
    while low > 0 and row[low - 1] == "x":
        low -= 1
    while high < len(row) - 1 and row[high + 1] == "x":
        high += 1
    length = high - low + 1
    if rule == FREESTYLE:
        return length >= line
    shut = low > 0 and high < len(row) - 1 and row[low - 1] == row[high + 1] == "o"
    return (length == line and not shut) or length > line if rule == CARO else length == line


def options(row, stone):
    return [row[:i] + stone + row[i + 1 :] for i, cell in enumerate(row) if cell == "."]


@cache
def pattern(row, line, rule):
    """The definitions of `patterns`, word by word."""
    if wins_in(row, line, rule):
        return patterns.FIVE
    after = [pattern(one, line, rule) for one in options(row, "x")]
    if patterns.FIVE in after:
        kept = all(any(wins_in(two, line, rule) for two in options(one, "x")) for one in options(row, "o"))
        return patterns.OPEN_FOUR if kept else patterns.FOUR
    threes = [one for one in after if one in (patterns.THREE, patterns.WIDE_THREE)]
    twos = [one for one in after if one in (patterns.TWO, patterns.WIDE_TWO)]
    if patterns.OPEN_FOUR in after:
        return patterns.WIDE_THREE if after.count(patterns.OPEN_FOUR) > 1 else patterns.THREE
    if patterns.FOUR in after:
        return patterns.CLOSED_THREE
    if threes:
        return patterns.WIDE_TWO if len(threes) > 2 else patterns.TWO
    if patterns.CLOSED_THREE in after:
        return patterns.CLOSED_TWO
    if twos:
        return patterns.ONE
    return patterns.CLOSED_ONE if patterns.CLOSED_TWO in after else patterns.NONE


def key_of(row):
    """The key of a row with its middle cell left out."""
    half, key = len(row) // 2, 0
    for k in range(1, half + 1):
        key |= ".xo#".index(row[half - k]) << (4 * k - 4)
        key |= ".xo#".index(row[half + k]) << (4 * k - 2)
    return key


@pytest.mark.parametrize(
    ("line", "rule"), [(5, FREESTYLE), (5, EXACT), (5, CARO), (4, FREESTYLE), (4, EXACT), (3, EXACT)]
)
def test_patterns_are_as_defined(line, rule):
    made, rng, seen = patterns.make_patterns(line, rule), np.random.default_rng(line), set()
    for _ in range(400):
        cells = rng.choice(list("..xxo"), 2 * made.half + 1)
        cells[made.half] = "x"
        low, high = rng.integers(0, 2 * made.half), rng.integers(2, 2 * made.half + 1)
        row = "".join(cells)
        if low < made.half < high:
            row = "#" * low + row[low : high + 1] + "#" * (2 * made.half - high)
        want = pattern(row, line, rule)
        got = int(made.table[key_of(row)]) & 15
        other = row.translate(str.maketrans("xo", "ox"))
        assert int(made.table[key_of(other)]) >> 4 == got, "colours are alike"
        assert (0 if got == patterns.LOST else got) == want, row
        seen.add(want)
    assert {patterns.FIVE, patterns.FOUR, patterns.CLOSED_THREE, patterns.THREE} <= seen


def test_well_known_shapes():
    table = patterns.make_patterns(5, FREESTYLE).table
    for row, want in {
        ".xxxx....": patterns.OPEN_FOUR,
        "oxxxx....": patterns.FOUR,
        "xx.xxx...": patterns.FOUR,
        "x.xxx.x..": patterns.OPEN_FOUR,
        "..xxx....": patterns.WIDE_THREE,
        ".ox.xx...": patterns.CLOSED_THREE,
        "#.xxx.#..": patterns.CLOSED_THREE,
        "o.xxx...o": patterns.THREE,
        "....x....": patterns.ONE,
    }.items():
        at = row.rindex("x", 0, 5) if row[4] != "x" else 4
        shifted = ("." * 4 + row + "." * 4)[at : at + 9]
        assert table[key_of(shifted)] & 15 == want, row


def test_black_in_renju():
    """Two fours in one line and a row of six are `LOST`, a straight four is not; White has the lines of freestyle."""
    renju, exact = patterns.make_patterns(5, RENJU).table, patterns.make_patterns(5, EXACT).table
    for row, want in {
        "...x.xxx.x.": patterns.LOST,
        "....xxxx...": patterns.OPEN_FOUR,
        "..xxxxxx...": patterns.LOST,
        "....xxxx.x.": patterns.FOUR,
        "....xxxxx..": patterns.FIVE,
    }.items():
        shifted = row[5 - 5 : 11]
        assert renju[key_of(shifted)] & 15 == want, row
    assert (exact & 15 != renju & 15).any()
    long = "..oooooo..."
    assert renju[key_of(long)] >> 4 == patterns.FIVE
    assert exact[key_of(long)] >> 4 == patterns.LOST


@pytest.mark.parametrize("variant", ["freestyle", "exact", "freestyle-4", "exact-3", "renju", "caro", "caro-4"])
@pytest.mark.parametrize("size", [5, 15, 20, 25])
def test_incremental_board_equals_rebuilt_one(size, variant):
    rng, board, stack = np.random.default_rng(size), np.zeros((size, size), np.int8), []
    lines = make_lines(from_board(board, 0, variant))
    for step in range(120):
        if stack and (rng.random() < 0.4 or len(stack) == board.size - 1):
            action = stack.pop()
            lift(lines, cell_of(action, size, lines))
            board.flat[action] = 0
        else:
            action, colour = int(rng.choice(np.flatnonzero(board == 0))), int(rng.integers(1, 3))
            stack.append(action)
            place(lines, cell_of(action, size, lines), colour)
            board.flat[action] = colour
        if step % 10:
            continue
        state = from_board(board, 0, variant)
        new = make_lines(state)
        for name in ("cells", "classes", "counts", "worth", "hash", "sizes"):
            assert (getattr(lines, name) == getattr(new, name)).all(), name
        for action in map(int, np.flatnonzero(board == 0)):
            for colour in (1, 2):
                won = line_through(board, action, colour, int(state.turn[LINE]), kind_of_line(state, colour))
                assert won == wins(lines, cell_of(action, size, lines), colour)


@pytest.mark.parametrize("variant", ["freestyle", "exact-3", "renju", "caro"])
@pytest.mark.parametrize("size", [5, 15])
def test_a_board_brought_to_other_stones_equals_a_new_one(size, variant):
    rng, board = np.random.default_rng(size), np.zeros((size, size), np.int8)
    lines = make_lines(from_board(board, 0, variant))
    for _ in range(40):
        for action in rng.choice(board.size, rng.integers(1, board.size // 3)):
            board.flat[action] = rng.integers(0, 3)
        bring(lines, board)
        new = make_lines(from_board(board, 0, variant))
        for name in ("cells", "classes", "counts", "worth", "hash", "sizes", "scores"):
            assert (getattr(lines, name) == getattr(new, name)).all(), name
        empty = new.cells == 0
        assert (lines.near[empty] == new.near[empty]).all()


@pytest.mark.parametrize("variant", ["freestyle", "exact", "renju", "caro", "caro-4"])
def test_only_answer_is_the_only_stone_stopping_every_line(variant):
    rng, seen = np.random.default_rng(3), set()
    for _ in range(3000):
        board = rng.choice([0, 0, 0, 1, 2], (7, 7)).astype(np.int8)
        state = from_board(board, 0, variant)
        lines = make_lines(state)
        for colour in (1, 2):
            if lines.counts[colour - 1, WINS] != 1:
                continue
            rule, line, answers = kind_of_line(state, colour), int(state.turn[LINE]), []
            for action in map(int, np.flatnonzero(board == 0)):
                board.flat[action] = 3 - colour
                empty = map(int, np.flatnonzero(board == 0))
                if not any(line_through(board, at, colour, line, rule) for at in empty):
                    answers.append(action)
                board.flat[action] = 0
            seen.add(len(answers) == 1)
            want = cell_of(answers[0], 7, lines) if len(answers) == 1 else -1
            assert only_answer(lines, colour - 1) == want, (board, colour)
    assert seen == ({True, False} if variant.startswith("caro") else {True})


def test_non_square_boards_are_refused():
    state = gomoku.from_fen("7/xxxx3/7/oooo3/7/7 b")
    lines = make_lines(state)
    assert [int(count) for count in lines.counts[:, 15]] == [1, 1]
    assert (lines.cells == BORDER).sum() == lines.cells.size - state.board.size


def test_lines_too_long_for_the_patterns():
    with pytest.raises(ZugwerkError, match="lines of 3 to 5, not 6"):
        make_lines(gomoku.initial_state(15, "freestyle-6"))


def test_empty_cells_far_away_change_no_value():
    """Else being to move would be worth something else on each board (docs/experiments.md)."""
    found = []
    for size in (17, 20):
        board = np.zeros((size, size), np.int8)
        board[6:11, 6:11] = np.random.default_rng(5).choice([0, 0, 0, 1, 2], (5, 5))
        found.append(make_lines(from_board(board, 0, "freestyle")).worth)
    assert found[0].any()
    assert (found[0] == found[1]).all()


@njit
def _all(floats, sums, table, out):
    """Use each operation once."""
    exchange(sums, 3, table, 20, 1)
    positive = load_positive(sums, 2)
    mixed = multiply_add(load(floats, 5), splat(floats[0]), positive)
    store(out, 1, larger(mixed, add(mixed, splat(-1.5))))
    return total(mixed)


def _arrays():
    rng = np.random.default_rng(4)
    floats = rng.integers(-40, 40, 40).astype(np.float32) / 8  # sums of such numbers are exact in any order
    sums, table = rng.integers(-500, 500, (2, 40)).astype(np.int16)
    return floats, sums, table, np.zeros(40, np.float32)


def test_compiled_lanes_equal_numpy_arrays() -> None:
    compiled, plain = _arrays(), _arrays()
    assert _all(*compiled) == _all.py_func(*plain)
    for one, other in zip(compiled, plain, strict=True):
        np.testing.assert_array_equal(one, other)


def test_lanes_touch_sixteen_entries() -> None:
    floats, sums, table, out = _arrays()
    before = sums.copy()
    _all(floats, sums, table, out)
    assert set(np.flatnonzero(sums != before)) <= set(range(3, 19))
    assert set(np.flatnonzero(out)) <= set(range(1, 17))
    np.testing.assert_array_equal(sums[3:19], before[3:19] + table[20:36] - table[1:17])

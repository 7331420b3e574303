from pathlib import Path

import pytest
from pipeline_src.search.connect_four import make_evaluator

from pipeline_src.games import connect_four
from pipeline_src.search.alphabeta import AlphaBeta, Options
from pipeline_src.search.limits import Limit
from pipeline_src.search.minimax import Minimax

PERFT = (Path(__file__).parent / "perft" / "connect_four.txt").read_text().splitlines()


def has_line(columns, last):
    """Whether the top stone of a column is in a line of four; a column is text, bottom up."""
    row, stone = len(columns[last]) - 1, columns[last][-1]

    def there(column, row):
        return 0 <= column < len(columns) and 0 <= row < len(columns[column]) and columns[column][row] == stone

    for right, up in ((1, 0), (0, 1), (1, 1), (1, -1)):
        run = "".join("#" if there(last + i * right, row + i * up) else "." for i in range(-3, 4))
        if "####" in run:
            return True
    return False


def slow_perft(columns, height, depth, stone="x"):
    total = 0
    for i, column in enumerate(columns):
        if len(column) < height:
            after = [*columns[:i], column + stone, *columns[i + 1 :]]
            if depth == 1:
                total += 1
            elif not has_line(after, i):
                total += slow_perft(after, height, depth - 1, "o" if stone == "x" else "x")
    return total


@pytest.mark.parametrize(("size", "depth"), [(7, 5), (4, 10)])
def test_the_file_says_what_the_slow_rules_say(size, depth):
    fen = connect_four.to_fen(connect_four.initial_state(size))
    line = next(line for line in PERFT if line.startswith(fen))
    assert f";D{depth} {slow_perft([''] * size, size - 1, depth)} " in line + " "


def test_alphabeta_finds_what_minimax_finds():
    state = connect_four.from_fen("7/7/7/3o3/2xx3/2oxo2")
    limit = Limit(depth=5)
    found = AlphaBeta(make_evaluator(), Options(widths=(0,), reduce_after=0)).search(state, limit)
    assert found.value == Minimax(make_evaluator()).search(state, limit).value


def test_alphabeta_blocks_three_in_a_row():
    state = connect_four.from_fen("7/7/7/7/o6/xxx1o2")
    found = AlphaBeta(make_evaluator(), Options(widths=(0,), reduce_after=0)).search(state, Limit(depth=2))
    assert connect_four.format_move(found.action) == "d"

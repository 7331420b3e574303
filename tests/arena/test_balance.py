import numpy as np
import pytest

from pipeline_src.arena import openings
from pipeline_src.arena.openings import balanced_openings, canonical_form, central_cells
from pipeline_src.errors import ZugwerkError
from pipeline_src.games import gomoku
from pipeline_src.learning.symmetry import transform_boards
from pipeline_src.search.gomoku.engine import Engine
from pipeline_src.search.limits import Limit
from tests.arena.gomoku_stubs import stubs  # noqa: F401

pytestmark = pytest.mark.usefixtures("stubs")
START = gomoku.initial_state(5, "freestyle-4")


def draw(count, plies=2, bound=1.0, among=None, start=START, judge="judge"):
    return balanced_openings("gomoku", start, count, plies, [3, 1], judge, bound, among)


def after(opening, start=START):
    for action in opening:
        start = gomoku.play(start, action)
    return start


def test_openings_are_balanced_and_distinct_under_symmetry():
    found = draw(20)
    boards = [after(opening).board for opening in found]
    values = [abs(sum(sign * (action // 5) for sign, action in zip((1, -1), one, strict=True))) for one in found]
    assert max(values) == 1
    assert len({canonical_form(board, 0) for board in boards}) == 20
    assert len(set(draw(20, bound=100))) == 20


def test_first_openings_are_independent_of_their_number():
    assert draw(9)[:5] == draw(5)


def test_stones_may_be_held_in_the_middle():
    cells = central_cells(5, 3)
    assert cells == [6, 7, 8, 11, 12, 13, 16, 17, 18]
    assert {action for opening in draw(10, 3, 50, cells) for action in opening} <= set(cells)
    assert central_cells(4, 2) == [5, 6, 9, 10]
    assert central_cells(3, 0) == list(range(9))
    with pytest.raises(ZugwerkError, match="no square of 6"):
        central_cells(5, 6)


def test_zero_plies_give_the_start_position():
    assert draw(3, 0) == [(), (), ()]


def test_openings_do_not_end_the_game():
    tiny = gomoku.initial_state(3, "freestyle-3")
    assert all(gomoku.winner(after(one, tiny)) is None for one in draw(8, 5, 100, start=tiny))


@pytest.mark.parametrize(("changes", "complaint"), [
    ({"count": 4, "plies": 1, "among": central_cells(5, 1)}, "calls balanced .within 1. beside the 0 already"),
    ({"count": 7, "plies": 1, "bound": 50}, "beside the 6 already found"),
    ({"count": 1, "judge": "random"}, "'random' cannot judge openings"),
])  # fmt: skip
def test_too_few_openings_or_judge_without_values_is_refused(changes, complaint):
    """Six cells of 5x5 are different up to symmetry; a stone in the middle is worth 2 to the judge."""
    with pytest.raises(ZugwerkError, match=complaint):
        draw(**changes)


def test_canonical_form_is_shared_by_symmetries_and_keeps_side():
    board = after((0, 7, 13)).board
    turned = transform_boards(np.repeat(board[None], 8, 0), np.arange(8))
    assert len({canonical_form(one, 1) for one in turned}) == 1
    assert canonical_form(board, 0) != canonical_form(board, 1)
    assert canonical_form(after((0, 7, 12)).board, 1) != canonical_form(board, 1)


def test_each_side_wins_once_from_an_opening(monkeypatch):
    monkeypatch.setattr(openings, "ATTEMPTS", 10)
    start, played = gomoku.initial_state(9), [30, 60, 120]
    found = balanced_openings("gomoku", start, 1, 5, [1], "engine:nodes=30", 3000, central_cells(9, 7), played)
    for opening in found:
        winners = set()
        for nodes in played:
            state = after(opening, start)
            while gomoku.winner(state) is None:
                state = gomoku.play(state, Engine().search(state, Limit(nodes=nodes)).action)
            winners.add(gomoku.winner(state))
        assert winners >= {"first", "second"}
    four = gomoku.initial_state(7, "freestyle-4")  # who moves next wins it at once
    with pytest.raises(ZugwerkError, match="calls balanced"):
        balanced_openings("gomoku", four, 1, 2, [1], "engine:nodes=30", 20_000, central_cells(7, 3), [100])

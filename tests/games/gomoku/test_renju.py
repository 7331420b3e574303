"""Renju and Caro: positions with their reasons, and the kernels against slow rules that share nothing with them."""

import numpy as np
import pytest

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import gomoku
from pipeline_src.games.gomoku import forbidden
from tests.games.gomoku import reference
from tests.games.gomoku.renju_positions import POSITIONS, read


def as_array(cells):
    rows, columns = (max(cell[axis] for cell in cells) + 1 for axis in (0, 1))
    return np.array([[".xo".index(cells[r, c]) for c in range(columns)] for r in range(rows)], np.int8)


@pytest.mark.parametrize(("expected", "reason", "diagram"), POSITIONS, ids=[reason for _, reason, _ in POSITIONS])
def test_known_positions(expected, reason, diagram):
    cells, at = read(diagram)
    stones = as_array(cells)
    assert reference.forbidden(cells, at) is expected
    assert forbidden(stones, *at) is expected
    assert (stones == as_array(cells)).all(), "the board is as it was"
    for turned in range(1, 4):  # the rules are the same on all sides
        cell = np.zeros_like(stones)
        cell[at] = 1
        row, column = np.argwhere(np.rot90(cell, turned))[0]
        assert forbidden(np.rot90(stones, turned).copy(), int(row), int(column)) is expected


def test_the_suite_is_large_enough_and_has_both_kinds():
    expected = [one for one, _, _ in POSITIONS]
    assert len(expected) >= 50
    assert 20 <= sum(expected) <= len(expected) - 20
    assert len({diagram for _, _, diagram in POSITIONS}) == len(POSITIONS)


@pytest.mark.parametrize("seed", range(3))
def test_dense_boards_against_the_slow_rules(seed):
    rng, found = np.random.default_rng(seed), [0, 0]
    for _ in range(40):
        draw, share = rng.random((9, 9)), rng.uniform(0.1, 0.45)
        stones = np.where(draw < share, 1, np.where(draw > 1 - rng.uniform(0, 0.15), 2, 0)).astype(np.int8)
        cells = {(r, c): ".xo"[stones[r, c]] for r in range(9) for c in range(9)}
        for r, c in np.argwhere(stones == 0).tolist():
            expected = reference.forbidden(cells, (r, c))
            assert forbidden(stones, r, c) is expected, (stones, r, c)
            found[expected] += 1
    assert min(found) > 40


@pytest.mark.parametrize("side", [9, 15, 20])
def test_legal_cells_are_those_that_are_not_forbidden(side):
    rng, forbidden_cells = np.random.default_rng(side), 0
    for _ in range(60):
        draw, share = rng.random((side, side)), rng.uniform(0.1, 0.45)
        stones = np.where(draw < share, 1, np.where(draw > 1 - rng.uniform(0, 0.15), 2, 0)).astype(np.int8)
        state = gomoku.from_board(stones, gomoku.FIRST, "renju")
        if gomoku.winner(state) is None:
            expected = [r * side + c for r, c in np.argwhere(stones == 0).tolist() if not forbidden(stones, r, c)]
            assert gomoku.legal_actions(state).tolist() == expected
            forbidden_cells += int((stones == 0).sum()) - len(expected)
    assert forbidden_cells > 20


CROSS = "9/9/4x4/4x4/2xx5/9/9/o1o1o1o2/9 b renju"
AT_CROSS = 4 * 9 + 4


def test_forbidden_moves_are_illegal_for_black_only():
    state = gomoku.from_fen(CROSS)
    assert not gomoku.is_legal(state, AT_CROSS)
    assert AT_CROSS not in gomoku.legal_actions(state)
    assert len(gomoku.legal_actions(state)) == 81 - 8 - 1
    with pytest.raises(ZugwerkError, match="action 40 is not legal here"):
        gomoku.play(state, AT_CROSS)
    assert gomoku.is_legal(gomoku.from_fen(CROSS.removesuffix(" renju")), AT_CROSS)
    after = gomoku.play(state, 0)
    assert gomoku.is_legal(after, AT_CROSS)


def test_white_wins_with_six_and_black_does_not():
    white = gomoku.from_fen("ooo1oo/xxxx2/1xx3/6/6/6 w renju")
    assert gomoku.winner(gomoku.play(white, 3)) == "second"
    black = gomoku.from_fen("xxx1xx/ooo3/1oo3/6/6/6 b renju")
    assert not gomoku.is_legal(black, 3)
    six = gomoku.from_board(np.array([[1] * 6] + [[0] * 6] * 5, np.int8), gomoku.SECOND, "renju")
    assert gomoku.winner(six) is None


def test_where_all_cells_are_forbidden_the_game_is_drawn():
    rows = "xxx1xx/oxooxo/xoxxox/oxooxo/xoxxox/oxooxo"  # one cell is left, and makes six of the row
    stones = np.array([[".xo".index(letter) for letter in row.replace("1", ".")] for row in rows.split("/")], np.int8)
    assert gomoku.winner(gomoku.from_board(stones, gomoku.FIRST, "renju")) == "draw"
    assert gomoku.winner(gomoku.from_board(stones, gomoku.FIRST, "freestyle")) is None
    last = np.argwhere(stones == 2)[-1]
    before = stones.copy()
    before[tuple(last)] = 0
    state = gomoku.from_board(before, gomoku.SECOND, "renju")
    assert gomoku.winner(state) is None
    after = gomoku.play(state, int(last[0] * 6 + last[1]))
    assert gomoku.winner(after) == "draw"
    assert len(gomoku.legal_actions(after)) == 0


@pytest.mark.parametrize(
    ("row", "wins"),
    [
        (".xx.xx.", True),
        ("oxx.xx.", True),
        ("oxx.xxo", False),
        ("xx.xxo.", True),  # an edge shuts nothing
        ("xx.xxxo", True),  # six
        ("oxx.xxx", True),
    ],
)
def test_caro(row, wins):
    stones = np.zeros((7, 7), np.int8)
    stones[0] = [".xo".index(letter) for letter in row]
    state = gomoku.from_board(stones, gomoku.FIRST, "caro")
    after = gomoku.play(state, row.index("x.x") + 1)
    assert (gomoku.winner(after) == "first") is wins


def test_sizes_and_texts():
    for size in range(5, 21):
        for variant in ("renju", "caro"):
            state = gomoku.initial_state(size, variant)
            assert gomoku.to_fen(gomoku.from_fen(gomoku.to_fen(state))) == gomoku.to_fen(state)
            assert len(gomoku.legal_actions(state)) == size * size


def test_default_games_have_the_states_that_they_had():
    """Their rule is a number where the flag of exact lines was: models, records and digests of states stay."""
    assert gomoku.initial_state(9).turn.tolist() == [0, 0, 0, 5, 0]
    assert gomoku.initial_state(9, "exact-4").turn.tolist() == [0, 0, 0, 4, 1]

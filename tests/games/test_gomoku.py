import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import gomoku
from pipeline_src.games.gomoku import diagram, forbidden, standing
from tests.games import gomoku_reference
from tests.games.gomoku_reference import SlowGomoku
from tests.games.renju_positions import POSITIONS, read

EMPTY = [
    "3/3/3 b freestyle-3",
    "4/4/4/4 b exact-3",
    "5/5/5/5/5 b freestyle-4",
    "7/7/7/7 b exact-4",
    "3/3/3/3/3/3/3/3 b freestyle-4",
    "9/9/9/9/9/9/9/9/9 b",
    "9/9/9/9/9/9/9/9/9 b exact",
    "/".join(["15"] * 15) + " b",
    "/".join(["25"] * 25) + " b exact",
    "7/7/7/7/7/7/7 b renju",
    "9/9/9/9/9/9/9/9/9 b renju",
    "5/5/5/5/5 b caro-4",
    "9/9/9/9/9/9/9/9/9 b caro",
]


@pytest.mark.parametrize("fen", EMPTY)
@pytest.mark.parametrize("seed", range(3))
def test_random_games_against_the_slow_rules(fen, seed):
    """Stones land in a corner half of the time, so that lines meet the edges and grow past their length."""
    rng = random.Random(f"{fen} {seed}")
    state, slow = gomoku.from_fen(fen), SlowGomoku(fen)
    while True:
        expected = slow.actions()
        assert gomoku.legal_actions(state).tolist() == expected
        assert gomoku.winner(state) == slow.winner()
        assert gomoku.to_play(state) == "xo".index(slow.side)
        if not expected:
            break
        near = [a for a in expected if a // slow.width < 5 and a % slow.width < 6]
        action = rng.choice(near if near and rng.random() < 0.5 else expected)
        state = gomoku.play(state, action)
        slow.play(action)
        assert state.moves[state.turn[1] - 1] == action
    assert not any(gomoku.is_legal(state, action) for action in range(state.board.size))


@pytest.mark.parametrize("down", [-1, 0, 1])
@pytest.mark.parametrize("right", [-1, 0, 1])
@pytest.mark.parametrize("gap", range(5))
def test_five_in_each_direction_and_from_each_of_its_stones(down, right, gap):
    if (down, right) == (0, 0):
        return
    squares = np.zeros((5, 5), np.int8)
    corner = (4 if down < 0 else 0, 4 if right < 0 else 0)
    cells = [(corner[0] + k * down, corner[1] + k * right) for k in range(5)]
    for row, column in cells[:gap] + cells[gap + 1 :]:
        squares[row, column] = gomoku.WHITE
    last = cells[gap][0] * 5 + cells[gap][1]
    for variant in gomoku.VARIANTS:
        after = gomoku.play(gomoku.from_board(squares, gomoku.SECOND, variant), last)
        assert gomoku.winner(after) == "second"
    black = gomoku.play(gomoku.from_board(squares, gomoku.FIRST), last)
    assert gomoku.winner(black) is None
    assert gomoku.line_through(squares, last, gomoku.WHITE, 5, gomoku.EXACTLY)
    assert not gomoku.line_through(squares, last, gomoku.BLACK, 5, gomoku.AT_LEAST)


def test_six_in_a_row():
    fen = "6/6/xx1xxx/oooo2/4o1/6 b"
    assert gomoku.winner(gomoku.play(gomoku.from_fen(fen), 14)) == "first"
    exact = gomoku.play(gomoku.from_fen(fen + " exact"), 14)
    assert gomoku.winner(exact) is None
    assert gomoku.winner(gomoku.play(exact, 22)) == "second"


def test_six_does_not_spoil_a_five_of_the_same_stone():
    crossing = gomoku.from_fen("2x4/2x4/xx1xxx1/2x4/2x4/oo1oo2/oo1oo1o b exact")
    assert gomoku.winner(gomoku.play(crossing, 2 * 7 + 2)) == "first"


def test_a_full_board_without_a_line_is_a_draw():
    state = gomoku.from_fen("xox/xoo/ox1 b freestyle-3")
    after = gomoku.play(state, 8)
    assert gomoku.winner(after) == "draw"
    assert gomoku.legal_actions(after).size == 0
    assert after.turn[gomoku.STANDING] == gomoku.DRAWN
    won = gomoku.play(gomoku.from_fen("xox/oxo/ox1 b freestyle-3"), 8)
    assert gomoku.winner(won) == "first", "the last stone of a full board may still win"


# Renju and Caro: positions with their reasons, and the kernels against slow rules that share nothing with them.


def as_array(cells):
    rows, columns = (max(cell[axis] for cell in cells) + 1 for axis in (0, 1))
    return np.array([[".xo".index(cells[r, c]) for c in range(columns)] for r in range(rows)], np.int8)


@pytest.mark.parametrize(("expected", "reason", "diagram"), POSITIONS, ids=[reason for _, reason, _ in POSITIONS])
def test_known_positions(expected, reason, diagram):
    cells, at = read(diagram)
    stones = as_array(cells)
    assert gomoku_reference.forbidden(cells, at) is expected
    assert forbidden(stones, *at) is expected
    assert (stones == as_array(cells)).all(), "the board is as it was"
    for turned in range(1, 4):  # the rules are the same on all sides
        cell = np.zeros_like(stones)
        cell[at] = 1
        row, column = np.argwhere(np.rot90(cell, turned))[0]
        assert forbidden(np.rot90(stones, turned).copy(), int(row), int(column)) is expected


@pytest.mark.parametrize("seed", range(3))
def test_dense_boards_against_the_slow_rules(seed):
    rng, found = np.random.default_rng(seed), [0, 0]
    for _ in range(40):
        draw, share = rng.random((9, 9)), rng.uniform(0.1, 0.45)
        stones = np.where(draw < share, 1, np.where(draw > 1 - rng.uniform(0, 0.15), 2, 0)).astype(np.int8)
        cells = {(r, c): ".xo"[stones[r, c]] for r in range(9) for c in range(9)}
        for r, c in np.argwhere(stones == 0).tolist():
            expected = gomoku_reference.forbidden(cells, (r, c))
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


def test_default_games_have_the_states_that_they_had():
    """Their rule is a number where the flag of exact lines was: models, records and digests of states stay."""
    assert gomoku.initial_state(9).turn.tolist() == [0, 0, 0, 5, 0]
    assert gomoku.initial_state(9, "exact-4").turn.tolist() == [0, 0, 0, 4, 1]


SIDES = st.integers(3, 25)
VARIANTS = st.sampled_from(["freestyle", "exact", "freestyle-3", "exact-4", "freestyle-6", "renju", "caro", "caro-4"])


def test_cells_by_name():
    assert gomoku.parse_move("h8") == 112
    assert gomoku.parse_move(" A15\n") == 0
    assert gomoku.format_move(0) == "a15"
    assert gomoku.parse_move("y1", 25, 25) == 624
    assert gomoku.parse_move("c1", 4, 3) == 11


@given(SIDES, SIDES, VARIANTS, st.integers(0, 2**32), st.integers(0, 60))
def test_fen_round_trip(height, width, variant, seed, plies):
    """Of positions that play leads to, boards of unequal sides among them."""
    if gomoku.parse_variant(variant)[0] > max(height, width):
        return
    rng = random.Random(seed)
    state = gomoku.from_board(np.zeros((height, width), np.int8), gomoku.FIRST, variant)
    while state.turn[gomoku.PLY] < plies and gomoku.winner(state) is None:
        state = gomoku.play(state, int(rng.choice(gomoku.legal_actions(state))))
    again = gomoku.from_fen(gomoku.to_fen(state))
    assert gomoku.to_fen(again) == gomoku.to_fen(state)
    for name in ("board", "turn", "hash"):
        np.testing.assert_array_equal(getattr(again, name), getattr(state, name))
    assert (again.moves == -1).all()


def test_position_knows_its_standing():
    assert gomoku.winner(gomoku.from_fen("xxx/oo1/3 w freestyle-3")) == "first"
    assert gomoku.winner(gomoku.from_fen("ooo/xx1/x2 b freestyle-3")) == "second"
    assert gomoku.winner(gomoku.from_fen("xox/xoo/oxx w freestyle-3")) == "draw"
    assert gomoku.winner(gomoku.from_fen("xxx1/oo2/o3/4 b exact-4")) is None


def test_diagram_marks_the_last_stone():
    state = gomoku.initial_state(3, "freestyle-3")
    for move in ("b2", "c3"):
        state = gomoku.play(state, gomoku.parse_move(move, 3, 3))
    expected = """\
    a  b  c
 3  .  . [o] 3
 2  .  x  .  2
 1  .  .  .  1
    a  b  c"""
    assert diagram(state) == expected
    assert standing(state) == "Black to move after 2 plies, freestyle-3"
    unknown = diagram(gomoku.from_fen(gomoku.to_fen(state)))
    assert unknown == expected.replace("[o]", " o ")
    assert "[" not in diagram(gomoku.initial_state(3, "freestyle-3"))


@pytest.mark.parametrize(
    ("fen", "text"),
    [
        ("xxx/oo1/3 w freestyle-3", "Black won after 5 plies, freestyle-3"),
        ("ooo/xx1/x2 b freestyle-3", "White won after 6 plies, freestyle-3"),
        ("xox/xoo/oxx w freestyle-3", "Drawn after 9 plies, freestyle-3"),
        ("2x2/5/5/5/5 w exact", "White to move after 1 plies, exact"),
    ],
)
def test_standing(fen, text):
    assert standing(gomoku.from_fen(fen)) == text

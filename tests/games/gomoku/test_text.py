import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import gomoku
from pipeline_src.games.gomoku import diagram, standing

SIDES = st.integers(3, 25)
VARIANTS = st.sampled_from(["freestyle", "exact", "freestyle-3", "exact-4", "freestyle-6", "renju", "caro", "caro-4"])


def test_cells_by_name():
    assert gomoku.parse_move("h8") == 112
    assert gomoku.parse_move(" A15\n") == 0
    assert gomoku.format_move(0) == "a15"
    assert gomoku.parse_move("y1", 25, 25) == 624
    assert gomoku.parse_move("c1", 4, 3) == 11


@given(SIDES, SIDES, st.data())
def test_move_text_round_trip(height, width, data):
    action = data.draw(st.integers(0, height * width - 1))
    text = gomoku.format_move(action, height, width)
    assert gomoku.parse_move(text, height, width) == action
    assert gomoku.parse_move(text.upper(), height, width) == action


@pytest.mark.parametrize("text", ["", "h", "8", "h0", "h08", "z1", "h8x", "hh8", "h-8", "h 8", "h\u0668"])
def test_bad_move_text_is_named(text):
    with pytest.raises(ZugwerkError, match="not a move"):
        gomoku.parse_move(text)


@pytest.mark.parametrize("text", ["p1", "a16", "y25"])
def test_cells_outside_the_board_are_refused(text):
    with pytest.raises(ZugwerkError, match="no such point on a 15x15 board"):
        gomoku.parse_move(text)


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


@pytest.mark.parametrize(
    ("fen", "message"),
    [
        ("", "expected ranks"),
        ("3/3/3", "expected ranks"),
        ("3/3/3 x", "expected ranks"),
        ("3/3/3 b freestyle-3 1", "expected ranks"),
        ("3/4/3 b freestyle-3", "ranks have 3, 4, 3 cells"),
        ("3//3 b freestyle-3", "ranks have 3, 0, 3 cells"),
        ("2x/k2/2o b freestyle-3", "unknown letter 'k'"),
        ("2X/3/3 w freestyle-3", "unknown letter 'X'"),
        ("2/2 b", "board 2x2"),
        ("26/26/26 b", "board 3x26"),
        ("0/3/3 b", "run of 0"),
        ("9999999999/3/3 b", "run of 9999999999"),
        ("2x/3/3 b freestyle-3", "1 more black than white stones with 'b'"),
        ("3/3/3 w freestyle-3", "0 more black than white stones with 'w'"),
        ("2o/3/3 w freestyle-3", "-1 more black"),
        ("xxx/oo1/o2 b freestyle-3", "the side to move has a line"),
        ("3/3/3 b", "a line of 5 does not fit a board of 3x3"),
        ("3/3/3 b pente", "no variant 'pente' of Gomoku; there are freestyle, exact, renju, caro; all but renju take"),
        ("3/3/3 b renju-3", "no variant 'renju-3'"),
        ("3/3/3 b freestyle-", "no variant 'freestyle-'"),
        ("3/3/3 b freestyle-0", "no variant 'freestyle-0'"),
    ],
)
def test_bad_fen_names_the_error(fen, message):
    with pytest.raises(ZugwerkError, match=message):
        gomoku.from_fen(fen)


@pytest.mark.parametrize(
    ("size", "variant", "message"),
    [(2, "freestyle-2", "from 3 to 25"), (26, "freestyle", "from 3 to 25"), (4, "exact", "a line of 5 does not fit")],
)
def test_no_such_start(size, variant, message):
    with pytest.raises(ZugwerkError, match=message):
        gomoku.initial_state(size, variant)


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

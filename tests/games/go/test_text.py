import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import go
from pipeline_src.games.go import diagram, standing

SIDES = st.integers(3, 25)


def test_points_by_name():
    assert go.parse_move("D4") == 288
    assert go.parse_move(" a19\n") == 0
    assert go.format_move(0) == "A19"
    assert go.parse_move("K10") == 180, "there is no file I"
    assert go.parse_move("PASS") == 361
    assert go.parse_move("Z1", 25, 25) == 624


@given(SIDES, SIDES, st.data())
def test_move_text_round_trip(height, width, data):
    action = data.draw(st.integers(0, height * width))
    text = go.format_move(action, height, width)
    assert go.parse_move(text, height, width) == action
    assert go.parse_move(text.lower(), height, width) == action


@pytest.mark.parametrize("text", ["", "d", "4", "d0", "d04", "I9", "d4x", "dd4", "d-4", "d 4", "d\u0664", "tenuki"])
def test_bad_move_text_is_named(text):
    with pytest.raises(ZugwerkError, match="not a move"):
        go.parse_move(text)


@pytest.mark.parametrize("text", ["u1", "a20", "z25"])
def test_points_outside_the_board_are_refused(text):
    with pytest.raises(ZugwerkError, match="no such point on a 19x19 board"):
        go.parse_move(text)


@given(st.integers(-40, 40), st.sets(st.tuples(st.integers(0, 18), st.integers(0, 18)), max_size=9))
def test_variant_round_trip(komi, stones):
    text = go.format_variant(komi, list(stones))
    assert go.parse_variant(text) == (komi, sorted(stones))
    state = go.initial_state(19, text)
    assert (state.turn[go.KOMI], int((state.board == go.BLACK).sum())) == (komi, len(stones))


def test_variants_by_name():
    assert go.parse_variant("standard") == (15, [])
    assert go.parse_variant("komi-6.5") == (13, [])
    assert go.parse_variant("komi--5") == (-10, [])
    assert go.parse_variant("komi-0.5/handicap-2:dp,pd") == (1, [(15, 3), (3, 15)])
    assert go.format_variant(15, [(3, 15), (15, 3)]) == "handicap-2:pd,dp"


@pytest.mark.parametrize(
    ("size", "variant", "message"),
    [
        (2, "standard", "from 3 to 25"),
        (26, "standard", "from 3 to 25"),
        (19, "", "no variant ''"),
        (19, "komi-", "no variant"),
        (19, "komi-6.25", "no variant"),
        (19, "komi-999", "no variant"),
        (19, "komi-100", "no variant"),
        (19, "/handicap-1:dd", "no variant"),
        (19, "komi-1/", "no variant"),
        (19, "komi-1handicap-1:dd", "no variant"),
        (19, "handicap-2:dd,dd", "no variant"),
        (19, "handicap-2:dd,d", "no variant"),
        (19, "handicap-2:dd,di,pp", "2 handicap stones, but 3 points"),
        (9, "handicap-1:pd", "outside a board of 9x9"),
        (3, "handicap-9:aa,ab,ac,ba,bb,bc,ca,cb,cc", "without a liberty"),
    ],
)
def test_no_such_start(size, variant, message):
    with pytest.raises(ZugwerkError, match=message):
        go.initial_state(size, variant)


@given(SIDES, SIDES, st.integers(0, 2**32), st.integers(0, 60))
def test_fen_round_trip(height, width, seed, plies):
    rng = random.Random(seed)
    state = go.from_board(np.zeros((height, width), np.int8), go.FIRST, komi=rng.randrange(-5, 20))
    while state.turn[go.PLY] < plies and go.winner(state) is None:
        state = go.play(state, int(rng.choice(go.legal_actions(state))))
    again = go.from_fen(go.to_fen(state))
    assert go.to_fen(again) == go.to_fen(state)
    np.testing.assert_array_equal(again.board, state.board)
    np.testing.assert_array_equal(np.delete(again.turn, go.PLY), np.delete(state.turn, go.PLY))
    assert again.hash == state.hash


@pytest.mark.parametrize(
    ("fen", "message"),
    [
        ("", "expected ranks"),
        ("3/3/3", "expected ranks"),
        ("3/3/3 x", "expected ranks"),
        ("3/3/3 b komi-0 pass-1", "expected ranks"),
        ("3/3/3 b pass-3", "expected ranks"),
        ("3/3/3 b standard", "expected ranks"),
        ("3/4/3 b", "ranks have 3, 4, 3 points"),
        ("3//3 b", "ranks have 3, 0, 3 points"),
        ("2x/k2/2o b", "unknown letter 'k'"),
        ("2X/3/3 w", "unknown letter 'X'"),
        ("2/2 b", "board 2x2"),
        ("26/26/26 b", "board 3x26"),
        ("0/3/3 b", "run of 0"),
        ("xxx/xox/xxx b", "stones without a liberty"),
        ("3/3/3 b ko-b2", "the ko point is not"),
        ("1x1/x1x/1x1 b ko-b2", "the ko point is not"),
        ("3/3/3 b ko-z9", "no such point"),
        ("3/3/3 b komi-1.3", "no variant 'komi-1.3'"),
    ],
)
def test_bad_fen_names_the_error(fen, message):
    with pytest.raises(ZugwerkError, match=message):
        go.from_fen(fen)


def test_diagram_marks_the_last_stone():
    state = go.initial_state(3)
    for move in ("b2", "c3"):
        state = go.play(state, go.parse_move(move, 3, 3))
    expected = """\
    A  B  C
 3  .  . [o] 3
 2  .  x  .  2
 1  .  .  .  1
    A  B  C"""
    assert diagram(state) == expected
    assert standing(state) == "Black to move after 2 plies"
    assert diagram(go.from_fen(go.to_fen(state))) == expected.replace("[o]", " o ")
    passed = go.play(state, 9)
    assert "[" not in diagram(passed)
    assert standing(passed) == "White to move after 3 plies and a pass"
    assert standing(go.play(passed, 9)) == "White won by 7.5 after 4 plies"
    assert standing(go.from_fen("3/3/3 b pass-2 komi-0")) == "Drawn after 0 plies"

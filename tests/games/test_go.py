import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline_src.games import go, kernels
from pipeline_src.games.go import diagram, lead, play_actions, replay, standing
from pipeline_src.records.go_games import parse_sgf
from pipeline_src.records.sgf import read_files
from tests.games.go_reference import SlowGo

REAL = Path(__file__).parents[2] / "../shared/data/go_507_games.tar.gz"
STARTS = ["3/3/3 b", "4/4/4 b komi-0", "5/5/5/5/5 b", "7/7/7/7/7/7/7 w komi-0.5", "9/9/9/9/9/9/9/9/9 b"]


def played(fen, *texts):
    state = go.from_fen(fen)
    for text in texts:
        state = go.play(state, go.parse_move(text, *state.board.shape))
    return state


@pytest.mark.parametrize("fen", STARTS)
@pytest.mark.parametrize("seed", range(3))
def test_random_games_against_the_slow_rules(fen, seed):
    rng = random.Random(f"{fen} {seed}")
    state, slow = go.from_fen(fen), SlowGo.from_fen(fen)
    for _ in range(200):
        expected = slow.actions()
        assert go.legal_actions(state).tolist() == expected
        assert lead(state) == slow.lead()
        if not expected:
            break
        action = rng.choice(expected[:-1] if len(expected) > 1 and rng.random() < 0.9 else expected)
        state, slow = go.play(state, action), slow.play(action)
        assert {divmod(int(p), slow.width) for p in np.flatnonzero(state.board)} == set(slow.stones)
        assert all(".xo"[state.board[point]] == stone for point, stone in slow.stones.items())
        assert (state.turn[go.KO] == go.NOWHERE) == (slow.ko is None)


@pytest.mark.parametrize("seed", range(3))
def test_taking_back_undoes_captures_and_kos(seed):
    """A game of more plies than a state remembers can be taken back as far as it does."""
    rng = random.Random(seed)
    state, history = go.initial_state(5), []
    for _ in range(go.MOVES_KEPT + 100):
        legal = go.legal_actions(state)
        action = int(rng.choice(legal[:-1] if len(legal) > 1 else legal))
        if state.turn[go.PASSES] and action == 25:
            break
        history.append((go.to_fen(state), int(state.hash[0]), action))
        kernels.play(state, action)
    for fen, key, action in history[: -go.MOVES_KEPT - 1 : -1]:
        kernels.take_back(state, action)
        assert (go.to_fen(state), int(state.hash[0])) == (fen, key)


def test_a_group_without_liberties_is_captured():
    state = played("5/1xo2/1xoo1/2xx1/5 b", "c5", "a1", "d4", "a2", "e3")
    assert go.to_fen(state) == "2x2/1x1x1/1x2x/o1xx1/o4 w"
    assert state.turn[go.KO] == go.NOWHERE, "three stones are no ko"


def test_suicide_is_illegal_unless_it_captures():
    assert not go.is_legal(go.from_fen("1xo1/xxo1/ooo1/4 b"), 0)
    assert go.to_fen(played("1xo1/xxo1/ooo1/4 w", "a4")) == "o1o1/2o1/ooo1/4 b"


def test_ko_bans_one_point_for_one_ply():
    state = played("4/1xo1/xo1o/1xo1 b", "c2")
    assert go.to_fen(state) == "4/1xo1/x1xo/1xo1 w ko-b2"
    assert not go.is_legal(state, go.parse_move("b2", 4, 4))
    later = played(go.to_fen(state), "a4", "d4")
    assert go.is_legal(later, go.parse_move("b2", 4, 4))
    passed = played(go.to_fen(state), "pass", "pass")
    assert go.winner(passed) is not None


def test_two_passes_end_the_game_by_area():
    start = "1x1o1/1x1o1/1x1o1/1x1o1/1x1o1 b"
    assert go.winner(go.from_fen(start)) is None
    assert lead(go.from_fen(start + " komi-0.5")) == -0.5
    assert go.winner(played(start + " komi-0.5", "pass", "pass")) == "second"
    assert go.winner(played(start + " komi-0", "pass", "pass")) == "draw"
    assert go.winner(played(start + " komi--3", "pass", "pass")) == "first"
    assert go.winner(played(start, "pass", "c1", "pass", "pass")) == "second"
    assert go.area(go.initial_state(9).board) == 0, "a board without stones is nobody's"


def test_handicap_stones_are_there_and_white_begins():
    state = go.initial_state(19, "komi-0.5/handicap-2:dp,pd")
    assert go.to_play(state) == go.SECOND
    assert sorted(go.format_move(int(p)) for p in np.flatnonzero(state.board == go.BLACK)) == ["D4", "Q16"]
    assert lead(go.initial_state(19, "handicap-1:jj")) == 361 - 7.5


def test_replay_gives_board_before_each_ply_up_to_illegal_one():
    start, actions = go.initial_state(9), [0, 1, 20, 9, 81, 30]
    boards = replay(start, actions)
    state = start
    for position, action in zip(boards, actions, strict=False):
        np.testing.assert_array_equal(position, state.board)
        state = go.play(state, action)
    np.testing.assert_array_equal(boards[-1], state.board)
    assert boards[2][0, 0] == go.BLACK
    assert boards[4][0, 0] == go.EMPTY, "captured by the fourth ply"
    assert not start.board.any()
    assert len(boards) == len(actions) + 1
    assert len(replay(start, [0, 1, 1, 5])) == 3
    assert len(replay(start, [81, 81, 5])) == 3
    assert len(replay(start, [])) == 1
    room = np.empty((9, 9, 9), np.int8)
    assert play_actions(go.initial_state(9), np.array([0, 99], np.int32), room) == 1


@pytest.mark.skipif(not REAL.exists(), reason="the real games are not here")
def test_real_games_give_the_boards_of_sgfmill():
    boards = pytest.importorskip("sgfmill.boards")
    for name, data in list(read_files(REAL))[::25]:
        record = parse_sgf(data, name=name)[0].record
        positions = replay(go.initial_state(19, record.variant), record.actions)
        assert len(positions) == len(record.actions) + 1
        theirs = boards.Board(19)
        for ply, action in enumerate(record.actions):
            if action < 361:
                theirs.play(18 - action // 19, action % 19, "bw"[ply % 2])
            expected = [[".bw".index(theirs.get(18 - row, column) or ".") for column in range(19)] for row in range(19)]
            np.testing.assert_array_equal(positions[ply + 1], expected, err_msg=f"{name}, ply {ply}")


SIDES = st.integers(3, 25)


def test_points_by_name():
    assert go.parse_move("D4") == 288
    assert go.parse_move(" a19\n") == 0
    assert go.format_move(0) == "A19"
    assert go.parse_move("K10") == 180, "there is no file I"
    assert go.parse_move("PASS") == 361
    assert go.parse_move("Z1", 25, 25) == 624


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

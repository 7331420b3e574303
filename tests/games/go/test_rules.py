import random
from pathlib import Path

import numpy as np
import pytest

from pipeline_src.games import go, kernels
from pipeline_src.games.go import lead, play_actions, replay
from pipeline_src.records.sgf import parse_sgf, read_files
from tests.games.go.reference import SlowGo

REAL = Path(__file__).parents[3] / "../shared/data/go_507_games.tar.gz"
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


def test_the_hash_knows_side_ko_and_passes_not_history():
    one = played("5/5/5/5/5 b", "a1", "b1", "c1", "d1")
    other = played("5/5/5/5/5 b", "c1", "d1", "a1", "b1")
    assert one.hash == other.hash
    keys = {
        int(go.from_fen(f"4/1xo1/x1xo/1xo1 {rest}").hash[0]) for rest in ("w", "b", "w ko-b2", "w pass-1", "w pass-2")
    }
    assert len(keys) == 5


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


def test_random_games_give_the_boards_of_sgfmill():
    boards = pytest.importorskip("sgfmill.boards")
    rng = random.Random(3)
    for _ in range(5):
        state, theirs = go.initial_state(9), boards.Board(9)
        for ply in range(120):
            points = go.legal_actions(state)[:-1]
            if not len(points):
                break
            action = int(rng.choice(points))
            ko = theirs.play(8 - action // 9, action % 9, "bw"[ply % 2])
            state = go.play(state, action)
            expected = [[".bw".index(theirs.get(8 - row, column) or ".") for column in range(9)] for row in range(9)]
            np.testing.assert_array_equal(state.board, expected)
            assert state.turn[go.KO] == (go.NOWHERE if ko is None else (8 - ko[0]) * 9 + ko[1])

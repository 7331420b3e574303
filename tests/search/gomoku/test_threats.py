"""The threat search: what it says is won is won, whatever is played against it."""

import numpy as np
import pytest

from pipeline_src.games import gomoku
from pipeline_src.games.gomoku import from_board
from pipeline_src.records.forced_wins import read_forced_wins
from pipeline_src.search.gomoku import threats
from pipeline_src.search.gomoku.lines import make_lines
from pipeline_src.search.gomoku.solver import Solver
from pipeline_src.search.limits import Limit
from tests.layout.imports import ROOT
from tests.search.gomoku.threat_reference import best_result, refutation, wins_by_fours

RECORDED = ROOT / "../shared/data/gomoku/forced_wins.jsonl"
SOLVER = Solver(1 << 16)


def random_position(rng, size, variant, stones, side=0):
    """A board of so many stones with nobody having won; Black is to move, or ``side``."""
    while True:
        board = np.zeros(size * size, np.int8)
        cells = rng.permutation(size * size)[: 2 * (stones // 2) + side]
        board[cells[::2]], board[cells[1::2]] = 1, 2
        state = from_board(board.reshape(size, size), side, variant)
        if gomoku.winner(state) is None and gomoku.winner(from_board(state.board, 1 - side, variant)) is None:
            return state


@pytest.mark.parametrize(
    ("variant", "side"),
    [
        ("freestyle", 0),
        ("exact", 0),
        ("freestyle-4", 0),
        ("exact-4", 0),
        ("renju", 0),
        ("renju", 1),
        ("caro", 0),
        ("caro-4", 1),
    ],
)
def test_no_defence_beats_a_proof_on_small_boards(variant, side):
    rng, won = np.random.default_rng(3), 0
    for _ in range(30):
        state = random_position(rng, 7, variant, int(rng.integers(8, 24)), side)
        found = SOLVER.solve(state, Limit(nodes=20_000))
        if found.win:
            won += 1
            assert refutation(SOLVER, state, Limit(nodes=20_000)) is None, gomoku.to_fen(state)
    assert won > 3


@pytest.mark.parametrize("variant", ["freestyle-4", "exact-4", "freestyle-3", "exact-3"])
def test_proven_wins_are_won_in_full_playout(variant):
    rng, both = np.random.default_rng(5), [0, 0]
    for _ in range(30):
        state = random_position(rng, 4, variant, int(rng.integers(8, 14)))
        best, found = best_result(state), SOLVER.solve(state, Limit(nodes=20_000))
        assert not found.win or best == 1, gomoku.to_fen(state)
        both[0] += best == 1
        both[1] += found.win
    assert both[1] > 0.7 * both[0] > 0, "most wins on so small a board are by threats"


@pytest.mark.parametrize("variant", ["freestyle", "exact"])
def test_fours_are_found_where_the_slow_search_finds_them(variant):
    rng, space, counts = np.random.default_rng(7), threats.make_four_space(), [0, 0]
    for i in range(60):
        state = random_position(rng, 7, variant, int(rng.integers(14, 30)))
        space.counts[threats.SALT] = i
        found = threats.win_by_fours(make_lines(state), space, np.int64(0), np.int64(100_000)) > 0
        assert found == wins_by_fours(state), gomoku.to_fen(state)
        counts[found] += 1
    assert min(counts) > 10


@pytest.mark.parametrize("size", [6, 9, 15, 20])
@pytest.mark.parametrize(("variant", "side"), [("freestyle", 0), ("exact", 0), ("renju", 0), ("renju", 1), ("caro", 0)])
def test_lines_are_played_to_their_end(size, variant, side):
    rng, won = np.random.default_rng(size), 0
    for _ in range(20):
        state = random_position(rng, size, variant, int(rng.integers(size * size // 5, size * size // 2)), side)
        found = SOLVER.solve(state, Limit(nodes=5_000))
        if not found.win:
            assert (found.line, found.plies) == ((), None)
            continue
        won += 1
        for action in found.line:
            assert gomoku.winner(state) is None
            state = gomoku.play(state, action)
        assert (gomoku.winner(state), found.plies) == (("first", "second")[side], len(found.line))
    assert won > 2


@pytest.mark.parametrize(
    "board",
    [
        "15/15/15/15/5x2x6/5o2x6/5o2x6/4xoooox5/7x7/4x10/10o4/15/15/15/15",
        "1o3x1o5xo/4x1x2x4x/13x1/15/3o6o4/5x9/15/3o11/x4o5o3/4x4o5/2x4x1o5/5x7o1/15/8ox5/4o10",
    ],
)
def test_a_line_against_black_in_renju_has_no_forbidden_stone(board):
    state = gomoku.from_fen(f"{board} w renju")
    found = Solver().solve(state, Limit(nodes=300_000))
    assert found.win
    for action in found.line:
        state = gomoku.play(state, action)
    assert gomoku.winner(state) == "second"


def test_the_same_position_gives_the_same_line():
    state = gomoku.from_fen("9/9/9/3xo4/3oxx3/4o4/3x1o3/9/9 b")
    one, other = (Solver(1 << 14).solve(state, Limit(nodes=50_000)) for _ in range(2))
    again = SOLVER.solve(state, Limit(nodes=50_000))
    assert (one.line, one.nodes) == (other.line, other.nodes)
    assert again.win == one.win


def test_time_and_stop_end_a_search():
    found = SOLVER.solve(gomoku.initial_state(15), Limit(movetime_ms=50))
    assert not found.win
    assert found.seconds < 2


def test_finished_game_is_not_searched():
    from pipeline_src.errors import ZugwerkError

    with pytest.raises(ZugwerkError, match="the game is over"):
        SOLVER.solve(gomoku.from_fen("xxx/oo1/3 w freestyle-3"), Limit(nodes=10))


@pytest.mark.skipif(not RECORDED.exists(), reason="the recorded positions are not here")
def test_forced_wins_that_a_strong_engine_announced():
    solver = Solver()
    won = [solver.solve(state, Limit(nodes=100_000)).win for state, plies in read_forced_wins(RECORDED) if plies <= 9]
    assert sum(won) >= 0.95 * len(won)

import numpy as np
import pytest

from pipeline_src.games import gomoku
from pipeline_src.search.evaluator import WIN
from pipeline_src.search.gomoku.evaluation import LOST, TWO_CELLS, Weights, make_evaluator, rank_up_to, value_of
from tests.search.gomoku.references import mirrored, position, random_states, value

WEIGHTS = Weights((40.0, 11.0, 3.5, 1.0), (3100.0, 2000.0))
GAMES = [(9, "freestyle", 2), (9, "exact", 2), (7, "exact-4", None), (5, "freestyle-4", None), (15, "freestyle", 3)]
SHORT = [(4, "freestyle-3", None), (5, "exact-3", None), (4, "freestyle-2", None), (3, "freestyle-1", None)]


def ranked(state, evaluator, stop_at=np.inf):
    actions, values = np.empty(state.board.size, np.int32), np.empty(state.board.size, np.float32)
    n = rank_up_to(state, evaluator, actions, values, stop_at)
    return dict(zip(actions[:n].tolist(), values[:n].tolist(), strict=True))


@pytest.mark.parametrize(("size", "variant", "spread"), GAMES + SHORT)
def test_position_values_equal_sum_over_all_windows(size, variant, spread):
    evaluator, seen = make_evaluator(WEIGHTS), []
    for state in random_states(40, size, variant, seed=1, spread=spread):
        seen.append(value_of(state, evaluator))
        assert seen[-1] == pytest.approx(value(state, WEIGHTS), abs=1e-6)
    if size >= 7:
        assert len({round(abs(v), -3) for v in seen}) > 2  # threats of several kinds were among them


@pytest.mark.parametrize(("size", "variant", "spread"), GAMES + SHORT)
def test_action_values_equal_those_of_resulting_positions(size, variant, spread):
    evaluator = make_evaluator()
    for state in random_states(25, size, variant, seed=2, spread=spread):
        found = ranked(state, evaluator)
        assert list(found) == gomoku.legal_actions(state).tolist()
        for action, seen in found.items():
            after = gomoku.play(state, action)
            if gomoku.winner(after) is None:
                assert seen == -np.float32(value_of(after, evaluator))
            else:
                assert seen == (0.0 if gomoku.winner(after) == "draw" else WIN)


def test_bound_leaves_out_only_actions_that_cannot_be_better():
    evaluator, shorter = make_evaluator(), 0
    for state in random_states(150, 9, seed=3, spread=2):
        whole, bound = ranked(state, evaluator), ranked(state, evaluator, WIN)
        assert bound.items() <= whole.items()
        assert max(bound.values()) == max(whole.values())
        if WIN not in whole.values():
            assert all(whole[action] == -LOST for action in whole.keys() - bound.keys())
            shorter += len(bound) < len(whole)
    assert shorter > 5


def test_value_is_invariant_under_symmetry_and_colour_swap():
    evaluator = make_evaluator()
    for state in random_states(20, 9, seed=4, spread=2):
        seen = value_of(state, evaluator)
        for turns in range(4):
            for flip in (False, True):
                assert value_of(mirrored(state, turns, flip), evaluator) == seen
        colours = np.array([0, 2, 1], np.int8)[state.board]
        assert value_of(gomoku.from_board(colours, 1 - gomoku.to_play(state)), evaluator) == seen


def test_non_square_boards():
    evaluator, rng = make_evaluator(WEIGHTS), np.random.default_rng(5)
    for shape in ((3, 8), (8, 3), (5, 12), (7, 6)):
        for _ in range(10):
            state = gomoku.from_board(rng.integers(0, 3, shape).astype(np.int8) * (rng.random(shape) < 0.4), 0)
            if state.turn[2] == 0:
                assert value_of(state, evaluator) == pytest.approx(value(state, WEIGHTS), abs=1e-6)


FOUR = """
. . . . . . . . .
. . . . . . . . .
. o x x x x . . .
. . o . . . . . .
. . . . o . . . .
. . . . . o . . .
. . . . . . . . .
. . . . . . . . .
. . . . . . . . ."""
GAP = FOUR.replace("o x x x x . . .", "x x . x x x . .")


def test_fours_by_who_is_to_move():
    evaluator = make_evaluator()
    assert value_of(position(FOUR, 0), evaluator) == LOST
    assert abs(value_of(position(FOUR, 1), evaluator)) < 1000  # one cell to shut
    assert value_of(position(FOUR.replace(". o x x", ". . x x"), 1), evaluator) == -TWO_CELLS


def test_where_five_alone_win_six_are_nothing():
    """A stone between two and three makes six: a win in freestyle, and in exact not even a threat."""
    evaluator = make_evaluator()
    assert value_of(position(GAP, 0), evaluator) == LOST
    exact = position(GAP, 0, "exact")
    assert abs(value_of(exact, evaluator)) < LOST
    assert max(ranked(exact, evaluator).values()) < WIN
    assert gomoku.winner(gomoku.play(exact, 2 * 9 + 3)) is None
    shut = position(GAP.replace("x x . x x x . .", "x x . x x o . ."), 0, "exact")
    assert value_of(shut, evaluator) == LOST  # with its end shut, the gap is the fifth
    five = position(GAP.replace("x x . x x x . .", ". x . x x x . ."), 0, "exact")
    assert value_of(five, evaluator) == LOST


def test_one_evaluator_serves_boards_and_rules_in_turn():
    shared = make_evaluator()
    for seed in range(3):
        for size, variant, spread in GAMES:
            (state,) = random_states(1, size, variant, seed, spread)
            before = gomoku.to_fen(state)
            assert ranked(state, shared) == ranked(state, make_evaluator())
            assert value_of(state, shared) == value_of(state, make_evaluator())
            assert gomoku.to_fen(state) == before


def test_no_first_stone_is_better_than_the_middle():
    for size in (5, 9, 15):
        found = ranked(gomoku.initial_state(size), make_evaluator())
        assert found[size * size // 2] == max(found.values()) > found[0]

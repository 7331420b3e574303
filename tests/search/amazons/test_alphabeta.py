import subprocess
import sys

import numpy as np
import pytest

from pipeline_src.games import amazons
from pipeline_src.games.rules import copy_state
from pipeline_src.jit import ready
from pipeline_src.search.alphabeta import AlphaBeta, Options
from pipeline_src.search.amazons.evaluation import make_evaluator
from pipeline_src.search.limits import Limit
from tests.search.references import least_seconds, negamax, ranked, solve

FULL = Options(widths=(0,), table_mb=1)
SMALL = [
    "Q2/3/2q w",
    "q2/3/2Q b",
    "1Q1/1*1/1q1 w",
    "1Q1/*1*/1q1 w",
    "Q1q/*2/1*1/2* w",
    "QQ*/1*1/*1*/qq1 w",
    "*Q*1/2*1/1*2/*1q* w",
    "Q*1*/*2*/2*1/1*1q w",
    "Q*2/*1*1/2*1/1*1*/q2* b",
]


@pytest.fixture(scope="module")
def start():
    return amazons.initial_state()


def after(plies, size=10, seed=0):
    rng, state = np.random.default_rng(seed), amazons.initial_state(size)
    for _ in range(plies):
        state = amazons.play(state, int(rng.choice(amazons.legal_actions(state))))
    return state


@pytest.mark.parametrize("fen", SMALL)
def test_tiny_boards_have_results_of_exhaustive_search(fen):
    state = amazons.from_fen(fen)
    exact = solve(copy_state(state), {})
    result = AlphaBeta(make_evaluator(), FULL).search(state, Limit(depth=20))
    assert np.sign(result.value) == np.sign(exact)
    assert abs(result.value) > 8000
    left = amazons.play(state, result.action)
    assert np.sign(-solve(left, {}, 1)) == np.sign(exact)


@pytest.mark.parametrize("options", [FULL, Options(widths=(0,), table_mb=0, killers=0, scout=False)])
@pytest.mark.parametrize("fen", SMALL[:6])
def test_values_at_each_depth_equal_search_without_cuts(fen, options):
    state = amazons.from_fen(fen)
    for depth in (1, 2, 3):
        result = AlphaBeta(make_evaluator(), options).search(state, Limit(depth=depth))
        assert result.value == pytest.approx(negamax(copy_state(state), make_evaluator(), depth), abs=1e-3)


NARROW = {"widths": (1,), "breadth": 1, "inner_breadth": 1, "futility": 0.0, "table_mb": 1}


def test_narrow_search_claims_only_proven_results():
    beliefs = 0
    for fen in SMALL:
        state = amazons.from_fen(fen)
        exact = solve(copy_state(state), {})
        value = AlphaBeta(make_evaluator(), Options(**NARROW)).search(state, Limit(depth=20)).value
        assert abs(value) < 100 or np.sign(value) == np.sign(exact)
        careless = AlphaBeta(make_evaluator(), Options(**NARROW, proofs=False)).search(state, Limit(depth=20)).value
        beliefs += abs(value) < 100 < abs(careless)
    assert beliefs  # unproven losses and wins are reported in squares


def test_two_plies_at_full_width_consider_all_replies():
    """On the big board, from rank alone; late enough that all the replies are soon counted."""
    state = after(46)
    evaluator, values = make_evaluator(), {}
    actions, _ = ranked(copy_state(state), evaluator)
    for action in actions:
        reply = amazons.play(state, action)
        values[action] = -max(ranked(reply, evaluator)[1]) if amazons.winner(reply) is None else 9999.0
    result = AlphaBeta(make_evaluator(), FULL).search(state, Limit(depth=2))
    assert result.value == pytest.approx(max(values.values()))
    assert values[result.action] == pytest.approx(result.value)


@pytest.mark.parametrize("plies", [0, 20, 40])
def test_one_ply_is_the_best_one_ply_value(plies):
    state = after(plies)
    actions, values = ranked(copy_state(state), make_evaluator())
    result = AlphaBeta(make_evaluator()).search(state, Limit(depth=1))
    assert result.value == max(values)
    assert values[actions.index(result.action)] == result.value
    assert result.nodes == len(actions)


@pytest.mark.parametrize("plies", [0, 16, 34])
def test_the_variation_is_legal_and_as_long_as_the_search(plies):
    state, reports = after(plies), []
    AlphaBeta(make_evaluator()).search(state, Limit(nodes=100_000), on_info=reports.append)
    assert len(reports) > 2
    for report in reports:
        line = state
        for action in report.pv:
            assert amazons.is_legal(line, action)
            line = amazons.play(line, action)
        assert report.pv[0] == report.action
    assert all(len(report.pv) == report.depth for report in reports[:-1])
    assert [r.depth for r in reports[:-1]] == list(range(1, len(reports)))


def test_interrupted_search_answers_with_its_proof():
    """However many nodes there are, the answer is one of the best actions that the reports have named."""
    state = after(24)
    searcher = AlphaBeta(make_evaluator())
    for nodes in range(2_000, 40_000, 1_700):
        reports = []
        result = searcher.search(state, Limit(nodes=nodes), on_info=reports.append)
        assert result == reports[-1]
        assert [r.nodes for r in reports] == sorted(r.nodes for r in reports)


def test_single_action_is_played_at_once_on_time_only():
    state = amazons.from_fen("Q*q3/1*4/**4/6/6/6 w")
    assert len(amazons.legal_actions(state)) == 1

    def search():
        assert AlphaBeta(make_evaluator()).search(state, Limit(movetime_ms=3_000)).depth == 1

    assert least_seconds(search, 1.5) < 1.5


def test_options_and_limits_out_of_range_are_refused():
    for wrong in ({"widths": ()}, {"widths": (-1,)}, {"table_mb": -1.0}, {"killers": -1}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            Options(**wrong)


def test_kernels_are_shared_between_processes(start):
    ready(AlphaBeta(make_evaluator()).needs(start))
    program = (
        "from pipeline_src.games import amazons; from pipeline_src.search import alphabeta;"
        "from pipeline_src.search.alphabeta import AlphaBeta;"
        "from pipeline_src.search.amazons.evaluation import make_evaluator;"
        "from pipeline_src.search.limits import Limit;"
        "print(AlphaBeta(make_evaluator()).search(amazons.initial_state(), Limit(nodes=20_000)).action,"
        "sum(alphabeta.search_root.stats.cache_hits.values()),"
        "sum(alphabeta.search_root.stats.cache_misses.values()))"
    )
    out = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    action = AlphaBeta(make_evaluator()).search(start, Limit(nodes=20_000)).action
    assert out.stdout.split() == [str(action), "1", "0"]


def test_several_lines_are_the_best_actions_with_their_values():
    state = after(6, 6)
    found = AlphaBeta(make_evaluator(), FULL).search(state, Limit(depth=2, lines=4))
    values = {
        int(action): -AlphaBeta(make_evaluator(), FULL).search(amazons.play(state, int(action)), Limit(depth=1)).value
        for action in amazons.legal_actions(state)
    }
    assert [line.value for line in found.lines] == pytest.approx(sorted(values.values(), reverse=True)[:4], abs=1e-4)
    for line in found.lines:
        assert line.value == pytest.approx(values[line.pv[0]], abs=1e-4)
        assert (line.depth, len(line.pv), line.visits) == (2, 2, None)
    assert len({line.pv[0] for line in found.lines}) == 4
    assert (found.action, found.value, found.pv) == (found.lines[0].pv[0], found.lines[0].value, found.lines[0].pv)


def test_several_lines_of_an_interrupted_search_have_one_depth():
    reports = []
    search = AlphaBeta(make_evaluator())
    found = search.search(after(6, 6), Limit(nodes=60_000, lines=3), on_info=reports.append)
    assert found.depth > 1
    for report in reports:
        assert len({line.depth for line in report.lines}) == 1
        assert [line.value for line in report.lines] == sorted((line.value for line in report.lines), reverse=True)
    assert reports[-1] == found


def test_no_more_lines_than_actions():
    state = amazons.from_fen("Q1q/*2/1*1/2* w")
    actions = len(amazons.legal_actions(state))
    found = AlphaBeta(make_evaluator(), FULL).search(state, Limit(depth=3, lines=50))
    assert 0 < actions < 50
    assert len(found.lines) == actions

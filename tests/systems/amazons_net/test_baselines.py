from dataclasses import replace

import numpy as np
import pytest

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import amazons
from pipeline_src.search.amazons.evaluation import make_evaluator, value_of
from pipeline_src.systems.amazons_net.baselines import (
    fit_scale,
    join_ranks,
    predict_one_ply,
    predict_uniform,
    rank_turns,
    win_rate,
)
from pipeline_src.systems.amazons_net.recorded import recorded_turns, top_hits
from tests.players.positions import small_dataset

N = 36


@pytest.fixture(scope="module")
def turns(tmp_path_factory):
    return recorded_turns(small_dataset(tmp_path_factory.mktemp("data"), 20, 6, shares=(1, 1, 2)), "test")[0].spread(60)


@pytest.fixture(scope="module")
def ranks(turns):
    return rank_turns(turns)


def test_ranks_are_those_of_a_slow_reference(turns, ranks):
    evaluator = make_evaluator()
    for row, (state, action) in enumerate(zip(turns.states(), turns.actions().tolist(), strict=True)):
        after = {int(a): amazons.play(state, int(a)) for a in amazons.legal_actions(state)}
        worth = {a: -np.float32(value_of(child, evaluator)) for a, child in after.items()}
        arrows = {a: v for a, v in worth.items() if a // N == action // N}
        moves = {a // N: max(v for b, v in worth.items() if b // N == a // N) for a in worth}
        for column, (values, own) in enumerate(((moves, action // N), (arrows, action), (worth, action))):
            assert ranks.legal[row, column] == len(values)
            assert ranks.better[row, column] == sum(v > values[own] for v in values.values())
            assert ranks.equal[row, column] == sum(v == values[own] for v in values.values())
        assert ranks.value[row] == max(arrows.values())
        assert ranks.value_before[row] == max(worth.values())


def test_one_ply_rates_follow_from_the_ranks(ranks):
    found = predict_one_ply(ranks, 3.0)
    for column, name in enumerate(("from_to", "arrow", "turn")):
        for k in (1, 5):
            expected = top_hits(ranks.better[:, column], ranks.equal[:, column], k)
            assert np.array_equal(found.rates[f"{name}_top{k}"], expected)
    assert np.allclose(found.win_rates["value"], 1 / (1 + np.exp(-ranks.value / 3)))
    assert (found.win_rates["value_before"] >= found.win_rates["value"]).all()


def test_chance_is_one_over_legal_turns(turns, ranks):
    found = predict_uniform(ranks)
    for row, state in enumerate(turns.states()):
        count = len(amazons.legal_actions(state))
        assert found.rates["turn_top1"][row] == 1 / count
        assert found.rates["turn_top5"][row] == min(1, 5 / count)
    assert (found.win_rates["value"] == 0.5).all()


def test_joined_tasks_equal_the_whole(turns, ranks):
    joined = join_ranks([rank_turns(some) for some in turns.chunks(7)])
    assert all(np.array_equal(a, b) for a, b in zip(joined, ranks, strict=True))


def test_an_illegal_turn_in_the_data_is_named(turns):
    wrong = turns.arrow.copy()
    wrong[3] = turns.to[3]
    with pytest.raises(ZugwerkError, match=f"game {turns.gids[3]}, ply {turns.plies[3]}: .* is not legal there"):
        rank_turns(replace(turns, arrow=wrong))


@pytest.mark.parametrize("scale", [0.7, 4.0, 30.0])
def test_the_scale_is_found_again(scale):
    rng = np.random.default_rng(1)
    value = rng.normal(0, 2 * scale, 40_000)
    results = (rng.random(40_000) < win_rate(value, scale)).astype(np.int8)
    assert fit_scale(value, results) == pytest.approx(scale, rel=0.05)


def test_a_scale_that_cannot_be_found_stays_within_bounds():
    value, won = np.array([-3.0, -1.0, 2.0]), np.array([0, 0, 1])
    assert fit_scale(value, won) == pytest.approx(0.1)
    assert fit_scale(value, 1 - won) == pytest.approx(1_000)
    assert np.array_equal(win_rate(np.array([-1e9, 0, 1e9]), 0.1), [0, 0.5, 1])

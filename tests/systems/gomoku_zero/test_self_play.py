import numpy as np
import pytest

from pipeline_src.games import gomoku
from pipeline_src.systems.gomoku_zero import self_play
from pipeline_src.systems.gomoku_zero.evaluator import even
from pipeline_src.systems.gomoku_zero.params import GomokuSelfPlay
from pipeline_src.systems.gomoku_zero.self_play import play_self, temperature, with_fours


def params(**changed):
    return GomokuSelfPlay(temperature_decay=0.96, **changed)


def test_growing_boards_temperature_drops_after_ten_moves():
    schedule = params(decay_from_start=True)
    assert [temperature(ply, schedule) for ply in (1, 10)] == [1.0, 1.0]
    assert temperature(11, schedule) == pytest.approx(0.638, abs=5e-4)
    assert 1 / temperature(100, schedule) == pytest.approx(59, abs=0.5)


def test_without_that_it_falls_move_by_move():
    assert [temperature(ply, params()) for ply in (10, 11, 12)] == [1.0, 0.96, pytest.approx(0.96**2)]


def test_policy_target_can_be_as_cold_as_played_moves():
    start, seeds = gomoku.initial_state(5, "freestyle-4"), [[1], [2]]
    shared = {"simulations": 30, "temperature_plies": 0, "temperature_decay": 0.5, "decay_from_start": True}
    plain, cold = (
        play_self(gomoku, start, even, GomokuSelfPlay(**shared, tempered_policy=on), seeds) for on in (False, True)
    )
    for one, other in zip(plain, cold, strict=True):
        assert one.actions == other.actions  # moves are drawn alike
        for ply, (visits, policy) in enumerate(zip(one.policies, other.policies, strict=True), 1):
            weights = (visits.astype(float) / visits.max()) ** (1 / max(0.01, 0.5**ply))
            np.testing.assert_allclose(policy, weights / weights.sum(), rtol=1e-5, atol=1e-6)


def test_c_may_grow_with_the_visits():
    """The formula itself is tested with the search; here, that self-play hands its constants on, in both searches."""
    start, grows = (
        gomoku.initial_state(5, "freestyle-4"),
        GomokuSelfPlay(c=1.25, c_base=19652, own_visit=False),
    )
    for chooser in (self_play._Puct, self_play._Gumbel):
        options = chooser(start, 2, even, grows).trees.options
        assert (options.c, options.c_base, options.own_visit) == (1.25, 19652, False)


def test_an_opening_ends_where_its_square_is_full():
    start, one = gomoku.initial_state(9), params(simulations=2, opening_plies=40, opening_area=3)
    openings = [game.opening for game in play_self(gomoku, start, even, one, [[seed] for seed in range(8)])]
    assert max(openings) == 9


def test_trees_of_a_game_do_not_run_full():
    """With few likely moves most of a tree is kept, move after move."""

    def sure(states, steps, counts):
        priors = np.zeros(steps.shape, np.float32)
        priors[:, 0], priors[:, 1] = 0.75, 0.25
        return priors, np.zeros(len(counts), np.float32)

    chooser = self_play._Puct(gomoku.initial_state(15), 1, sure, params(simulations=300))
    trees = chooser.trees
    trees.plant(0, gomoku.initial_state(15))
    for _ in range(20):
        trees.simulate(np.array([300], np.int32))
        assert trees.forest.used_nodes[0] < trees.nodes
        trees.advance(0, int(trees.steps(0)[trees.best(0)]))


def test_searches_by_fours_of_games_forget_each_other():
    """Each by itself, so that a game does not depend on those searched before it."""
    assert with_fours(even, params()) is even
    assert with_fours(even, params(fours=40)).limits.tolist() == [40, 0, True]

import numpy as np
import pytest

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import amazons, gomoku
from pipeline_src.search.mcts.gumbel import GumbelTrees, halvings
from pipeline_src.search.mcts.puct import PuctOptions
from pipeline_src.search.mcts.puct_trees import PuctTrees
from tests.search.mcts import references
from tests.search.mcts.references import hashed, random_states, uniform


def planted(states, options=None, evaluator=hashed, per_tree=1):
    trees = PuctTrees(states[0], len(states), evaluator, options, nodes=300, per_tree=per_tree)
    for g, state in enumerate(states):
        trees.plant(g, state)
    return trees


def stones(*cells, size=9):
    state = gomoku.initial_state(size)
    for cell in cells:
        state = gomoku.play(state, cell)
    return state


def test_simulations_are_divided_as_sequential_halving_does():
    assert halvings(16, 64) == [(16, 16), (8, 16), (4, 16), (2, 16)]
    assert halvings(4, 16) == [(4, 8), (2, 8)]
    assert halvings(16, 20) == [(16, 16), (8, 4)]
    assert halvings(1, 5) == [(1, 5)]
    for considered in range(1, 20):
        for simulations in range(considered, 60):
            plan = halvings(considered, simulations)
            assert sum(part for _, part in plan) == simulations
            assert plan[0][1] >= considered


@pytest.mark.parametrize("game", ["gomoku", "amazons"])
@pytest.mark.parametrize(
    ("considered", "simulations", "scales"),
    [
        (16, 50, (30.0, 0.1, False)),
        (4, 16, (30.0, 1.0, False)),
        (1000, 120, (30.0, 0.02, False)),
        (16, 50, (50.0, 0.1, True)),
        (4, 4, (50.0, 1.0, True)),
    ],
)
def test_steps_and_policies_equal_a_plain_implementation_of_the_paper(game, considered, simulations, scales):
    """With noise, over several moves with reused trees."""
    states = [stones(), stones(40, 41, 31), stones(0, 80)] if game == "gomoku" else random_states(3, 6, seed=6)
    options = PuctOptions(c=1.0, c_base=0.0)
    trees = planted(states, options)
    gumbel = GumbelTrees(trees, considered, simulations, *scales)
    roots = [references.evaluated(state, hashed) for state in states]
    for ply in range(3):
        found = gumbel.search([2, 0], [np.random.default_rng([ply, g]) for g in (2, 0)])
        assert trees.forest.used_nodes[1] == 0
        for i, g in enumerate((2, 0)):
            noise = np.random.default_rng([ply, g]).gumbel(size=len(roots[g].edges)).tolist()
            edge = references.slow_gumbel(roots[g], noise, considered, simulations, scales, hashed, options)
            n = found.counts[i]
            assert n == len(roots[g].edges)
            assert found.legal[i, :n].tolist() == [e.step for e in roots[g].edges]
            assert trees.visits(g).tolist() == [e.visits for e in roots[g].edges]
            improved = references.improved(roots[g], *scales)
            np.testing.assert_allclose(found.policies[i, :n], improved, rtol=1e-4, atol=1e-12)
            assert not found.policies[i, n:].any()
            assert found.values[i] == pytest.approx(roots[g].mean)
            assert found.steps[i] == edge.step
            trees.advance(g, edge.step)
            roots[g] = edge.node


def test_search_is_deterministic_without_noise_and_follows_generator_with_it():
    states = [stones(40, 41)] * 3
    plain = GumbelTrees(planted(states), 8, 24).search(range(3))
    assert len(set(plain.steps.tolist())) == 1
    drawn = [
        GumbelTrees(planted(states), 8, 24, c_scale=0.01).search(range(3), [np.random.default_rng(s) for s in seeds])
        for seeds in ((1, 2, 3), (3, 1, 2))
    ]
    assert drawn[0].steps.tolist() == np.roll(drawn[1].steps, -1).tolist()
    assert len(set(drawn[0].steps.tolist())) > 1


def test_search_is_independent_of_other_trees_and_batch_size():
    states = random_states(5, 6, seed=3)
    together = GumbelTrees(planted(states), 8, 40).search(range(5)).steps.tolist()
    assert together == [int(GumbelTrees(planted([state]), 8, 40).search([0]).steps[0]) for state in states]
    several = GumbelTrees(planted(states, per_tree=8), 8, 40)
    several.search(range(5))
    assert several.trees.forest.done.tolist() == [40] * 5


def test_a_win_is_played_and_the_policy_learns_it():
    """Four in a row with both ends open, found among all steps by a handful of simulations each."""
    state = stones(36, 0, 37, 2, 38, 4, 39, 6)
    found = GumbelTrees(planted([state], evaluator=uniform), 80, 160).search([0])
    assert found.steps[0] == 40
    assert found.policies[0].max() > 0.99
    assert found.legal[0, found.policies[0].argmax()] == 40


def test_noise_draws_steps_by_their_priors():
    """With one simulation on one considered step, the step is a sample of the prior (Gumbel-Max)."""
    states = [amazons.from_fen("Q3/4/4/3q w")] * 500
    trees = planted(states)
    found = GumbelTrees(trees, 1, 1).search(range(500), [np.random.default_rng(seed) for seed in range(500)])
    drawn = np.array([(found.steps == step).mean() for step in trees.steps(0)])
    np.testing.assert_allclose(drawn, trees.priors(0), atol=0.07)


def test_unsearchable_positions_are_refused():
    trees = planted([stones()])
    for bad in ({"considered": 0}, {"simulations": 0}, {"c_scale": -1.0}, {"c_visit": float("nan")}):
        with pytest.raises(ZugwerkError, match="Gumbel search needs"):
            GumbelTrees(trees, **bad)
    over = planted([stones(0, 80, 1, 79, 2, 78, 3, 77)])
    over.advance(0, 4)
    with pytest.raises(ZugwerkError, match="over"):
        GumbelTrees(over).search([0])

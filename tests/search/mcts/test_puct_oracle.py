"""The forest finds what the plain algorithm finds, visit for visit."""

from itertools import pairwise

import numpy as np
import pytest

from pipeline_src.games import amazons, gomoku, kernels
from pipeline_src.search.mcts.puct import PuctOptions
from pipeline_src.search.mcts.puct_trees import PuctTrees
from tests.search.line_game import line_state
from tests.search.mcts import puct_reference
from tests.search.mcts.fakes import count_state, hashed, uniform
from tests.search.mcts.positions import random_states

OPTIONS = {
    "default": PuctOptions(),
    "constant c": PuctOptions(c=2.0, c_base=0.0, fpu=0.3),
    "fixed urgency": PuctOptions(c=0.8, c_base=50.0, fpu=-1.0, fpu_absolute=True),
    "sum over edges": PuctOptions(c=1.0, c_base=0.0, own_visit=False),
    "all of it": PuctOptions(c=1.5, c_base=300.0, fpu=0.2, own_visit=False),
}


def after_move(state):
    """The same position with an amazon moved and the arrow to come."""
    moved = amazons.copy_state(state)
    steps = np.empty(kernels.max_steps(state), np.int32)
    kernels.write_steps(state, steps)
    kernels.play_step(moved, int(steps[0]))
    return moved


def gomoku_states(size, variant, n, plies):
    """Unfinished positions of random games."""
    rng, found = np.random.default_rng(size), [gomoku.initial_state(size, variant)]
    while len(found) < n:
        state = gomoku.initial_state(size, variant)
        for _ in range(int(rng.integers(1, plies + 1))):
            state = gomoku.play(state, int(rng.choice(gomoku.legal_actions(state))))
            if gomoku.winner(state) is not None:
                break
        else:
            found.append(state)
    return found


def positions(game):
    if game == "amazons":
        late = random_states(5, 6, seed=1, most=13)
        return [amazons.initial_state(6), *late, *(after_move(state) for state in late[:3])]
    if game == "line":
        return [
            line_state("....", "....", "...."),
            line_state("x...", ".o..", "..x.", side=1),
            line_state("xo..", ".x.o", "...."),
        ]
    if game == "count":
        return [count_state(total, total % 2) for total in range(0, 22, 3)]
    return {
        "gomoku 5, four in a row": lambda: gomoku_states(5, "freestyle-4", 6, 14),
        "gomoku 9": lambda: gomoku_states(9, "freestyle", 3, 50),
        "gomoku 15": lambda: gomoku_states(15, "exact", 2, 9),
    }[game]()


GAMES = ["amazons", "line", "count", "gomoku 5, four in a row", "gomoku 9", "gomoku 15"]


def same(trees, g, root, exactly=True):
    """Whether tree g stands as the plain one does at its root; sums of a reused tree may differ in the last bit."""
    assert trees.steps(g).tolist() == [edge.step for edge in root.edges]
    assert trees.visits(g).tolist() == [edge.visits for edge in root.edges]
    assert trees.value(g) == pytest.approx(root.mean, rel=0 if exactly else 1e-12)
    q = [edge.total / edge.visits if edge.visits else np.nan for edge in root.edges]
    np.testing.assert_allclose(trees.q(g), q, rtol=0 if exactly else 1e-12)
    return True


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("game", GAMES)
def test_visits_and_values_are_those_of_the_plain_algorithm(game, options):
    states, options = positions(game), OPTIONS[options]
    simulations = np.linspace(300, 40, len(states)).astype(np.int32)
    trees = PuctTrees(states[0], len(states), hashed, options)
    for g, state in enumerate(states):
        trees.plant(g, state)
    trees.simulate(simulations)
    for g, state in enumerate(states):
        assert same(trees, g, puct_reference.search(state, int(simulations[g]), hashed, options))
        assert trees.forest.done[g] == trees.visits(g).sum() == simulations[g]


@pytest.mark.parametrize("evaluator", [hashed, uniform])
@pytest.mark.parametrize("options", ["default", "sum over edges", "all of it"])
@pytest.mark.parametrize("game", ["amazons", "line", "gomoku 5, four in a row", "gomoku 9"])
def test_game_with_reused_trees_and_noise_equals_plain_algorithm(game, options, evaluator):
    """Some steps are the best, some were hardly searched; the noise is new at each root."""
    state, options = positions(game)[0], OPTIONS[options]
    trees = PuctTrees(state, 2, evaluator, options, nodes=400)
    trees.plant(1, state)
    root, used = puct_reference.evaluated(state, evaluator), []
    for ply in range(6):
        targets = np.array([-1, 0], np.int32)
        trees.simulate(targets)
        trees.add_noise(1, np.random.default_rng(ply), 0.5, 0.25)
        for edge, prior in zip(root.edges, trees.priors(1).tolist(), strict=True):
            edge.prior = prior
        trees.simulate(targets + 60)
        for _ in range(60):
            puct_reference.simulate(root, evaluator, options)
        assert same(trees, 1, root, exactly=ply == 0)
        places = np.argsort(-trees.visits(1), kind="stable")
        edge = root.edges[places[0 if ply % 3 else 1]]
        trees.advance(1, edge.step)
        used.append(int(trees.forest.used_nodes[1]))
        root = edge.node
        assert root is not None
        if root.over:
            assert used[-1] == 0
            break
        assert used[-1] == nodes_below(root)
    assert len(used) > 2
    assert max(used) < 400


def nodes_below(node):
    return 1 + sum(nodes_below(edge.node) for edge in node.edges if edge.node is not None)


def test_the_trees_memory_is_that_of_the_records_in_use():
    """Edges lie in their nodes' blocks, no two in one place, after growth and after steps."""
    state = gomoku.initial_state(9)
    trees = PuctTrees(state, 1, hashed, nodes=500)
    trees.plant(0, state)
    for _ in range(8):
        trees.simulate(np.array([300], np.int32))
        forest, used = trees.forest, int(trees.forest.used_nodes[0])
        nodes, edges = forest.nodes[0, :used], forest.edges[0]
        assert (edges["child"][nodes["owner"][1:]] == np.arange(1, used)).all()
        assert (nodes["parent"][1:] < np.arange(1, used)).all()
        blocks = sorted(
            (int(node["first"]), int(node["first"] + (1 << int(node["edges"] - 1).bit_length())))
            for node in nodes
            if node["edges"]
        )
        assert all(end <= start for (_, end), (start, _) in pairwise(blocks))
        assert blocks[-1][1] <= forest.used_edges[0] <= 4 * used
        trees.advance(0, int(trees.steps(0)[trees.best(0)]))

"""The trees with a slow evaluator, and the control of their roots."""

import os
import subprocess
import sys

import numpy as np
import pytest

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import gomoku, kernels
from pipeline_src.games.kernels import row
from pipeline_src.search.mcts.puct_trees import PuctTrees
from tests.search.mcts.fakes import hashed, uniform


def positions(n, size=9):
    rng, found = np.random.default_rng(4), []
    for _ in range(n):
        state = gomoku.initial_state(size)
        for cell in rng.permutation(size * size)[: rng.integers(4)]:
            state = gomoku.play(state, int(cell))
        found.append(state)
    return found


def planted(states, per_tree=1, evaluator=hashed):
    trees = PuctTrees(states[0], len(states), evaluator, nodes=400, per_tree=per_tree)
    for g, state in enumerate(states):
        trees.plant(g, state)
    return trees


def copied(leaves):
    return type(leaves.states)(*(a.copy() for a in leaves.states)), leaves.steps.copy(), leaves.counts.copy()


@pytest.mark.parametrize("per_tree", [1, 4])
@pytest.mark.parametrize("fused", [False, True])
def test_two_alternating_halves_equal_one_whole(fused, per_tree):
    states, targets = positions(7), np.array([50, 0, 80, 3, 70, 60, 50], np.int32)
    whole = planted(states, per_tree)
    whole.simulate(targets)
    halves = [planted(states[:3], per_tree), planted(states[3:], per_tree)]
    parts = [targets[:3], targets[3:]]
    waiting = [half.leaves(part) for half, part in zip(halves, parts, strict=True)]
    while any(len(leaves.counts) for leaves in waiting):
        for h, (half, part) in enumerate(zip(halves, parts, strict=True)):
            asked = copied(waiting[h])  # as an evaluator elsewhere would see it
            if not len(asked[2]):
                continue
            if fused:
                waiting[h] = half.exchange(*hashed(*asked), part)
            else:
                half.absorb(*hashed(*asked))
                waiting[h] = half.leaves(part)
    for g in range(7):
        half, at = (halves[0], g) if g < 3 else (halves[1], g - 3)
        assert half.visits(at).tolist() == whole.visits(g).tolist()
        assert half.value(at) == whole.value(g)
        assert half.line(at) == whole.line(g)


def test_waiting_trees_are_unchanged():
    trees = planted(positions(2))
    asked = trees.leaves(np.array([5, 5], np.int32))
    for change in (
        lambda: trees.leaves(np.array([5, 5], np.int32)),
        lambda: trees.plant(0, gomoku.initial_state(9)),
        lambda: trees.advance(0, 40),
    ):
        with pytest.raises(ZugwerkError, match="wait for the evaluator"):
            change()
    priors, values = hashed(*asked)
    with pytest.raises(ZugwerkError, match="1 rows of priors and 1 values for 2 positions"):
        trees.absorb(priors[:1], values[:1])
    with pytest.raises(ZugwerkError, match="not numbers"):
        trees.absorb(priors, values * np.float32(np.nan))
    trees.absorb(priors, values)
    assert trees.steps(0).size


def test_leaves_are_their_positions():
    trees = planted(positions(3), per_tree=3)
    for _ in range(9):
        leaves = trees.leaves(np.full(3, 60, np.int32))
        for b, count in enumerate(leaves.counts):
            state = row(leaves.states, b)
            assert gomoku.legal_actions(state).tolist() == leaves.steps[b, :count].tolist()
            stones = state.moves[: state.turn[1]]
            assert (state.board.ravel()[stones] == np.arange(len(stones)) % 2 + 1).all()
            assert (state.board > 0).sum() == len(stones)
        trees.absorb(*hashed(*leaves))


@pytest.mark.parametrize("per_tree", [1, 3])
def test_simulations_begin_where_they_are_forced_to(per_tree):
    trees = planted(positions(2), per_tree)
    forced = np.full((2, 30), -1, np.int32)
    forced[0, :20] = np.tile([5, 70, 5, 0], 5)
    forced[1, 3:] = 9
    trees.simulate(np.array([20, 30], np.int32), forced=forced)
    assert trees.visits(0)[[5, 70, 0]].tolist() == [10, 5, 5]
    assert trees.visits(0).sum() == 20
    assert trees.visits(1)[9] >= 27
    assert trees.visits(1).sum() == 30
    trees.simulate(np.array([60, 60], np.int32), forced=forced)
    assert trees.visits(1).sum() == 60


def test_trees_step_together_or_not_at_all():
    states = positions(5)
    trees, one_by_one = planted(states), planted(states)
    for some in (trees, one_by_one):
        some.simulate(np.full(5, 40, np.int32))
    best, table = np.array([trees.steps(g)[trees.best(g)] for g in range(5)], np.int32), trees.table()
    for g in range(5):
        n = table.counts[g]
        assert table.steps[g, :n].tolist() == trees.steps(g).tolist()
        assert table.visits[g, :n].tolist() == trees.visits(g).tolist()
        assert table.priors[g, :n].tolist() == trees.priors(g).tolist()
        np.testing.assert_array_equal(
            table.worths[g, :n] / np.maximum(table.visits[g, :n], 1), np.nan_to_num(trees.q(g))
        )
    bad = best.copy()
    bad[4] = 81
    with pytest.raises(ZugwerkError, match="step 81 is not legal at the root of tree 4"):
        trees.advance_all(bad)
    assert trees.forest.done.tolist() == [40] * 5
    best[2] = -1
    trees.advance_all(best)
    for g in (0, 1, 3, 4):
        one_by_one.advance(g, int(best[g]))
    assert trees.forest.done.tolist() == [0, 0, 40, 0, 0]
    for g in range(5):
        assert kernels.position_hash(row(trees.roots, g)) == kernels.position_hash(row(one_by_one.roots, g))
        assert trees.visits(g).tolist() == one_by_one.visits(g).tolist()
    fresh = planted(states)  # before anything is known of the roots
    with pytest.raises(ZugwerkError, match="not legal"):
        fresh.advance(0, -1)
    fresh.advance(0, int(gomoku.legal_actions(states[0])[3]))
    fresh.simulate(np.full(5, 3, np.int32))
    assert fresh.forest.done.tolist() == [3] * 5


def test_memory_stays_bounded_over_a_whole_game():
    """And a game that is over is searched no further."""
    state = gomoku.initial_state(5, "freestyle-4")
    trees = PuctTrees(state, 1, uniform, nodes=120)
    trees.plant(0, state)
    for _ in range(26):
        trees.simulate(np.array([100], np.int32))
        if kernels.outcome(row(trees.roots, 0))[0]:
            break
        assert trees.forest.done[0] == 100
        assert trees.forest.used_nodes[0] <= 120
        trees.advance(0, int(trees.steps(0)[trees.best(0)]))
    assert kernels.outcome(row(trees.roots, 0))[0]
    assert trees.forest.done[0] == trees.forest.used_nodes[0] == 0
    assert not trees.steps(0).size


UNCOMPILED = """
import numpy as np
from pipeline_src.games import gomoku
from pipeline_src.search.mcts.puct_trees import PuctTrees
from tests.search.mcts.fakes import uniform
state = gomoku.initial_state(4, "freestyle-3")
trees = PuctTrees(state, 1, uniform, nodes=50, per_tree=2)
trees.plant(0, state)
for _ in range(3):
    trees.simulate(np.array([20], np.int32))
    trees.advance(0, int(trees.steps(0)[trees.best(0)]))
print(trees.table().visits.tolist())
"""


@pytest.mark.slow
def test_the_kernels_run_uncompiled():
    """For debuggers and coverage."""
    found = []
    for disable in ("0", "1"):
        env = {**os.environ, "NUMBA_DISABLE_JIT": disable}
        found.append(
            subprocess.run([sys.executable, "-c", UNCOMPILED], env=env, check=True, capture_output=True).stdout
        )
    assert found[0] == found[1]

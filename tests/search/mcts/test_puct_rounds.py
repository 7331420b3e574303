"""The trees with a slow evaluator, and the control of their roots."""

import os
import subprocess
import sys

import numpy as np
import pytest

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import amazons, gomoku, kernels
from pipeline_src.games.kernels import row
from pipeline_src.games.rules import copy_state
from pipeline_src.search.limits import Limit
from pipeline_src.search.mcts.puct import UNPROVEN, PuctOptions
from pipeline_src.search.mcts.puct_search import Puct
from pipeline_src.search.mcts.puct_trees import PuctTrees
from tests.search.mcts.references import count_state, hashed, random_states, uniform
from tests.search.references import line_state


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
from tests.search.mcts.references import uniform
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


# What is certain is backed up as certain: `PuctOptions.solve`.


SOLVE = PuctOptions(solve=True)
FULL_LINE = line_state("xox.", "oxo.", "xo..")


def exact(state, known):
    """The result with best play, to the side to move, by trying every step."""
    key = tuple(array.tobytes() for array in state)
    if key not in known:
        over, result = kernels.outcome(state)
        if not over:
            steps = np.empty(kernels.max_steps(state), np.int32)
            result = -1.0
            for step in steps[: kernels.write_steps(state, steps)].copy():
                after = copy_state(state)
                kernels.play_step(after, step)
                same = kernels.to_play(after) == kernels.to_play(state)
                result = max(result, exact(after, known) * (1 if same else -1))
        known[key] = result
    return known[key]


def late_gomoku(n, empty):
    """5x5 positions with so many empty cells, four in a row wins, that are not over."""
    rng, found = np.random.default_rng(5), []
    while len(found) < n:
        state = gomoku.initial_state(5, "freestyle-4")
        while (state.board == 0).sum() > empty and gomoku.winner(state) is None:
            state = gomoku.play(state, int(rng.choice(gomoku.legal_actions(state))))
        if gomoku.winner(state) is None:
            found.append(state)
    return found


def proven_positions(game):
    if game == "count":
        return [count_state(total, total % 2) for total in range(14, 22)]
    if game == "line":
        return [line_state("xo..", ".x.o", "...."), FULL_LINE]
    if game == "gomoku":
        return late_gomoku(12, 7)
    found = random_states(150, 6, seed=3, most=24)
    return sorted(found, key=lambda state: int((state.board == amazons.EMPTY).sum()))[:12]


def true_to_the_end(trees, g, root, known):
    """Compare every proof of a tree with the result by brute force; returns how many there are."""
    forest, states, proofs = trees.forest, {0: root}, 0
    for node in range(forest.used_nodes[g]):
        here = forest.nodes[g, node]
        if node > 0:
            state = states[int(here["parent"])]
            state = copy_state(state)
            kernels.play_step(state, int(forest.edges[g, here["owner"]]["step"]))
            states[node] = state
        if here["proof"] != UNPROVEN:
            assert here["proof"] - 2.0 == exact(states[node], known)
            proofs += 1
    return proofs


@pytest.mark.parametrize("game", ["count", "line", "gomoku", "amazons"])
@pytest.mark.parametrize("per_tree", [1, 4])
@pytest.mark.parametrize("share", [False, True])
def test_every_proof_equals_best_play_and_small_games_are_decided(game, per_tree, share):
    known, decided = {}, 0
    for state in proven_positions(game):
        trees = PuctTrees(state, 1, hashed, SOLVE._replace(share=share), nodes=4000, per_tree=per_tree)
        trees.plant(0, state)
        trees.simulate(np.array([3000], np.int32))
        assert true_to_the_end(trees, 0, state, known) > 0
        if trees.proven(0):
            decided += 1
            assert trees.value(0) == exact(state, known)
            after = copy_state(state)
            kernels.play_step(after, int(trees.steps(0)[trees.best(0)]))
            same = kernels.to_play(after) == kernels.to_play(state)
            assert exact(after, known) * (1 if same else -1) == exact(state, known)
            before = int(trees.forest.done[0])
            trees.simulate(np.array([before + 50], np.int32))
            assert trees.forest.done[0] == before  # nothing is left to search
    assert decided >= 0.7 * len(proven_positions(game))


@pytest.mark.parametrize("per_tree", [1, 4])
@pytest.mark.parametrize("share", [False, True])
def test_proofs_stay_true_in_trees_that_prune(per_tree, share):
    known, decided, options = {}, 0, SOLVE._replace(prune=True, share=share)
    for state in proven_positions("gomoku"):
        trees = PuctTrees(state, 1, hashed, options, nodes=40, per_tree=per_tree)
        trees.plant(0, state)
        for target in range(30, 20_000, 30):
            trees.simulate(np.array([target], np.int32))
            true_to_the_end(trees, 0, state, known)
            if trees.proven(0):
                decided += 1
                assert trees.value(0) == exact(state, known)
                break
    assert decided >= 6


@pytest.mark.parametrize("per_tree", [1, 4])
def test_nodes_of_a_position_know_of_each_other(per_tree):
    state, asked = late_gomoku(1, 14)[0], []

    def counted(states, steps, counts):
        asked.append(len(counts))
        return hashed(states, steps, counts)

    trees = PuctTrees(state, 1, counted, SOLVE._replace(share=True), nodes=4000, per_tree=per_tree)
    trees.plant(0, state)
    trees.simulate(np.array([3000], np.int32))
    for turn in range(2):
        same, forest = {}, trees.forest
        for node in range(forest.used_nodes[0]):
            if not forest.nodes[0, node]["over"]:
                same.setdefault(int(forest.keys[0, node]), []).append(node)
        for nodes in same.values():
            circle = [nodes[0]]
            while len(circle) < len(nodes):
                circle.append(int(forest.twins[0, circle[-1]]))
            assert sorted(circle) == nodes
            assert forest.twins[0, circle[-1]] == nodes[0]
            assert len({int(forest.nodes[0, node]["proof"]) for node in nodes}) == 1
        shared = sum(len(nodes) - 1 for nodes in same.values())
        assert shared > 0
        if turn == 0:  # the others began with what was known, unless two leaves waited together
            assert len(same) <= sum(asked) <= len(same) + (per_tree > 1) * shared / 2
        trees.advance(0, int(trees.steps(0)[trees.best(0)]))


def test_certain_evaluations_decide_the_root():
    state, asked = gomoku.initial_state(5, "freestyle-4"), []

    def sure(states, steps, counts):
        """Every position is even, but where the first cell is taken the side to move has lost; the rest loses."""
        asked.append(len(counts))
        priors, values = np.full(steps.shape, -1, np.float32), np.zeros(len(counts), np.float32)
        for b, n in enumerate(counts):
            priors[b, n - 3 : n] = 1 / 3
            values[b] = -1.0 if states.board[b, 4, 4] else 0.0
        return priors, values

    found = Puct(sure, SOLVE).search(state, Limit(nodes=200))
    assert gomoku.format_move(found.action, 5, 5) == "e1"
    assert found.value == 1.0
    assert sum(asked) <= 5  # the root and at most all three of its steps that are not lost
    unsolved = Puct(sure).search(state, Limit(nodes=200))
    assert unsolved.value < 1.0


def test_loss_is_found_where_all_steps_lose():
    state = proven_positions("amazons")[-1]

    def lost(states, steps, counts):
        """Any position of the other side is won for it."""
        side = np.array([kernels.to_play(type(states)(*(a[b] for a in states))) for b in range(len(counts))])
        priors, values = hashed(states, steps, counts)
        values[side != kernels.to_play(state)] = 1.0
        return priors, values

    found = Puct(lost, SOLVE, nodes=1 << 15).search(state, Limit(nodes=30000))
    assert found.value == -1.0
    assert found.nodes < 30000
    assert amazons.is_legal(state, found.action)


@pytest.mark.parametrize("limit", [Limit(movetime_ms=60_000), Limit(), Limit(movetime_ms=60_000, lines=3)])
def test_a_search_that_reports_ends_when_all_is_proven(limit):
    (state,), reports = late_gomoku(1, 5), []
    found = Puct(hashed, SOLVE).search(state, limit, on_info=reports.append)
    assert found.seconds < 30
    assert reports
    assert found.value == exact(state, {})


def left_out(trees: PuctTrees) -> list[int]:
    """The root's steps that will not be tried, since they are known to lose."""
    if trees.forest.used_nodes[0] == 0:
        return []
    root, edges = trees.forest.nodes[0, 0], trees.forest.edges[0]
    places = edges["place"][root["first"] : root["first"] + root["edges"]]
    return [int(step) for i, step in enumerate(trees.steps(0)) if trees.forest.priors[0, 0, i] < 0 and i not in places]


def test_a_full_tree_proves_nothing_false():
    """Kept trees whose insides were freed, on endings small enough to try everything."""
    rng, known, proofs, left = np.random.default_rng(2), {}, 0, 0
    for start in [*proven_positions("gomoku"), *proven_positions("amazons")]:
        for nodes in (8, 16, 40):
            state, trees = start, PuctTrees(start, 1, hashed, SOLVE._replace(prune=True), nodes)
            trees.plant(0, state)
            while not kernels.outcome(state)[0]:
                for step in left_out(trees):
                    after, left = copy_state(state), left + 1
                    kernels.play_step(after, step)
                    assert exact(after, known) == (-1 if kernels.to_play(after) == kernels.to_play(state) else 1)
                trees.simulate(np.array([200], np.int32))
                if trees.proven(0):
                    proofs += 1
                    assert trees.value(0) == exact(state, known)
                steps = trees.steps(0)
                step = int(rng.choice(steps)) if rng.random() < 0.5 else int(steps[trees.best(0)])
                trees.advance(0, step)
                state = copy_state(state)
                kernels.play_step(state, step)
    assert proofs > 50
    assert left > 10


@pytest.mark.parametrize("limit", [Limit(nodes=30), Limit(nodes=100), Limit(movetime_ms=60)])
def test_a_turn_is_lost_only_if_all_turns_are(limit):
    known = {}
    for state in proven_positions("amazons"):
        found = Puct(hashed, SOLVE).search(state, limit)
        if found.value == -1:
            assert exact(state, known) == -1, amazons.to_fen(state)
        if found.value == 1:
            assert exact(state, known) == 1, amazons.to_fen(state)


def test_any_number_of_simulations_may_be_asked_for():
    found = Puct(hashed, SOLVE).search(proven_positions("amazons")[-1], Limit(nodes=10**10, movetime_ms=30))
    assert found.nodes > 0


def test_untried_steps_come_before_those_that_lose():
    known, untried = {}, 0

    def knows_wins(states, steps, counts):
        priors, values = hashed(states, steps, counts)
        won = [exact(type(states)(*(array[row] for array in states)), known) == 1 for row in range(len(counts))]
        return priors, np.where(won, np.float32(1), values)

    for state in proven_positions("gomoku"):
        trees = PuctTrees(state, 1, knows_wins, SOLVE, 100)
        trees.plant(0, state)
        for simulations in range(1, 6):
            trees.simulate(np.array([simulations], np.int32))
            visits, best = trees.visits(0), trees.best(0)
            if trees.proven(0) or visits.all() or not (trees.q(0)[visits > 0] == -1).all():
                continue
            assert visits[best] == 0
            assert trees.priors(0)[best] == trees.priors(0)[visits == 0].max()
            found = Puct(knows_wins, SOLVE).search(state, Limit(nodes=simulations))
            assert found.action == trees.steps(0)[best]
            assert abs(found.value) < 1
            untried += 1
    assert untried > 3

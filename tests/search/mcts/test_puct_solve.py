"""What is certain is backed up as certain: `PuctOptions.solve`."""

import numpy as np
import pytest

from pipeline_src.games import amazons, gomoku, kernels
from pipeline_src.search.limits import Limit
from pipeline_src.search.mcts.puct import UNPROVEN, PuctOptions
from pipeline_src.search.mcts.puct_search import Puct, copy_of
from pipeline_src.search.mcts.puct_trees import PuctTrees
from tests.search.line_game import line_state
from tests.search.mcts.fakes import count_state, hashed
from tests.search.mcts.positions import random_states

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
                after = copy_of(state)
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


def positions(game):
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
            state = copy_of(state)
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
    for state in positions(game):
        trees = PuctTrees(state, 1, hashed, SOLVE._replace(share=share), nodes=4000, per_tree=per_tree)
        trees.plant(0, state)
        trees.simulate(np.array([3000], np.int32))
        assert true_to_the_end(trees, 0, state, known) > 0
        if trees.proven(0):
            decided += 1
            assert trees.value(0) == exact(state, known)
            after = copy_of(state)
            kernels.play_step(after, int(trees.steps(0)[trees.best(0)]))
            same = kernels.to_play(after) == kernels.to_play(state)
            assert exact(after, known) * (1 if same else -1) == exact(state, known)
            before = int(trees.forest.done[0])
            trees.simulate(np.array([before + 50], np.int32))
            assert trees.forest.done[0] == before  # nothing is left to search
    assert decided >= 0.7 * len(positions(game))


@pytest.mark.parametrize("per_tree", [1, 4])
@pytest.mark.parametrize("share", [False, True])
def test_proofs_stay_true_in_trees_that_prune(per_tree, share):
    known, decided, options = {}, 0, SOLVE._replace(prune=True, share=share)
    for state in positions("gomoku"):
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
    state = positions("amazons")[-1]

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
    for start in [*positions("gomoku"), *positions("amazons")]:
        for nodes in (8, 16, 40):
            state, trees = start, PuctTrees(start, 1, hashed, SOLVE._replace(prune=True), nodes)
            trees.plant(0, state)
            while not kernels.outcome(state)[0]:
                for step in left_out(trees):
                    after, left = copy_of(state), left + 1
                    kernels.play_step(after, step)
                    assert exact(after, known) == (-1 if kernels.to_play(after) == kernels.to_play(state) else 1)
                trees.simulate(np.array([200], np.int32))
                if trees.proven(0):
                    proofs += 1
                    assert trees.value(0) == exact(state, known)
                steps = trees.steps(0)
                step = int(rng.choice(steps)) if rng.random() < 0.5 else int(steps[trees.best(0)])
                trees.advance(0, step)
                state = copy_of(state)
                kernels.play_step(state, step)
    assert proofs > 50
    assert left > 10


@pytest.mark.parametrize("limit", [Limit(nodes=30), Limit(nodes=100), Limit(movetime_ms=60)])
def test_a_turn_is_lost_only_if_all_turns_are(limit):
    known = {}
    for state in positions("amazons"):
        found = Puct(hashed, SOLVE).search(state, limit)
        if found.value == -1:
            assert exact(state, known) == -1, amazons.to_fen(state)
        if found.value == 1:
            assert exact(state, known) == 1, amazons.to_fen(state)


def test_any_number_of_simulations_may_be_asked_for():
    found = Puct(hashed, SOLVE).search(positions("amazons")[-1], Limit(nodes=10**10, movetime_ms=30))
    assert found.nodes > 0


def test_untried_steps_come_before_those_that_lose():
    known, untried = {}, 0

    def knows_wins(states, steps, counts):
        priors, values = hashed(states, steps, counts)
        won = [exact(type(states)(*(array[row] for array in states)), known) == 1 for row in range(len(counts))]
        return priors, np.where(won, np.float32(1), values)

    for state in positions("gomoku"):
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

import gc
import weakref
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import amazons, gomoku, kernels
from pipeline_src.games.kernels import row
from pipeline_src.search.limits import Limit
from pipeline_src.search.mcts.puct import PuctOptions
from pipeline_src.search.mcts.puct_search import Puct
from pipeline_src.search.mcts.puct_trees import PuctTrees, sample_step
from tests.search.mcts import references
from tests.search.mcts.references import count_state, hashed, random_states, uniform
from tests.search.references import line_state


def test_subtree_is_kept_after_a_step_with_its_values():
    trees = PuctTrees(amazons.initial_state(6), 1, hashed)
    trees.plant(0, amazons.initial_state(6))
    trees.simulate(np.array([200], np.int32))
    best = trees.best(0)
    visits, q, line = int(trees.visits(0)[best]), trees.q(0)[best], trees.line(0)
    trees.advance(0, int(trees.steps(0)[best]))
    assert trees.visits(0).sum() == visits - 1  # the first visit was its own evaluation
    assert trees.value(0) == pytest.approx(q)  # the same side steps on
    assert trees.line(0) == line[1:]
    trees.simulate(np.array([50], np.int32))
    assert trees.visits(0).sum() == visits - 1 + 50
    trees.advance(0, int(trees.steps(0)[np.argmin(trees.visits(0))]))  # one that was not searched
    trees.simulate(np.array([7], np.int32))
    assert trees.visits(0).sum() == 7


def test_virtual_losses_are_removed_and_lose_no_simulation():
    for per_tree in (4, 16):
        trees = PuctTrees(amazons.initial_state(6), 3, hashed, per_tree=per_tree)
        sizes = []
        trees.evaluate_batch = lambda *asked, sizes=sizes: sizes.append(len(asked[2])) or hashed(*asked)
        for g, state in enumerate(random_states(3, 6, seed=2)):
            trees.plant(g, state)
        trees.simulate(np.full(3, 100, np.int32))
        assert max(sizes) > 3
        for g in range(3):
            assert trees.visits(g).sum() == 100
            nodes = trees.forest.nodes[g, : trees.forest.used_nodes[g]]
            assert nodes["visits"].all()
            assert not nodes["pending"].any()
            assert not trees.forest.edges[g]["virtual"][nodes["owner"][1:]].any()


@pytest.mark.parametrize("rules", [amazons, gomoku])
def test_a_search_on_time_continues_in_the_last_tree(rules):
    asked = set()

    def noting(states, steps, counts):
        asked.update(kernels.position_hash(row(states, b)) for b in range(len(counts)))
        return hashed(states, steps, counts)

    puct, state = Puct(noting, nodes=4096), rules.initial_state(6)
    found = puct.search(state, Limit(nodes=400, movetime_ms=60_000))
    after = rules.play(state, found.action)
    for reply, limit, new in (
        (found.pv[1], Limit(movetime_ms=10), False),
        (found.pv[1], Limit(nodes=1), True),  # such an answer depends on the position alone
        (int(rules.legal_actions(after)[-1]), Limit(movetime_ms=10), True),  # not of the last tree
    ):
        position = rules.play(after, reply)
        asked.clear()
        puct.search(position, limit)
        assert (kernels.position_hash(position) in asked) == new


def test_search_is_independent_of_other_trees():
    states = random_states(5, 6, seed=3)
    puct = Puct(hashed, per_tree=3, nodes=256)
    together = [found.pv for found in puct.search_many(states, Limit(nodes=60))]
    alone = [Puct(hashed, per_tree=3, nodes=256).search(state, Limit(nodes=60)).pv for state in states]
    assert together == alone == [found.pv for found in puct.search_many(states[::-1], Limit(nodes=60))][::-1]


def test_wins_are_found_and_worth_one_on_either_step():
    """White shuts the black amazon in with one arrow: a win within one turn, the same side moving twice."""
    state = amazons.from_fen("q3/**2/4/3Q w")
    wins = {a for a in amazons.legal_actions(state).tolist() if amazons.winner(amazons.play(state, a)) == "first"}
    assert 0 < len(wins) < len(amazons.legal_actions(state)) // 4
    for searched, sign in ((state, 1), (amazons.from_fen("Q3/**2/4/3q b"), 1)):
        found = Puct(uniform).search(searched, Limit(nodes=3000))
        assert amazons.winner(amazons.play(searched, found.action)) is not None
        assert found.value * sign > 0.9
    lost = amazons.from_fen("3q/2**/4/Q3 b")  # Black to move is about to lose in the mirror of the same
    trees = PuctTrees(lost, 1, uniform, nodes=4096)
    trees.plant(0, lost)
    trees.simulate(np.array([3000], np.int32))
    assert trees.value(0) < 0


def test_values_of_finished_games_are_exact():
    def searched(total):
        trees = PuctTrees(count_state(), 1, uniform)
        trees.plant(0, count_state(total))
        trees.simulate(np.array([50], np.int32))
        return trees

    trees = searched(20)  # to 21 the game is unfinished, to 22 it is drawn, to 23 won
    assert trees.q(0).tolist()[1:] == [0.0, 1.0]
    assert trees.visits(0).argmax() == 2
    trees = searched(21)  # a draw, or a win in either of two ways
    assert trees.q(0).tolist() == [0.0, 1.0, 1.0]
    assert trees.visits(0).sum() == 50


@pytest.mark.parametrize("nodes", [1, 2, 20])
def test_memory_is_bounded_and_a_full_tree_is_searched_on(nodes):
    trees = PuctTrees(amazons.initial_state(6), 2, hashed, nodes=nodes, per_tree=2)
    for _ in range(3):
        for g in range(2):
            trees.plant(g, amazons.initial_state(6))
        trees.simulate(np.full(2, 200, np.int32))
        assert trees.forest.used_nodes.tolist() == [nodes, nodes]
        assert trees.forest.done.tolist() == [200, 200]
        if nodes > 1:
            assert trees.visits(1).sum() == 200


def test_noise_keeps_a_distribution_and_follows_its_generator():
    found = []
    for seed in (1, 1, 2):
        trees = PuctTrees(amazons.initial_state(6), 1, hashed)
        trees.plant(0, amazons.initial_state(6))
        trees.simulate(np.array([0], np.int32))
        clean = trees.priors(0).copy()
        trees.add_noise(0, np.random.default_rng(seed), alpha=0.3, fraction=0.25)
        assert trees.priors(0).sum() == pytest.approx(1)
        assert (trees.priors(0) >= 0.7499 * clean).all()
        found.append(trees.priors(0).tolist())
    assert found[0] == found[1] != found[2]


def test_temperature_goes_from_the_most_visited_to_the_visits():
    steps, visits = np.array([5, 7, 9], np.int32), np.array([1, 3, 0], np.int32)
    rng = np.random.default_rng(0)
    drawn = [sample_step(steps, visits, rng) for _ in range(2000)]
    assert np.mean(np.array(drawn) == 7) == pytest.approx(0.75, abs=0.03)
    assert 9 not in drawn
    assert {sample_step(steps, visits, rng, temperature=0.01) for _ in range(200)} == {7}


def test_with_caution_the_best_step_has_the_greatest_bound():
    differ = 0
    for state in random_states(20, 6, seed=6):
        found = {}
        for caution in (0.0, 0.3, 1000.0):
            trees = PuctTrees(state, 1, hashed, PuctOptions(caution=caution))
            trees.plant(0, state)
            trees.simulate(np.array([60], np.int32))
            found[caution] = trees.best(0)
        visits, q = trees.visits(0), trees.q(0)
        seen = [k for k in range(len(visits)) if visits[k] >= 0.1 * visits.max()]
        assert found[0.3] == max(seen, key=lambda k: q[k] - 0.3 / visits[k] ** 0.5)
        assert visits[found[0.0]] == visits[found[1000.0]] == visits.max()
        differ += found[0.3] != found[0.0]
    assert differ > 0


def test_unsearchable_positions_are_refused():
    with pytest.raises(ZugwerkError, match="over"):
        Puct(uniform).search(amazons.from_fen("Q**/***/2q w"), Limit(nodes=1))
    with pytest.raises(ZugwerkError, match="depth"):
        Puct(uniform).search(amazons.initial_state(6), Limit(depth=1))
    with pytest.raises(ZugwerkError, match="one size"):
        Puct(uniform).search_many([amazons.initial_state(6), amazons.initial_state(8)], Limit(nodes=1))
    with pytest.raises(ZugwerkError, match="c=-1"):
        PuctTrees(amazons.initial_state(6), 1, uniform, PuctOptions(c=-1.0))
    with pytest.raises(ZugwerkError, match="caution=-1"):
        PuctTrees(amazons.initial_state(6), 1, uniform, PuctOptions(caution=-1.0))
    assert Puct(uniform).search_many([], Limit(nodes=1)) == []


def test_several_lines_are_the_most_visited_steps_of_the_root():
    (state,) = random_states(1, 6, seed=4)
    found = Puct(hashed, nodes=512, first_share=1).search(state, Limit(nodes=400, lines=4))
    trees = PuctTrees(state, 1, hashed, nodes=512)
    trees.plant(0, state)
    trees.simulate(np.array([400], np.int32))
    lines = trees.lines(0, 4)
    assert [visits for _, _, visits in lines] == sorted(trees.visits(0).tolist(), reverse=True)[:4]
    for line, value, visits in lines:
        place = trees.steps(0).tolist().index(line[0])
        assert (visits, value) == (trees.visits(0)[place], pytest.approx(trees.q(0)[place]))
    assert lines[0][0] == trees.line(0)
    whole = [visits for line, _, visits in lines if len(line) > 1]
    assert [line.visits for line in found.lines] == whole
    assert found.lines[0].pv == found.pv
    assert len({line.pv[0] for line in found.lines}) == len(whole)


def test_several_lines_change_no_answer():
    for state in random_states(3, 6, seed=5):
        one, several = (Puct(hashed, nodes=512).search(state, Limit(nodes=200, lines=lines)) for lines in (1, 3))
        assert (one.pv, one.value, one.nodes) == (several.pv, several.value, several.nodes)
        assert one.lines == ()


def sound(trees):
    """Check all links and sums of tree 0 that pruning could break."""
    forest = trees.forest
    nodes, edges, used = forest.nodes[0], forest.edges[0], int(forest.used_nodes[0])
    owners = []
    for node in range(used):
        here = nodes[node]
        own = edges[here["first"] : here["first"] + here["edges"]]
        owners += range(here["first"], here["first"] + here["edges"])
        assert (own["child"] > node).all()
        assert (nodes["parent"][own["child"]] == node).all()
        assert 1 + own["tries"].sum() <= here["visits"]
        tried = np.flatnonzero(forest.priors[0, node, : here["count"]] < 0)
        assert sorted(own["place"].tolist()) == tried.tolist()
        assert here["seen"] == pytest.approx(own["prior"].sum(dtype=float))
    assert len(set(owners)) == len(owners) == used - 1
    assert edges["child"][nodes["owner"][1:used]].tolist() == list(range(1, used))
    assert max(owners) < forest.used_edges[0] <= len(edges)


@pytest.mark.parametrize("per_tree", [1, 3])
def test_a_full_tree_that_prunes_looks_further_ahead(per_tree):
    state, room, lines = gomoku.initial_state(5, "freestyle-4"), 120, []
    for prune in (False, True):
        trees = PuctTrees(state, 1, hashed, PuctOptions(prune=prune), nodes=room, per_tree=per_tree)
        trees.plant(0, state)
        for target in range(40, 2001, 40):
            trees.simulate(np.array([target], np.int32))
            assert trees.forest.done[0] == trees.visits(0).sum() == target
            assert trees.forest.used_nodes[0] <= room
            sound(trees)
        lines.append(trees.line(0))
        trees.advance(0, lines[-1][0])
        sound(trees)
    assert len(lines[1]) > len(lines[0])


def test_an_evaluator_that_fails_leaves_a_search_usable():
    class Cut(BaseException):
        pass

    calls = []

    def cut(*asked):
        calls.append(0)
        if len(calls) == 3:
            raise Cut
        return hashed(*asked)

    puct, state = Puct(cut), amazons.initial_state(6)
    with pytest.raises(Cut):
        puct.search(state, Limit(nodes=20))
    assert puct.search(state, Limit(nodes=20)).action == Puct(hashed).search(state, Limit(nodes=20)).action


def test_memory_is_freed_and_games_forgotten():
    puct, state = Puct(hashed, threads=2), amazons.initial_state(6)
    puct.search(state, Limit(movetime_ms=50))
    puct.forget()
    assert puct._trees.forest.used_nodes[0] == 0
    freed = weakref.ref(puct._trees)
    puct.use_memory(1 << 20)
    gc.collect()
    assert freed() is None


def test_a_board_of_another_size_is_refused():
    trees = PuctTrees(amazons.initial_state(6), 2, hashed)
    with pytest.raises(ZugwerkError, match="boards of one size"):
        trees.plant(1, amazons.initial_state(8))


# A small search, kept as text: each line a tried step with its visits and its mean value, deeper ones further in.
#
# To write it again after an intended change: ``python -m tests.search.mcts.test_puct``.


GOLDEN = Path(__file__).with_name("golden_tree.txt")


def tree_text():
    """Gomoku on 4x4 with three in a row, 60 simulations, two stones on, 20 more."""
    state = gomoku.from_fen("x3/1o2/2x1/o3 b freestyle-3")
    trees = PuctTrees(state, 1, hashed, PuctOptions(c=1.0, c_base=0.0), nodes=100)
    trees.plant(0, state)
    trees.simulate(np.array([60], np.int32))
    lines = [*node_lines(trees, 0, 0), ""]
    for _ in range(2):
        trees.advance(0, int(trees.steps(0)[trees.best(0)]))
    trees.simulate(np.array([20], np.int32))
    return "\n".join([*lines, *node_lines(trees, 0, 0), ""])


def node_lines(trees, node, depth):
    nodes, edges = trees.forest.nodes[0], trees.forest.edges[0]
    first = nodes[node]["first"]
    lines = []
    for edge in np.sort(edges[first : first + nodes[node]["edges"]], order="place"):
        mean = edge["worth"] / edge["tries"]
        over = " over" if nodes[edge["child"]]["over"] else ""
        lines.append(f"{'  ' * depth}{gomoku.format_move(int(edge['step']), 4, 4)} {edge['tries']} {mean:.6f}{over}")
        lines += node_lines(trees, int(edge["child"]), depth + 1)
    return lines


def test_the_small_tree_is_the_golden_one():
    assert tree_text() == GOLDEN.read_text()


if __name__ == "__main__":
    GOLDEN.write_text(tree_text())


# The forest finds what the plain algorithm finds, visit for visit.


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
        assert same(trees, g, references.slow_puct(state, int(simulations[g]), hashed, options))
        assert trees.forest.done[g] == trees.visits(g).sum() == simulations[g]


@pytest.mark.parametrize("evaluator", [hashed, uniform])
@pytest.mark.parametrize("options", ["default", "sum over edges", "all of it"])
@pytest.mark.parametrize("game", ["amazons", "line", "gomoku 5, four in a row", "gomoku 9"])
def test_game_with_reused_trees_and_noise_equals_plain_algorithm(game, options, evaluator):
    """Some steps are the best, some were hardly searched; the noise is new at each root."""
    state, options = positions(game)[0], OPTIONS[options]
    trees = PuctTrees(state, 2, evaluator, options, nodes=400)
    trees.plant(1, state)
    root, used = references.evaluated(state, evaluator), []
    for ply in range(6):
        targets = np.array([-1, 0], np.int32)
        trees.simulate(targets)
        trees.add_noise(1, np.random.default_rng(ply), 0.5, 0.25)
        for edge, prior in zip(root.edges, trees.priors(1).tolist(), strict=True):
            edge.prior = prior
        trees.simulate(targets + 60)
        for _ in range(60):
            references.simulate(root, evaluator, options)
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

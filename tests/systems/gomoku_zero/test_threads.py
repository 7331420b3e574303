"""Searches of one position by several threads, with the packaged line net on 9x9."""

import threading
import time
from typing import Any

import numpy as np
import pytest

from pipeline_src.games import gomoku, kernels
from pipeline_src.games.gomoku import GomokuState
from pipeline_src.games.rules import copy_state
from pipeline_src.jit import ready
from pipeline_src.players.packaged import FOLDER
from pipeline_src.players.registry import make_player
from pipeline_src.search.gomoku.proving import ProvingEvaluator
from pipeline_src.search.limits import Limit, SearchResult
from pipeline_src.search.mcts import puct_search as puct_threads
from pipeline_src.search.mcts.puct import PuctOptions
from pipeline_src.search.mcts.puct_search import Crew, Puct
from pipeline_src.search.mcts.puct_trees import EvaluateBatch, PuctTrees
from pipeline_src.systems.gomoku_zero.evaluator import make_evaluator
from tests.search.gomoku.references import THREES, random_states

NET = FOLDER / "gomoku_zero-15x15-freestyle.lines"


def evaluator(fours: int) -> EvaluateBatch:
    net, _ = make_evaluator(NET)
    return ProvingEvaluator(net, fours) if fours else net


def puct(threads: int, fours: int = 40, nodes: int = 1 << 14, per_tree: int = 1) -> Puct:
    formula = PuctOptions(c=1.0, c_base=0.0, solve=fours > 0)
    return Puct(evaluator(fours), formula, nodes, per_tree, threads=threads)


def check(trees: PuctTrees) -> None:
    """All visits and values of the first tree add up, as far as it is not pruned, and nothing waits."""
    forest = trees.forest
    nodes, edges = forest.nodes[0, : forest.used_nodes[0]], forest.edges[0]
    assert not nodes["pending"].any()
    assert (nodes["visits"] > 0).all()
    for number, node in enumerate(nodes):
        below = edges[node["first"] : node["first"] + node["edges"]]
        children = nodes[below["child"]]
        assert (children["parent"] == number).all()
        assert (edges[children["owner"]] == below).all()
        assert len({*below["place"].tolist()}) == len(below)
        assert not below["virtual"].any()
        assert (below["tries"] >= children["visits"]).all()
        if trees.options.prune:
            assert node["visits"] >= 1 + below["tries"].sum()
            continue
        assert node["visits"] == 1 + below["tries"].sum()
        assert node["over"] or node["total"] == pytest.approx(node["value"] + below["worth"].sum(), abs=1e-3)


def check_answers(trees: PuctTrees, state: GomokuState) -> None:
    """Each node of the first tree has the net's answer for its position."""
    nodes, edges, states = trees.forest.nodes[0], trees.forest.edges[0], {0: state}
    for number in range(1, trees.forest.used_nodes[0]):  # a child comes after its parent
        states[number] = copy_state(states[nodes[number]["parent"]])
        kernels.play_step(states[number], int(edges[nodes[number]["owner"]]["step"]))
    asked = [number for number in states if not nodes[number]["over"]]
    together = GomokuState(*(np.stack(arrays) for arrays in zip(*(states[number] for number in asked), strict=True)))
    steps, counts = np.zeros((len(asked), state.board.size), np.int32), nodes["count"][asked].copy()
    for i, number in enumerate(asked):
        assert kernels.write_steps(states[number], steps[i]) == counts[i]
    priors, values = evaluator(0)(together, steps, counts)
    np.testing.assert_array_equal(nodes["value"][asked], values)
    for number, count, row in zip(asked, counts, priors, strict=True):
        np.testing.assert_array_equal(abs(trees.forest.priors[0, number, :count].view(np.float32)), row[:count])


@pytest.mark.parametrize(
    ("fours", "nodes", "per_tree", "prune"),
    [(0, 4096, 1, False), (40, 4096, 1, False), (40, 4096, 3, False), (0, 200, 1, False), (0, 200, 1, True)],
)
def test_trees_of_several_threads_add_up(fours: int, nodes: int, per_tree: int, prune: bool) -> None:
    net = evaluator(fours)
    for state in (gomoku.initial_state(9), *random_states(4, 9, seed=3, spread=2)):
        options = PuctOptions(c=1.0, c_base=0.0, solve=fours > 0, prune=prune)
        trees = PuctTrees(state, 1, net, options, nodes, per_tree)
        crew = Crew(trees, 4)
        trees.plant(0, state)
        for target in (30, 1500):
            crew.simulate(np.array([target], np.int32), np.zeros(1, np.uint8))
            check(trees)
            assert trees.forest.done[0] == target or trees.proven(0)
        assert trees.forest.used_nodes[0] <= nodes
        if fours == 0:
            check_answers(trees, state)


def test_answers_with_a_limit_of_nodes_ignore_threads() -> None:
    one, several = puct(1), puct(2)
    for state in random_states(3, 9, seed=1, spread=2):
        limit = Limit(nodes=150, movetime_ms=60_000)
        found = [each.search(state, limit) for each in (one, several)]
        assert len({(each.pv, each.value, each.nodes) for each in found}) == 1


def test_search_on_time_continues_in_a_tree_of_several_threads() -> None:
    searcher, state, kept = puct(2, nodes=1 << 12), gomoku.initial_state(9), list[int]()
    searcher.use_memory(1 << 20)

    def tell(found: SearchResult) -> None:
        assert searcher._trees is not None
        kept.append(int(searcher._trees.forest.nodes[0, 0]["visits"]) - 1 - found.nodes)
        if found.nodes > 300 and len(found.pv) > 1:
            searcher.stop()

    for new in (True, False, False):
        kept.clear()
        found = searcher.search(state, Limit(movetime_ms=60_000), on_info=tell)
        assert (kept[0] == 0) == new
        assert len({*kept}) == 1
        assert searcher._trees is not None
        check(searcher._trees)
        state = gomoku.play(gomoku.play(state, found.action), found.pv[1])


def test_all_threads_search_until_they_are_stopped() -> None:
    searcher, state, reports = puct(3), gomoku.initial_state(9), list[int]()
    ready(searcher.needs(state))
    before = threading.active_count()

    def tell(found: SearchResult) -> None:
        reports.append(len(found.lines))
        assert searcher._crew is not None
        if all(net.net.evaluated[0] > 100 for net, *_ in searcher._crew._members):
            searcher.stop()

    searcher.search(state, Limit(lines=3), on_info=tell)
    assert threading.active_count() == before
    assert reports[-1] == 3


def test_threads_share_no_memory_of_the_searches_by_fours() -> None:
    state, net = gomoku.initial_state(9), evaluator(40)
    one, other = (member[0] for member in Crew(PuctTrees(state, 1, net), 2)._members)
    for mine, theirs in ((one.lines, other.lines), (one.space, other.space), (one.found, other.found)):
        shared = {name for name, a, b in zip(mine._fields, mine, theirs, strict=True) if np.shares_memory(a, b)}
        assert shared <= {"table", "points", "keys"}, "constants"
    assert not np.shares_memory(one.decided, other.decided)


def test_forced_win_is_proven_by_several_threads() -> None:
    trees = PuctTrees(THREES, 1, evaluator(40), PuctOptions(c=1.0, c_base=0.0, solve=True), 1 << 14)
    trees.plant(0, THREES)
    trees.simulate(np.zeros(1, np.int32))
    assert not trees.proven(0)
    Crew(trees, 3).simulate(np.array([1 << 14], np.int32), np.zeros(1, np.uint8))
    assert trees.value(0) == 1
    check(trees)
    found = puct(2).search(THREES, Limit(movetime_ms=60_000))
    assert (found.value, found.seconds < 30) == (1.0, True)


def test_the_error_of_a_thread_is_raised_by_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    searcher, state, real = puct(3), gomoku.initial_state(9), puct_threads.play_along
    searcher.search(state, Limit(movetime_ms=20))

    def fail(*arguments: Any) -> int:
        if threading.current_thread() is threading.main_thread():
            return int(real(*arguments))
        time.sleep(0.01)
        raise MemoryError("no room")

    with monkeypatch.context() as patch:
        patch.setattr(puct_threads, "play_along", fail)
        with pytest.raises(MemoryError, match="no room"):
            searcher.search(state, Limit())
    assert searcher.search(state, Limit(movetime_ms=20)).action in gomoku.legal_actions(state)


def test_the_option_is_for_searches_of_line_nets() -> None:
    made: Any = make_player("gomoku", f"zero:{NET},threads=2,movetime=50")
    assert made.puct.threads == 2
    kernels = {need.kernel for need in made.needs(gomoku.initial_state(9))}
    assert puct_threads.play_along in kernels
    made = make_player("gomoku", f"zero:{NET},movetime=50")
    assert puct_threads.play_along not in {need.kernel for need in made.needs(gomoku.initial_state(9))}

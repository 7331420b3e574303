"""The player ``zero``: its searches, limits and refusals, and its threads."""

import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import gomoku, kernels
from pipeline_src.games.gomoku import GomokuState, from_fen
from pipeline_src.games.rules import copy_state
from pipeline_src.jit import ready
from pipeline_src.players.packaged import FOLDER
from pipeline_src.players.player import Bounds, Position
from pipeline_src.players.registry import make_player
from pipeline_src.search.gomoku.proving import ProvingEvaluator
from pipeline_src.search.limits import Clock, Limit, SearchResult
from pipeline_src.search.mcts import puct_search as puct_threads
from pipeline_src.search.mcts.puct import PuctOptions
from pipeline_src.search.mcts.puct_search import Crew, Puct
from pipeline_src.search.mcts.puct_trees import EvaluateBatch, PuctTrees
from pipeline_src.systems.gomoku_zero.evaluator import make_evaluator
from pipeline_src.systems.gomoku_zero.models import export_onnx, load_model, save_model
from pipeline_src.systems.gomoku_zero.player import ZeroPlayer
from tests.search.gomoku.references import THREES, random_states
from tests.systems.gomoku_zero.small import SMALL, fresh, stacked, unfinished


@pytest.fixture
def model(tmp_path: Path) -> Path:
    save_model(tmp_path / "model.pt", fresh(SMALL["plain"]), variant="freestyle-4")
    return tmp_path / "model.pt"


def some_states(count: int) -> list[GomokuState]:
    return list(unfinished(6, 8, variant="freestyle-4"))[: 5 * count : 5]


def positions(states: list[GomokuState], seed: int = 1, clock: Clock | None = None) -> list[Position]:
    return [Position(state, np.random.default_rng(seed + i), clock=clock) for i, state in enumerate(states)]


def player(text: str) -> ZeroPlayer:
    made = make_player("gomoku", text)
    assert isinstance(made, ZeroPlayer)
    return made


@pytest.mark.parametrize("options", ["", ",leaves=3", ",backend=torch", ",backend=onnx-int8"])
def test_actions_are_legal_and_independent_of_batch(model: Path, options: str) -> None:
    states = some_states(7)
    some = player(f"zero:{model},simulations=24,chunk=4{options}")
    actions = some.choose(positions(states, seed=3))
    assert all(gomoku.is_legal(state, action) for state, action in zip(states, actions, strict=True))
    assert len(set(actions)) > 2
    assert [some.choose(positions([state], seed=9))[0] for state in states] == actions
    assert some.choose(positions(states[2:5])) == actions[2:5]


def test_it_is_puct_over_the_net(model: Path) -> None:
    states = some_states(5)
    some = player(f"zero:{model},simulations=40,c=2.5,fpu=0.2")
    puct = Puct(some.puct.evaluate_batch, PuctOptions(c=2.5, c_base=0.0, fpu=0.2), nodes=64)
    found = puct.search_many(states, Limit(nodes=40))
    assert some.choose(positions(states)) == [result.action for result in found]


def test_an_exported_model_plays_the_same(model: Path) -> None:
    states = some_states(5)
    model.with_suffix(".onnx").write_bytes(export_onnx(load_model(model)))
    texts = [f"zero:{model},simulations=30,backend=onnx", f"zero:{model.with_suffix('.onnx')},simulations=30"]
    assert player(texts[0]).choose(positions(states)) == player(texts[1]).choose(positions(states))


def test_it_takes_a_win_and_stops_one(model: Path) -> None:
    wins, stops = from_fen("xxx3/ooo3/6/6/6/6 b freestyle-4"), from_fen("xxx3/oo4/6/6/6/6 w freestyle-4")
    some = player(f"zero:{model},simulations=400,fpu=-1")  # tries each move
    assert some.choose(positions([wins, stops])) == [3, 3]


@pytest.mark.parametrize(
    ("options", "caution"),
    [("", 1.0), (",movetime=50,fours=0", 1.0), (",movetime=50,caution=0.5", 0.5), (",simulations=20", 0.0)],
)
def test_caution_is_for_searches_that_are_not_a_nets_alone(model: Path, options: str, caution: float) -> None:
    assert player(f"zero:{model}{options}").puct.options.caution == caution


@pytest.mark.parametrize(
    ("options", "by_fours", "by_threats"),
    [
        ("", 40, 0),
        (",movetime=50", 40, 0),
        (",search=gumbel", 40, 0),
        (",simulations=20,fours=8", 8, 0),
        (",nodes=20,solver=50", 50, 50),
        (",solver=8,fours=30", 30, 8),
        (",simulations=20", None, None),
        (",nodes=20", None, None),
        (",search=none", None, None),
        (",fours=0,movetime=50", None, None),
    ],
)
def test_forced_wins_are_searched_unless_simulations_are_limited(
    model: Path, options: str, by_fours: int | None, by_threats: int | None
) -> None:
    evaluate = player(f"zero:{model}{options}").puct.evaluate_batch
    if by_fours is None:
        assert not isinstance(evaluate, ProvingEvaluator)
    else:
        assert isinstance(evaluate, ProvingEvaluator)
        assert evaluate.limits.tolist() == [by_fours, by_threats, False]


@pytest.mark.parametrize(
    ("options", "on"),
    [
        ("", False),
        (",movetime=50", False),
        (",simulations=20,solver=50", False),
        (",simulations=20,threats=2", True),
        (",movetime=50,threats=2", True),
    ],
)
def test_threats_are_searched_in_the_tree_where_asked_for(model: Path, options: str, on: bool) -> None:
    assert (player(f"zero:{model}{options}").puct.between is not None) == on


def test_a_rule_without_patterns_is_played_by_the_net_alone(tmp_path: Path) -> None:
    save_model(tmp_path / "model.pt", fresh(SMALL["plain"]), variant="freestyle-6")
    start = gomoku.initial_state(6, "freestyle-6")
    assert gomoku.is_legal(start, player(f"zero:{tmp_path / 'model.pt'}").choose(positions([start]))[0])
    with pytest.raises(ZugwerkError, match="lines of 3 to 5, not 6"):
        player(f"zero:{tmp_path / 'model.pt'},solver=20").choose(positions([start]))


def test_temperature_draws_by_the_game_s_own_generator(model: Path) -> None:
    start = gomoku.initial_state(6, "freestyle-4")
    warm = player(f"zero:{model},simulations=60,temperature=1,temperature_plies=2")
    many = warm.choose(positions([start] * 24))
    assert len(set(many)) > 3
    assert warm.choose(positions([start] * 24)) == many
    assert warm.choose(positions([start] * 5, seed=3)) == many[2:7]
    third = gomoku.play(gomoku.play(start, 0), 1)
    assert len(set(warm.choose(positions([third] * 8)))) == 1


def test_a_move_thought_of_alone_is_drawn_too(model: Path) -> None:
    start = gomoku.initial_state(6, "freestyle-4")
    warm = player(f"zero:{model},simulations=60,temperature=1")
    many = warm.choose(positions([start] * 12))
    assert len(set(many)) > 3
    assert [warm.think(position).action for position in positions([start] * 12)] == many
    limited = {warm.think(position, Bounds(nodes=60)).action for position in positions([start] * 12)}
    assert len(limited) == 1, "a limit from outside is that of a search, which plays its most visited move"


def test_a_move_thought_of_alone_is_halved_too(model: Path) -> None:
    states = some_states(12)
    some = player(f"zero:{model},search=gumbel,simulations=16,considered=8")
    assert [some.think(position).action for position in positions(states)] == some.choose(positions(states))


def test_boards_of_several_sizes_are_played_together() -> None:
    packaged = make_player("gomoku", "zero:simulations=8")
    states = [gomoku.initial_state(size) for size in (15, 20, 15, 9)]
    together = packaged.choose(positions(states))
    assert together == [packaged.choose(positions([state]))[0] for state in states]


def test_policy_alone_is_sampled_or_its_best_move_taken(model: Path) -> None:
    states = some_states(5)
    cold, warm = player(f"zero:{model},search=none"), player(f"zero:{model},search=none,temperature=0.5")
    trees = PuctTrees(states[0], 5, cold.puct.evaluate_batch, None, 2)
    for g, state in enumerate(states):
        trees.plant(g, state)
    trees.simulate(np.full(5, 1, np.int32))
    assert cold.choose(positions(states)) == [trees.likeliest(g) for g in range(5)]
    squared = trees.priors(0).astype(float) ** 2
    drawn = np.bincount(warm.choose(positions([states[0]] * 2000)), minlength=36)[trees.steps(0)]
    expected = 2000 * squared / squared.sum()
    assert (np.abs(drawn - expected) < 5 * np.sqrt(expected) + 1).all()
    assert not cold.searches
    timed = Position(states[0], np.random.default_rng(0), clock=Clock(1000, 1000))
    assert cold.choose([timed]) == [trees.likeliest(0)], "no clock makes it search"


def test_time_limits_hold_for_each_position(model: Path) -> None:
    states = some_states(2)
    timed = player(f"zero:{model},movetime=20")
    assert timed.limit == Limit(movetime_ms=20)
    for actions in (timed.choose(positions(states)), timed.choose(positions(states, clock=Clock(500, 500)))):
        assert all(gomoku.is_legal(state, action) for state, action in zip(states, actions, strict=True))


def test_a_search_can_be_limited_from_outside(model: Path) -> None:
    thought = player(f"zero:{model},fours=0").think(positions(some_states(1))[0], Bounds(nodes=50))
    assert thought.found is not None
    assert (thought.found.action, thought.found.nodes) == (thought.action, 50)


def test_other_boards_and_rules_are_refused(model: Path) -> None:
    some = player(f"zero:{model},simulations=4")
    for state, complaint in (
        (gomoku.initial_state(9), "a 9x9 board, but this model plays on 6x6"),
        (gomoku.initial_state(6), "variant freestyle of Gomoku, but this model plays freestyle-4"),
        (gomoku.initial_state(6, "exact-4"), "variant exact-4 of Gomoku, but this model plays freestyle-4"),
    ):
        with pytest.raises(ZugwerkError, match=complaint):
            some.choose(positions([state]))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("zero:nowhere.pt", r"nowhere\.pt: no such model"),
        ("zero:nowhere.onnx", r"nowhere\.onnx: no such model"),
        ("zero:MODEL,depth=3", "has no option 'depth'; its options: nodes, movetime, search"),
        ("zero:MODEL,simulations=5,nodes=5", "one option"),
        ("zero:MODEL,search=dice", "search is one of puct, gumbel, none, not 'dice'"),
        ("zero:MODEL,backend=tpu", "backend is one of auto, torch"),
        ("zero:MODEL,temperature=1,movetime=20", "not of time"),
        ("zero:MODEL,search=gumbel,movetime=20", "excludes movetime and temperature"),
        ("zero:MODEL,search=gumbel,temperature=1", "excludes movetime and temperature"),
        ("zero:MODEL,search=none,simulations=5", "search=none has no simulations and no movetime"),
        ("zero:MODEL,threats=3,search=gumbel", "threats needs search=puct"),
        ("zero:MODEL,threats=3,fours=0", "threats needs search=puct"),
        ("zero:MODEL,c=nan", "c must be at least 0, not nan"),
    ],
)
def test_wrong_texts_are_refused(model: Path, text: str, complaint: str) -> None:
    with pytest.raises(ZugwerkError, match=complaint):
        player(text.replace("MODEL", str(model)))


# Searches of one position by several threads, with the packaged line net on 9x9.


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
    together = stacked([states[number] for number in asked])
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

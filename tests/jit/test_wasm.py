"""Kernels as WebAssembly, under node, give what the same kernels give here."""

import base64
import json
import shutil
import subprocess
import sys
from functools import reduce
from pathlib import Path

import numpy as np
import pytest

from pipeline_src.games import kernels
from pipeline_src.games.game import get_game
from pipeline_src.games.rules import copy_state
from pipeline_src.jit.wasm import _Image
from pipeline_src.players.player import Position
from pipeline_src.players.registry import build_player
from pipeline_src.search.alphabeta import NODES, search_root
from pipeline_src.search.gomoku.solver import Solver
from pipeline_src.search.limits import Limit
from pipeline_src.search.mcts.puct_trees import PuctTrees
from pipeline_src.web.analyse import forced_wins
from pipeline_src.web.child import PROOF
from pipeline_src.web.game import forbidden_cells, threats_of
from pipeline_src.web.page import PROOFS, TREE

pytest.importorskip("ziglang")
NODE = shutil.which("node")
pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200), pytest.mark.skipif(NODE is None, reason="no node here")]
STATIC = Path(kernels.__file__).parents[1] / "web" / "static"


@pytest.fixture(scope="module")
def engines(exported, tmp_path_factory):
    """A folder with both engines."""
    folder = shutil.copytree(exported / "engine", tmp_path_factory.mktemp("engines") / "engine")
    shutil.copy(STATIC / "kernels.js", folder / "kernels.mjs")  # node takes a module by its suffix
    return folder


def node(folder, name, steps):
    command = [NODE, Path(__file__).with_name("run.mjs"), folder / "kernels.mjs", folder / name]
    done = subprocess.run(command, input=json.dumps(steps), stdout=subprocess.PIPE, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def ask(exported, tmp_path_factory):
    """Asks the page's searches: {place, task} each."""
    page = shutil.copytree(exported, tmp_path_factory.mktemp("asked") / "page")
    (page / "package.json").write_text('{"type": "module"}')
    told = json.loads((page / "tables.json").read_text())

    def answers(asked):
        given = json.dumps({"search": told["search"], "boards": told["boards"], "asked": asked})
        command = [NODE, Path(__file__).with_name("players.mjs"), page]
        done = subprocess.run(command, input=given, stdout=subprocess.PIPE, text=True, check=True)
        return [json.loads(line) for line in done.stdout.splitlines()]

    return answers


def contents(name, state):
    return {f"{name}.{field}": list(map(str, array.ravel().tolist())) for field, array in state._asdict().items()}


def positions(game, count, most, near):
    """Positions of random games, that of Gomoku with stones near the centre."""
    rng, found, state, end = np.random.default_rng(3), [], None, 0
    actions = np.empty(int(kernels.max_actions(game.initial_state())), np.int32)
    while len(found) < count:
        if state is None or kernels.outcome(state)[0] or len(found) >= end:
            state, end = game.initial_state(*near[1:]), len(found) + rng.integers(2, most)
        found.append(copy_state(state))
        legal = actions[: kernels.write_actions(state, actions)]
        far = np.abs(legal // 15 - 7) + np.abs(legal % 15 - 7) if near[0] else 0
        kernels.play(state, int(legal[np.argmin(far + rng.normal(0, 2.5, len(legal)))]))
    return found


RENJU, AMAZONS = (True, 15, "renju"), (False, 10, "standard")


@pytest.mark.parametrize(
    ("name", "game", "near"), [("gomoku-15-renju", "gomoku", RENJU), ("amazons-10-standard", "amazons", AMAZONS)]
)
def test_rules_are_the_same(engines, name, game, near):
    found = positions(get_game(game), 1000, 90, near)
    steps, actions = [], np.zeros(int(kernels.max_actions(found[0])), np.int32)
    rng, wanted = np.random.default_rng(4), []
    for state in found:
        count = int(kernels.write_actions(state, actions))
        action, after = int(rng.choice(actions[:count])), copy_state(state)
        kernels.play(after, action)
        legal = [bool(kernels.is_legal(state, int(one))) for one in (action, 0, actions.size - 1)]
        over, result = kernels.outcome(after)
        wanted.append(
            ([count, *legal, None, [bool(over), float(result)], None], after, state, actions[:count].tolist())
        )
        played = {"action": action}
        run = [["write_actions", {}], *(["is_legal", {"action": one}] for one in (action, 0, actions.size - 1))]
        steps.append(
            {
                "set": contents("state", state),
                "run": [*run, ["play", played], ["outcome", {}]],
                "get": [*contents("state", state), "actions"],
            }
        )
        steps.append({"run": [["take_back", played]], "get": [*contents("state", state)]})
    answers = node(engines, name, steps)
    for (results, after, before, legal), played, back in zip(wanted, answers[::2], answers[1::2], strict=True):
        assert played["results"] == results[:-1]
        assert [int(one) for one in played["arrays"].pop("actions")[: len(legal)]] == legal
        assert played["arrays"] == contents("state", after)
        assert back["arrays"] == contents("state", before)


def test_files_have_nothing_of_the_memory_around_arrays():
    made = []
    for offset, rest in ((16, 1), (40, 7), (64, 9)):
        room = bytearray([rest]) * (1024 + 64)
        start = (offset - np.frombuffer(room, np.uint8).ctypes.data) % 64
        memory = np.frombuffer(room, np.uint8, 1024, start)  # so many bytes after a multiple of 64
        image, begin = _Image(1 << 18), 64 - offset
        array = memory[begin : begin + 40].view(np.float32)
        array[:] = 0.5
        made.append((image.place(array), image.end, image.write()))
    assert made[0] == made[1] == made[2]
    assert made[0][0] % 64 == 0
    assert np.frombuffer(made[0][2][0][""], np.float32).tolist() == [0.5] * 10


def test_exponentials_are_rounded_once(engines):
    subprocess.run([sys.executable, "-m", "tests.jit.exps", engines], check=True)
    odd = [0.0, -0.0, -87.5, -103.0, -104.0, -1e30, -np.inf, 88.7, 88.8, 1e30, np.inf, np.nan]
    numbers = np.concatenate([odd, np.random.default_rng(0).uniform(-104, 89, 4096 - len(odd))]).astype(np.float32)
    written = [str(number).replace("inf", "Infinity").replace("nan", "NaN") for number in numbers]
    steps = [{"set": {"numbers": written}, "run": [["exps", {}]], "get": ["found"]}]
    found = list(map(float, node(engines, "exps", steps)[0]["arrays"]["found"]))
    with np.errstate(over="ignore", under="ignore"):
        wanted = np.exp(numbers.astype(np.float64)).astype(np.float32)
    np.testing.assert_array_equal(np.float32(found), wanted)


def test_the_same_trees_grow(engines):
    state = get_game("gomoku").initial_state(15, "renju")
    puct = build_player("gomoku", "zero:movetime=1").player_for(state).puct
    trees, steps, wanted = PuctTrees(state, 1, puct.evaluate_batch, puct.options, TREE), [], []
    for root in positions(get_game("gomoku"), 24 * 7, 40, RENJU)[::7]:
        if kernels.outcome(root)[0]:
            continue
        trees.plant(0, root)
        trees.simulate(np.array([400], np.int32))
        wanted.append(trees.visits(0).tolist())
        roots = contents("root", root)
        emptied = {f"forest.{name}": [0] for name in ("used_nodes", "used_edges", "done")}
        slots = {"forest.slots": [-1] * trees.forest.slots.shape[1]}
        steps.append(
            {
                "set": roots | emptied | slots | {"targets": [400]},
                "run": [["play_out", {}]],
                "get": ["forest.nodes", "forest.edges"],
            }
        )
    assert len(wanted) > 20
    for answer, visits in zip(node(engines, "gomoku-15-renju", steps), wanted, strict=True):
        nodes, edges = (
            np.frombuffer(base64.b64decode(answer["arrays"][f"forest.{name}"]), getattr(trees.forest, name).dtype)
            for name in ("nodes", "edges")
        )
        tried, found = edges[nodes[0]["first"] :][: nodes[0]["edges"]], np.zeros(len(visits), int)
        found[tried["place"]] = tried["tries"]
        assert found.tolist() == visits


def test_the_same_values_moves_and_numbers_of_nodes(engines):
    search = build_player("amazons", "alphabeta:table_mb=8").searcher.searcher
    steps, wanted = [], []
    for root in positions(get_game("amazons"), 25 * 7, 80, AMAZONS)[::7]:
        if kernels.outcome(root)[0]:
            continue
        space, state = search._start(root, Limit()), copy_state(root)
        fresh = {"space.counts": list(map(str, space.counts.tolist())), "space.killers": [-1] * space.killers.size}
        values = [float(search_root(state, search.evaluator, space, search._table, depth)) for depth in (1, 2, 3)]
        wanted.append((values, str(space.root[0]), str(space.counts[NODES])))
        runs = [["search_root", {"depth": depth}] for depth in (1, 2, 3)]
        steps.append({"set": contents("state", root) | fresh, "run": runs, "get": ["space.root", "space.counts"]})
    for answer, (values, best, looked) in zip(node(engines, "amazons-10-standard", steps), wanted, strict=True):
        assert answer["results"] == values
        assert answer["arrays"]["space.root"][0] == best
        assert answer["arrays"]["space.counts"][NODES] == looked


def test_the_pages_players_choose_the_same_moves(ask):
    asked, wanted = [], []
    for game, near, most, texts in (
        ("gomoku", RENJU, 40, ("zero:simulations=100", "zero:simulations=100,fours=40")),
        (
            "amazons",
            AMAZONS,
            60,
            ("one_ply", "alphabeta:nodes=2000", "alphabeta:depth=2", "puct:simulations=300", "nets"),
        ),
        ("amazons", AMAZONS, 160, ("alphabeta:nodes=2000", "puct:simulations=100")),  # endings, which are counted out
    ):
        rules = get_game(game)
        for state in positions(rules, 12 * 7, most, near)[::7]:
            if kernels.outcome(state)[0]:
                continue
            fen = rules.to_fen(state)
            state = rules.from_fen(fen)
            for text in texts:
                name, _, rest = text.partition(":")
                limits = {key: int(value) for key, value in (item.split("=") for item in rest.split(",") if item)}
                task = {"kind": name, "alone": "fours" not in limits, "nodes": limits.pop("simulations", None)} | limits
                asked.append(
                    {
                        "place": {"game": game, "size": near[1], "variant": near[2], "fen": fen},
                        "task": {key: value for key, value in task.items() if value is not None},
                    }
                )
                player = build_player(game, text)
                found = player.think(Position(state, np.random.default_rng(0), state))
                about = forbidden_cells(state) if game == "gomoku" else {}
                wanted.append(
                    {
                        "move": rules.format_move(found.action, *state.board.shape),
                        "fen": fen,
                        "forbidden": [rules.format_move(cell, *state.board.shape) for cell in about],
                        "threats": list(threats_of(state)) if game == "gomoku" else [{}, {}],
                    }
                )
    answers = ask(asked)
    assert [{key: one[key] for key in ("move", "fen", "forbidden", "threats")} for one in answers] == wanted


def test_the_page_solves_the_packaged_forced_wins(ask):
    rules, rng, asked, wanted = get_game("gomoku"), np.random.default_rng(0), [], []
    solvers = {variant: Solver(PROOFS) for variant in ("freestyle", "renju")}
    for win in forced_wins().wins:
        place, solver = win.place, solvers[win.place.variant]
        state = reduce(
            rules.play, [rules.parse_move(move, 15, 15) for move in place.moves], rules.initial_state(15, place.variant)
        )
        found = solver.solve(state, Limit(nodes=PROOF))
        asked.append({"place": place.model_dump(), "task": {"kind": "line"}})
        wanted.append({"moves": [rules.format_move(action, 15, 15) for action in found.line]})
        assert found.win
        for action in (found.line[0], int(rng.choice(rules.legal_actions(state)))):
            after = rules.play(state, action)
            moves = [*place.moves, rules.format_move(action, 15, 15)]
            answer, plies = solver.answer(after, PROOF)
            asked.append({"place": place.model_dump() | {"moves": moves}, "task": {"kind": "answer"}})
            wanted.append(
                {"state": "holds" if plies else "spoilt", "answer": rules.format_move(answer, 15, 15), "plies": plies}
            )
    answers = ask(asked)
    assert [{key: one[key] for key in other} for one, other in zip(answers, wanted, strict=True)] == wanted
    assert {one["state"] for one in wanted if "state" in one} == {"holds", "spoilt"}

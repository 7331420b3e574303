"""The engine of a board without a server: rules and a player of one game, size and rule as WebAssembly.

``python -m pipeline_src.web.page FOLDER gomoku 15 freestyle`` writes ``gomoku-15-freestyle.wasm``, ``.data`` and
``.json`` there, which `static/kernels.js` loads. It is a process of its own, since its kernels are compiled for no
machine (`pipeline_src.jit.wasm`).
"""

import argparse
import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pipeline_src.errors import run_main
from pipeline_src.files import written_aside
from pipeline_src.games import kernels
from pipeline_src.games.game import get_game
from pipeline_src.jit import Need
from pipeline_src.jit.wasm import Module, export, raw
from pipeline_src.players.registry import build_player
from pipeline_src.search.limits import Limit

TREE = 1 << 14  # Nodes of a tree in a page
TABLE_MB = 8


class Engine(NamedTuple):
    """The arguments of `pipeline_src.jit.wasm.export`."""

    calls: dict[str, Need]
    arrays: dict[str, Any]


def gomoku(size: int, variant: str) -> Engine:
    """The rules, and the tree of the player ``zero`` with its net and its searches by fours.

    Raises:
        ZugwerkError: no packaged net plays there.
    """
    from pipeline_src.search.mcts.puct import play_out, play_steps
    from pipeline_src.search.mcts.puct_trees import PuctTrees

    state = get_game("gomoku").initial_state(size, variant)
    player: Any = build_player("gomoku", "zero:movetime=1")
    puct = player.player_for(state).puct
    trees = PuctTrees(state, 1, puct.evaluate_batch, puct.options, TREE)
    _clear(*trees.forest)
    targets, played = np.zeros((2, 1), np.int32)
    engine = _rules(state)
    engine.calls["play_out"] = Need(play_out, trees._inner_arguments(targets, None, None))
    engine.calls["play_steps"] = Need(play_steps, (trees.forest, trees.roots, played, engine.arrays["actions"]))
    roots = {"root": trees.roots, "forest": trees.forest, "targets": targets, "played": played}
    return Engine(engine.calls, engine.arrays | roots)


def amazons(size: int, variant: str) -> Engine:
    """The rules, and the alpha-beta of the player ``alphabeta``."""
    from pipeline_src.search.alphabeta import search_root

    state = get_game("amazons").initial_state(size, variant)
    player: Any = build_player("amazons", f"alphabeta:table_mb={TABLE_MB}")
    search = player.searcher.searcher
    space = search._start(state, Limit())
    _clear(space.actions, space.values, space.root, *search._table)
    engine = _rules(state)
    engine.calls["search_root"] = Need(search_root, (state, search.evaluator, space, search._table, 1))
    return Engine(engine.calls, engine.arrays | {"space": space})


def _clear(*arrays: Any) -> None:
    """Clear arrays: what is in new memory has no business in a file."""
    for array in arrays:
        array[...] = np.zeros((), array.dtype)


def _rules(state: Any) -> Engine:
    actions = np.zeros(int(kernels.max_actions(state)), np.int32)
    calls = {
        "play": Need(kernels.play, (state, 0)),
        "take_back": Need(kernels.take_back, (state, 0)),
        "is_legal": Need(kernels.is_legal, (state, 0)),
        "write_actions": Need(kernels.write_actions, (state, actions)),
        "outcome": Need(kernels.outcome, (state,)),
    }
    return Engine(calls, {"state": state, "actions": actions})


ENGINES = {"gomoku": gomoku, "amazons": amazons}


def write(folder: Path, name: str, module: Module) -> None:
    """Write the three files of a module."""
    folder.mkdir(parents=True, exist_ok=True)
    layout = json.dumps(module.layout, separators=(",", ":")).encode()
    for suffix, content in ((".wasm", module.code), (".data", module.data), (".json", layout)):
        with written_aside(folder / f"{name}{suffix}") as path:
            path.write_bytes(content)


def main() -> None:
    """Export one engine."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("game", choices=ENGINES)
    parser.add_argument("size", type=int)
    parser.add_argument("variant")
    parser.add_argument("--relaxed", action="store_true", help="use relaxed SIMD, which not all browsers have")
    asked = parser.parse_args()
    raw()
    calls, arrays = ENGINES[asked.game](asked.size, asked.variant)
    module = export(calls, arrays, relaxed=asked.relaxed)
    write(asked.folder, f"{asked.game}-{asked.size}-{asked.variant}", module)


if __name__ == "__main__":
    run_main(main)

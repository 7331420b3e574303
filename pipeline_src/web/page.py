"""The engine of a board without a server: the rules and a player of each game as WebAssembly, for all its boards.

``python -m pipeline_src.web.page FOLDER gomoku 15-freestyle 9-renju`` writes ``gomoku.wasm``, and the layout and the
memory of each board, ``gomoku-15-freestyle.json`` and ``.data``, all packed by gzip; `static/kernels.js` loads them.
What boards share, such as a net, is a file of its own, named by its digest. It is a process of its own, since its
kernels are compiled for no machine (`pipeline_src.jit.wasm`).
"""

import argparse
import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np

from pipeline_src.errors import ZugwerkError, run_main
from pipeline_src.files import written_aside
from pipeline_src.games import kernels
from pipeline_src.games.game import get_game
from pipeline_src.jit import Need
from pipeline_src.jit.wasm import Engine, export, lay_out, owner_of, raw
from pipeline_src.players.registry import build_player
from pipeline_src.search.limits import Limit

TREE = 1 << 14  # Nodes of a tree in a page
TABLE_MB = 8
PROOFS = 1 << 16  # Entries of a table of proofs


def gomoku(size: int, variant: str) -> Engine:
    """The rules, two trees of the player ``zero``, with its searches by fours and with the net alone, and a solver.

    On boards without a packaged net the rules alone.
    """
    from pipeline_src.games.gomoku import LINE_LENGTH, any_line, forbidden, kind_of_line, line_through, nowhere_to_play
    from pipeline_src.search.gomoku.lines import make_lines
    from pipeline_src.search.gomoku.solver import find, hold_out, make_memory
    from pipeline_src.search.mcts.puct import fullest, play_out
    from pipeline_src.search.mcts.puct_trees import PuctTrees
    from pipeline_src.web.game import mark_threats

    short = f"{variant}-{size}" if size < LINE_LENGTH else variant  # the page sets the length of a line
    state = get_game("gomoku").initial_state(size, short)
    engine, board, marks = _rules(state), state.board, np.zeros((2, state.board.size), np.int8)
    engine.arrays["marks"] = marks
    engine.calls.update(
        mark_threats=Need(mark_threats, (state, marks)),
        any_line=Need(any_line, (state, 0)),
        nowhere_to_play=Need(nowhere_to_play, (state,)),
        kind_of_line=Need(kind_of_line, (state, 0)),
        line_through=Need(line_through, (board, 0, 0, 0, 0)),
        forbidden=Need(forbidden, (board, 0, 0)),
    )
    try:
        player: Any = build_player("gomoku", "zero:movetime=1")
        puct = player.player_for(state).puct
    except ZugwerkError:
        return engine
    trees = PuctTrees(state, 1, puct.evaluate_batch, puct.options, TREE)
    _clear(*trees.forest)
    targets = np.zeros(1, np.int32)
    proving = trees._inner_arguments(targets, None, None)
    engine.calls["play_out"] = Need(play_out, proving)
    engine.calls["play_out_alone"] = Need(play_out, (proving[0].net, *proving[1:]))
    engine.calls["fullest"] = Need(fullest, (trees.forest, 0, 0))
    lines = make_lines(state)
    solver = make_memory(lines.cells.size, PROOFS, *np.zeros((2, 1), np.uint8))
    engine.calls["find"] = Need(find, (state, lines, solver, 0))
    engine.calls["hold_out"] = Need(hold_out, (state, lines, solver, 0))
    arrays = {"root": trees.roots, "forest": trees.forest, "targets": targets, "solution": solver.line}
    return Engine(engine.calls, engine.arrays | arrays)


def amazons(size: int, variant: str) -> Engine:
    """The rules, and the searches of the players ``alphabeta``, ``one_ply`` and ``puct``, whose net ``nets`` asks."""
    from pipeline_src.games.amazons import EMPTY, flip, from_board
    from pipeline_src.search.alphabeta import MAX_DEPTH, read_variation, search_root
    from pipeline_src.search.amazons.endgame import PLAY_NODES, closed, count_out, sealed
    from pipeline_src.search.amazons.evaluation import rank_all
    from pipeline_src.search.mcts.puct import play_out, play_steps
    from pipeline_src.search.mcts.puct_trees import PuctTrees

    state = get_game("amazons").initial_state(size, variant)
    player: Any = build_player("amazons", f"alphabeta:table_mb={TABLE_MB}")
    search = player.searcher.searcher
    space = search._start(state, Limit())
    by_net: Any = build_player("amazons", "puct:movetime=1")
    puct = by_net.player_for(state).puct
    trees: Any = PuctTrees(state, 1, puct.evaluate_batch, puct.options, TREE)
    scratch = search.evaluator
    _clear(space.actions, space.values, space.root, *search._table, *trees.forest)
    _clear(scratch.moves, scratch.likely, scratch.endgame.turns, trees.net.endgame.turns)
    engine, line = _rules(state), np.zeros(MAX_DEPTH + 1, np.int32)
    values, empty = np.zeros(engine.arrays["actions"].size, np.float32), from_board(np.full_like(state.board, EMPTY), 0)
    (targets, played), steps = np.zeros((2, 1), np.int32), np.zeros(int(kernels.max_steps(state)), np.int32)
    engine.calls.update(
        flip=Need(flip, (state.lines, size, 0)),
        closed=Need(closed, (state,)),
        sealed=Need(sealed, (state,)),
        count_out=Need(count_out, (state, PLAY_NODES, search.evaluator.endgame)),
        rank_all=Need(rank_all, (state, search.evaluator, engine.arrays["actions"], values)),
        search_root=Need(search_root, (state, search.evaluator, space, search._table, 1)),
        read_variation=Need(read_variation, (state, space, search._table, 1, line)),
        play_out=Need(play_out, trees._inner_arguments(targets, None, None)),
        play_steps=Need(play_steps, (trees.forest, trees.roots, played, steps)),
        write_steps=Need(kernels.write_steps, (kernels.row(trees.roots, 0), steps)),
    )
    arrays = {"space": space, "line": line, "values": values, "empty": empty.lines}
    arrays |= {"root": trees.roots, "forest": trees.forest, "targets": targets, "played": played, "steps": steps}
    return Engine(engine.calls, engine.arrays | arrays | {"settles": trees.net.settles})


def _clear(*arrays: Any) -> None:
    """Clear the memory of arrays: what is in new memory has no business in a file."""
    for array in arrays:
        owner_of(array).view(np.uint8)[...] = 0  # also between the fields of records


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


def write(folder: Path, name: str, content: bytes) -> None:
    """Write a file, packed so that the same content gives the same bytes."""
    with written_aside(folder / f"{name}.gz") as path:
        path.write_bytes(gzip.compress(content, 9, mtime=0))


def main() -> None:
    """Export the engine of one game."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("game", choices=ENGINES)
    parser.add_argument("boards", nargs="+", metavar="SIZE-VARIANT")
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    raw()
    calls: dict[str, Need] = {}
    end = 0
    for board in asked.boards:
        size, _, variant = board.partition("-")
        engine = ENGINES[asked.game](int(size), variant)
        files, layout = lay_out(engine)
        end, calls = max(end, layout["end"]), max(calls, engine.calls, key=len)
        for name, content in files.items():
            if not (asked.folder / f"{name}.data.gz").exists():
                write(asked.folder, f"{name or f'{asked.game}-{board}'}.data", content)
        write(asked.folder, f"{asked.game}-{board}.json", json.dumps(layout, separators=(",", ":")).encode())
    for name, relaxed in ((asked.game, False), (f"{asked.game}.relaxed", True)):
        write(asked.folder, f"{name}.wasm", export(calls, end, relaxed=relaxed))


if __name__ == "__main__":
    run_main(main)

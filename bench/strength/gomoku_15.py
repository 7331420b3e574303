"""Play the net of 15x15 that comes with the package against searches without a net, for docs/measured/gomoku_15.json.

Colour-swapped pairs from the balanced openings of gomoku_evaluate. For the match at equal time, both players are first
timed on positions of a game, in processor time, and then play with the simulations and nodes of 300 ms, so that no
result depends on what else runs. Killed at any moment, the same command goes on. Example:

    python -m bench.strength.gomoku_15 --only alphabeta2 --pairs 20
"""

import argparse
import datetime
import time
from pathlib import Path
from typing import Any

import numpy as np

from pipeline_src.arena.event import Pairing
from pipeline_src.arena.journal import stage_journal
from pipeline_src.arena.result import Match
from pipeline_src.arena.runner import Board
from pipeline_src.errors import run_main
from pipeline_src.files import read_json, write_json
from pipeline_src.games import gomoku
from pipeline_src.parallel import Parallel
from pipeline_src.players.player import Position
from pipeline_src.players.registry import make_player
from pipeline_src.project.params import load
from pipeline_src.report.provenance import processor
from pipeline_src.report.registry import REGISTRY
from pipeline_src.systems.gomoku_zero.evaluation_params import GomokuEvaluateParams
from pipeline_src.systems.gomoku_zero.event import gomoku_event

OUT = Path("docs/measured/gomoku_15.json")
WORK = Path("work/strength/gomoku_15")
COMMAND = "make measure-gomoku_15"
SIZE, VARIANT, SEED = 15, "freestyle", 15
NET = "zero:{model}simulations={simulations},solver=200"
TOGETHER = ",chunk=8"
"""Option of games in lock step; at equal time a game is timed by itself, for which the default is the fastest."""
SIMULATIONS = 400
OPPONENTS = {
    "score_vs_mcts1000": "mcts:playouts=1000",
    "score_vs_alphabeta2": "alphabeta:depth=2",
    "score_vs_alphabeta4": "alphabeta:depth=4",
}
EQUAL, OTHER = "score_vs_alphabeta_equal_time", "alphabeta:nodes={nodes}"
TURN_MS = 300.0
PROBE = {"simulations": 400, "nodes": 100_000}
"""Simulations and nodes of a timed move."""
PROBED = 12
"""Number of timed moves."""


def main() -> None:
    """Play and write; what is not measured this time stays."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="", help="a model.pt in place of the packaged net; writes nothing")
    parser.add_argument("--only", default="", help="only figures with this in their name")
    parser.add_argument("--pairs", type=int, default=50, help="pairs of games of each match")
    parser.add_argument("--simulations", type=int, default=SIMULATIONS, help="a move, but at equal time")
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    model = f"{options.model}," if options.model else ""
    made: dict[str, Any] = read_json(OUT) if OUT.exists() else {}
    for name in (name for name in REGISTRY["gomoku_15"] if options.only in name):
        timed = in_a_turn(model) if name == EQUAL else None
        if timed:
            net = NET.format(model=model, simulations=timed["simulations"])
            other = OTHER.format(nodes=timed["nodes"])
        else:
            net, other = NET.format(model=model, simulations=options.simulations) + TOGETHER, OPPONENTS[name]
        match = play(net, other, options.pairs, options.workers)
        score = match.score.as_metrics()
        print(f"{name}: {score['value']:.3f} ({score['low']:.3f} to {score['high']:.3f}, n {score['n']})", flush=True)
        if options.model:
            continue
        about = {
            "profile": "gomoku_15",
            "player": "packaged net with solver=200, "
            f"{timed['simulations'] if timed else options.simulations} simulations, taught by engine",
            "data": "games of the engine",
            "hardware": f"one core of {processor()}",
            "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
            "command": COMMAND,
        }
        made[name] = score | about
        made.setdefault("matches", {})[name] = match.as_json() | ({"in_a_turn": timed} if timed else {})
        write_json(OUT, made)


def play(net: str, other: str, pairs: int, workers: int) -> Match:
    """A match from the openings of params.yaml."""
    params = load(GomokuEvaluateParams, "gomoku_evaluate")
    openings = params.openings.model_copy(update={"count": max(pairs, params.openings.count)})
    board, texts = Board("gomoku", SIZE, VARIANT), {net: net, other: other}
    with stage_journal(WORK, __name__, {}) as journal:
        event = gomoku_event(texts, board, openings, [SEED], Parallel(workers=workers), params.group, journal)
        (match,) = event.play([Pairing("gomoku_15", net, other, pairs)])
    return match


def in_a_turn(model: str) -> dict[str, int]:
    """Simulations of the net and nodes of alpha-beta in `TURN_MS` of processor time; measured once, then kept."""
    kept = WORK / "in_a_turn.json"
    if kept.exists() and not model:
        return dict(read_json(kept))
    start = gomoku.initial_state(SIZE, VARIANT)
    judge, state, states = make_player("gomoku", "alphabeta:depth=2"), start, []
    for ply in range(PROBED + 4):
        action = judge.choose([Position(state, np.random.default_rng(ply), start)])[0]
        state = gomoku.play(state, action)
        states.append(state)
    found = {}
    for key, text in (("simulations", NET.format(model=model, **PROBE)), ("nodes", OTHER.format(**PROBE))):
        player = make_player("gomoku", text)
        player.ready(start)
        seconds = 0.0
        for state in states[4:]:
            player.new_game()
            began = time.process_time()
            player.choose([Position(state, np.random.default_rng(0), start)])
            seconds += time.process_time() - began
        found[key] = round(PROBE[key] * PROBED * TURN_MS / 1e3 / seconds)
    if not model:
        write_json(kept, found)
    return found


if __name__ == "__main__":
    run_main(main)

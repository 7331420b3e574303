"""Count lost moves of players of Gomoku: ``python -m bench.strength.zero_losses POSITIONS PLAYER...``.

POSITIONS is JSON lines with ``fen`` and, where known, moves that are not refuted in ``unrefuted``. A move is refuted if
the solver proves a win of the other side after it within ``--proof`` positions. Only positions with a move that is not
refuted count. Players without a limit of simulations think for ``--cpu`` milliseconds of the process's CPU time.
Example: ``python -m bench.strength.zero_losses losses.jsonl zero:movetime=300 zero:movetime=300,threats=3``
"""

import argparse
import json
import time
from functools import cache
from pathlib import Path

import numpy as np

from pipeline_src.errors import run_main
from pipeline_src.games import gomoku
from pipeline_src.players.player import Bounds, Player, Position, Thought
from pipeline_src.players.registry import make_player
from pipeline_src.search.gomoku.solver import Solver
from pipeline_src.search.limits import Limit, on_cpu_time


def main() -> None:
    """Play every position with every player and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("positions", type=Path)
    parser.add_argument("players", nargs="+")
    parser.add_argument("--cpu", type=float, default=300.0, help="milliseconds of a move")
    parser.add_argument("--proof", type=int, default=60_000, help="positions of a refutation")
    options = parser.parse_args()
    rows = [json.loads(line) for line in options.positions.read_text(encoding="utf-8").splitlines()]
    rows = [row for row in rows if saving_move(row["fen"], tuple(row["unrefuted"] or ()), options.proof)]
    print(f"{len(rows)} positions with a move that is not refuted")
    for text in options.players:
        player, lost, simulations, seconds = make_player("gomoku", text), list[str](), 0, 0.0
        for row in rows:
            state = gomoku.from_fen(row["fen"])
            player.ready(state)
            player.new_game()
            began = time.process_time()
            thought = think(player, state, None if "simulations=" in text else options.cpu)
            seconds += time.process_time() - began
            move = gomoku.format_move(thought.action, *state.board.shape)
            simulations += thought.nodes or 0
            bad = refuted(row["fen"], move, options.proof)
            lost.append(f"{move}({thought.found.value if thought.found else 0.0:+.2f})" if bad else "-")
        wrong = sum(move != "-" for move in lost)
        rate = simulations / seconds
        print(
            f"{text}: {wrong} refuted moves, {simulations} simulations, {rate:,.0f} a second: {' '.join(lost)}",
            flush=True,
        )


def think(player: Player, state: gomoku.GomokuState, ms: float | None) -> Thought:
    """Return the player's thought in so many milliseconds of CPU time; None is the player's own limit."""
    with on_cpu_time(True):
        return player.think(Position(state, np.random.default_rng(0)), Bounds(movetime_ms=ms))


@cache
def refuted(fen: str, move: str, nodes: int) -> bool:
    """Whether the solver proves a win of the other side after a move."""
    state = gomoku.from_fen(fen)
    after = gomoku.play(state, gomoku.parse_move(move, *state.board.shape))
    return gomoku.winner(after) is None and Solver().solve(after, Limit(nodes=nodes)).win


def saving_move(fen: str, first: tuple[str, ...], nodes: int) -> str | None:
    """Return a move that is not refuted, ``first`` tried first; None if there is none."""
    state = gomoku.from_fen(fen)
    legal = [gomoku.format_move(action, *state.board.shape) for action in gomoku.legal_actions(state).tolist()]
    return next((move for move in dict.fromkeys([*first, *legal]) if not refuted(fen, move, nodes)), None)


if __name__ == "__main__":
    run_main(main)

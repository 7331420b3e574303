"""Collect forced wins of Gomoku for the puzzles of the page Analyse: ``python -m bench.strength.forced_wins``.

The engine plays quick games against itself from random stones, until the solver proves a win of the side to move. Its
line is followed until the win is as short as the puzzle is to be, and proven once more there. The package's file is
rewritten, the shortest wins first; the same number of games gives the same file.
"""

import argparse
import json
from typing import Any

import numpy as np

from pipeline_src.arena.game import central_cells
from pipeline_src.files import written_aside
from pipeline_src.games import gomoku
from pipeline_src.records.forced_wins import PACKAGED
from pipeline_src.search.gomoku.engine import Engine, Options
from pipeline_src.search.gomoku.solver import Solver
from pipeline_src.search.limits import Limit

SIZE, STONES, AREA = 15, 4, 7
"""Side of the board; random stones of a game, and side of the central square that has them."""
VARIANTS, LENGTHS = ("freestyle", "freestyle", "renju"), (5, 7, 7, 9, 9, 11, 13, 15, 17, 21)
"""Rules and lengths of wins, of one game after the other."""
MOVES, PROOF = Limit(nodes=1_000), Limit(nodes=20_000)


def main() -> None:
    """Play, collect and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=60, help="number of games")
    rows = []
    for seed in range(parser.parse_args().games):
        row = win_of(VARIANTS[seed % len(VARIANTS)], LENGTHS[seed % len(LENGTHS)], seed)
        if row is not None:
            rows.append(row)
            print(f"game {seed}: {row['variant']}, {row['plies']} plies", flush=True)
    with written_aside(PACKAGED) as aside:
        aside.write_text("".join(json.dumps(row) + "\n" for row in sorted(rows, key=lambda row: int(row["plies"]))))


def win_of(variant: str, length: int, seed: int) -> dict[str, Any] | None:
    """Return a win of about ``length`` plies from a game; None if the game has none that is long enough."""
    engine, solver, rng = Engine(Options(table_mb=4)), Solver(), np.random.default_rng(seed)
    state, actions = gomoku.initial_state(SIZE, variant), list[int]()
    while gomoku.winner(state) is None:
        found = solver.solve(state, PROOF) if len(actions) >= STONES else None
        if found is not None and found.win and len(found.line) <= length:
            if len(found.line) < LENGTHS[0]:
                return None
            win = {"size": SIZE, "variant": variant, "actions": actions, "win": found.line[0]}
            return win | {"plies": len(found.line)}
        if found is not None and found.win:
            following = found.line[:2]
        elif found is not None:
            following = (engine.search(state, MOVES).action,)
        else:
            following = (int(rng.choice(np.intersect1d(gomoku.legal_actions(state), central_cells(SIZE, AREA)))),)
        for action in following:
            actions.append(action)
            state = gomoku.play(state, action)
    return None


if __name__ == "__main__":
    main()

"""Solve forced wins and play the matches behind docs/measured/gomoku_engine.json, or what is left of them.

Killed at any moment, the same command goes on with the pairs that are missing; games, journals and openings lie under
work/strength/gomoku_engine/. Openings are level by our own search. Example:

    python -m bench.strength.gomoku_engine --positions FILE --only previous
"""

import argparse
import datetime
from pathlib import Path
from typing import Any

from pipeline_src.arena.balance import balanced_openings, central_cells
from pipeline_src.arena.match import MatchSpec, run_match
from pipeline_src.arena.result import Match
from pipeline_src.arena.score import rate
from pipeline_src.errors import run_main
from pipeline_src.files import read_json, write_json
from pipeline_src.games import gomoku
from pipeline_src.parallel import Parallel
from pipeline_src.records.forced_wins import read_forced_wins
from pipeline_src.report.provenance import processor
from pipeline_src.search.gomoku.solver import Solver
from pipeline_src.search.limits import Limit

OUT = Path("docs/measured/gomoku_engine.json")
WORK = Path("work/strength/gomoku_engine")
COMMAND = "make measure-gomoku_engine POSITIONS=FILE"
SOLVE_MS = 1000.0
RANGES = {"forced_wins_9": (3, 9), "forced_wins_15": (10, 15), "forced_wins_25": (16, 25)}
"""Figures of solved positions, by the announced distance."""

JUDGE, BOUND = "engine:nodes=60000", 100.0
"""Who says that an opening is level, and how far from 0 its value may be; 400 points are a factor of e in the odds."""
PLIES, SQUARE = 5, 9
"""Of an opening, and side of the square in the middle in which its stones lie."""
MATCHES: dict[str, tuple[str, str, int, int]] = {
    "score_vs_previous_15": ("engine:movetime=300", "alphabeta:movetime=300", 15, 200),
    "score_vs_previous_20": ("engine:movetime=300", "alphabeta:movetime=300", 20, 200),
    "fifth_of_the_time": ("engine:movetime=60", "alphabeta:movetime=300", 15, 200),
    "score_solver_in_zero": ("zero:movetime=300,solver=200", "zero:movetime=300", 9, 200),
}
"""By figure, or name where there is none: whose score is told, its opponent, board, games."""


def main() -> None:
    """Measure and write; what is not measured this time stays."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--positions", type=Path, help="forced wins, see records/forced_wins.py")
    parser.add_argument("--only", default="", help="only matches that have this in their names; - is none")
    parser.add_argument("--workers", type=int, default=1, help="games side by side; a core each")
    parser.add_argument("--games", type=int, help="at most so many of each match")
    options = parser.parse_args()
    made: dict[str, Any] = read_json(OUT) if OUT.exists() else {}
    matches = made.setdefault("matches", {})
    about = {
        "profile": "committed measurement",
        "hardware": f"one core of {processor()}",
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "command": COMMAND,
    }
    if options.positions:
        for name, row in solved(options.positions).items():
            made[name] = row | about | {"data": "positions that a strong engine announced as won"}
            print(f"{name}: {row['value']:.3f} of {row['n']}", flush=True)
        write_json(OUT, made)
    for name, (a, b, size, games) in MATCHES.items():
        if options.only not in name:
            continue
        summary = play(name, a, b, size, min(games, options.games or games), options.workers)
        print(f"{name}: {a} against {b}: {summary.score.value:.3f} of {summary.games} games", flush=True)
        matches[name] = summary.as_json()
        if name.startswith("score"):
            made[name] = summary.score.as_metrics() | about | {"data": "no data: openings level by our own search"}
        write_json(OUT, made)


def play(name: str, a: str, b: str, size: int, games: int, workers: int) -> Match:
    """A match from level openings, each of which is played with both sides."""
    path = WORK / f"openings_{size}.txt"
    if not path.exists() or len(path.read_text(encoding="utf-8").splitlines()) < games // 2:
        WORK.mkdir(parents=True, exist_ok=True)
        start, among = gomoku.initial_state(size), central_cells(size, min(SQUARE, size))
        found = balanced_openings("gomoku", start, games // 2, PLIES, [1, size], JUDGE, BOUND, among)
        texts = [" ".join(gomoku.format_move(action, size, size) for action in opening) for opening in found]
        path.write_text("".join(text + "\n" for text in texts), encoding="utf-8")
    spec = MatchSpec("gomoku", a, b, games, str(path), size, margin=100.0, seed=[*MATCHES, name].index(name) + 1)
    return run_match(spec, WORK / f"{name}.parquet", Parallel(workers=workers))


def solved(path: Path, movetime_ms: float = SOLVE_MS) -> dict[str, dict[str, Any]]:
    """Shares of a file's positions that the solver proves, with their intervals, by figure."""
    positions, solver = read_forced_wins(path), Solver()
    solver.solve(positions[0].state, Limit(nodes=1))  # compiled before any clock runs
    found: dict[str, dict[str, Any]] = {}
    for name, (low, high) in RANGES.items():
        won = [
            solver.solve(state, Limit(movetime_ms=movetime_ms)).win
            for state, plies in positions
            if low <= plies <= high
        ]
        if won:
            found[name] = rate(sum(won), len(won)).as_metrics()
    return found


if __name__ == "__main__":
    run_main(main)

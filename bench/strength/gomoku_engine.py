"""Measure Gomoku's engine for docs/measured/gomoku_engine.json, or the rest of it.

The figures are forced wins of a file, solved at a second each; matches from openings that are level by our own search;
late answers of the brain while another process is busy; and known positions of Renju. Killed at any moment, the same
command continues with the missing pairs; games, journals and openings are under work/strength/gomoku_engine/. Example:

    python -m bench.strength.gomoku_engine --positions FILE --only previous
"""

from pathlib import Path
from typing import Any

import numpy as np

from bench.measured import about, busy_process, chosen, known, late_moves, match_options
from pipeline_src.arena.game import balanced_openings, central_cells, quick_games
from pipeline_src.arena.match import MatchSpec, run_match
from pipeline_src.arena.result import Match
from pipeline_src.arena.score import rate
from pipeline_src.errors import run_main
from pipeline_src.files import write_json, written_aside
from pipeline_src.games import gomoku
from pipeline_src.games.gomoku import from_board
from pipeline_src.parallel import Parallel
from pipeline_src.records.forced_wins import read_forced_wins
from pipeline_src.report.figures import REGISTRY, processor
from pipeline_src.search.limits import Limit
from pipeline_src.systems.gomoku_zero.proving_player import packaged_solver
from tests.games.renju_positions import POSITIONS, read

OUT = Path("docs/measured/gomoku_engine.json")
WORK = Path("work/strength/gomoku_engine")
COMMAND = "make measure-gomoku_engine POSITIONS=FILE"
SOLVE_MS = 1000.0
RANGES = {
    "forced_wins_9": (3, 9),
    "forced_wins_15": (10, 15),
    "forced_wins_25": (16, 25),
    "forced_wins_longer": (26, 99),
}
"""Figures of solved positions, by the announced distance."""

JUDGE, BOUND, QUICK_GAMES = "engine:nodes=100000", 100.0, 4
"""The judge of openings; how far from 0 its value may be (400 points are a factor of e in the odds); and the number of
quick games from an opening, of which each side has to win one."""
NET_JUDGE, NET_BOUND, NET_PLIES = "zero:simulations=8000,fours=40", 0.15, 4
"""The same for matches of `zero`, with values of -1 to 1: it wins both games from most openings of the other judge."""
PLIES, SQUARE = 5, 9  # Plies of an opening, and the side of the central square for its stones
MATCHES: dict[str, tuple[str, str, int, str, int]] = {
    "score_vs_previous_15": ("engine:movetime=300", "alphabeta:movetime=300", 15, "freestyle", 200),
    "score_vs_previous_20": ("engine:movetime=300", "alphabeta:movetime=300", 20, "freestyle", 200),
    "fifth_of_the_time": ("engine:movetime=60", "alphabeta:movetime=300", 15, "freestyle", 200),
    "score_fours_in_zero": ("zero:movetime=100", "zero:movetime=100,fours=0", 15, "freestyle", 200),
    "score_zero_vs_engine": ("zero:movetime=300", "engine:movetime=300", 15, "freestyle", 400),
    "score_zero_vs_engine_20": ("zero:movetime=300", "engine:movetime=300", 20, "freestyle", 400),
    "score_zero_vs_engine_exact": ("zero:movetime=300", "engine:movetime=300", 15, "exact", 200),
    "score_zero_vs_engine_renju": ("zero:movetime=300", "engine:movetime=300", 15, "renju", 200),
    "score_zero_vs_engine_caro": ("zero:movetime=300", "engine:movetime=300", 15, "caro", 200),
}
"""Player A, whose score is reported, player B, board, rule and games, by figure or, where there is none, by name."""

BRAIN, MOVES, TURN_MS = "zugwerk gomoku brain", 10_000, 300
NAMES = [*MATCHES, "late_moves", "renju_suite"]


def main() -> None:
    """Measure and write; figures that are not measured this time stay."""
    parser = match_options(__doc__, workers=1)
    parser.add_argument("--positions", type=Path, help="forced wins, see records/forced_wins.py")
    parser.add_argument("--moves", type=int, default=MOVES, help="number of the brain's moves")
    parser.add_argument("--brain", default=BRAIN, help="command line of the brain")
    parser.add_argument("--beside", default="nothing", help="what else ran on the machine, for the record")
    options = parser.parse_args()
    made = known(OUT)
    machine = f"one core of {processor()}; beside it ran {options.beside}"

    def put(name: str, row: dict[str, Any], data: str) -> None:
        if name in REGISTRY["gomoku_engine"]:
            made[name] = row | about(COMMAND, data, machine)
        print(f"{name}: {row['value']:.3f} of {row['n']}", flush=True)
        write_json(OUT, made)

    if options.positions:
        for name, row in solved(options.positions).items():
            put(name, row, "positions that a strong engine announced as won")
    for name in chosen(options.only, NAMES):
        if name == "renju_suite":
            put(name, renju_suite(), "positions made from the rules, tests/games/renju_positions.py")
        elif name == "late_moves":
            with busy_process():
                row = late_moves("gomoku", "brain", options.brain, TURN_MS, options.moves, 15)
            put(name, row, "its own games")
        else:
            games = MATCHES[name][-1]
            match = play(name, min(games, options.games or games), options.workers)
            made.setdefault("matches", {})[name] = match.as_json()
            put(name, match.score.as_metrics(), "no data: openings level by our own search")


def renju_suite() -> dict[str, Any]:
    """Return the share of known positions in which the rules allow and forbid the right moves."""
    right = 0
    for expected, _, diagram in POSITIONS:
        cells, (row, column) = read(diagram)
        board = np.zeros((15, 15), np.int8)
        for cell, letter in cells.items():
            board[cell] = ".xo".index(letter)
        right += gomoku.is_legal(from_board(board, 0, "renju"), row * 15 + column) is not expected
    return rate(right, len(POSITIONS)).as_metrics()


def play(name: str, games: int, workers: int) -> Match:
    """Play a match from level openings, each with both sides."""
    a, b, size, rule, _ = MATCHES[name]
    by_net = a.startswith("zero")
    path = WORK / f"openings_{size}{f'_{rule}' * (rule != 'freestyle')}{'_by_net' * by_net}.txt"
    if not path.exists():
        count = max(one[-1] for one in MATCHES.values() if one[2:4] == (size, rule)) // 2
        start, among = gomoku.initial_state(size, rule), central_cells(size, min(SQUARE, size))
        plies, judge, bound = (NET_PLIES, NET_JUDGE, NET_BOUND) if by_net else (PLIES, JUDGE, BOUND)
        quick = quick_games(QUICK_GAMES) if size > SQUARE and not by_net else []  # on a small board they are drawn
        found = balanced_openings("gomoku", start, count, plies, [1, size], judge, bound, among, quick)
        texts = [" ".join(gomoku.format_move(action, size, size) for action in opening) for opening in found]
        with written_aside(path) as aside:
            aside.write_text("".join(text + "\n" for text in texts), encoding="utf-8")
    seed = [*MATCHES].index(name) + 1
    spec = MatchSpec("gomoku", a, b, games, str(path), size, rule, seed, margin=100.0)
    return run_match(spec, WORK / f"{name}.parquet", Parallel(workers=workers))


def solved(path: Path, movetime_ms: float = SOLVE_MS) -> dict[str, dict[str, Any]]:
    """Return the share of a file's positions that the solver proves, with its interval, by figure."""
    positions, solver = read_forced_wins(path), packaged_solver()
    for state, _ in positions:  # compile before any clock runs
        solver.solve(state, Limit(nodes=1))
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

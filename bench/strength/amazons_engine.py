"""Play the matches behind docs/measured/amazons_engine.json, or the rest of them, and write it.

Killed at any moment, the same command continues with the missing pairs; games and journals are under
work/strength/amazons_engine/. Matches against the previous engine are between two programs with the same protocol and
overhead: one made by a committed revision, which is unpacked there, and the one of this checkout.

Examples:
    python -m bench.strength.amazons_engine --only doubling
    python -m bench.strength.amazons_engine --only previous --workers 1 --games 40
    python -m bench.strength.amazons_engine --only late_moves --moves 1000
"""

import io
import math
import subprocess
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from bench.measured import about, busy_process, chosen, count, known, late_moves, line, match_options
from pipeline_src.arena.journal import Journal
from pipeline_src.arena.match import MatchSpec, journal_of, pairs_of, run_match
from pipeline_src.arena.result import Match
from pipeline_src.errors import ZugwerkError, run_main
from pipeline_src.files import write_json, written_aside
from pipeline_src.parallel import Parallel

OUT = Path("docs/measured/amazons_engine.json")
WORK = Path("work/strength/amazons_engine")
COMMAND = "make measure-amazons_engine"
DATA = "no data: the engine needs none"
ENGINE = "alphabeta"
SIMULATIONS = 590
"""Simulations of each of the three searches of OpenSpiel's turn: 100 ms a turn on the machine of the figures."""

PREVIOUS = "5b54a1895a85868cb5e978871b0bdd3928927780"  # The revision whose engine is the previous one
PROGRAM = "python -m pipeline_src.cli amazons uci --player alphabeta"
NEW = f"uci:{PROGRAM},movetime=300"
OLD = f"uci:sh -c 'cd {WORK}/{PREVIOUS[:12]} && PYTHONPATH=. exec {PROGRAM}',movetime=300"
TURN_MS, MOVES = 50, 10_000  # Time of a turn, and number of turns, of the figure late_moves

OPENSPIEL = f"uci:python -m bench.openspiel_uci --simulations {SIMULATIONS}"

MATCHES: dict[str, tuple[str, str, int, int]] = {
    "openspiel_100ms": (f"{ENGINE}:movetime=100", OPENSPIEL, 200, 1),
    "uct_300ms": ("uct:movetime=300", f"{ENGINE}:movetime=300", 200, 2),
    "doubling_100_50": (f"{ENGINE}:movetime=100", f"{ENGINE}:movetime=50", 100, 4),
    "doubling_200_100": (f"{ENGINE}:movetime=200", f"{ENGINE}:movetime=100", 100, 5),
    "doubling_400_200": (f"{ENGINE}:movetime=400", f"{ENGINE}:movetime=200", 400, 6),
    "one_ply": (f"{ENGINE}:nodes=100000", "one_ply", 200, 7),
    "fast": (f"{ENGINE}:movetime=10", "uct:movetime=10", 400, 9),
    "previous": (NEW, OLD, 400, 10),
    "previous_8": (NEW, OLD, 400, 11),
    "learned": (f"{ENGINE}:movetime=100", f"{ENGINE}:movetime=100,weights=hand", 400, 12),
}
"""Player A, whose score is reported, player B, games and seed by name; names that end in _8 are matches on 8x8."""
SCORES = {
    "score_vs_previous": "previous",
    "score_vs_previous_8": "previous_8",
    "score_vs_openspiel_mcts": "openspiel_100ms",
    "score_vs_one_ply": "one_ply",
    "score_uct_vs_alphabeta": "uct_300ms",
}
"""Match by figure."""


def main() -> None:
    """Play and write; figures that are not measured this time stay."""
    parser = match_options(__doc__, workers=2)
    parser.add_argument("--moves", type=int, default=MOVES, help="number of moves of late_moves")
    options = parser.parse_args()
    found: dict[str, Match] = {}
    wanted = chosen(options.only, [*MATCHES, "late_moves"])
    for name, (a, b, games, seed) in MATCHES.items():
        if name in wanted:
            if OLD in (a, b):
                unpack(PREVIOUS, WORK / PREVIOUS[:12])
            spec = _spec(name, a, b, min(games, options.games or games), seed)
            found[name] = run_match(spec, WORK / f"{name}.parquet", Parallel(workers=options.workers))
            print(f"{name}: {line(found[name])}", flush=True)
        elif journal_of(WORK / f"{name}.parquet").exists():
            found[name] = _so_far(_spec(name, a, b, games, seed), journal_of(WORK / f"{name}.parquet"))
    origin, before = about(COMMAND, DATA), known(OUT)
    made = figures(found)
    if "late_moves" in wanted:
        with busy_process():
            made["late_moves"] = late_moves("amazons", "uci", PROGRAM, TURN_MS, options.moves, 10)
        print(f"late_moves: {made['late_moves']}", flush=True)
    matches = before.get("matches", {}) | {name: match.as_json() for name, match in found.items()}
    made |= lost_off_the_board(matches)
    write_json(OUT, before | {name: row | origin for name, row in made.items()} | {"matches": matches})


def _spec(name: str, a: str, b: str, games: int, seed: int) -> MatchSpec:
    size, openings = 8 if name.endswith("_8") else 10, "random:4" if OLD in (a, b) else "random:2"
    return MatchSpec("amazons", a, b, games, openings, size, seed=seed)


def unpack(revision: str, folder: Path) -> None:
    """Write the files of a committed revision to a folder, unless the folder exists.

    Raises:
        ZugwerkError: the revision is not in this repository.
    """
    if folder.exists():
        return
    archive = subprocess.run(["git", "archive", "--format=zip", revision], capture_output=True, check=False)
    if archive.returncode:
        raise ZugwerkError(f"revision {revision} cannot be unpacked: {archive.stderr.decode().strip()}; fetch it")
    with written_aside(folder) as aside, ZipFile(io.BytesIO(archive.stdout)) as files:
        files.extractall(aside)


def _so_far(spec: MatchSpec, path: Path) -> Match:
    """Return the finished pairs of a match from its journal, without playing."""
    with Journal(path, spec.identity()) as journal:
        pairs = pairs_of(journal)
    return Match(spec.a, spec.b, pairs, "finished" if len(pairs) >= spec.pairs else "incomplete")


def figures(found: dict[str, Match]) -> dict[str, Any]:
    """Return the registry's figures of the existing matches."""
    made: dict[str, Any] = {figure: found[name].score.as_metrics() for figure, name in SCORES.items() if name in found}
    if "learned" in found:
        value, low, high = found["learned"].score.elo()
        made["learned_evaluation_elo"] = count(value, found["learned"].standing.games) | {"low": low, "high": high}
    steps = [match for name, match in found.items() if name.startswith("doubling")]
    return made | ({"elo_per_doubling": _mean_elo(steps)} if steps else {})


def lost_off_the_board(matches: dict[str, Any]) -> dict[str, Any]:
    """Count the games of all matches that our own players lost by an illegal move and on time."""
    games = sum(match["games"] for match in matches.values())
    ours = [match["sides"][side] for match in matches.values() for side in "ab" if match[side] != OPENSPIEL]
    kinds = {"illegal_moves": "illegal", "time_losses": "time"}
    return {figure: count(sum(side["forfeits"].get(kind, 0) for side in ours), games) for figure, kind in kinds.items()}


def _mean_elo(steps: list[Match]) -> dict[str, Any]:
    """Return the mean gain of the steps, with their normal errors on the Elo scale taken as independent."""
    elos, variances = [], []
    for match in steps:
        elo, low, high = match.score.elo()
        elos.append(elo)
        variances.append(((high - low) / 2 / 1.96) ** 2)
    mean, half = sum(elos) / len(elos), 1.96 * math.sqrt(sum(variances)) / len(elos)
    return count(mean, sum(match.standing.games for match in steps)) | {"low": mean - half, "high": mean + half}


if __name__ == "__main__":
    run_main(main)

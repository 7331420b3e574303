"""Play the matches behind docs/measured/amazons_engine.json, or what is left of them, and write it.

Killed at any moment, the same command goes on with the pairs that are missing; the games and journals lie under
work/strength/amazons_engine/. Matches against the previous engine are played between two programs: the one that a
committed revision makes, unpacked there, and the one of this checkout, on the same protocol and with the same overhead.

Examples:
    python -m bench.strength.amazons_engine --only doubling
    python -m bench.strength.amazons_engine --only previous --workers 1 --games 40
    python -m bench.strength.amazons_engine --only late_moves --moves 1000
"""

import argparse
import datetime
import io
import math
import shlex
import subprocess
import sys
import tarfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from pipeline_src.arena.journal import Journal
from pipeline_src.arena.match import MatchSpec, journal_of, pairs_of, run_match
from pipeline_src.arena.result import Match
from pipeline_src.errors import ZugwerkError, run_main
from pipeline_src.files import read_json, write_json, written_aside
from pipeline_src.games.game import get_game
from pipeline_src.parallel import Parallel
from pipeline_src.players.engines.uci_text import read_move, write_move
from pipeline_src.report.provenance import processor

OUT = Path("docs/measured/amazons_engine.json")
WORK = Path("work/strength/amazons_engine")
COMMAND = "make measure-amazons_engine"
ENGINE = "alphabeta"
SIMULATIONS = 590
"""Of each of the three searches of OpenSpiel's turn: 100 ms a turn on the machine of the committed figures."""

PREVIOUS = "5b54a1895a85868cb5e978871b0bdd3928927780"
"""The revision whose engine is the previous one."""
PROGRAM = "python -m pipeline_src.cli amazons uci --player alphabeta"
NEW = f"uci:{PROGRAM},movetime=300"
OLD = f"uci:sh -c 'cd {WORK}/{PREVIOUS[:12]} && PYTHONPATH=. exec {PROGRAM}',movetime=300"
TURN_MS, MOVES = 50, 10_000
"""Of `late_moves`."""

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
"""By name: whose score is told, its opponent, games, and a seed of its own; on 8x8 where the name ends so."""


def main() -> None:
    """Play and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="play only matches whose names begin so")
    parser.add_argument("--workers", type=int, default=2, help="games side by side; a core each")
    parser.add_argument("--games", type=int, help="at most so many of each match")
    parser.add_argument("--moves", type=int, default=MOVES, help="of late_moves")
    options = parser.parse_args()
    found: dict[str, Match] = {}
    for name, (a, b, games, seed) in MATCHES.items():
        if name.startswith(options.only):
            if OLD in (a, b):
                unpack(PREVIOUS, WORK / PREVIOUS[:12])
            played = _spec(name, a, b, min(games, options.games or games), seed)
            found[name] = run_match(played, WORK / f"{name}.parquet", Parallel(workers=options.workers))
            print(f"{name}: {line(found[name])}", flush=True)
        elif journal_of(WORK / f"{name}.parquet").exists():
            found[name] = _so_far(_spec(name, a, b, games, seed), journal_of(WORK / f"{name}.parquet"))
    made = figures(found)
    if "late_moves".startswith(options.only):
        made["late_moves"] = late_moves(PROGRAM, options.moves) | about()
    known: dict[str, Any] = read_json(OUT) if OUT.exists() else {}
    matches = known.get("matches", {}) | made.pop("matches")
    write_json(OUT, known | made | lost_off_the_board(matches) | {"matches": matches})


def _spec(name: str, a: str, b: str, games: int, seed: int) -> MatchSpec:
    size, openings = 8 if name.endswith("_8") else 10, "random:4" if OLD in (a, b) else "random:2"
    return MatchSpec("amazons", a, b, games, openings, size, seed=seed)


def unpack(revision: str, folder: Path) -> None:
    """Write the files of a committed revision, once.

    Raises:
        ZugwerkError: the revision is not in this repository.
    """
    if folder.exists():
        return
    archive = subprocess.run(["git", "archive", revision], capture_output=True, check=False)
    if archive.returncode:
        raise ZugwerkError(f"revision {revision} cannot be unpacked: {archive.stderr.decode().strip()}; fetch it")
    with written_aside(folder) as aside, tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
        files.extractall(aside, filter="data")


def late_moves(command: str, moves: int) -> dict[str, Any]:
    """How many of the engine's answers come later than a move's time, beside a process that never rests.

    The other side plays at random; a finished game is followed by another one, until there are enough moves.
    """
    busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    engine = subprocess.Popen(shlex.split(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
    assert engine.stdin is not None
    assert engine.stdout is not None
    rules, rng, times = get_game("amazons"), np.random.default_rng(0), list[float]()
    try:
        engine.stdin.write("isready\n")
        while engine.stdout.readline().strip() != "readyok":
            pass
        while len(times) < moves:
            state, said = rules.initial_state(), list[str]()
            while rules.winner(state) is None and len(times) < moves:
                engine.stdin.write(f"position startpos{' moves ' * bool(said)}{' '.join(said)}\n")
                began = time.perf_counter()
                engine.stdin.write(f"go movetime {TURN_MS}\n")
                while not (line := engine.stdout.readline()).startswith("bestmove"):
                    if not line:
                        raise ZugwerkError("the engine has ended")
                times.append(1000 * (time.perf_counter() - began))
                said.append(line.split()[1])
                state = rules.play(state, read_move(rules, state, said[-1]))
                if rules.winner(state) is None:
                    action = int(rng.choice(rules.legal_actions(state)))
                    said.append(write_move(rules, state, action))
                    state = rules.play(state, action)
    finally:
        for process in (busy, engine):
            process.kill()
            process.communicate()
    late, found = int((np.array(times) > TURN_MS).sum()), np.array(times)
    print(f"late_moves: {late} of {found.size}, longest {found.max():.0f} ms", flush=True)
    return {
        "value": late,
        "low": None,
        "high": None,
        "n": int(found.size),
        "turn_ms": TURN_MS,
        "median_ms": float(np.median(found)),
        "p99_ms": float(np.percentile(found, 99)),
        "longest_ms": float(found.max()),
    }


def about(command: str = COMMAND) -> dict[str, Any]:
    """Origin of a figure that is measured now."""
    return {
        "profile": "committed measurement",
        "data": "no data: the engine needs none",
        "hardware": f"one core of {processor()}",
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "command": command,
    }


def line(match: Match) -> str:
    """A match in words, for the log."""
    score, standing = match.score, match.standing
    wins_draws_losses = f"{standing.wins}-{standing.draws}-{standing.losses}"
    return f"{match.a} against {match.b}: {wins_draws_losses}, {score.value:.3f} ({score.low:.3f} to {score.high:.3f})"


def _so_far(spec: MatchSpec, path: Path) -> Match:
    """What the journal of a match has, which is not played on."""
    with Journal(path, spec.identity()) as journal:
        pairs = pairs_of(journal)
    return Match(spec.a, spec.b, pairs, "finished" if len(pairs) >= spec.pairs else "incomplete")


def figures(found: dict[str, Match]) -> dict[str, Any]:
    """The registry's figures, and every match under ``matches``."""
    made: dict[str, Any] = {}
    for figure, name in {
        "score_vs_previous": "previous",
        "score_vs_previous_8": "previous_8",
        "score_vs_openspiel_mcts": "openspiel_100ms",
        "score_vs_one_ply": "one_ply",
        "score_uct_vs_alphabeta": "uct_300ms",
    }.items():
        if name in found:
            made[figure] = found[name].score.as_metrics()
    if "learned" in found:
        value, low, high = found["learned"].score.elo()
        made["learned_evaluation_elo"] = {
            "value": value,
            "low": low,
            "high": high,
            "n": found["learned"].standing.games,
        }
    steps = [match for name, match in found.items() if name.startswith("doubling")]
    if steps:
        made["elo_per_doubling"] = _mean_elo(steps)
    return {name: row | about() for name, row in made.items()} | {
        "matches": {name: match.as_json() for name, match in found.items()}
    }


def lost_off_the_board(matches: dict[str, Any]) -> dict[str, Any]:
    """Games that our own players lost by an illegal move and on time, in all matches of the file."""
    games = sum(match["games"] for match in matches.values())
    made = {}
    for figure, kind in (("illegal_moves", "illegal"), ("time_losses", "time")):
        ours = [match["sides"][side] for match in matches.values() for side in "ab" if match[side] != OPENSPIEL]
        count = sum(side["forfeits"].get(kind, 0) for side in ours)
        made[figure] = {"value": count, "low": None, "high": None, "n": games} | about()
    return made


def _mean_elo(steps: list[Match]) -> dict[str, Any]:
    """Mean gain of the steps, each with its normal error on the Elo scale, taken to be independent."""
    elos, variances = [], []
    for match in steps:
        elo, low, high = match.score.elo()
        elos.append(elo)
        variances.append(((high - low) / 2 / 1.96) ** 2)
    mean, half = sum(elos) / len(elos), 1.96 * math.sqrt(sum(variances)) / len(elos)
    return {"value": mean, "low": mean - half, "high": mean + half, "n": sum(match.standing.games for match in steps)}


if __name__ == "__main__":
    run_main(main)

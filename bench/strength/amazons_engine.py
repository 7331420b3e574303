"""Play the matches behind docs/measured/amazons_engine.json, or what is left of them, and write it.

Killed at any moment, the same command goes on with the pairs that are missing; the games and journals lie under
work/strength/amazons_engine/. Example: ``python -m bench.strength.amazons_engine --only doubling``
"""

import argparse
import datetime
import math
from pathlib import Path
from typing import Any

from pipeline_src.arena.journal import Journal
from pipeline_src.arena.match import MatchSpec, journal_of, pairs_of, run_match
from pipeline_src.arena.result import Match
from pipeline_src.errors import run_main
from pipeline_src.files import write_json
from pipeline_src.parallel import Parallel
from pipeline_src.report.provenance import processor

OUT = Path("docs/measured/amazons_engine.json")
WORK = Path("work/strength/amazons_engine")
COMMAND = "make measure-amazons_engine"
ENGINE = "alphabeta"
RESIDUAL = "artifacts/models/amazons/residual/nets.pt"
SIMULATIONS = 590
"""Of each of the three searches of OpenSpiel's turn: 100 ms a turn on the machine of the committed figures."""

OPENSPIEL = f"uci:python -m bench.openspiel_uci --simulations {SIMULATIONS}"

MATCHES: dict[str, tuple[str, str, int]] = {
    "openspiel_100ms": (f"{ENGINE}:movetime=100", OPENSPIEL, 200),
    "uct_100ms": ("uct:movetime=100", f"{ENGINE}:movetime=100", 200),
    "uct_1000ms": ("uct:movetime=1000", f"{ENGINE}:movetime=1000", 40),
    "doubling_100_50": (f"{ENGINE}:movetime=100", f"{ENGINE}:movetime=50", 100),
    "doubling_200_100": (f"{ENGINE}:movetime=200", f"{ENGINE}:movetime=100", 100),
    "doubling_400_200": (f"{ENGINE}:movetime=400", f"{ENGINE}:movetime=200", 100),
    "one_ply": (f"{ENGINE}:nodes=100000", "one_ply", 200),
    "puct": (f"puct:{RESIDUAL},movetime=100", f"{ENGINE}:movetime=100", 100),
    "fast": (f"{ENGINE}:movetime=10", "uct:movetime=10", 400),
}
"""By name: whose score is told, its opponent, games."""


def main() -> None:
    """Play and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="play only matches whose names begin so")
    parser.add_argument("--workers", type=int, default=2, help="games side by side; a core each")
    parser.add_argument("--games", type=int, help="at most so many of each match")
    options = parser.parse_args()
    found: dict[str, Match] = {}
    for name, (a, b, games) in MATCHES.items():
        out = WORK / f"{name}.parquet"
        if name.startswith(options.only):
            spec = MatchSpec("amazons", a, b, min(games, options.games or games), seed=[*MATCHES].index(name) + 1)
            found[name] = run_match(spec, out, Parallel(workers=options.workers))
            print(f"{name}: {_line(found[name])}", flush=True)
        elif journal_of(out).exists():
            found[name] = _so_far(MatchSpec("amazons", a, b, games, seed=[*MATCHES].index(name) + 1), journal_of(out))
    write_json(OUT, figures(found))


def _line(match: Match) -> str:
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
        "score_vs_openspiel_mcts": "openspiel_100ms",
        "score_vs_one_ply": "one_ply",
        "score_uct_vs_alphabeta": "uct_100ms",
        "score_nets_puct_vs_alphabeta": "puct",
    }.items():
        if name in found:
            made[figure] = found[name].score.as_metrics()
    steps = [match for name, match in found.items() if name.startswith("doubling")]
    if steps:
        made["elo_per_doubling"] = _mean_elo(steps)
    games = sum(match.standing.games for match in found.values())
    for figure, kind in (("illegal_moves", "illegal"), ("time_losses", "time")):
        count = sum(_ours(match, kind) for match in found.values())
        made[figure] = {"value": count, "low": None, "high": None, "n": games}
    about = {
        "profile": "committed measurement",
        "data": "no data: the engine needs none",
        "hardware": f"one core of {processor()}",
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "command": COMMAND,
    }
    return {name: row | about for name, row in made.items()} | {
        "matches": {name: match.as_json() for name, match in found.items()}
    }


def _ours(match: Match, kind: str) -> int:
    """Games that our own players lost off the board."""
    return sum(
        match.forfeits(player)[kind] for player, text in enumerate((match.a, match.b)) if not text.startswith("uci:")
    )


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

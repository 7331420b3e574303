"""Train Gomoku's generations with several seeds, evaluate each run, and write docs/measured/gomoku_zero.json.

Each seed has its own project folder under work/strength/gomoku_zero/; killed at any moment, the same command continues.
The params are those of a profile, with more headline games. ``--collect`` reads runs of other machines from folders
with the artifacts of all generations and ``gomoku_evaluate``. Examples:

    python -m bench.strength.gomoku_zero
    python -m bench.strength.gomoku_zero --profile paper --collect FOLDER --hardware "one H200"
"""

import argparse
import hashlib
import math
import os
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.measured import about, count, known, run_stage
from pipeline_src import yaml12
from pipeline_src.arena.score import Z95, Score, pair_score, rate
from pipeline_src.errors import ZugwerkError, run_main
from pipeline_src.files import read_json, write_json
from pipeline_src.project.graph import GRAPH, read_graph
from pipeline_src.project.params import read_tree
from pipeline_src.project.profile import LAPTOP, merged_text
from pipeline_src.records.record import read_records
from pipeline_src.reference.stage_code import digests
from pipeline_src.report.figures import REGISTRY, processor, timed_figures

ROOT = Path(__file__).parents[2]
OUT = Path("docs/measured/gomoku_zero.json")
WORK = Path("work/strength/gomoku_zero")
COMMAND = "make measure-gomoku_zero"
REPORT = Path("artifacts/reports/gomoku/evaluate.json")
GAMES = Path("artifacts/records/gomoku/matches.parquet")
MARK = Path("evaluated.json")  # File in a run's folder with the params, net and code of its evaluation
SEEDS = (1, 2, 3)
POINTS = {"first": 1.0, "draw": 0.5, "second": 0.0}


def main() -> None:
    """Run or collect, and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--profile", default=LAPTOP, help="laptop, smoke or paper")
    parser.add_argument("--seeds", type=int, nargs="+", default=SEEDS, help="one whole run each")
    parser.add_argument("--pairs", type=int, default=50, help="pairs of games against each opponent for each seed")
    parser.add_argument("--collect", type=Path, nargs="+", help="train nothing; read these folders")
    parser.add_argument("--hardware", help="the machine in words; by default this one's processor")
    options = parser.parse_args()
    folders = options.collect or [WORK / options.profile / f"seed-{seed}" for seed in options.seeds]
    if options.collect is None:
        for seed, folder in zip(options.seeds, folders, strict=True):
            write_params(folder, options.profile, seed, options.pairs)
            make(folder)
    command = COMMAND if options.profile == LAPTOP else f"{COMMAND} PROFILE={options.profile}"
    machine = options.hardware or f"{os.cpu_count()} cores of {processor()}"
    origin = about(command, "its own games", machine, options.profile) | {"code": evaluated_by(folders)}
    params = read_tree(folders[0] / "params.yaml")
    for name, row in (made := figures(folders)).items():
        player = REGISTRY["gomoku_zero"][name].player
        made[name] = row | origin | ({"player": player(params)} if player else {})
    seeds = {str(read_tree(folder / "params.yaml")["seed"]): read_json(folder / REPORT) for folder in folders}
    before = known(OUT)
    runs = before.get("runs", {}) | {options.profile: {"figures": made, "seeds": seeds}}
    headline = made if options.profile == LAPTOP else {k: v for k, v in before.items() if k != "runs"}
    write_json(OUT, headline | {"runs": runs})
    for name, row in made.items():
        print(f"{name}: {row['value']:.4g} ({row['low']} to {row['high']}, n {row['n']})")


def write_params(folder: Path, profile: str, seed: int, pairs: int) -> None:
    """Write params.yaml into a seed's folder."""
    text = (ROOT / "params.yaml").read_text(encoding="utf-8")
    tree = yaml12.parse(text if profile == LAPTOP else merged_text(profile, ROOT, text), profile)
    if tree["profile"] != profile:
        raise ZugwerkError(f"params.yaml is the profile {tree['profile']}'s; `zugwerk profile laptop` restores it")
    tree["seed"] = seed
    evaluate = tree["gomoku_evaluate"]
    for opponent in evaluate["opponents"].values():
        opponent["pairs"] = pairs
    evaluate["openings"]["count"] = max(pairs, evaluate["openings"]["count"])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "params.yaml").write_text(yaml12.dump(tree), encoding="utf-8")


def make(folder: Path) -> None:
    """Train the generations and evaluate them, or do the rest of it."""
    run_stage(folder, "systems.gomoku_zero.self_play:cycle")
    last = sorted((folder / "artifacts/models/gomoku").glob("*/best.pt"))[-1]
    key = hashlib.sha256((folder / "params.yaml").read_bytes() + last.read_bytes()).hexdigest()
    made = {"key": key, "code": digests(read_graph(ROOT / GRAPH), read_tree(folder / "params.yaml"))["gomoku_evaluate"]}
    mark = folder / MARK
    if not (mark.exists() and read_json(mark) == made and (folder / REPORT).exists()):
        run_stage(folder, "systems.gomoku_zero.evaluate")
        write_json(mark, made)


def evaluated_by(folders: Sequence[Path]) -> str | None:
    """Return the digest of the code that evaluated all runs; None if it is unknown or differs."""
    marks = [folder / MARK for folder in folders]
    found = {read_json(mark).get("code") if mark.exists() else None for mark in marks}
    return found.pop() if len(found) == 1 else None


def figures(folders: Sequence[Path]) -> dict[str, dict[str, Any]]:
    """Return the registry's figures over all runs: matches pooled, the others as means.

    The interval of the mean Elo is the wider of two: from the runs' own errors, or from the scatter between the runs.
    """
    reports = [read_json(folder / REPORT) for folder in folders]
    scores: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for folder in folders:
        for name, pairs in headline_pairs(folder).items():
            scores[name] += pairs
    found = {f"score_vs_{name}": pair_score(pairs).as_metrics() for name, pairs in scores.items()}
    best_of = [report["best_of_five_won"] for report in reports if "best_of_five_won" in report]
    played = sum(one["n"] for one in best_of)
    won = rate(sum(round(one["value"] * one["n"]) for one in best_of), played).as_metrics() if played else None
    times = [timed_figures(folder) for folder in folders]
    return {
        "generations": _mean([report["generations"] for report in reports]),
        **found,
        **({"best_of_five_won": won} if won else {}),
        "elo_last": _mean_elo([report["elo_last"] for report in reports]),
        **{name: _mean([time[name] for time in times]) for name in ("train_hours", "self_play_games_per_hour")},
    }


def headline_pairs(folder: Path) -> dict[str, list[tuple[float, float]]]:
    """Return the points of the best player in pairs of games, by the opponent's name."""
    opponents = read_tree(folder / "params.yaml")["gomoku_evaluate"]["opponents"]
    points: dict[str, list[float]] = {name: [] for name in opponents}
    games = iter([game for game in read_records(folder / GAMES) if game.event == "headline"])
    for name, opponent in opponents.items():  # in the order of params.yaml, as the stage plays them
        for _ in range(2 * opponent["pairs"]):
            game = next(games)
            ours_first = game.second_name == opponent["player"]
            if not ours_first and game.first_name != opponent["player"]:
                raise ZugwerkError(f"{folder / GAMES}: not the games of {folder / 'params.yaml'}")
            points[name].append(POINTS[game.winner or "draw"] if ours_first else 1 - POINTS[game.winner or "draw"])
    return {name: list(zip(one[::2], one[1::2], strict=True)) for name, one in points.items()}


def _mean(values: Sequence[float]) -> dict[str, Any]:
    return count(sum(values) / len(values), len(values))


def _mean_elo(found: Sequence[dict[str, float]]) -> dict[str, Any]:
    n = len(found)
    mean = sum(one["value"] for one in found) / n
    within = sum(((one["high"] - one["low"]) / 2 / Z95) ** 2 for one in found) / n**2
    between = sum((one["value"] - mean) ** 2 for one in found) / (n - 1) / n if n > 1 else 0.0
    half = Z95 * math.sqrt(max(within, between))
    return Score(mean, mean - half, mean + half, int(sum(one["n"] for one in found))).as_metrics()


if __name__ == "__main__":
    run_main(main)

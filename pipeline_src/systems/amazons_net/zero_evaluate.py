"""Stage amazons_zero_evaluate: what the nets of self-play score against players that learn nothing.

Reads ``artifacts/models/amazons_zero/NN/{model,best}.pt`` and the generations' reports; writes the best player's table,
``artifacts/models/amazons_zero.rays``, the games of the matches, and, under ``artifacts/reports/amazons/zero/``, the
metrics ``evaluate.json`` and the curve ``strength.csv``. Killed and run again, it plays only the missing games.
"""

import shutil
from collections.abc import Mapping
from pathlib import Path

from pipeline_src import streams
from pipeline_src.arena.journal import stage_journal
from pipeline_src.arena.result import Match
from pipeline_src.arena.runner import Board
from pipeline_src.errors import ZugwerkError
from pipeline_src.files import Row, read_json, write_json, write_table
from pipeline_src.games import amazons
from pipeline_src.parallel import Parallel
from pipeline_src.players.amazons import amazons_engine
from pipeline_src.project.params import load, load_value
from pipeline_src.systems.amazons_net.match import play_pairings, player_text, summary
from pipeline_src.systems.amazons_net.params import AmazonsZeroEvaluate, Pairing, ZeroFiles, read_zero_numbers

NET = Path("artifacts/models/amazons_zero.rays")
REPORTS = Path("artifacts/reports/amazons/zero")
GAMES = Path("artifacts/records/amazons_zero/matches.parquet")
WORK = Path("work/amazons_zero_evaluate")


def main() -> None:
    """Play and write.

    Raises:
        ZugwerkError: bad params, a model or report of a generation is missing, or a text that names no player.
    """
    from pipeline_src.systems.amazons_net.nets import export_rays  # workers need no torch

    params, engine = load(AmazonsZeroEvaluate, "amazons_zero_evaluate"), amazons_engine()
    numbers = read_zero_numbers()
    if beyond := [number for number in params.rated if number > numbers[-1]]:
        raise ZugwerkError(
            f"params.yaml: amazons_zero_evaluate.rated: there are {numbers[-1]} generations, no number {beyond[0]}"
        )
    seed, parallel = load_value(int, "seed"), load(Parallel, "parallel")
    reports = {number: read_json(ZeroFiles(number).report) for number in numbers}
    board = Board(amazons.NAME, params.size)
    export_rays(ZeroFiles(numbers[-1]).best, NET)
    pairings: dict[str, tuple[Pairing, Path]] = {name: (one, NET) for name, one in params.matches.items()}
    WORK.mkdir(parents=True, exist_ok=True)
    for number in params.rated if params.rated_pairs else ():
        table = WORK / f"{number:02d}.rays"
        export_rays(ZeroFiles(number).model, table)
        one = Pairing(a=params.rated_player, b=params.rated_against, pairs=params.rated_pairs)
        pairings[f"generation_{number:02d}"] = one, table
    texts = {
        name: (player_text(one.a, {"net": table}), player_text(one.b, {"net": table}))
        for name, (one, table) in pairings.items()
    }
    pairs = {name: one.pairs for name, (one, _) in pairings.items()}
    stream = [seed, streams.AMAZONS_ZERO_EVALUATE]
    with stage_journal(WORK, __name__, {"amazons_engine": engine.model_dump()}) as journal:
        plies = params.opening_plies
        matches = play_pairings(board, texts, pairs, plies, stream, parallel, journal, GAMES, level=True)
    write_json(REPORTS / "evaluate.json", {name: summary(matches[name]) for name in params.matches} | totals(reports))
    rated = {number: matches[f"generation_{number:02d}"] for number in params.rated if params.rated_pairs}
    write_table(REPORTS / "strength.csv", strength_rows(reports, rated))
    shutil.rmtree(WORK)


def totals(reports: Mapping[int, Mapping[str, Mapping[str, float]]]) -> dict[str, float]:
    """Generations, games and evaluations of all self-play."""
    played = [report["self_play"] for report in reports.values()]
    counts = {name: sum(one[name] for one in played) for name in ("games", "evaluations")}
    return {"generations": len(reports), **counts}


def strength_rows(reports: Mapping[int, Mapping[str, Mapping[str, float]]], rated: Mapping[int, Match]) -> list[Row]:
    """Score with its 95 % interval of each rated net, by games and evaluations of self-play until then."""
    rows: list[Row] = []
    for number, match in rated.items():
        until = totals({n: report for n, report in reports.items() if n <= number})
        score = match.score
        counts = {"games": until["games"], "evaluations": until["evaluations"]}
        rows.append({"generation": number, **counts, "score": score.value, "low": score.low, "high": score.high})
    return rows

"""Stage amazons_baselines: training-free baselines on the test split, the one-ply evaluation and chance.

Reads ``artifacts/samples/amazons/``; writes, under ``artifacts/reports/amazons/evaluate/``, the metrics
``baselines.json`` and the tables ``one_ply.phases.csv``, ``one_ply.calibration.csv`` and ``uniform.phases.csv``.
A run after a kill ranks only the missing turns: finished ones are kept under ``work/``.
"""

import hashlib
import shutil
from pathlib import Path

import numpy as np

from pipeline_src.arena.journal import Journal, each_kept, pack, stage_journal, unpack
from pipeline_src.arena.score import calibration_rows, reliability
from pipeline_src.errors import run_main
from pipeline_src.files import write_json, write_table
from pipeline_src.learning.arrays import MANIFEST
from pipeline_src.parallel import Parallel
from pipeline_src.players.amazons import amazons_engine
from pipeline_src.project.params import load
from pipeline_src.systems.amazons_net.baselines import (
    CHUNK,
    Ranks,
    fit_scale,
    join_ranks,
    predict_one_ply,
    predict_uniform,
    rank_turns,
)
from pipeline_src.systems.amazons_net.params import AmazonsBaselinesParams
from pipeline_src.systems.amazons_net.recorded import (
    PHASES,
    Outcomes,
    RecordedTurns,
    agreement,
    by_phase,
    metrics,
    phase_rows,
    recorded_turns,
)
from pipeline_src.systems.amazons_net.samples import open_dataset

SAMPLES = Path("artifacts/samples/amazons")
WORK = Path("work/amazons_baselines")
OUT = Path("artifacts/reports/amazons/evaluate")


def ranked(turns: RecordedTurns, parallel: Parallel, description: str, journal: Journal) -> Ranks:
    """`rank_turns`, some turns a task."""
    tasks = {f"{description} {number}": (some,) for number, some in enumerate(turns.chunks(CHUNK))}
    parts = each_kept(rank_some, tasks, parallel, description, journal)
    return join_ranks([Ranks(**unpack(part)) for part in parts])


def rank_some(tasks: list[tuple[RecordedTurns]]) -> list[str]:
    """`rank_turns` of each task, packed."""
    return [pack(rank_turns(turns)._asdict()) for (turns,) in tasks]


def main() -> None:
    """Fit the one-ply win rate, rank the test turns, write.

    Raises:
        ZugwerkError: bad params, or no or a damaged data set.
    """
    params, parallel = load(AmazonsBaselinesParams, "amazons_baselines"), load(Parallel, "parallel")
    engine = amazons_engine()  # of the ranking player
    dataset = open_dataset(SAMPLES)
    fitted = recorded_turns(dataset, "validation")[0].spread(params.fit_turns)
    turns, left_out = recorded_turns(dataset, "test")
    identity = {
        "samples": hashlib.sha256((SAMPLES / MANIFEST).read_bytes()).hexdigest(),
        "params": params.model_dump(),
        "amazons_engine": engine.model_dump(),
    }
    with stage_journal(WORK, "pipeline_src.stages.amazons_baselines", identity) as journal:
        scale = fit_scale(ranked(fitted, parallel, "one-ply win rate", journal).value, fitted.results)
        ranks = ranked(turns, parallel, "one-ply ranks", journal)
    outcomes = Outcomes(turns.results, turns.gids, turns.plies)
    systems = {"one_ply": predict_one_ply(ranks, scale), "uniform": predict_uniform(ranks)}
    report = {
        "games": len(np.unique(turns.gids)),
        "turns": len(turns),
        "turns_left_out": left_out,
        "one_ply_scale": scale,
        **{name: metrics(agreement(predictions, outcomes)) for name, predictions in systems.items()},
    }
    for name, predictions in systems.items():
        write_table(OUT / f"{name}.phases.csv", phase_rows(by_phase(predictions, outcomes, PHASES)))
    bins = reliability(systems["one_ply"].win_rates["value"], outcomes.results, outcomes.gids)
    write_table(OUT / "one_ply.calibration.csv", calibration_rows(bins))
    write_json(OUT / "baselines.json", report)
    shutil.rmtree(WORK)


if __name__ == "__main__":
    run_main(main)

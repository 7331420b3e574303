"""Stage amazons_baselines: training-free baselines on the test split, the one-ply evaluation and chance.

Reads ``artifacts/samples/amazons/``; writes, under ``artifacts/reports/amazons/evaluate/``, the metrics
``baselines.json`` and the tables ``one_ply.phases.csv``, ``one_ply.calibration.csv`` and ``uniform.phases.csv``.
"""

from pathlib import Path

import numpy as np

from pipeline_src.errors import run_main
from pipeline_src.files import write_json, write_table
from pipeline_src.parallel import Parallel, run_tasks
from pipeline_src.project.params import load
from pipeline_src.systems.amazons_net.agreement import Outcomes, agreement, by_phase, calibration
from pipeline_src.systems.amazons_net.baselines import (
    CHUNK,
    Ranks,
    fit_scale,
    join_ranks,
    predict_one_ply,
    predict_uniform,
    rank_turns,
)
from pipeline_src.systems.amazons_net.dataset import open_dataset
from pipeline_src.systems.amazons_net.evaluation_params import AmazonsBaselinesParams
from pipeline_src.systems.amazons_net.recorded import PHASES, RecordedTurns, recorded_turns
from pipeline_src.systems.amazons_net.tables import calibration_rows, metrics, phase_rows

SAMPLES = Path("artifacts/samples/amazons")
OUT = Path("artifacts/reports/amazons/evaluate")


def ranked(turns: RecordedTurns, parallel: Parallel, description: str) -> Ranks:
    """`rank_turns`, some turns a task."""
    return join_ranks(run_tasks(rank_turns, [(some,) for some in turns.chunks(CHUNK)], parallel, description))


def main() -> None:
    """Fit the one-ply win rate, rank the test turns, write.

    Raises:
        ZugwerkError: bad params, or no or a damaged data set.
    """
    params, parallel = load(AmazonsBaselinesParams, "amazons_baselines"), load(Parallel, "parallel")
    dataset = open_dataset(SAMPLES)
    fitted = recorded_turns(dataset, "validation")[0].spread(params.fit_turns)
    scale = fit_scale(ranked(fitted, parallel, "one-ply win rate").value, fitted.results)

    turns, left_out = recorded_turns(dataset, "test")
    ranks = ranked(turns, parallel, "one-ply ranks")
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
    bins = calibration(systems["one_ply"].win_rates["value"], outcomes)
    write_table(OUT / "one_ply.calibration.csv", calibration_rows(bins))
    write_json(OUT / "baselines.json", report)


if __name__ == "__main__":
    run_main(main)

"""Stage amazons_evaluate: accuracy, Brier score and losses of one model on the test split.

Reads ``artifacts/samples/amazons/`` and ``artifacts/models/amazons/<model>/nets.pt``; writes, under
``artifacts/reports/amazons/evaluate/``, the metrics ``<model>.json`` and the tables ``<model>.phases.csv`` and
``<model>.calibration.csv``.

Example: ``python -m pipeline_src.stages.amazons_evaluate --model residual``
"""

import argparse
from pathlib import Path

import numpy as np
import torch

from pipeline_src.arena.score import calibration_rows, reliability
from pipeline_src.errors import run_main
from pipeline_src.files import write_json, write_table
from pipeline_src.project.params import load, load_value
from pipeline_src.systems.amazons_net.forward import forward_of
from pipeline_src.systems.amazons_net.nets import load_nets
from pipeline_src.systems.amazons_net.params import AmazonsEvaluateParams
from pipeline_src.systems.amazons_net.predict import predict_nets
from pipeline_src.systems.amazons_net.recorded import (
    PHASES,
    Outcomes,
    agreement,
    by_phase,
    metrics,
    phase_rows,
    recorded_turns,
)
from pipeline_src.systems.amazons_net.samples import open_dataset

SAMPLES = Path("artifacts/samples/amazons")
MODELS = Path("artifacts/models/amazons")
OUT = Path("artifacts/reports/amazons/evaluate")


def main() -> None:
    """Load the nets, ask them, write.

    Raises:
        ZugwerkError: bad params, no or damaged nets or data set.
    """
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, help="what amazons_train trained, such as cross_entropy or residual")
    model = parser.parse_args().model
    params = load(AmazonsEvaluateParams, "amazons_evaluate")
    torch.set_num_threads(load_value(int, "torch_threads"))
    device = "cuda" if torch.cuda.is_available() else "cpu"
    nets = forward_of(load_nets(MODELS / model / "nets.pt", device), params.batch)
    turns, left_out = recorded_turns(open_dataset(SAMPLES), "test")
    predictions = predict_nets(nets, turns)
    outcomes = Outcomes(turns.results, turns.gids, turns.plies)
    report = {
        "games": len(np.unique(turns.gids)),
        "turns": len(turns),
        "turns_left_out": left_out,
        "nets": metrics(agreement(predictions, outcomes)),
    }
    write_table(OUT / f"{model}.phases.csv", phase_rows(by_phase(predictions, outcomes, PHASES)))
    bins = reliability(predictions.win_rates["value"], outcomes.results, outcomes.gids)
    write_table(OUT / f"{model}.calibration.csv", calibration_rows(bins))
    write_json(OUT / f"{model}.json", report)


if __name__ == "__main__":
    run_main(main)

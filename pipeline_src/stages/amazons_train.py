"""Stage amazons_train: Move-Net and Arrow-Net trained together, on one reading of the loss.

Example: ``python -m pipeline_src.stages.amazons_train --loss cross_entropy``

Reads ``artifacts/samples/amazons/``. Writes the nets of the lowest validation loss to
``artifacts/models/amazons/<loss>/nets.pt`` and, under ``artifacts/reports/amazons/train/``, the measures
``<loss>.json``, the learning curves ``<loss>.csv`` and ``<loss>.timings.json``. Killed and run again, it goes on from a
checkpoint under ``work/``.
"""

import argparse
import csv
import shutil
from pathlib import Path

import torch

from pipeline_src.errors import run_main
from pipeline_src.files import write_json, written_aside
from pipeline_src.params.amazons_train import AmazonsTrainParams
from pipeline_src.params.load import load, load_value
from pipeline_src.samples.dataset import open_dataset
from pipeline_src.training.losses import POLICY_LOSSES
from pipeline_src.training.run import train, work_folder

SAMPLES = Path("artifacts/samples/amazons")
MODELS = Path("artifacts/models/amazons")
REPORTS = Path("artifacts/reports/amazons/train")
WORK = Path("work/amazons_train")


def run(loss: str) -> None:
    """Train on ``loss`` and write everything.

    Raises:
        ZugwerkError: bad params, or no data set.
    """
    params = load(AmazonsTrainParams, "amazons_train")
    seed, threads = load_value(int, "seed"), load_value(int, "torch_threads")
    dataset = open_dataset(SAMPLES)
    torch.set_num_threads(threads)
    folder = work_folder(WORK, dataset, params, loss=loss, seed=seed, threads=threads)
    trained = train(dataset, params, loss=loss, seed=seed, folder=folder)
    with written_aside(MODELS / loss / "nets.pt") as aside:
        shutil.copyfile(trained.best_nets, aside)
    write_json(REPORTS / f"{loss}.json", {"epochs": len(trained.rows), "best": trained.best, "last": trained.rows[-1]})
    with written_aside(REPORTS / f"{loss}.csv") as aside, open(aside, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, trained.rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(trained.rows)
    write_json(REPORTS / f"{loss}.timings.json", trained.timings)
    shutil.rmtree(folder)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="amazons_train", description="Train Move-Net and Arrow-Net.")
    parser.add_argument("--loss", required=True, choices=sorted(POLICY_LOSSES))
    run(parser.parse_args().loss)


if __name__ == "__main__":
    run_main(main)

"""Stage amazons_train: train one model, Amazons-Net with one reading of its loss, or the residual net.

Example: ``python -m pipeline_src.stages.amazons_train --model residual``

Reads ``artifacts/samples/amazons/``. Writes the nets of the lowest validation loss to
``artifacts/models/amazons/<model>/nets.pt`` and, under ``artifacts/reports/amazons/train/``, the measures
``<model>.json``, the learning curves ``<model>.csv`` and ``<model>.timings.json``. Killed and run again, it
resumes from a checkpoint under ``work/``.
"""

import argparse
import shutil
from pathlib import Path

import torch

from pipeline_src.errors import run_main
from pipeline_src.files import write_json, write_table, written_aside
from pipeline_src.project.params import load, load_value
from pipeline_src.systems.amazons_net.losses import MODELS as NAMES
from pipeline_src.systems.amazons_net.params import section_of
from pipeline_src.systems.amazons_net.samples import open_dataset
from pipeline_src.systems.amazons_net.train import train, work_folder

SAMPLES = Path("artifacts/samples/amazons")
MODELS = Path("artifacts/models/amazons")
REPORTS = Path("artifacts/reports/amazons/train")
WORK = Path("work/amazons_train")


def run(model: str) -> None:
    """Train ``model``, one of `pipeline_src.systems.amazons_net.losses.MODELS`, and write everything.

    Raises:
        ZugwerkError: bad params, or no data set.
    """
    params = load(NAMES[model].params, section_of(model))
    seed, threads = load_value(int, "seed"), load_value(int, "torch_threads")
    dataset = open_dataset(SAMPLES)
    torch.set_num_threads(threads)
    folder = work_folder(WORK, dataset, params, model=model, seed=seed, threads=threads)
    trained = train(dataset, params, model=model, seed=seed, folder=folder)
    with written_aside(MODELS / model / "nets.pt") as aside:
        shutil.copyfile(trained.best_nets, aside)
    write_json(REPORTS / f"{model}.json", {"epochs": len(trained.rows), "best": trained.best, "last": trained.rows[-1]})
    write_table(REPORTS / f"{model}.csv", trained.rows)
    write_json(REPORTS / f"{model}.timings.json", trained.timings)
    shutil.rmtree(folder)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, choices=sorted(NAMES))
    run(parser.parse_args().model)


if __name__ == "__main__":
    run_main(main)

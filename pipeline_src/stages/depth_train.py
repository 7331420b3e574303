"""Stage depth_train: train one net that chooses the search depth, with one balancing method.

Reads ``artifacts/samples/depth/``. Writes ``artifacts/models/depth/<model>/model.pt`` and, under
``artifacts/reports/depth/train/``, the classes' counts before and after and the last measures ``<model>.json``, the
learning curves ``<model>.csv`` and ``<model>.timings.json``. Killed and run again, it resumes from a checkpoint under
``work/``.

Example: ``python -m pipeline_src.stages.depth_train --model smote``
"""

import argparse
import shutil
from pathlib import Path

import torch

from pipeline_src.errors import ZugwerkError, run_main
from pipeline_src.files import write_json, write_table
from pipeline_src.project.params import at, load, load_value, read_tree
from pipeline_src.systems.search_depth.net import save_depth_net
from pipeline_src.systems.search_depth.params import DepthBalancing, DepthModelParams, DepthSplitParams, DepthTraining
from pipeline_src.systems.search_depth.positions import open_positions, split_by_game
from pipeline_src.systems.search_depth.train import train_depth_net

SAMPLES = Path("artifacts/samples/depth")
MODELS = Path("artifacts/models/depth")
REPORTS = Path("artifacts/reports/depth/train")
WORK = Path("work/depth_train")


def run(name: str) -> None:
    """Train the model of that name and write everything.

    Raises:
        ZugwerkError: bad params, no such model in them, no data set, or one that cannot be balanced so.
    """
    known = [*map(str, at(read_tree(), "depth_train.models") or ())]  # which there are; one of them is read
    if name not in known:
        raise ZugwerkError(f"params.yaml: depth_train.models: no model '{name}'; there are: {', '.join(known)}")
    model, training = load(DepthModelParams, f"depth_train.models.{name}"), load(DepthTraining, "depth_train.training")
    balancing, seed = load(DepthBalancing, "depth_train.balancing"), load_value(int, "seed")
    shares = load(DepthSplitParams, "depth_split").shares
    positions = open_positions(SAMPLES)
    splits = split_by_game(positions, shares, seed)
    torch.set_num_threads(1)  # these small nets gain nothing from a second one
    folder = WORK / name
    trained = train_depth_net(positions, splits, model, training, balancing, seed=seed, folder=folder)
    save_depth_net(MODELS / name / "model.pt", trained.model)
    classes = range(trained.model.lowest, trained.model.highest + 1)
    counted = {
        when: {str(depth): count for depth, count in zip(classes, counts, strict=True)}
        for when, counts in (("before", trained.before), ("after", trained.after))
    }
    parameters = sum(weight.numel() for weight in trained.model.net.parameters())
    write_json(REPORTS / f"{name}.json", {**counted, "last": trained.rows[-1], "parameters": parameters})
    write_table(REPORTS / f"{name}.csv", trained.rows)
    write_json(REPORTS / f"{name}.timings.json", trained.timings)
    shutil.rmtree(folder)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, help="one of depth_train.models in params.yaml")
    run(parser.parse_args().model)


if __name__ == "__main__":
    run_main(main)

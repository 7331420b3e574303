"""Train a net that chooses the search depth, from the start or from the last checkpoint of a killed run."""

import hashlib
import json
import logging
import shutil
import time
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from lightning.pytorch import Trainer
from torch import Tensor, nn

from pipeline_src import streams
from pipeline_src.learning.checkpoints import LastCheckpoint, find_checkpoint, torch_seed
from pipeline_src.learning.ranks import is_first, one_goes_on, trainer_options
from pipeline_src.project.code import digest
from pipeline_src.systems.search_depth.balance import balance, class_counts
from pipeline_src.systems.search_depth.batches import DepthBatches
from pipeline_src.systems.search_depth.head import head_outputs
from pipeline_src.systems.search_depth.models import SavedDepthNet, make_depth_net
from pipeline_src.systems.search_depth.module import DepthModule
from pipeline_src.systems.search_depth.net import DepthConfig, PublishedDepthConfig, ResidualDepthConfig
from pipeline_src.systems.search_depth.params import DepthBalancing, DepthModelParams, DepthTraining
from pipeline_src.systems.search_depth.planes import PLANES
from pipeline_src.systems.search_depth.positions import DepthPositions, Splits


class TrainedDepthNet(NamedTuple):
    """Result of a training."""

    model: SavedDepthNet
    """The net, on the CPU and in evaluation mode."""
    rows: list[dict[str, float]]
    """Learning curves, `DepthModule.rows`."""
    before: list[int]
    """Positions of each class in the training split, from the lowest."""
    after: list[int]
    """Rows of each class once balanced, the made ones included."""
    timings: dict[str, Any]
    """Seconds and hardware; of this process alone where the training was resumed."""


def train_depth_net(
    positions: DepthPositions,
    splits: Splits,
    model: DepthModelParams,
    training: DepthTraining,
    balancing: DepthBalancing,
    *,
    seed: int,
    folder: Path,
) -> TrainedDepthNet:
    """Balance the training split and train a net on it.

    A training that was killed is resumed from its checkpoint in ``folder`` if all it depends on is the same, and ends
    in the same weights, on a CPU bit for bit, as one that was not. The caller removes ``folder`` once it has kept what
    it wants, and sets torch's threads before.

    Args:
        positions: the data set.
        splits: of its rows.
        model: what to train.
        training: how long.
        balancing: of the method that ``model`` names.
        seed: the pipeline's.
        folder: for checkpoints; this training's own.

    Raises:
        ZugwerkError: no positions, a class with too few for SMOTE, or a loss that is no number.
    """
    start = time.perf_counter()
    logging.getLogger("lightning.pytorch").setLevel(logging.WARNING)
    gpu = torch.cuda.is_available()
    balanced = balance(positions, splits.train, model.label, model.balance, balancing, seed)
    balanced_s = time.perf_counter() - start
    batches = DepthBatches(
        positions,
        balanced,
        inputs=model.inputs,
        batch=training.batch,
        symmetries=model.symmetries,
        seed=seed,
        costs=model.head == "costs",
    )
    (lowest, highest), train = positions.classes, positions.label(model.label)[splits.train]
    means = train.mean()
    if batches.costs.size:
        known = batches.costs[splits.train, :, 0]  # a layer that no search completed has no mean
        means = np.nansum(known, 0) / np.maximum(np.isfinite(known).sum(0), 1)
    saved = _fresh(model, positions, torch.as_tensor(means, dtype=torch.float32), seed)
    own = folder / f"train-{_key(positions, splits, [model, training, balancing], seed)}"
    for other in folder.glob("train-*"):
        if other != own and is_first():
            shutil.rmtree(other)
    module = DepthModule(saved, batches, training, splits.validation)
    trainer = Trainer(
        **trainer_options(training, training.batch),
        max_steps=training.steps,
        max_epochs=-1,
        callbacks=[LastCheckpoint(own)],
        logger=False,
        log_every_n_steps=1,
        enable_progress_bar=False,
        enable_model_summary=False,
        default_root_dir=folder,
    )
    resumed = find_checkpoint(own)
    saved.net.train()
    with one_goes_on(), warnings.catch_warnings():
        # Lightning 2.6 still uses a class that PyTorch 2.13 deprecates, whatever the loader.
        warnings.filterwarnings("ignore", message=r".*LeafSpec.*is deprecated", category=FutureWarning)
        laps = range(min(training.steps, training.checkpoint_steps))
        trainer.fit(module, laps, ckpt_path=resumed, weights_only=True)
    saved.net.cpu().eval().zero_grad()
    seconds = time.perf_counter() - start
    timings = {
        "seconds": seconds,
        "balance_s": balanced_s,
        "resumed": resumed is not None,
        "steps": module.trained_steps,
        "positions_per_s": module.trained_steps * training.batch / (seconds - balanced_s),
        "device": torch.cuda.get_device_name() if gpu else "cpu",
        "threads": torch.get_num_threads(),
        "torch": torch.__version__,
    }
    before, after = (class_counts(labels, lowest, highest).tolist() for labels in (train, balanced.labels))
    return TrainedDepthNet(saved, module.rows, before, after, timings)


def _fresh(params: DepthModelParams, positions: DepthPositions, means: Tensor, seed: int) -> SavedDepthNet:
    """A model with fresh weights; a linear head starts at the mean label, costs at theirs: not far to go from there."""
    (lowest, highest), size = positions.classes, positions.n.shape[-1]
    planes, outputs = PLANES[params.inputs], head_outputs(params.head, lowest, highest)
    config: DepthConfig
    if params.net == "published":
        config = PublishedDepthConfig(size, planes, outputs, params.filters, params.shrink)
    else:
        config = ResidualDepthConfig(size, planes, outputs, params.filters, params.blocks)
    torch.manual_seed(torch_seed(seed, streams.DEPTH_TRAINING, streams.DEPTH_WEIGHTS))
    net = make_depth_net(config)
    if params.head in ("linear", "costs"):
        last = [m for m in net.modules() if isinstance(m, nn.Conv2d | nn.Linear)][-1]
        assert last.bias is not None
        last.bias.data.copy_(means)
    return SavedDepthNet(net, params.label, lowest, highest, params.head, params.inputs)


def _key(positions: DepthPositions, splits: Splits, params: list[Any], seed: int) -> str:
    """Return a name that is specific to the data, split, params, seed, threads, code and torch of a training."""
    rest = [section.model_dump() for section in params]
    threads = torch.get_num_threads()
    name = hashlib.sha256(digest(__name__).encode())
    name.update(json.dumps([positions.manifest["sha256"], rest, seed, threads, torch.__version__]).encode())
    for rows in splits:
        name.update(rows.tobytes())
    return name.hexdigest()[:16]

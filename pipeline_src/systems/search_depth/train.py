"""Train a net that chooses the search depth, from the start or from the last checkpoint of a killed run."""

import hashlib
import json
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from pipeline_src import streams
from pipeline_src.learning.checkpoints import own_folder, torch_seed
from pipeline_src.learning.fit import Curves, fit
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
    """Learning curves: ``step``, ``loss``, the mean since the row before, and `DepthModule.measure`'s."""
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

    A killed training is resumed from its checkpoint in ``folder`` if all its inputs are the same, and gives the same
    weights as an uninterrupted one, on a CPU bit for bit. The caller sets torch's threads before, and removes
    ``folder`` afterwards.

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
        known = batches.costs[splits.train, :, 0]  # a layer without a completed search has no mean
        means = np.nansum(known, 0) / np.maximum(np.isfinite(known).sum(0), 1)
    saved = _fresh(model, positions, torch.as_tensor(means, dtype=torch.float32), seed)
    own = own_folder(folder, _key(positions, splits, [model, training, balancing], seed))
    module = DepthModule(saved, batches, training, splits.validation)
    saved.net.train()
    laps, curves = range(min(training.steps, training.checkpoint_steps)), Curves()
    done = fit(
        module, laps, training, own, batch=training.batch, curves=curves, max_steps=training.steps, max_epochs=-1
    )
    saved.net.cpu().eval().zero_grad()
    seconds = time.perf_counter() - start
    rate = done["steps"] * training.batch / (seconds - balanced_s)
    timings = {"seconds": seconds, "balance_s": balanced_s, "positions_per_s": rate, **done}
    before, after = (class_counts(labels, lowest, highest).tolist() for labels in (train, balanced.labels))
    return TrainedDepthNet(saved, curves.rows, before, after, timings)


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

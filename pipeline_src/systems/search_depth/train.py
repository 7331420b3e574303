"""Train a net that chooses the search depth, from the start or from the last checkpoint of a killed run."""

import hashlib
import json
import math
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from lightning.pytorch import LightningModule
from lightning.pytorch.utilities.types import OptimizerLRScheduler
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.special import log_ndtr

from pipeline_src import streams
from pipeline_src.learning.checkpoints import own_folder, torch_seed
from pipeline_src.learning.fit import Curves, by_step, fit
from pipeline_src.learning.ranks import share, summed
from pipeline_src.project.code import digest
from pipeline_src.systems.search_depth.batches import DepthBatch, DepthBatches, balance, class_counts, read_planes
from pipeline_src.systems.search_depth.net import (
    DepthConfig,
    PublishedDepthConfig,
    ResidualDepthConfig,
    SavedDepthNet,
    chosen_depths,
    depth_value,
    head_outputs,
    make_depth_net,
)
from pipeline_src.systems.search_depth.params import DepthBalancing, DepthModelParams, DepthTraining
from pipeline_src.systems.search_depth.positions import PLANES, DepthPositions, Splits
from pipeline_src.systems.search_depth.scores import accuracy, confusion, macro_f1

PREDICT_BATCH = 4096
SPREAD = 0.25
"""Standard error of a net's costs in logarithms, about that on the test split."""


class DepthModule(LightningModule):
    """A net, which is passed in, with its loss.

    Squared layers of a regression, cross-entropy of a classification, squares of the known costs.
    """

    total: Tensor

    def __init__(
        self, model: SavedDepthNet, batches: DepthBatches, params: DepthTraining, validation: npt.NDArray[np.int64]
    ) -> None:
        """``validation`` are the rows of the data set that each row of the curves is measured on."""
        super().__init__()
        self.net, self.model, self.batches, self.params = model.net, model, batches, params
        self.validation = validation
        self.register_buffer("total", torch.zeros(()))

    def loss(self, batch: DepthBatch) -> Tensor:
        """Weighted mean over a batch, []."""
        model, outputs = self.model, self.net(batch.planes).float()
        if model.head == "costs":
            losses = cost_losses(outputs, batch.costs)
        elif model.head == "classes":
            losses = cross_entropy(outputs, batch.labels - model.lowest, reduction="none")
        else:
            losses = (depth_value(model.head, outputs, model.lowest, model.highest) - batch.labels).square()
        return (batch.weights * losses).mean()

    def training_step(self, batch: Any, batch_idx: int) -> Tensor:  # noqa: ARG002 - Lightning's signature
        """Loss of the batch that belongs to this step; the loader's items only count the steps."""
        own = share()
        drawn = self.batches.step(self.global_step, own)
        loss = self.loss(DepthBatch(*(part.to(self.device) for part in drawn)))
        self.total += summed(loss.detach()) / own.world  # shares are equal
        return loss

    def on_train_batch_end(self, outputs: Any, batch: Any, batch_idx: int) -> None:  # noqa: ARG002
        """Log a row of the curves each ``log_steps`` steps, and at the end."""
        step, steps = self.global_step, self.params.log_steps
        if step % steps == 0 or step == self.params.steps:
            row = {"step": float(step), "loss": float(self.total) / (step % steps or steps)}
            self.total.zero_()
            measured = self.measure() if self.trainer.is_global_zero and math.isfinite(row["loss"]) else {}
            for logger in self.loggers:
                logger.log_metrics(row | measured, step=step)

    def measure(self) -> dict[str, float]:
        """``validation_accuracy``, ``validation_macro_f1``, ``validation_mean_error`` in layers."""
        positions, model = self.batches.positions, self.model
        labels = positions.label(model.label)[self.validation]
        chosen = predict_depths(model, self.batches, self.validation, self.device)
        matrix = confusion(labels, chosen, model.lowest, model.highest)
        return {
            "validation_accuracy": accuracy(matrix),
            "validation_macro_f1": macro_f1(matrix),
            "validation_mean_error": float(np.abs(chosen - labels).mean()),
        }

    def configure_optimizers(self) -> OptimizerLRScheduler:
        """AdamW, with a learning rate that is set at each step."""
        params = self.params
        optimizer = torch.optim.AdamW(self.net.parameters(), lr=params.learning_rate, weight_decay=params.weight_decay)
        return by_step(optimizer, "cosine", params.steps, params.warmup)


def cost_losses(outputs: Tensor, costs: Tensor) -> Tensor:
    """Losses of the head ``costs``, float [B]: those of a censored regression (Tobin, 1958) with errors of `SPREAD`.

    Squares of known costs; for lower bounds from stopped searches, the negative log-likelihood.

    Args:
        outputs: float [B, K + 1].
        costs: float [B, K + 1, 2], as in `DepthBatch`.
    """
    number, least = costs.unbind(2)
    known, bounded = number.isfinite(), least.isfinite()
    squares = (outputs - number.nan_to_num()).square()
    beyond = (outputs - torch.where(bounded, least, 0.0)) / SPREAD
    unlikely: Tensor = -2 * SPREAD**2 * log_ndtr(beyond)
    return (squares * known + unlikely * bounded).sum(1)


def predict_depths(
    model: SavedDepthNet, batches: DepthBatches, rows: npt.NDArray[np.int64], device: torch.device
) -> npt.NDArray[np.int64]:
    """Layers that a net chooses, int64 [B], of rows of the data set."""
    found, training = [np.empty(0, np.int64)], model.net.training
    model.net.eval()
    with torch.inference_mode():
        for start in range(0, len(rows), PREDICT_BATCH):
            planes = read_planes(batches.positions, rows[start : start + PREDICT_BATCH], batches.inputs)
            outputs = model.net(torch.from_numpy(planes).to(device)).float().cpu().numpy()
            left = 1 - batches.positions.used[rows[start : start + PREDICT_BATCH]]
            found.append(chosen_depths(model.head, outputs, model.lowest, model.highest, left=left))
    model.net.train(training)
    return np.concatenate(found)


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

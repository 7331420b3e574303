"""One step of a depth net's training, and its measures on the validation split."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from lightning.pytorch import LightningModule
from lightning.pytorch.utilities.types import OptimizerLRScheduler
from torch import Tensor
from torch.nn.functional import cross_entropy
from torch.special import log_ndtr

from pipeline_src.learning.ranks import share, summed
from pipeline_src.learning.schedule import by_step
from pipeline_src.systems.search_depth.batches import DepthBatch, DepthBatches, read_planes
from pipeline_src.systems.search_depth.head import chosen_depths, depth_value
from pipeline_src.systems.search_depth.models import SavedDepthNet
from pipeline_src.systems.search_depth.params import DepthTraining
from pipeline_src.systems.search_depth.scores import accuracy, confusion, macro_f1

PREDICT_BATCH = 4096
SPREAD = 0.25
"""Standard error of a net's costs in logarithms, about that on the test split."""


class DepthModule(LightningModule):
    """A net, which is passed in, with its loss.

    Squared layers of a regression, cross-entropy of a classification, squares of what is known of the costs.
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
        """Loss of the batch that belongs to this step; what the loader gives only counts."""
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

    Squares of what is known; of what is only known to be more than a stopped search took, how unlikely that is.

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

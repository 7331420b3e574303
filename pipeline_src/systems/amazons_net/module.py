"""One training step, of moves and of arrows together, and its measures."""

from typing import NamedTuple

import torch
from lightning.pytorch import LightningModule
from lightning.pytorch.utilities.types import OptimizerLRScheduler
from torch import Tensor

from pipeline_src.learning.ranks import level, summed
from pipeline_src.learning.rmsprop import make_optimizer
from pipeline_src.learning.schedule import by_step
from pipeline_src.systems.amazons_net.data import NetInput, StepInput
from pipeline_src.systems.amazons_net.heads import gather_rows, masked_log_softmax
from pipeline_src.systems.amazons_net.losses import argmax_choice, coordinates, value_error
from pipeline_src.systems.amazons_net.params import TrainingParams
from pipeline_src.systems.amazons_net.protocol import Answers, Nets
from pipeline_src.systems.amazons_net.readings import MODELS

NETS = ("move", "arrow")
MEASURES = ("loss", "l1", "l1_squared", "l2", "top1", "value_accuracy")
"""Means over samples: the loss trained on; L1 and its square; L2 as printed; share of argmaxes that were played; share
of games whose winner the value names. Where policies learn from teachers alone, L2 and argmaxes are of their turns."""


class Answer(NamedTuple):
    """Loss and measures of one net on a batch."""

    loss: Tensor
    """[], the mean over the batch."""
    sums: Tensor
    """float64 [1 + measures]: the number of samples, and each of `MEASURES` summed over them."""


class AmazonsModule(LightningModule):
    """The nets, which are passed in, with their loss and optimizer.

    A step is one batch of Amazon samples, about the move, and one of Arrow samples, about the arrow; the two losses are
    added, so that shared layers see both kinds each time.
    """

    places: Tensor
    train_sums: Tensor
    validation_sums: Tensor

    def __init__(self, nets: Nets, params: TrainingParams, *, model: str, total_steps: int) -> None:
        """``model`` names one of `MODELS`; the learning rate's schedule spans ``total_steps``."""
        super().__init__()
        self.nets, self.params, self.total_steps = nets, params, total_steps
        self.model = MODELS[model]
        self.register_buffer("places", coordinates(nets.config.size), persistent=False)
        for name in ("train_sums", "validation_sums"):
            self.register_buffer(name, torch.zeros(len(NETS), 1 + len(MEASURES), dtype=torch.float64))

    def answer(self, batch: StepInput) -> tuple[Answer, Answer]:
        """Ask about the moves and about the arrows of a step."""
        (value, logits), arrows = self.nets.both(batch.amazon.features, batch.arrow.features)
        moves = value, gather_rows(logits, batch.amazon.played.rows)
        return self._measure(moves, batch.amazon), self._measure((arrows[0], arrows[1][:, None]), batch.arrow)

    def _measure(self, answers: Answers, batch: NetInput) -> Answer:
        value, logits = answers
        log_p = masked_log_softmax(logits, batch.legal)
        l1 = value_error(value.float(), batch.won)
        loss = self.params.value_weight * self.model.value_loss(value.float(), batch.won)
        weight = batch.policy_weight
        loss = loss + weight * self.model.policy_loss(log_p, batch.played, self.places)
        with torch.no_grad():
            choice = argmax_choice(log_p, batch.played, self.places)
            named = (value > 0) == (batch.won > 0.5)
            policy = weight * choice.distance, weight * choice.right
            measured = (torch.ones_like(l1), loss, l1, l1.square(), *policy, named)
            sums = torch.stack([m.double().sum() for m in measured])
        return Answer(loss.mean(), sums)

    def training_step(self, batch: StepInput, batch_idx: int) -> Tensor:  # noqa: ARG002 - Lightning's signature
        """Loss of both nets, added."""
        assert batch.step == self.global_step, f"batch of step {batch.step} came to step {self.global_step}"
        return self._both(batch, self.train_sums)

    def on_validation_start(self) -> None:
        """All processes measure the net that the first one saves."""
        level(self.nets)

    def validation_step(self, batch: StepInput, batch_idx: int) -> None:  # noqa: ARG002 - Lightning's signature
        """Measure both nets."""
        self._both(batch, self.validation_sums)

    def _both(self, batch: StepInput, sums: Tensor) -> Tensor:
        move, arrow = self.answer(batch)
        sums += summed(torch.stack([move.sums, arrow.sums]))
        return move.loss + arrow.loss

    def on_validation_epoch_end(self) -> None:
        """Log the row of the curves that closes an epoch of the plan, which is ``check_val_every_n_epoch`` laps."""
        epoch = (self.current_epoch + 1) // (self.trainer.check_val_every_n_epoch or 1)
        rate = self.trainer.optimizers[0].param_groups[0]["lr"]
        row = {"epoch": epoch, "learning_rate": rate, **self.take_measures()}
        self.log_dict({name: torch.tensor(value, dtype=torch.float64) for name, value in row.items()}, sync_dist=True)

    def take_measures(self) -> dict[str, float]:
        """Means since the last call, ``<split>_<net>_<measure>`` and the losses of both nets ``<split>_loss``."""
        measured: dict[str, float] = {}
        for split, sums in (("train", self.train_sums), ("validation", self.validation_sums)):
            means = (sums[:, 1:] / sums[:, :1]).tolist()
            measured[f"{split}_loss"] = sum(row[0] for row in means)
            for net, row in zip(NETS, means, strict=True):
                measured |= {f"{split}_{net}_{name}": mean for name, mean in zip(MEASURES, row, strict=True)}
            sums.zero_()
        return measured

    def configure_optimizers(self) -> OptimizerLRScheduler:
        """Return the optimizer that the params name. Its learning rate is set at each step."""
        params = self.params
        optimizer = make_optimizer(
            params.optimizer,
            self.nets.parameters(),
            lr=params.learning_rate,
            rho=params.rho,
            momentum=params.momentum,
            eps=params.epsilon,
            weight_decay=params.weight_decay,
        )
        return by_step(optimizer, params.schedule, self.total_steps, params.warmup)

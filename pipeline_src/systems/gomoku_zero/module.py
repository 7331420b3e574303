"""One step of self-play training and its measures, with the loss of AlphaGo Zero (Silver et al., 2017)."""

from typing import Any

import torch
from lightning.pytorch import LightningModule
from torch import Tensor, nn
from torch.nn.functional import log_softmax
from torch.optim import Optimizer

from pipeline_src.learning.ranks import share, summed
from pipeline_src.learning.schedule import rate_factor
from pipeline_src.systems.gomoku_zero.batches import Batch, Batches
from pipeline_src.systems.gomoku_zero.learner import LearnerState, make_learner
from pipeline_src.systems.gomoku_zero.params import GomokuTrainParams

MEASURES = ("policy_loss", "value_loss", "policy_entropy", "target_entropy", "value_accuracy")
"""Means over positions: - pi . log p, never below the entropy of pi; (z - v)^2; the entropies of p and of pi in nats;
share of the decided games whose winner v names."""


class ZeroModule(LightningModule):
    """A net, which is passed in, with its loss (z - v)^2 - pi . log p + c ||theta||^2 and its optimizer.

    The loss's last term has no graph: its gradient 2 c theta is added to the others' before they are clipped.
    """

    sums: Tensor

    def __init__(
        self, net: nn.Module, batches: Batches, params: GomokuTrainParams, *, rate: float, state: LearnerState | None
    ) -> None:
        """``net`` maps planes [B, C, H, W] to (logits [B, N], values [B]); ``rate`` is the learning rate.

        The optimizer goes on from ``state`` where there is one.
        """
        super().__init__()
        self.net, self.params = net, params
        self._held = (batches,)  # in a tuple: processes exchange submodules at each step
        self.rate, self.start_state = rate, state
        self.register_buffer("sums", torch.zeros(len(MEASURES) + 1))

    @property
    def batches(self) -> Batches:
        """The training positions."""
        return self._held[0]

    def on_fit_start(self) -> None:
        """Bring the positions to the net."""
        self.batches.to(self.device)

    def answer(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Loss without its last term, []; and sums over the batch, [1 + measures], of which the last counts."""
        logits, value = self.net(batch.planes)
        log_p = log_softmax(logits.float(), dim=1)
        value = value.float()
        policy_loss = -(batch.policy * log_p).sum(1)
        value_loss = (batch.value - value).square()
        loss = self.params.value_weight * value_loss.mean() + policy_loss.mean()
        with torch.no_grad():
            entropy = -(log_p.exp() * log_p).sum(1)
            target_entropy = -torch.xlogy(batch.policy, batch.policy).sum(1)
            named = batch.value * value > 0
            measured = [policy_loss, value_loss, entropy, target_entropy, named.float(), (batch.value != 0).float()]
            return loss, torch.stack([m.sum() for m in measured])

    def training_step(self, batch: Any, batch_idx: int) -> Tensor:  # noqa: ARG002 - Lightning's signature
        """Loss of the batch that belongs to this step; what the loader gives only counts."""
        loss, sums = self.answer(self.batches(self.global_step, share()))
        self.sums += summed(sums)
        return loss

    def on_before_optimizer_step(self, optimizer: Optimizer) -> None:  # noqa: ARG002
        """Add the gradient of c ||theta||^2, then clip; Lightning would not clip for fused optimizers."""
        if self.params.l2:
            pairs = [(weight.grad, weight.detach()) for weight in self.net.parameters() if weight.grad is not None]
            grads, weights = [grad for grad, _ in pairs], [weight for _, weight in pairs]
            torch._foreach_add_(grads, weights, alpha=2 * self.params.l2)
        if self.params.gradient_clip is not None:
            nn.utils.clip_grad_norm_(self.net.parameters(), self.params.gradient_clip)

    def on_train_batch_start(self, batch: Any, batch_idx: int) -> None:  # noqa: ARG002
        """Set the learning rate of this step where it falls within a generation."""
        if self.params.decay != "none":
            optimizer: Any = self.optimizers()
            for group in optimizer.param_groups:
                group["lr"] = self.rate * rate_factor(self.params.decay, self.global_step, self.trainer.max_steps, 0.0)

    def on_train_batch_end(self, outputs: Any, batch: Any, batch_idx: int) -> None:  # noqa: ARG002
        """Log a row of the curves each ``log_steps`` steps, and at the end."""
        step, steps = self.global_step, self.params.log_steps
        if step % steps == 0 or step == self.trainer.max_steps:
            row = self._take((step % steps or steps) * self.batches.batch)
            for logger in self.loggers:
                logger.log_metrics({"step": float(step), **row}, step=step)

    def _take(self, count: int) -> dict[str, float]:
        """Means over ``count`` positions since the last call."""
        *sums, decided = self.sums.tolist()
        self.sums.zero_()
        means = dict(zip(MEASURES, (value / count for value in sums), strict=True))
        means["value_accuracy"] = sums[-1] / decided if decided else float("nan")
        return {"loss": means["policy_loss"] + means["value_loss"], **means}

    def configure_optimizers(self) -> Optimizer:
        """The learner's, going on from the last generation."""
        return make_learner(self.net.parameters(), self.params, self.rate, self.start_state)

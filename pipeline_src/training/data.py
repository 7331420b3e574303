"""The data module of Amazons-Net: batches of int8 boards that grow into the nets' input where the nets are."""

from typing import Any, NamedTuple

import torch
from lightning.pytorch import LightningDataModule
from torch import Tensor

from pipeline_src.nets import amazons_encode
from pipeline_src.samples import encode
from pipeline_src.training.batches import Plan, Positions, StepPositions, Steps, Validation
from pipeline_src.training.losses import Played


class NetInput(NamedTuple):
    """What one net gets of a batch, and what it should answer. K is 4 for Move-Net, 1 for Arrow-Net."""

    features: Tensor
    """F, float32 [B, 4, H, W]."""
    legal: Tensor
    """bool [B, K, N]."""
    played: Played
    won: Tensor
    """float32 [B]."""


class StepInput(NamedTuple):
    """One training step's input, and which step it is for."""

    step: int
    amazon: NetInput
    arrow: NetInput


class AmazonsData(LightningDataModule):
    """Feeds a `Plan` to Lightning in laps, the stretches of steps between two checkpoints.

    Lightning's epoch is one lap here: it resumes cleanly only where an epoch ends. Validation comes when the laps have
    made an epoch of the plan.
    """

    def __init__(self, plan: Plan, *, lap_steps: int, mover_relative: bool, moved_first: bool) -> None:
        """Laps of at most ``lap_steps`` steps; the rest as for `encode`."""
        super().__init__()
        self.plan = plan
        self.laps_per_epoch = -(-plan.steps_per_epoch // lap_steps)
        self.view = {"mover_relative": mover_relative, "moved_first": moved_first}

    def train_dataloader(self) -> Steps:
        """The lap that Lightning counts as the current epoch."""
        assert self.trainer is not None
        lap = self.trainer.current_epoch
        return Steps(self.plan, self.first_step(lap), self.first_step(lap + 1))

    def first_step(self, lap: int) -> int:
        """Number of the step that a lap begins with; the laps of an epoch are equally long, give or take a step."""
        epoch, at = divmod(lap, self.laps_per_epoch)
        return epoch * self.plan.steps_per_epoch + at * self.plan.steps_per_epoch // self.laps_per_epoch

    def val_dataloader(self) -> Validation:
        """The validation split."""
        return Validation(self.plan)

    def transfer_batch_to_device(
        self,
        batch: Any,
        device: torch.device,
        dataloader_idx: int,  # noqa: ARG002 - Lightning's signature
    ) -> StepInput:
        """Encode a batch: with the kernels on a CPU; on a GPU from int8 boards that are sent there."""
        assert isinstance(batch, StepPositions)
        return StepInput(
            batch.step,
            *(net_input(positions, device, **self.view) for positions in (batch.amazon, batch.arrow)),
        )


def net_input(
    positions: Positions, device: torch.device, *, mover_relative: bool = False, moved_first: bool = False
) -> NetInput:
    """Positions of one type as a net's input on a device."""
    shooting = bool(positions.moved[0] >= 0)
    tensors = [torch.from_numpy(array) for array in positions]
    if device.type == "cpu":
        kernels = encode.encode(
            *positions[:3],
            mover_relative=mover_relative,
            moved_first=moved_first,
        )
        features, amazons, legal = (torch.from_numpy(array) for array in kernels)
    else:
        tensors = [(t.pin_memory() if device.type == "cuda" else t).to(device, non_blocking=True) for t in tensors]
        features, amazons, legal = amazons_encode.encode(
            *tensors[:3],
            mover_relative=mover_relative,
            moved_first=moved_first,
        )
    start, to, won = tensors[3:]
    if shooting:
        rows, legal = start[:, None], legal[:, :1]
    else:
        rows = amazons
    row = (rows == start[:, None]).int().argmax(1)
    return NetInput(features, legal, Played(rows.long(), row, to.long()), won)

"""The data module of the nets: batches of int8 boards, encoded to the nets' input on the nets' device."""

from typing import Any, NamedTuple

import torch
from lightning.pytorch import LightningDataModule
from torch import Tensor

from pipeline_src.learning.ranks import share
from pipeline_src.systems.amazons_net import encoders
from pipeline_src.systems.amazons_net import tensor_encoders as amazons_encoders
from pipeline_src.systems.amazons_net.batches import Plan, Positions, StepPositions, Steps, Validation
from pipeline_src.systems.amazons_net.losses import Played
from pipeline_src.systems.amazons_net.net import AmazonsConfig
from pipeline_src.systems.amazons_net.protocol import Config

PUBLISHED = AmazonsConfig()


class NetInput(NamedTuple):
    """Input and targets of a net for a batch. K is 4 before the move and 1 before the arrow."""

    features: Tensor
    """float32 [B, C, H, W], as the net's encoder makes it."""
    legal: Tensor
    """bool [B, K, N]."""
    played: Played
    won: Tensor
    """float32 [B]."""
    policy_weight: Tensor
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

    def __init__(self, plan: Plan, *, lap_steps: int, config: Config) -> None:
        """Laps of at most ``lap_steps`` steps, encoded for the nets of ``config``."""
        super().__init__()
        self.plan = plan
        self.laps_per_epoch = -(-plan.steps_per_epoch // lap_steps)
        self.config = config

    def train_dataloader(self) -> Steps:
        """The lap that Lightning counts as the current epoch."""
        assert self.trainer is not None
        lap = self.trainer.current_epoch
        return Steps(self.plan, self.first_step(lap), self.first_step(lap + 1), share())

    def first_step(self, lap: int) -> int:
        """Number of the step that a lap begins with; the laps of an epoch are equally long, give or take a step."""
        epoch, at = divmod(lap, self.laps_per_epoch)
        return epoch * self.plan.steps_per_epoch + at * self.plan.steps_per_epoch // self.laps_per_epoch

    def val_dataloader(self) -> Validation:
        """The validation split."""
        return Validation(self.plan, share())

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
            *(net_input(positions, device, self.config) for positions in (batch.amazon, batch.arrow)),
        )


def net_input(positions: Positions, device: torch.device, config: Config = PUBLISHED) -> NetInput:
    """Positions of one type as the input, on a device, of nets of ``config``."""
    shooting = bool(positions.moved[0] >= 0)
    tensors = [torch.from_numpy(array) for array in positions]
    if device.type == "cpu":
        kernels = encoders.encode_for(config, *positions[:3])
        features, amazons, legal = (torch.from_numpy(array) for array in kernels)
    else:
        tensors = [(t.pin_memory() if device.type == "cuda" else t).to(device, non_blocking=True) for t in tensors]
        features, amazons, legal = amazons_encoders.encode_for(config, *tensors[:3])
    start, to, won, policy_weight = tensors[3:]
    if shooting:
        rows, legal = start[:, None], legal[:, :1]
    else:
        rows = amazons
    row = (rows == start[:, None]).int().argmax(1)
    return NetInput(features, legal, Played(rows.long(), row, to.long()), won, policy_weight)

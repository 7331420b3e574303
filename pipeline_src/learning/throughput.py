"""Shares of a training's time: computing by the net, and waiting for data."""

import time
from typing import Any

import torch
from lightning.pytorch import LightningModule, Trainer
from lightning.pytorch.callbacks import Callback


class Throughput(Callback):
    """Measures the training loop, without validation and checkpoints.

    The net's time is from the moment a batch is on its device until the step's update is done. On a GPU, which works
    while Python goes on, it is taken from events on its own clock, and only the lap's end waits for it.
    """

    def __init__(self) -> None:
        """Nothing measured yet."""
        self.steps = 0
        """Since this process started, as are the times, in seconds."""
        self.loop_s = 0.0
        self.net_s = 0.0
        self._lap_start = self._step_start = 0.0
        self._events: list[tuple[torch.cuda.Event, torch.cuda.Event]] = []

    @property
    def net_share(self) -> float | None:
        """Fraction of the loop's time that is the net's; None where nothing ran."""
        return self.net_s / self.loop_s if self.loop_s else None

    def on_train_epoch_start(self, trainer: Trainer, pl_module: LightningModule) -> None:  # noqa: ARG002
        """A lap begins: its first batch has still to be made."""
        self._lap_start = time.perf_counter()

    def on_train_batch_start(
        self,
        trainer: Trainer,  # noqa: ARG002
        pl_module: LightningModule,
        batch: Any,  # noqa: ARG002
        batch_idx: int,  # noqa: ARG002
    ) -> None:
        """The batch is there."""
        if pl_module.device.type == "cuda":
            self._events.append((_event(), _event()))
            self._events[-1][0].record()
        else:
            self._step_start = time.perf_counter()

    def on_train_batch_end(
        self,
        trainer: Trainer,
        pl_module: LightningModule,
        outputs: Any,  # noqa: ARG002
        batch: Any,  # noqa: ARG002
        batch_idx: int,
    ) -> None:
        """The weights are updated."""
        if pl_module.device.type == "cuda":
            self._events[-1][1].record()
        else:
            self.net_s += time.perf_counter() - self._step_start
        self.steps += 1
        if batch_idx + 1 == trainer.num_training_batches:
            self._close_lap()

    def _close_lap(self) -> None:
        if self._events:
            torch.cuda.synchronize()
            self.net_s += sum(start.elapsed_time(end) for start, end in self._events) / 1000
            self._events.clear()
        self.loop_s += time.perf_counter() - self._lap_start


def _event() -> torch.cuda.Event:
    event: torch.cuda.Event = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
    return event

"""Checkpoints for resuming a killed training, and seeds of dropout that make the result equal bit for bit."""

from pathlib import Path
from typing import Any

import numpy as np
import torch
from lightning.pytorch import LightningModule, Trainer
from lightning.pytorch.callbacks import Callback, Checkpoint

from pipeline_src import streams
from pipeline_src.files import written_aside

LAST, PREVIOUS = "last.ckpt", "previous.ckpt"


class LastCheckpoint(Checkpoint):
    """Saves all state at the end of each lap, and keeps the previous checkpoint in case this one is lost."""

    def __init__(self, folder: Path) -> None:
        """Checkpoints go to ``folder``."""
        self.folder = folder

    def on_train_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:  # noqa: ARG002
        """Save; what Lightning calls an epoch is a lap (`AmazonsData`)."""
        last = self.folder / LAST
        if not trainer.is_global_zero:
            trainer.save_checkpoint(last)  # writes nothing, but Lightning wants all processes to meet here
            return
        with written_aside(last) as aside:
            trainer.save_checkpoint(aside)
            if last.exists():
                last.replace(self.folder / PREVIOUS)


def find_checkpoint(folder: Path) -> Path | None:
    """The newest checkpoint in ``folder`` that can be read; None where there is none."""
    for path in (folder / LAST, folder / PREVIOUS):
        try:
            torch.load(path, map_location="cpu", weights_only=True)
        except Exception:  # noqa: S112 - a torn file makes the unpickler raise whatever its bytes happen to say
            continue
        return path
    return None


class StepSeed(Callback):
    """Seeds torch anew for each step, so that dropout depends on the seed and the step's number alone."""

    def __init__(self, seed: int) -> None:
        """``seed`` is the pipeline's."""
        self.seed = seed

    def on_train_batch_start(
        self,
        trainer: Trainer,
        pl_module: LightningModule,  # noqa: ARG002
        batch: Any,  # noqa: ARG002
        batch_idx: int,  # noqa: ARG002
    ) -> None:
        """Seed the step to come."""
        rank = [trainer.global_rank] if trainer.global_rank else []
        torch.manual_seed(torch_seed(self.seed, streams.TRAINING_DROPOUT, trainer.global_step, *rank))


def torch_seed(seed: int, *path: int) -> int:
    """A seed for torch, 64 bits, of this stage's and a purpose's own."""
    return int(np.random.SeedSequence([seed, streams.TRAINING, *path]).generate_state(1, np.uint64)[0] >> np.uint64(1))

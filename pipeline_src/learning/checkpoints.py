"""Checkpoints for resuming a killed training, and seeds of dropout that make the result equal bit for bit."""

import shutil
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from lightning.pytorch import Callback, LightningModule, Trainer
from lightning.pytorch.callbacks import ModelCheckpoint

from pipeline_src import streams
from pipeline_src.learning.ranks import is_first


class Resumed(NamedTuple):
    """Where a training resumes."""

    path: Path | None = None
    """Its checkpoint; None at the start."""
    step: int = 0
    """Number of steps that were trained before."""


def lap_checkpoints(folder: Path) -> ModelCheckpoint:
    """Return a callback that saves all state at the end of each lap, which is an epoch to Lightning.

    The checkpoint before the last one stays, in case the last one is torn.
    """
    return ModelCheckpoint(
        folder,
        "{step}",
        monitor="step",
        mode="max",
        save_top_k=2,
        save_on_train_epoch_end=True,
        enable_version_counter=False,
    )


def find_checkpoint(folder: Path) -> Resumed:
    """The newest of the `lap_checkpoints` in ``folder`` that can be read."""
    for path in sorted(folder.glob("step=*.ckpt"), key=lambda path: int(path.stem[5:]), reverse=True):
        try:
            return Resumed(path, torch.load(path, map_location="cpu", weights_only=True)["global_step"])
        except Exception:  # noqa: S112 - a torn file makes the unpickler raise anything
            continue
    return Resumed()


def own_folder(folder: Path, key: str) -> Path:
    """Return the folder of the training that ``key`` names, below ``folder``; those of others are deleted."""
    own = folder / f"train-{key}"
    for other in folder.glob("train-*") if is_first() else ():
        if other != own:
            shutil.rmtree(other)
    return own


class StepSeed(Callback):
    """Seeds torch for each step, so that dropout depends on the seed and the step's number alone."""

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

"""Train with Lightning, from the start or from the last checkpoint of a killed training, and keep the curves."""

import logging
import math
import os
import shutil
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
import torch
from lightning.pytorch import Callback, LightningDataModule, LightningModule, Trainer
from lightning.pytorch.callbacks import ModelCheckpoint
from lightning.pytorch.loggers import Logger
from lightning.pytorch.plugins import TorchCheckpointIO
from lightning.pytorch.utilities import rank_zero_only
from lightning.pytorch.utilities.types import OptimizerLRScheduler
from torch import Tensor, nn
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LambdaLR

from pipeline_src import streams
from pipeline_src.errors import ZugwerkError
from pipeline_src.learning.devices import Devices, MixedPrecision
from pipeline_src.learning.torch_state import load_torch, number_format, save_torch

# Training of one net in several processes: shares of the data, sums over processes, and tasks of the first process.
#
# With one process, its share is all of the data, and nothing here changes a bit of the result.

Rows = TypeVar("Rows")


class Share(NamedTuple):
    """A process among those that train together."""

    rank: int = 0  # Number of the process, from 0
    world: int = 1  # Number of processes

    def of(self, rows: Rows) -> Rows:
        """This process's part of rows that all know: each ``world``-th."""
        part: Rows = rows[self.rank :: self.world]  # type: ignore[index]
        return part


def share() -> Share:
    """Return the share of this process, while a net is trained."""
    if not _together():
        return Share()
    return Share(torch.distributed.get_rank(), torch.distributed.get_world_size())


def summed(sums: Tensor) -> Tensor:
    """Sums over the processes of what each has, the same in all."""
    if not _together():
        return sums
    total = sums.detach().clone()
    torch.distributed.all_reduce(total)
    return total


def level(module: nn.Module) -> None:
    """Give all processes the first one's buffers: each has kept the running means of its own share."""
    if _together():
        for buffer in module.buffers():
            torch.distributed.broadcast(buffer, 0)


def is_first() -> bool:
    """Whether this process is the one that writes files; known before training as well."""
    return int(getattr(rank_zero_only, "rank", 0) or 0) == 0  # Lightning sets it on the decorator itself


def trainer_options(params: Devices, batch: int) -> dict[str, Any]:
    """Return the options of Lightning's trainer about devices. Raises ZugwerkError: unequal shares, or fewer GPUs."""
    gpu, world = torch.cuda.is_available(), params.devices * params.num_nodes
    if batch % world:
        raise ZugwerkError(f"a batch of {batch} has no equal shares for {world} processes; change batch or devices")
    if gpu and torch.cuda.device_count() < params.devices:
        raise ZugwerkError(f"devices: {params.devices}, but this machine has {torch.cuda.device_count()} GPUs")
    return {
        "accelerator": "gpu" if gpu else "cpu",
        "devices": params.devices,
        "num_nodes": params.num_nodes,
        "strategy": params.strategy,
        "sync_batchnorm": gpu and world > 1,  # PyTorch has it for GPUs alone
        "use_distributed_sampler": False,
    }


@contextmanager
def one_goes_on() -> Iterator[None]:
    """Around a training: after it the first process continues alone, the others end.

    Lightning starts the others with the command of this one. What it left in the environment is taken back, so that the
    next training of this process starts some again.
    """
    before = dict(os.environ)
    yield
    if not is_first():
        sys.exit()
    if _together():
        torch.distributed.destroy_process_group()
        os.environ.clear()
        os.environ.update(before)


def _together() -> bool:
    return torch.distributed.is_available() and torch.distributed.is_initialized()


# Checkpoints for resuming a killed training, and seeds of dropout that make the result equal bit for bit.


class Laps(LightningDataModule):
    """Batches of a training, and their own loader; a batch follows from its step's number and the process's share.

    As Lightning resumes exactly only where its epoch ends, this is a lap here, the steps between two checkpoints.
    """

    def __init__(self, step: Callable[[int, Share], Any], lap_steps: int) -> None:
        """``step`` makes the batch of a step, counted from 0 over the whole training."""
        super().__init__()
        self.step, self.lap_steps = step, lap_steps

    def train_dataloader(self) -> "Laps":
        """The same for each lap."""
        return self

    def __len__(self) -> int:
        return self.lap_steps

    def __iter__(self) -> Iterator[Any]:
        assert self.trainer is not None
        for _ in range(self.lap_steps):
            yield self.step(self.trainer.global_step, share())


class Checkpoints(TorchCheckpointIO):
    """Reads and writes checkpoints; one is whole after a kill, which Lightning's own copy from /tmp may not be."""

    step = 0  # At which the training resumes

    def save_checkpoint(self, checkpoint: dict[str, Any], path: str | Path, storage_options: Any = None) -> None:  # noqa: ARG002
        """Write a checkpoint in place of the one before."""
        save_torch(path, checkpoint)

    def load_checkpoint(self, path: str | Path, *_: Any, **__: Any) -> dict[str, Any]:
        """Read a checkpoint. Raises ZugwerkError: it is damaged."""
        try:
            checkpoint: dict[str, Any] = load_torch(Path(path).read_bytes())
            self.step = checkpoint["global_step"]
        except Exception as error:  # a damaged file makes the unpickler raise anything
            name = type(error).__name__
            raise ZugwerkError(f"{path}: damaged ({name}); delete it, and the training begins again") from None
        return checkpoint


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
        self.seed = seed

    def on_train_batch_start(self, trainer: Trainer, *_: Any) -> None:
        """Seed the step to come."""
        rank = [trainer.global_rank] if trainer.global_rank else []
        torch.manual_seed(torch_seed(self.seed, streams.TRAINING_DROPOUT, trainer.global_step, *rank))


def torch_seed(seed: int, *path: int) -> int:
    """A seed for torch, 64 bits, of this stage's and a purpose's own."""
    return int(np.random.SeedSequence([seed, streams.TRAINING, *path]).generate_state(1, np.uint64)[0] >> np.uint64(1))


Schedule = Literal["linear", "cosine"]


class Curves(Callback, Logger):
    """A logger that keeps its rows and, as a callback, is part of checkpoints.

    Files of other loggers repeat rows, or start over, where a killed training is resumed.
    """

    name = version = ""

    def __init__(self) -> None:
        self.rows: list[dict[str, float]] = []  # All that was logged, from the training's start, in its order

    def log_metrics(self, metrics: Mapping[str, float], step: int | None = None) -> None:
        """Add a row. Raises ZugwerkError: a loss is not a number."""
        if not all(math.isfinite(value) for name, value in metrics.items() if name.endswith("loss")):
            raise ZugwerkError(f"training: step {step}: the loss is not a number; lower learning_rate")
        self.rows.append(dict(metrics))

    def log_hyperparams(self, *_args: Any, **_kwargs: Any) -> None:
        """Params are in params.yaml."""

    def state_dict(self) -> dict[str, Any]:
        """Return the data for a checkpoint."""
        return {"rows": self.rows}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore the data of a checkpoint."""
        self.rows = state_dict["rows"]


def fit(
    module: LightningModule,
    data: Laps,
    params: Devices,
    folder: Path,
    *,
    batch: int,
    curves: Curves,
    loggers: Sequence[Logger] = (),
    callbacks: Sequence[Callback] = (),
    **options: Any,
) -> dict[str, Any]:
    """Train a module until it is done, on a CPU with the same result bit for bit whether it was killed or not.

    The ``folder`` for checkpoints is the training's own. ``batch`` counts samples. ``options`` are of Lightning's
    trainer. Returns ``resumed``, ``steps`` of this process, ``device``, ``threads``, ``precision``, ``torch``.

    Raises:
        ZugwerkError: the batch has no equal shares, there are fewer GPUs, a loss is not a number, or the checkpoint is
            damaged.
    """
    logging.getLogger("lightning.pytorch").setLevel(logging.WARNING)
    precision = number_format(params.precision) if isinstance(params, MixedPrecision) else "32-true"
    files = Checkpoints()
    last = ModelCheckpoint(folder, "last", save_on_train_epoch_end=True, enable_version_counter=False)
    trainer = Trainer(
        **trainer_options(params, batch),
        precision=precision,
        logger=[curves, *loggers],
        callbacks=[*callbacks, curves, last],
        plugins=files,
        max_epochs=-1,  # laps until ``max_steps``
        log_every_n_steps=1,
        enable_model_summary=False,
        default_root_dir=folder,
        **{"enable_progress_bar": False, **options},
    )
    with one_goes_on(), warnings.catch_warnings():
        # Lightning 2.6 still uses a class that PyTorch 2.13 deprecates, whatever the loader.
        warnings.filterwarnings("ignore", message=r".*LeafSpec.*is deprecated", category=FutureWarning)
        warnings.filterwarnings("ignore", message="Checkpoint directory .* exists and is not empty")
        warnings.filterwarnings("ignore", message=".*there is no last checkpoint available")
        trainer.fit(module, data, ckpt_path="last", weights_only=True)
    return {
        "resumed": files.step > 0,
        "steps": trainer.global_step - files.step,
        "device": torch.cuda.get_device_name() if torch.cuda.is_available() else "cpu",
        "threads": torch.get_num_threads(),
        "precision": precision,
        "torch": torch.__version__,
    }


def rate_factor(schedule: Schedule, step: int, total: int, warmup: float) -> float:
    """Factor on the highest learning rate at a step, from 0 to ``total``.

    It rises for a fraction ``warmup`` of the steps, then falls to 0: ``linear``, or ``cosine``, in half a wave.
    """
    rising = round(warmup * total)
    if step < rising:
        return (step + 1) / (rising + 1)
    done = min(1.0, (step - rising) / max(1, total - rising))
    return 1 - done if schedule == "linear" else 0.5 * (1 + math.cos(math.pi * done))


def by_step(optimizer: Optimizer, schedule: Schedule, total: int, warmup: float) -> OptimizerLRScheduler:
    """Return an optimizer with `rate_factor` on its learning rate, in the form that Lightning takes."""
    scheduler = LambdaLR(optimizer, lambda step: rate_factor(schedule, step, total, warmup))
    return {"optimizer": optimizer, "lr_scheduler": {"scheduler": scheduler, "interval": "step"}}

"""Train with Lightning, from the start or from the last checkpoint of a killed training, and keep the curves."""

import logging
import math
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import torch
from lightning.pytorch import Callback, LightningModule, Trainer
from lightning.pytorch.loggers import Logger
from lightning.pytorch.utilities.types import OptimizerLRScheduler
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LambdaLR

from pipeline_src.errors import ZugwerkError
from pipeline_src.learning.checkpoints import find_checkpoint, lap_checkpoints
from pipeline_src.learning.devices import Devices, MixedPrecision
from pipeline_src.learning.precision import number_format
from pipeline_src.learning.ranks import one_goes_on, trainer_options

Schedule = Literal["linear", "cosine"]


class Curves(Callback, Logger):
    """A logger that keeps its rows and, as a callback, is part of checkpoints.

    Files of other loggers repeat rows, or start over, where a killed training is resumed.
    """

    name = version = ""

    def __init__(self) -> None:
        """No rows yet."""
        self.rows: list[dict[str, float]] = []
        """All that was logged, from the training's start, in the order in which it was."""

    def log_metrics(self, metrics: Mapping[str, float], step: int | None = None) -> None:
        """Add a row.

        Raises:
            ZugwerkError: a loss is not a number.
        """
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
    data: Any,
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

    Args:
        module: what to train.
        data: a data module, or what loads an epoch; as Lightning resumes cleanly only where an epoch ends, this is a
            lap, the steps between two checkpoints.
        params: number of devices and, where it has one, number format.
        folder: for checkpoints; this training's own.
        batch: number of samples in a step.
        curves: logger of the curves.
        loggers: further ones.
        callbacks: further ones.
        options: of Lightning's trainer.

    Returns:
        ``resumed``, ``steps`` of this process, ``device``, ``threads``, ``precision``, ``torch``.

    Raises:
        ZugwerkError: the batch has no equal shares, there are fewer GPUs, or a loss is not a number.
    """
    logging.getLogger("lightning.pytorch").setLevel(logging.WARNING)
    precision = number_format(params.precision) if isinstance(params, MixedPrecision) else "32-true"
    trainer = Trainer(
        **trainer_options(params, batch),
        precision=precision,
        logger=[curves, *loggers],
        callbacks=[*callbacks, curves, lap_checkpoints(folder)],
        log_every_n_steps=1,
        enable_model_summary=False,
        default_root_dir=folder,
        **{"enable_progress_bar": False, **options},
    )
    resumed = find_checkpoint(folder)
    with one_goes_on(), warnings.catch_warnings():
        # Lightning 2.6 still uses a class that PyTorch 2.13 deprecates, whatever the loader.
        warnings.filterwarnings("ignore", message=r".*LeafSpec.*is deprecated", category=FutureWarning)
        warnings.filterwarnings("ignore", message="Checkpoint directory .* exists and is not empty")
        trainer.fit(module, data, ckpt_path=resumed.path, weights_only=True)
    return {
        "resumed": resumed.path is not None,
        "steps": trainer.global_step - resumed.step,
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

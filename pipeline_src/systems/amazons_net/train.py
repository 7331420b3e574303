"""Train a model on a data set, from the start or from the last checkpoint of a killed run."""

import hashlib
import json
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import torch
from lightning.pytorch import LightningModule, Trainer
from lightning.pytorch.callbacks import Callback, EarlyStopping, ModelCheckpoint, TQDMProgressBar
from lightning.pytorch.loggers import CSVLogger, Logger

from pipeline_src import streams
from pipeline_src.learning.checkpoints import StepSeed, torch_seed
from pipeline_src.learning.fit import Curves, fit
from pipeline_src.learning.throughput import Throughput
from pipeline_src.project.code import digest
from pipeline_src.systems.amazons_net.batches import Plan
from pipeline_src.systems.amazons_net.data import AmazonsData
from pipeline_src.systems.amazons_net.dataset import Dataset
from pipeline_src.systems.amazons_net.models import save_nets
from pipeline_src.systems.amazons_net.module import AmazonsModule
from pipeline_src.systems.amazons_net.params import TrainingParams
from pipeline_src.systems.amazons_net.readings import MODELS

MONITORED = "validation_loss"


class Trained(NamedTuple):
    """Result of a training."""

    best_nets: Path
    """Nets of the lowest validation loss, as `save_nets` writes them."""
    rows: list[dict[str, float]]
    """One an epoch: ``epoch`` from 1, ``learning_rate``, and `AmazonsModule.take_measures`."""
    best: dict[str, float]
    """The row of the lowest validation loss, the first of equals."""
    timings: dict[str, Any]
    """Seconds and hardware; of this process alone where the training was resumed."""


def work_folder(root: Path, dataset: Dataset, params: TrainingParams, *, model: str, seed: int, threads: int) -> Path:
    """Return a folder that is specific to the data, params, seed, threads, code and torch of a training."""
    name = hashlib.sha256(digest(__name__).encode())
    key = [params.model_dump(), dataset.manifest["sha256"], dataset.manifest["splits"], seed, threads]
    name.update(json.dumps([key, torch.__version__], sort_keys=True).encode())
    return root / f"{model}-{name.hexdigest()[:16]}"


def train(dataset: Dataset, params: TrainingParams, *, model: str, seed: int, folder: Path) -> Trained:
    """Train a model on moves and arrows together until all epochs are done or patience has run out.

    A training that was killed is resumed from its checkpoint in ``folder`` and ends in the same weights, on a CPU bit
    for bit, as one that was not. The caller removes ``folder`` once it has what it wants.

    Args:
        dataset: samples with a train and a validation split.
        params: of the model's training, `Model.params`.
        model: one of `MODELS`.
        seed: the pipeline's.
        folder: for checkpoints, the best nets and the live log; this training's own (`work_folder`).
    """
    start = time.perf_counter()
    torch.manual_seed(torch_seed(seed, streams.TRAINING_WEIGHTS))
    nets = MODELS[model].make(params, dataset.size)
    plan = Plan(dataset, batch=params.batch, seed=seed, augment=params.augment, teachers_only=params.teachers_only)
    data = AmazonsData(plan, lap_steps=params.checkpoint_steps, config=nets.config)
    module = AmazonsModule(nets, params, model=model, total_steps=params.epochs * plan.steps_per_epoch)
    best = ModelCheckpoint(
        folder,
        "best",
        monitor=MONITORED,
        save_weights_only=True,
        save_on_train_epoch_end=False,
        enable_version_counter=False,
    )
    curves, throughput, gpu = Curves(), Throughput(), torch.cuda.is_available()
    callbacks: list[Callback] = [best, Patience(params.patience), StepSeed(seed), throughput]
    in_terminal = sys.stdout.isatty()
    done = fit(
        module,
        data,
        params,
        folder,
        batch=params.batch,
        curves=curves,
        loggers=[_live_logger(folder / "live")],
        callbacks=[*callbacks, TQDMProgressBar()] if in_terminal else callbacks,
        enable_progress_bar=in_terminal,
        gradient_clip_val=params.gradient_clip,
        max_epochs=params.epochs * data.laps_per_epoch,
        check_val_every_n_epoch=data.laps_per_epoch,
        reload_dataloaders_every_n_epochs=1,
        num_sanity_val_steps=0,
        deterministic=not gpu,  # bit-for-bit results are guaranteed on a CPU only; on a GPU they would cost too much
        benchmark=gpu,
    )
    module.load_state_dict(torch.load(folder / "best.ckpt", map_location="cpu", weights_only=True)["state_dict"])
    save_nets(folder / "best.pt", nets)
    timings = {
        "seconds": time.perf_counter() - start,
        "samples_per_s": 2 * params.batch * done["steps"] / throughput.loop_s if done["steps"] else None,
        "net_share": throughput.net_share,
        **done,
    }
    return Trained(folder / "best.pt", curves.rows, min(curves.rows, key=lambda row: row[MONITORED]), timings)


class Patience(EarlyStopping):
    """Ends a training whose validation loss stalls, and does not resume one that had ended."""

    def __init__(self, patience: int) -> None:
        """``patience`` counts epochs without a lower validation loss."""
        super().__init__(MONITORED, patience=patience, check_on_train_epoch_end=False)

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:  # noqa: ARG002
        """End at once where patience has run out before."""
        trainer.should_stop = self.wait_count >= self.patience


def _live_logger(folder: Path) -> Logger:
    """DVCLive where it is installed, so that the curves can be watched; else Lightning's own CSV files."""
    try:
        from dvclive.lightning import DVCLiveLogger
    except ImportError:
        return CSVLogger(folder.parent, name=folder.name, version="")
    logger: Logger = DVCLiveLogger(dir=str(folder), resume=True, save_dvc_exp=False, dvcyaml=None)
    return logger

"""Train a model on a data set, from the start or from the last checkpoint of a killed run."""

import hashlib
import json
import logging
import sys
import time
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import torch
from lightning.pytorch import Trainer
from lightning.pytorch.callbacks import Callback, TQDMProgressBar
from lightning.pytorch.loggers import CSVLogger, Logger

from pipeline_src import streams
from pipeline_src.learning.checkpoints import LastCheckpoint, StepSeed, find_checkpoint, torch_seed
from pipeline_src.learning.precision import number_format
from pipeline_src.learning.ranks import is_first, one_goes_on, trainer_options
from pipeline_src.learning.throughput import Throughput
from pipeline_src.project.code import digest
from pipeline_src.systems.amazons_net.batches import Plan
from pipeline_src.systems.amazons_net.data import AmazonsData
from pipeline_src.systems.amazons_net.dataset import Dataset
from pipeline_src.systems.amazons_net.epochs import EpochRecord
from pipeline_src.systems.amazons_net.module import AmazonsModule
from pipeline_src.systems.amazons_net.params import AmazonsTrainParams
from pipeline_src.systems.amazons_net.readings import MODELS


class Trained(NamedTuple):
    """Result of a training."""

    best_nets: Path
    """Nets of the lowest validation loss, as `save_nets` writes them."""
    rows: list[dict[str, float]]
    """Measures of each epoch, `EpochRecord.rows`."""
    best: dict[str, float]
    """The row of the best epoch."""
    timings: dict[str, Any]
    """Seconds and hardware; of this process alone where the training was resumed."""


def work_folder(
    root: Path, dataset: Dataset, params: AmazonsTrainParams, *, model: str, seed: int, threads: int
) -> Path:
    """Return a folder that is specific to the data, params, seed, threads, code and torch of a training."""
    name = hashlib.sha256(digest(__name__).encode())
    key = [params.model_dump(), dataset.manifest["sha256"], dataset.manifest["splits"], seed, threads]
    name.update(json.dumps([key, torch.__version__], sort_keys=True).encode())
    return root / f"{model}-{name.hexdigest()[:16]}"


def train(dataset: Dataset, params: AmazonsTrainParams, *, model: str, seed: int, folder: Path) -> Trained:
    """Train a model on moves and arrows together until all epochs are done or patience has run out.

    A training that was killed is resumed from its checkpoint in ``folder`` and ends in the same weights, on a CPU bit
    for bit, as one that was not. The caller removes ``folder`` once it has what it wants.

    Args:
        dataset: samples with a train and a validation split.
        params: the section of all models.
        model: one of `MODELS`.
        seed: the pipeline's.
        folder: for checkpoints, the best nets and the live log; this training's own (`work_folder`).
    """
    start = time.perf_counter()
    logging.getLogger("lightning.pytorch").setLevel(logging.WARNING)
    folder.mkdir(parents=True, exist_ok=True)
    for half_written in folder.glob(".*.part") if is_first() else ():
        half_written.unlink()
    gpu = torch.cuda.is_available()
    own = MODELS[model].params(params)
    precision = number_format(own.precision)

    torch.manual_seed(torch_seed(seed, streams.TRAINING_WEIGHTS))
    nets = MODELS[model].make(params, dataset.size)
    plan = Plan(dataset, batch=own.batch, seed=seed, augment=own.augment, teachers_only=own.teachers_only)
    data = AmazonsData(plan, lap_steps=own.checkpoint_steps, config=nets.config)
    module = AmazonsModule(nets, own, model=model, total_steps=own.epochs * plan.steps_per_epoch)
    record, throughput = EpochRecord(folder / "best.pt", own.patience), Throughput()
    callbacks: list[Callback] = [record, StepSeed(seed), throughput, LastCheckpoint(folder)]
    in_terminal = sys.stdout.isatty()
    trainer = Trainer(
        **trainer_options(own, own.batch),
        precision=precision,
        gradient_clip_val=own.gradient_clip,
        max_epochs=own.epochs * data.laps_per_epoch,
        check_val_every_n_epoch=data.laps_per_epoch,
        reload_dataloaders_every_n_epochs=1,
        num_sanity_val_steps=0,
        log_every_n_steps=1,
        callbacks=[*callbacks, TQDMProgressBar()] if in_terminal else callbacks,
        logger=_live_logger(folder / "live") if is_first() else False,
        enable_progress_bar=in_terminal,
        enable_model_summary=False,
        deterministic=not gpu,  # bit-for-bit results are guaranteed on a CPU only; on a GPU they would cost too much
        benchmark=gpu,
        default_root_dir=folder,
    )
    resumed = find_checkpoint(folder)
    with one_goes_on(), warnings.catch_warnings():
        # Lightning 2.6 still uses a class that PyTorch 2.13 deprecates, whatever the loader.
        warnings.filterwarnings("ignore", message=r".*LeafSpec.*is deprecated", category=FutureWarning)
        trainer.fit(module, datamodule=data, ckpt_path=resumed, weights_only=True)
    timings = {
        "seconds": time.perf_counter() - start,
        "resumed": resumed is not None,
        "steps": throughput.steps,
        "samples_per_s": 2 * own.batch * throughput.steps / throughput.loop_s if throughput.steps else None,
        "net_share": throughput.net_share,
        "device": torch.cuda.get_device_name() if gpu else "cpu",
        "threads": torch.get_num_threads(),
        "precision": precision,
        "torch": torch.__version__,
    }
    return Trained(record.best_nets, record.rows, record.best, timings)


def _live_logger(folder: Path) -> Logger:
    """DVCLive where it is installed, so that the curves can be watched; else Lightning's own CSV files."""
    try:
        from dvclive.lightning import DVCLiveLogger
    except ImportError:
        return CSVLogger(folder.parent, name=folder.name, version="")
    logger: Logger = DVCLiveLogger(dir=str(folder), save_dvc_exp=False, report=None, dvcyaml=None)
    return logger

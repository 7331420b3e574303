"""Train a model on a data set, from the start or from the last checkpoint of a killed run.

A step trains on moves and on arrows together (`AmazonsModule`).
"""

import hashlib
import json
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import torch
from lightning.pytorch import Callback, LightningModule, Trainer
from lightning.pytorch.callbacks import EarlyStopping, ModelCheckpoint, TQDMProgressBar
from lightning.pytorch.loggers import CSVLogger, Logger
from lightning.pytorch.utilities.types import OptimizerLRScheduler
from torch import Tensor

from pipeline_src import streams
from pipeline_src.learning.fit import Curves, StepSeed, by_step, fit, level, summed, torch_seed
from pipeline_src.project.code import digest
from pipeline_src.systems.amazons_net.data import AmazonsData, NetInput, Plan, StepInput
from pipeline_src.systems.amazons_net.losses import MODELS, argmax_choice, coordinates, value_error
from pipeline_src.systems.amazons_net.nets import Answers, Nets, gather_rows, masked_log_softmax, save_nets
from pipeline_src.systems.amazons_net.params import TrainingParams
from pipeline_src.systems.amazons_net.samples import Dataset

NETS = ("move", "arrow")
MEASURES = ("loss", "l1", "l1_squared", "l2", "top1", "value_accuracy")
"""Means over samples: the loss trained on; L1 and its square; L2 as printed; share of argmaxes that were played; share
of games whose winner the value names. Where policies learn from teachers alone, L2 and argmaxes are of their turns."""


class Answer(NamedTuple):
    """Loss and measures of one net on a batch."""

    loss: Tensor  # [], the mean over the batch
    sums: Tensor  # float64 [1 + measures]: the number of samples, and each of `MEASURES` summed over them


class AmazonsModule(LightningModule):
    """The nets, which are passed in, with their loss and optimizer.

    A step is one batch of Amazon samples, about the move, and one of Arrow samples, about the arrow; the two losses are
    added, so that shared layers see both kinds each time.
    """

    places: Tensor
    train_sums: Tensor
    validation_sums: Tensor

    def __init__(self, nets: Nets, params: TrainingParams, *, model: str, total_steps: int) -> None:
        """``model`` names one of `MODELS`; the learning rate's schedule spans ``total_steps``."""
        super().__init__()
        self.nets, self.params, self.total_steps = nets, params, total_steps
        self.model = MODELS[model]
        self.register_buffer("places", coordinates(nets.config.size), persistent=False)
        for name in ("train_sums", "validation_sums"):
            self.register_buffer(name, torch.zeros(len(NETS), 1 + len(MEASURES), dtype=torch.float64))

    def answer(self, batch: StepInput) -> tuple[Answer, Answer]:
        """Ask about the moves and about the arrows of a step."""
        (value, logits), arrows = self.nets.both(batch.amazon.features, batch.arrow.features)
        moves = value, gather_rows(logits, batch.amazon.played.rows)
        return self._measure(moves, batch.amazon), self._measure((arrows[0], arrows[1][:, None]), batch.arrow)

    def _measure(self, answers: Answers, batch: NetInput) -> Answer:
        value, logits = answers
        log_p = masked_log_softmax(logits, batch.legal)
        l1 = value_error(value.float(), batch.won)
        loss = self.params.value_weight * self.model.value_loss(value.float(), batch.won)
        weight = batch.policy_weight
        loss = loss + weight * self.model.policy_loss(log_p, batch.played, self.places)
        with torch.no_grad():
            choice = argmax_choice(log_p, batch.played, self.places)
            named = (value > 0) == (batch.won > 0.5)
            policy = weight * choice.distance, weight * choice.right
            measured = (torch.ones_like(l1), loss, l1, l1.square(), *policy, named)
            sums = torch.stack([m.double().sum() for m in measured])
        return Answer(loss.mean(), sums)

    def training_step(self, batch: StepInput, batch_idx: int) -> Tensor:  # noqa: ARG002 - Lightning's signature
        """Loss of both nets, added."""
        assert batch.step == self.global_step, f"batch of step {batch.step} came to step {self.global_step}"
        return self._both(batch, self.train_sums)

    def on_validation_start(self) -> None:
        """All processes measure the net that the first one saves."""
        level(self.nets)

    def validation_step(self, batch: StepInput, batch_idx: int) -> None:  # noqa: ARG002 - Lightning's signature
        """Measure both nets."""
        self._both(batch, self.validation_sums)

    def _both(self, batch: StepInput, sums: Tensor) -> Tensor:
        move, arrow = self.answer(batch)
        sums += summed(torch.stack([move.sums, arrow.sums]))
        return move.loss + arrow.loss

    def on_validation_epoch_end(self) -> None:
        """Log the row of the curves that closes an epoch of the plan, which is ``check_val_every_n_epoch`` laps."""
        epoch = (self.current_epoch + 1) // (self.trainer.check_val_every_n_epoch or 1)
        rate = self.trainer.optimizers[0].param_groups[0]["lr"]
        row = {"epoch": epoch, "learning_rate": rate, **self.take_measures()}
        self.log_dict({name: torch.tensor(value, dtype=torch.float64) for name, value in row.items()}, sync_dist=True)

    def take_measures(self) -> dict[str, float]:
        """Means since the last call, ``<split>_<net>_<measure>`` and the losses of both nets ``<split>_loss``."""
        measured: dict[str, float] = {}
        for split, sums in (("train", self.train_sums), ("validation", self.validation_sums)):
            means = (sums[:, 1:] / sums[:, :1]).tolist()
            measured[f"{split}_loss"] = sum(row[0] for row in means)
            for net, row in zip(NETS, means, strict=True):
                measured |= {f"{split}_{net}_{name}": mean for name, mean in zip(MEASURES, row, strict=True)}
            sums.zero_()
        return measured

    def configure_optimizers(self) -> OptimizerLRScheduler:
        """Return the model's optimizer. Its learning rate is set at each step."""
        optimizer = self.model.optimizer(self.nets.parameters(), self.params.learning_rate)
        return by_step(optimizer, "linear", self.total_steps, self.params.warmup)


MONITORED = "validation_loss"


class Trained(NamedTuple):
    """Result of a training."""

    best_nets: Path  # Nets of the lowest validation loss, as `save_nets` writes them
    rows: list[dict[str, float]]  # One an epoch: `epoch` from 1, `learning_rate`, and `AmazonsModule.take_measures`
    best: dict[str, float]  # The row of the lowest validation loss, the first of equals
    timings: dict[str, Any]  # Seconds and hardware; of this process alone where the training was resumed


def work_folder(root: Path, dataset: Dataset, params: TrainingParams, *, model: str, seed: int, threads: int) -> Path:
    """Return a folder that is specific to the data, params, seed, threads, code and torch of a training."""
    name = hashlib.sha256(digest(__name__).encode())
    key = [params.model_dump(), dataset.manifest["sha256"], dataset.manifest["splits"], seed, threads]
    name.update(json.dumps([key, torch.__version__], sort_keys=True).encode())
    return root / f"{model}-{name.hexdigest()[:16]}"


def train(dataset: Dataset, params: TrainingParams, *, model: str, seed: int, folder: Path) -> Trained:
    """Train a model on moves and arrows together until all epochs are done or patience has run out.

    A training that was killed is resumed from its checkpoint in ``folder`` and ends in the same weights, on a CPU bit
    for bit, as one that was not. The caller removes ``folder`` after use.

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
    curves, gpu = Curves(), torch.cuda.is_available()
    callbacks: list[Callback] = [best, Patience(params.patience), StepSeed(seed)]
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
        max_epochs=params.epochs * data.laps_per_epoch,
        check_val_every_n_epoch=data.laps_per_epoch,
        reload_dataloaders_every_n_epochs=1,
        num_sanity_val_steps=0,
        gradient_clip_val=module.model.clip,
        deterministic=not gpu,  # bit-for-bit results are guaranteed on a CPU only; on a GPU they would cost too much
        benchmark=gpu,
    )
    module.load_state_dict(torch.load(folder / "best.ckpt", map_location="cpu", weights_only=True)["state_dict"])
    save_nets(folder / "best.pt", nets)
    seconds = time.perf_counter() - start
    timings = {"seconds": seconds, "samples_per_s": 2 * params.batch * done["steps"] / seconds, **done}
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

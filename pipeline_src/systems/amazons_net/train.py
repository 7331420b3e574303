"""Stage amazons_train: train one model, Amazons-Net with one reading of its loss, or the residual net.

Reads ``artifacts/samples/amazons/``. Writes the nets of the lowest validation loss to
``artifacts/models/amazons/<model>/nets.pt`` and, under ``artifacts/reports/amazons/train/``, the measures
``<model>.json``, the learning curves ``<model>.csv`` and ``<model>.timings.json``. Killed and run again, it
resumes from a checkpoint under ``work/``.

A step trains on moves and on arrows together (`AmazonsModule`). Its samples and symmetries are a function of the seed
and the number of the step alone, so a resumed training sees exactly the same batches, from any step. A batch is read
from the memory-mapped arrays with one index array, not sample by sample, as int8 boards, then encoded and sent to the
nets' device.

Example: ``python -m pipeline_src.stage systems.amazons_net.train --model residual``
"""

import argparse
import hashlib
import json
import shutil
import sys
import time
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from lightning.pytorch import Callback, LightningModule, Trainer
from lightning.pytorch.callbacks import EarlyStopping, ModelCheckpoint, TQDMProgressBar
from lightning.pytorch.loggers import Logger
from lightning.pytorch.utilities.types import OptimizerLRScheduler
from torch import Tensor

from pipeline_src import streams
from pipeline_src.errors import ZugwerkError
from pipeline_src.files import write_json, write_table, written_aside
from pipeline_src.learning.arrays import DiskRows
from pipeline_src.learning.fit import Curves, Laps, Share, StepSeed, by_step, fit, level, share, summed, torch_seed
from pipeline_src.learning.symmetry import COUNT, transform_boards, transform_squares
from pipeline_src.project.code import digest
from pipeline_src.project.params import load, load_value
from pipeline_src.systems.amazons_net.encode import Config, encode_for
from pipeline_src.systems.amazons_net.losses import MODELS, Played, argmax_choice, coordinates, value_error
from pipeline_src.systems.amazons_net.nets import (
    AmazonsConfig,
    Answers,
    Nets,
    gather_rows,
    masked_log_softmax,
    save_nets,
)
from pipeline_src.systems.amazons_net.params import TrainingParams, section_of
from pipeline_src.systems.amazons_net.samples import AMAZON, ARROW, Dataset, open_dataset

SAMPLES = Path("artifacts/samples/amazons")
OUT = Path("artifacts/models/amazons")
REPORTS = Path("artifacts/reports/amazons/train")
WORK = Path("work/amazons_train")
VALIDATION_BATCH = 1024
PART = 1 << 22
"""Samples of a type that are shuffled at once, 64 MiB of row numbers of both types; an epoch goes through all parts."""
ALL = Share()


class Positions(NamedTuple):
    """B samples of one type, before they are encoded. Squares are s = (rank - 1) * W + (file - 1)."""

    boards: npt.NDArray[np.int8]  # int8 [B, H, W], row 0 = rank H
    movers: npt.NDArray[np.int8]  # int8 [B], 2 Black or 3 White
    moved: npt.NDArray[np.int16]  # int16 [B], where the amazon that shoots stands; -1 in Amazon samples
    start: npt.NDArray[np.int16]
    """int16 [B], where the played line starts: the amazon before her move, or the one that shoots."""
    to: npt.NDArray[np.int16]  # int16 [B], where it ends: the amazon after her move, or the arrow
    won: npt.NDArray[np.float32]  # float32 [B], 1 where the mover won the game
    policy_weight: npt.NDArray[np.float32]
    """float32 [B], factor of the policy's loss and measures, with a mean of 1 over the split."""


class StepPositions(NamedTuple):
    """Input of one step: a batch for each net."""

    amazon: Positions
    arrow: Positions


class Plan:
    """The steps of a training on a data set."""

    def __init__(self, dataset: Dataset, *, batch: int, seed: int, augment: bool, teachers_only: bool = False) -> None:
        """``batch`` samples of each type a step, from the train split.

        With ``teachers_only`` the policies learn from the teachers' turns alone. Values learn from all turns all the
        same: a value that only sees the positions before a strong player's turns takes the side to move for that
        player, and calls both sides of one game the likely winner.

        Raises:
            ZugwerkError: no turn of a teacher in one of the splits.
        """
        self.dataset, self.batch, self.seed, self.augment = dataset, batch, seed, augment
        self.train, self.validation = rows_by_type(dataset, "train"), rows_by_type(dataset, "validation")
        splits = {"train": self.train, "validation": self.validation}
        self.factors = {
            split: [_factor(dataset, split, of_type) if teachers_only else None for of_type in rows]
            for split, rows in splits.items()
        }
        self.steps_per_epoch = -(-max(len(rows) for rows in self.train) // batch)
        self._parts = -(-max(len(rows) for rows in self.train) // PART)
        self._order = lru_cache(maxsize=2)(self._shuffled)

    def step(self, number: int, share: Share = ALL) -> StepPositions:
        """A process's share of the batches of step ``number``, counted from 0 over all epochs.

        Every sample comes once an epoch; where the types differ in number or the last batch is not full, the first
        ones of the epoch come again, so that all batches have one shape.
        """
        epoch, at = divmod(number, self.steps_per_epoch)
        places = np.arange(at * self.batch, (at + 1) * self.batch)
        rows = [share.of(self._rows(epoch, of_type, places)) for of_type in range(len(self.train))]
        positions = [read(self.dataset, r, f) for r, f in zip(rows, self.factors["train"], strict=True)]
        if not self.augment:
            return StepPositions(*positions)
        rng = np.random.default_rng([self.seed, streams.TRAINING, streams.TRAINING_SYMMETRY, number])
        which = [share.of(drawn) for drawn in rng.integers(0, COUNT, (2, self.batch))]
        return StepPositions(*(under(p, w) for p, w in zip(positions, which, strict=True)))

    def _rows(self, epoch: int, of_type: int, places: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Rows of a type at some places of an epoch's order."""
        starts = np.cumsum([0, *(len(self.train[of_type][part :: self._parts]) for part in range(self._parts))])
        places = places % starts[-1]
        part_of, rows = np.searchsorted(starts, places, "right") - 1, np.empty_like(places)
        for part in dict.fromkeys(part_of.tolist()):
            own = part_of == part
            rows[own] = self._order(epoch, part)[of_type][places[own] - starts[part]]
        return rows

    def _shuffled(self, epoch: int, part: int) -> list[npt.NDArray[np.int64]]:
        """The rows of a part of an epoch, by type; they are spread evenly over the split."""
        seed = [self.seed, streams.TRAINING, streams.TRAINING_ORDER, epoch, *([part] if part else [])]
        rng = np.random.default_rng(seed)
        return [rng.permutation(rows[part :: self._parts]) for rows in self.train]


class Validation:
    """The validation split in order, each sample once and as it was played."""

    def __init__(self, plan: Plan, share: Share = ALL) -> None:
        """Take a process's share of the validation split.

        Raises:
            ZugwerkError: it has too few samples for a share to each.
        """
        self.plan, self.share = plan, share
        self.count = -(-max(len(rows) for rows in plan.validation) // VALIDATION_BATCH)
        fewest = min(len(rows) for rows in plan.validation) // self.count
        if share.world > 1 and fewest < share.world:
            raise ZugwerkError(f"validation split: too few samples for {share.world} processes; lower devices")

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[StepPositions]:
        parts = (np.array_split(rows, self.count) for rows in self.plan.validation)
        for rows in zip(*parts, strict=True):
            factors = self.plan.factors["validation"]
            found = (read(self.plan.dataset, self.share.of(r), f) for r, f in zip(rows, factors, strict=True))
            yield StepPositions(*found)


def rows_by_type(dataset: Dataset, split: str) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Row numbers of the Amazon and of the Arrow samples of a split, on disk."""
    place, found = dataset.split(split), {kind: DiskRows(None, np.int64) for kind in (AMAZON, ARROW)}
    for first in range(place.start, place.stop, PART):
        types = dataset.samples.type[first : min(first + PART, place.stop)]
        for kind, rows in found.items():
            rows.append(np.flatnonzero(types == kind) + first)
    return found[AMAZON].array(), found[ARROW].array()


def _factor(dataset: Dataset, split: str, rows: npt.NDArray[np.int64]) -> float:
    """Weight of a teacher's turn where the others' is 0, so that the mean over ``rows`` is 1."""
    turns = sum(int(dataset.samples.teacher[rows[at : at + PART]].sum()) for at in range(0, len(rows), PART))
    share = turns / len(rows) if len(rows) else 0.0
    if not share:
        raise ZugwerkError(f"split '{split}' has no turn of a teacher; amazons_samples.teachers in params.yaml")
    return 1 / share


def read(dataset: Dataset, rows: npt.NDArray[np.int64], teachers: float | None = None) -> Positions:
    """Samples of one type by row number; with the policy's weight 1, or ``teachers`` for their turns and 0 else."""
    size, shooting = dataset.size, dataset.samples.type[rows] == ARROW
    moved = squares(dataset.samples.moved[rows], size)
    weight = np.ones(len(rows), np.float32)
    if teachers is not None:
        weight = dataset.samples.teacher[rows] * np.float32(teachers)
    return Positions(
        boards=dataset.samples.board[rows],
        movers=dataset.samples.mover[rows],
        moved=moved,
        start=np.where(shooting, moved, squares(dataset.samples.from_[rows], size)),
        to=squares(np.where(shooting[:, None], dataset.samples.arrow[rows], dataset.samples.to[rows]), size),
        won=dataset.samples.result[rows].astype(np.float32),
        policy_weight=weight,
    )


def squares(pairs: npt.NDArray[np.int8], size: int) -> npt.NDArray[np.int16]:
    """Squares [B] of the data set's [x, y] pairs [B, 2], x = file - 1 and y = size - rank; -1 stays -1."""
    x, y = pairs[:, 0].astype(np.int16), pairs[:, 1].astype(np.int16)
    return np.where(x < 0, np.int16(-1), (size - 1 - y) * size + x).astype(np.int16)


def under(positions: Positions, which: npt.NDArray[np.integer]) -> Positions:
    """The same positions, each under its own symmetry ``which`` [B]."""
    size = positions.boards.shape[1]
    moved, start, to = (transform_squares(s, which, size) for s in (positions.moved, positions.start, positions.to))
    return positions._replace(boards=transform_boards(positions.boards, which), moved=moved, start=start, to=to)


PUBLISHED = AmazonsConfig()


class NetInput(NamedTuple):
    """Input and targets of a net for a batch. K is 4 before the move and 1 before the arrow."""

    features: Tensor  # float32 [B, C, H, W], as the net's encoder makes it
    legal: Tensor  # bool [B, K, N]
    played: Played
    won: Tensor  # float32 [B]
    policy_weight: Tensor  # float32 [B]


class StepInput(NamedTuple):
    """One training step's input."""

    amazon: NetInput
    arrow: NetInput


class AmazonsData(Laps):
    """Feeds a `Plan` to Lightning."""

    def __init__(self, plan: Plan, *, lap_steps: int, config: Config) -> None:
        """Laps of ``lap_steps`` steps, encoded for the nets of ``config``."""
        super().__init__(plan.step, lap_steps)
        self.plan, self.config = plan, config

    def val_dataloader(self) -> Validation:
        """The validation split."""
        return Validation(self.plan, share())

    def transfer_batch_to_device(
        self,
        batch: Any,
        device: torch.device,
        dataloader_idx: int,  # noqa: ARG002 - Lightning's signature
    ) -> StepInput:
        """Encode a batch and send it."""
        assert isinstance(batch, StepPositions)
        return StepInput(*(net_input(part, device, self.config) for part in batch))


def net_input(positions: Positions, device: torch.device, config: Config = PUBLISHED) -> NetInput:
    """Positions of one type as the input of nets of ``config``, encoded on the CPU and sent to a device."""
    features, rows, legal = encode_for(config, *positions[:3])
    if positions.moved[0] >= 0:
        rows, legal = positions.start[:, None], legal[:, :1]
    tensors = [torch.from_numpy(array) for array in (features, rows, legal, *positions[3:])]
    if device.type == "cuda":  # encoded while the device works on the step before
        tensors = [tensor.pin_memory() for tensor in tensors]
    planes, starts, mask, start, to, won, policy_weight = (t.to(device, non_blocking=True) for t in tensors)
    row = (starts == start[:, None]).int().argmax(1)
    return NetInput(planes, mask, Played(starts.long(), row, to.long()), won, policy_weight)


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
        """Log the row of the curves that closes an epoch of the plan."""
        epoch = self.global_step * self.params.epochs // self.total_steps
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
        max_steps=module.total_steps,
        val_check_interval=plan.steps_per_epoch,
        check_val_every_n_epoch=None,  # but by steps: an epoch of the plan need not end where a lap does
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
    """DVCLive, so that the curves can be watched."""
    from dvclive.lightning import DVCLiveLogger

    logger: Logger = DVCLiveLogger(dir=str(folder), resume=True, save_dvc_exp=False, dvcyaml=None)
    return logger


def main(*options: str) -> None:
    """Train a model, one of `MODELS`, and write everything.

    Raises:
        ZugwerkError: bad params, or no data set.
    """
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, choices=sorted(MODELS))
    model = parser.parse_args(options).model
    params = load(MODELS[model].params, section_of(model))
    seed, threads = load_value(int, "seed"), load_value(int, "torch_threads")
    dataset = open_dataset(SAMPLES)
    torch.set_num_threads(threads)
    folder = work_folder(WORK, dataset, params, model=model, seed=seed, threads=threads)
    trained = train(dataset, params, model=model, seed=seed, folder=folder)
    with written_aside(OUT / model / "nets.pt") as aside:
        shutil.copyfile(trained.best_nets, aside)
    write_json(REPORTS / f"{model}.json", {"epochs": len(trained.rows), "best": trained.best, "last": trained.rows[-1]})
    write_table(REPORTS / f"{model}.csv", trained.rows)
    write_json(REPORTS / f"{model}.timings.json", trained.timings)
    shutil.rmtree(folder)

"""Stage depth_train: train one net that chooses the search depth, with one balancing method.

Reads ``artifacts/samples/depth/``. Writes ``artifacts/models/depth/<model>/model.pt`` and, under
``artifacts/reports/depth/train/``, the classes' counts before and after and the last measures ``<model>.json``, the
learning curves ``<model>.csv`` and ``<model>.timings.json``. Killed and run again, it resumes from a checkpoint under
``work/``.

Example: ``python -m pipeline_src.stage systems.search_depth.train --model smote``
"""

import argparse
import hashlib
import json
import math
import shutil
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from lightning.pytorch import LightningModule
from lightning.pytorch.utilities.types import OptimizerLRScheduler
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.special import log_ndtr

from pipeline_src import streams
from pipeline_src.errors import ZugwerkError
from pipeline_src.files import write_json, write_table
from pipeline_src.learning.fit import Curves, Laps, Share, by_step, fit, own_folder, share, summed, torch_seed
from pipeline_src.learning.symmetry import COUNT, board_maps
from pipeline_src.project.code import digest
from pipeline_src.project.params import at, load, load_value, read_tree
from pipeline_src.systems.search_depth.net import (
    SEARCHES,
    DepthConfig,
    PublishedDepthConfig,
    ResidualDepthConfig,
    SavedDepthNet,
    chosen_depths,
    depth_value,
    head_outputs,
    make_depth_net,
    save_depth_net,
)
from pipeline_src.systems.search_depth.params import (
    Balance,
    DepthBalancing,
    DepthModelParams,
    DepthSplitParams,
    DepthTraining,
)
from pipeline_src.systems.search_depth.positions import (
    PLANES,
    DepthPositions,
    Inputs,
    Splits,
    open_positions,
    split_by_game,
)

SAMPLES = Path("artifacts/samples/depth")
MODELS = Path("artifacts/models/depth")
REPORTS = Path("artifacts/reports/depth/train")
WORK = Path("work/depth_train")

# Training data of the depth nets: balanced classes, in the training split alone, and the batches of each step.
#
# The paper's recipe (Li and Gao, 2022), with imbalanced-learn: half of the most frequent class is dropped
# (RandomUnderSampler), then the rare ones are filled up with SMOTE (Chawla et al., 2002) until the most frequent is ten
# times as frequent. In the paper that concerns the 3s and the 7s; here any class that is rarer than that is filled up.
#
# | method | |
# | --- | --- |
# | ``smote`` | the recipe: rows between neighbours of a class |
# | ``oversample`` | the same counts by copies (RandomOverSampler) |
# | ``augment`` | the same counts by images of a class' positions under the board's other symmetries |
# | ``class_weights`` | all rows once, each class with the same weight in the loss as a whole |
# | ``none`` | all rows once |
#
# `DepthBatches` draws the positions of each training step, as a function of the seed and the number of the step alone,
# so that a resumed training sees exactly the same batches. Planes are made for one batch at a time from the
# memory-mapped arrays.

Rows = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]


class Balanced(NamedTuple):
    """The rows that training draws from: T rows of the data set, and M synthetic ones."""

    rows: Rows  # [T], row numbers; a row may come more than once
    symmetry: npt.NDArray[np.uint8]  # [T], the symmetry under which each is seen; 0 as it is
    made: Floats  # [M, H * W], planes W_t * n of no position
    labels: npt.NDArray[np.uint8]  # [T + M], classes
    weights: Floats  # [K], of each class in the loss; their mean over the T + M is 1


def class_counts(labels: npt.NDArray[np.integer], lowest: int, highest: int) -> Rows:
    """How many labels each class has, int64 [K]."""
    return np.bincount(labels.astype(np.int64) - lowest, minlength=highest - lowest + 1)


def balance(
    positions: DepthPositions, rows: Rows, label: str, method: Balance, params: DepthBalancing, seed: int
) -> Balanced:
    """Balance rows [R] of the training split of a data set. Raises ZugwerkError: no rows, or too few for SMOTE."""
    if not len(rows):
        where = f"depth_train: {positions.path}"
        raise ZugwerkError(f"{where}: no positions in the training split; raise depth_label.games")
    (lowest, highest), labels = positions.classes, np.asarray(positions.label(label))[rows]
    counts = class_counts(labels, lowest, highest)
    weights, made = np.ones(len(counts), np.float32), np.empty((0, positions.n[0].size), np.float32)
    symmetry = np.zeros(len(rows), np.uint8)
    if method == "class_weights":
        weights = np.where(counts, len(rows) / (np.count_nonzero(counts) * counts.clip(min=1)), 0).astype(np.float32)
    elif method != "none" and np.count_nonzero(counts) > 1:
        from imblearn.over_sampling import SMOTE, RandomOverSampler
        from imblearn.pipeline import make_pipeline
        from imblearn.under_sampling import RandomUnderSampler

        left, wanted = recipe(counts, lowest, params)
        under = RandomUnderSampler(sampling_strategy=left, random_state=_state(seed, streams.DEPTH_UNDERSAMPLE))
        state = _state(seed, streams.DEPTH_OVERSAMPLE)
        if method == "smote":
            over = SMOTE(
                sampling_strategy=_enough(positions, left, wanted, params),
                k_neighbors=params.k_neighbors,
                random_state=state,
            )
            planes = positions.planes("published", rows).reshape(len(rows), -1)
            planes, labels = make_pipeline(under, over).fit_resample(planes, labels)
            rows = rows[under.sample_indices_]
            made = planes[len(rows) :]
        elif method == "oversample":
            copies = RandomOverSampler(sampling_strategy=wanted, random_state=state)
            drawn, labels = make_pipeline(under, copies).fit_resample(rows[:, None], labels)
            rows = drawn[:, 0]
        else:
            drawn, labels = under.fit_resample(rows[:, None], labels)
            chosen, symmetry = _images(labels, wanted, seed)
            rows, labels = drawn[chosen, 0], labels[chosen]
    if method != "augment":
        symmetry = np.zeros(len(rows), np.uint8)
    return Balanced(rows, symmetry, made, labels, weights)


def recipe(counts: Rows, lowest: int, params: DepthBalancing) -> tuple[dict[int, int], dict[int, int]]:
    """Rows that each class keeps, and rows that those classes which are too rare then should have."""
    left = {lowest + c: int(count) for c, count in enumerate(counts) if count}
    most = max(left, key=left.__getitem__)
    left[most] = max(1, round(params.keep_most * left[most]))
    least = math.ceil(max(left.values()) / params.ratio)
    return left, {c: least for c, count in left.items() if count < least}


def _enough(
    positions: DepthPositions, left: dict[int, int], wanted: dict[int, int], params: DepthBalancing
) -> dict[int, int]:
    """The classes of ``wanted`` with enough rows for SMOTE."""
    few = {c: left[c] for c in wanted if left[c] <= params.k_neighbors}
    if few and params.few == "error":
        of_class, rows = next(iter(few.items()))
        raise ZugwerkError(
            f"depth_train: {positions.path}: class {of_class} has {rows} positions in the training split, "
            f"fewer than the {params.k_neighbors + 1} that SMOTE needs for depth_train.balancing.k_neighbors "
            f"{params.k_neighbors}; raise depth_label.games, narrow the classes, or set few: leave"
        )
    return {c: n for c, n in wanted.items() if c not in few}


def _images(labels: npt.NDArray[np.uint8], wanted: dict[int, int], seed: int) -> tuple[Rows, npt.NDArray[np.uint8]]:
    """Indices of all rows and of those that come again, and the symmetry of each."""
    rng, others = np.random.default_rng([seed, streams.DEPTH_TRAINING, streams.DEPTH_OVERSAMPLE]), COUNT - 1
    indices, symmetries = [np.arange(len(labels))], [np.zeros(len(labels), np.uint8)]
    for of_class, target in wanted.items():
        own = np.flatnonzero(labels == of_class)
        images = np.resize(rng.permutation(others * len(own)), target - len(own))  # all seven before one is repeated
        indices.append(own[images // others])
        symmetries.append((1 + images % others).astype(np.uint8))
    return np.concatenate(indices), np.concatenate(symmetries)


def _state(*path: int) -> int:
    """A seed of 32 bits, as scikit-learn takes them."""
    return int(np.random.SeedSequence([streams.DEPTH_TRAINING, *path]).generate_state(1)[0])


ALL = Share()


class DepthBatch(NamedTuple):
    """B positions as a net takes them."""

    planes: Tensor  # float32 [B, C, H, W]
    labels: Tensor  # int64 [B], layers
    weights: Tensor  # float32 [B], in the loss
    costs: Tensor  # float32 [B, K + 1, 2], see `cost_targets`; [B, 0, 2] for other heads


class DepthBatches:
    """The batches of a training."""

    def __init__(
        self,
        positions: DepthPositions,
        balanced: Balanced,
        inputs: Inputs,
        batch: int,
        symmetries: bool,
        seed: int,
        costs: bool = False,
    ) -> None:
        """``batch`` rows a step; all come before one comes again. Raises ZugwerkError: costs without nodes."""
        self.costs = cost_targets(positions) if costs else np.empty((len(positions), 0, 2), np.float32)
        self.positions, self.balanced, self.inputs = positions, balanced, inputs
        self.batch, self.symmetries, self.seed = batch, symmetries, seed
        self.lowest, self.shape = positions.classes[0], (PLANES[inputs], *positions.n.shape[1:])
        self._order: tuple[int, npt.NDArray[np.int64]] = (-1, np.empty(0, np.int64))

    def __len__(self) -> int:
        """Rows, the made ones included."""
        return len(self.balanced.labels)

    def step(self, number: int, share: Share = ALL) -> DepthBatch:
        """A process's share of the batch of a step, counted from 0."""
        drawn = share.of(np.concatenate([self._drawn(at) for at in self._spans(number)]))
        real = drawn < len(self.balanced.rows)
        planes = np.empty((len(drawn), *self.shape), np.float32)
        which = np.zeros(len(drawn), np.int64)
        which[real] = self.balanced.symmetry[drawn[real]]
        planes[real] = self.positions.planes(self.inputs, self.balanced.rows[drawn[real]])
        made = self.balanced.made[drawn[~real] - len(self.balanced.rows)]
        planes[~real] = made.reshape(-1, *self.shape)
        if self.symmetries:  # a random symmetry after a given one is a random symmetry
            rng = np.random.default_rng([self.seed, streams.DEPTH_TRAINING, streams.DEPTH_SYMMETRY, number])
            which = share.of(rng.integers(0, COUNT, self.batch))
        labels = self.balanced.labels[drawn].astype(np.int64)
        weights = self.balanced.weights[labels - self.lowest]
        costs = np.full((len(drawn), *self.costs.shape[1:]), np.nan, np.float32)
        costs[real] = self.costs[self.balanced.rows[drawn[real]]]
        return DepthBatch(*map(torch.from_numpy, (turned(planes, which), labels, weights, costs)))

    def _spans(self, number: int) -> list[tuple[int, int, int]]:
        """Parts of passes (pass, start, stop) that a step's rows are."""
        start, spans = number * self.batch, []
        stop = start + self.batch
        while start < stop:
            number, at = divmod(start, len(self))
            taken = min(len(self) - at, stop - start)
            spans.append((number, at, at + taken))
            start += taken
        return spans

    def _drawn(self, span: tuple[int, int, int]) -> npt.NDArray[np.int64]:
        number, start, stop = span
        if self._order[0] != number:
            rng = np.random.default_rng([self.seed, streams.DEPTH_TRAINING, streams.DEPTH_ORDER, number])
            self._order = number, rng.permutation(len(self))
        return self._order[1][start:stop]


def cost_targets(positions: DepthPositions) -> Floats:
    """Return the targets of the head ``costs`` for each row, float32 [R, K + 1, 2]; see `systems.search_depth.net`.

    Of the last axis the first is the number itself, NaN of a layer that was not completed, and the second what it is
    at least: what the search had spent in the layer that it was stopped in; -inf elsewhere.

    Raises:
        ZugwerkError: the clock of the data set was not one of nodes.
    """
    (lowest, highest), manifest = positions.classes, positions.manifest
    clock = manifest["clock_ms"] * manifest["nodes_per_ms"]
    if not clock:
        where = f"depth_train: {positions.path}"
        raise ZugwerkError(f"{where}: head: costs needs a clock of nodes; set depth_game.nodes_per_ms")
    nodes = np.asarray(positions.nodes_by_depth)[:, lowest - 1 : highest].astype(np.float64)
    done = nodes > 0
    stopped = np.maximum(np.asarray(positions.nodes), 1)[:, None] / clock
    found = np.full((*nodes.shape, 2), -np.inf)
    logs = np.log(np.where(done, nodes, np.nan) / clock)
    found[..., 0] = np.column_stack([logs[:, :1], np.diff(logs, axis=1)])
    after = np.column_stack([np.zeros(len(nodes)), logs[:, :-1]])  # of the layer before
    first_open = ~done & np.column_stack([np.ones(len(nodes), np.bool_), done[:, :-1]])
    found[..., 1] = np.where(first_open, np.log(stopped) - after, -np.inf)
    side = 2 * np.asarray(positions.game, np.int64) + positions.to_play
    order = np.lexsort((-np.asarray(positions.ply, np.int64), side))
    _, first, counts = np.unique(side[order], return_index=True, return_counts=True)
    left = np.empty(len(side))
    left[order] = np.arange(len(side)) - np.repeat(first, counts) + 1
    searches = np.stack([left / SEARCHES, np.full(len(left), -np.inf)], 1)
    return np.concatenate([found, searches[:, None]], 1).astype(np.float32)


def turned(planes: Floats, which: npt.NDArray[np.integer]) -> Floats:
    """Planes [B, C, H, W], those of each position under its own symmetry ``which`` [B]."""
    if not which.any():
        return planes
    cells = board_maps(planes.shape[-1])[which].astype(np.intp)[:, None, :]
    found: Floats = np.take_along_axis(planes.reshape(*planes.shape[:2], -1), cells, axis=2).reshape(planes.shape)
    return found


PREDICT_BATCH = 4096
SPREAD = 0.25  # Standard error of a net's costs in logarithms, about that on the test split


class DepthModule(LightningModule):
    """A net, which is passed in, with its loss.

    Squared layers of a regression, cross-entropy of a classification, squares of the known costs. The last weights are
    kept, not the best: balancing methods are compared after equally many steps.
    """

    total: Tensor

    def __init__(
        self, model: SavedDepthNet, batches: DepthBatches, params: DepthTraining, validation: npt.NDArray[np.int64]
    ) -> None:
        """``validation`` are the rows of the data set that each row of the curves is measured on."""
        super().__init__()
        self.net, self.model, self.batches, self.params = model.net, model, batches, params
        self.validation = validation
        self.register_buffer("total", torch.zeros(()))

    def loss(self, batch: DepthBatch) -> Tensor:
        """Weighted mean over a batch, []."""
        model, outputs = self.model, self.net(batch.planes).float()
        if model.head == "costs":
            losses = cost_losses(outputs, batch.costs)
        elif model.head == "classes":
            losses = cross_entropy(outputs, batch.labels - model.lowest, reduction="none")
        else:
            losses = (depth_value(model.head, outputs, model.lowest, model.highest) - batch.labels).square()
        return (batch.weights * losses).mean()

    def training_step(self, batch: DepthBatch, batch_idx: int) -> Tensor:  # noqa: ARG002 - Lightning's signature
        """Loss of a batch."""
        loss = self.loss(batch)
        self.total += summed(loss.detach()) / share().world  # shares are equal
        return loss

    def on_train_batch_end(self, outputs: Any, batch: Any, batch_idx: int) -> None:  # noqa: ARG002
        """Log a row of the curves each ``log_steps`` steps, and at the end."""
        step, steps = self.global_step, self.params.log_steps
        if step % steps == 0 or step == self.params.steps:
            row = {"step": float(step), "loss": float(self.total) / (step % steps or steps)}
            self.total.zero_()
            measured = self.measure() if self.trainer.is_global_zero and math.isfinite(row["loss"]) else {}
            for logger in self.loggers:
                logger.log_metrics(row | measured, step=step)

    def measure(self) -> dict[str, float]:
        """``validation_accuracy``, ``validation_macro_f1``, ``validation_mean_error`` in layers."""
        from sklearn.metrics import accuracy_score, f1_score

        positions, model = self.batches.positions, self.model
        labels = positions.label(model.label)[self.validation]
        chosen = predict_depths(model, self.batches, self.validation, self.device)
        present = np.unique(labels)  # a class that is only chosen counts in their F1, and has none
        return {
            "validation_accuracy": float(accuracy_score(labels, chosen)),
            "validation_macro_f1": float(f1_score(labels, chosen, labels=present, average="macro", zero_division=0)),
            "validation_mean_error": float(np.abs(chosen - labels).mean()),
        }

    def configure_optimizers(self) -> OptimizerLRScheduler:
        """AdamW, with a learning rate that is set at each step."""
        params = self.params
        optimizer = torch.optim.AdamW(self.net.parameters(), lr=params.learning_rate, weight_decay=params.weight_decay)
        return by_step(optimizer, "cosine", params.steps, params.warmup)


def cost_losses(outputs: Tensor, costs: Tensor) -> Tensor:
    """Losses [B] of outputs [B, K + 1] of the head ``costs``: a censored regression (Tobin, 1958), errors of `SPREAD`.

    Squares of known costs; for lower bounds from stopped searches, the negative log-likelihood.
    """
    number, least = costs.unbind(2)
    known, bounded = number.isfinite(), least.isfinite()
    squares = (outputs - number.nan_to_num()).square()
    beyond = (outputs - torch.where(bounded, least, 0.0)) / SPREAD
    unlikely: Tensor = -2 * SPREAD**2 * log_ndtr(beyond)
    return (squares * known + unlikely * bounded).sum(1)


def predict_depths(
    model: SavedDepthNet, batches: DepthBatches, rows: npt.NDArray[np.int64], device: torch.device
) -> npt.NDArray[np.int64]:
    """Layers that a net chooses, int64 [B], of rows of the data set."""
    found, training = [np.empty(0, np.int64)], model.net.training
    model.net.eval()
    with torch.inference_mode():
        for start in range(0, len(rows), PREDICT_BATCH):
            some = rows[start : start + PREDICT_BATCH]
            planes, left = batches.positions.planes(batches.inputs, some), 1 - batches.positions.used[some]
            outputs = model.net(torch.from_numpy(planes).to(device)).float().cpu().numpy()
            found.append(chosen_depths(model.head, outputs, model.lowest, model.highest, left=left))
    model.net.train(training)
    return np.concatenate(found)


class TrainedDepthNet(NamedTuple):
    """Result of a training."""

    model: SavedDepthNet  # The net, on the CPU and in evaluation mode
    rows: list[dict[str, float]]
    """Learning curves: ``step``, ``loss``, the mean since the row before, and `DepthModule.measure`'s."""
    before: list[int]  # Positions of each class in the training split, from the lowest
    after: list[int]  # Rows of each class once balanced, the made ones included
    timings: dict[str, Any]  # Seconds and hardware; of this process alone where the training was resumed


def train_depth_net(
    positions: DepthPositions,
    splits: Splits,
    model: DepthModelParams,
    training: DepthTraining,
    balancing: DepthBalancing,
    *,
    seed: int,
    folder: Path,
) -> TrainedDepthNet:
    """Balance the training split and train a net on it.

    A killed training is resumed from its checkpoint in ``folder``, its own, if all its inputs are the same, and gives
    the same weights as an uninterrupted one, on a CPU bit for bit. The caller sets torch's threads before, and removes
    ``folder`` afterwards.

    Raises:
        ZugwerkError: no positions, a class with too few for SMOTE, or a loss that is no number.
    """
    start = time.perf_counter()
    balanced = balance(positions, splits.train, model.label, model.balance, balancing, seed)
    balanced_s = time.perf_counter() - start
    inputs, symmetries, costs = model.inputs, model.symmetries, model.head == "costs"
    batches = DepthBatches(positions, balanced, inputs, training.batch, symmetries, seed, costs)
    (lowest, highest), train = positions.classes, positions.label(model.label)[splits.train]
    means = train.mean()
    if batches.costs.size:
        known = batches.costs[splits.train, :, 0]  # a layer without a completed search has no mean
        means = np.nansum(known, 0) / np.maximum(np.isfinite(known).sum(0), 1)
    saved = _fresh(model, positions, torch.as_tensor(means, dtype=torch.float32), seed)
    own = own_folder(folder, _key(positions, splits, [model, training, balancing], seed))
    module = DepthModule(saved, batches, training, splits.validation)
    saved.net.train()
    laps, curves = Laps(batches.step, training.checkpoint_steps), Curves()
    done = fit(module, laps, training, own, batch=training.batch, curves=curves, max_steps=training.steps)
    saved.net.cpu().eval().zero_grad()
    seconds = time.perf_counter() - start
    rate = done["steps"] * training.batch / (seconds - balanced_s)
    timings = {"seconds": seconds, "balance_s": balanced_s, "positions_per_s": rate, **done}
    before, after = (class_counts(labels, lowest, highest).tolist() for labels in (train, balanced.labels))
    return TrainedDepthNet(saved, curves.rows, before, after, timings)


def _fresh(params: DepthModelParams, positions: DepthPositions, means: Tensor, seed: int) -> SavedDepthNet:
    """A model with fresh weights; a linear head starts at the mean label, costs at theirs: not far to go from there."""
    (lowest, highest), size = positions.classes, positions.n.shape[-1]
    planes, outputs = PLANES[params.inputs], head_outputs(params.head, lowest, highest)
    config: DepthConfig
    if params.net == "published":
        config = PublishedDepthConfig(size, planes, outputs, params.filters, params.shrink)
    else:
        config = ResidualDepthConfig(size, planes, outputs, params.filters, params.blocks)
    torch.manual_seed(torch_seed(seed, streams.DEPTH_TRAINING, streams.DEPTH_WEIGHTS))
    net = make_depth_net(config)
    if params.head in ("linear", "costs"):
        last = [m for m in net.modules() if isinstance(m, nn.Conv2d | nn.Linear)][-1]
        assert last.bias is not None
        last.bias.data.copy_(means)
    return SavedDepthNet(net, params.label, lowest, highest, params.head, params.inputs)


def _key(positions: DepthPositions, splits: Splits, params: list[Any], seed: int) -> str:
    """Return a name that is specific to the data, split, params, seed, threads, code and torch of a training."""
    rest = [section.model_dump() for section in params]
    threads = torch.get_num_threads()
    name = hashlib.sha256(digest(__name__).encode())
    name.update(json.dumps([positions.manifest["sha256"], rest, seed, threads, torch.__version__]).encode())
    for rows in splits:
        name.update(rows.tobytes())
    return name.hexdigest()[:16]


def main(*options: str) -> None:
    """Train a model and write everything."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, help="one of depth_train.models in params.yaml")
    name = parser.parse_args(options).model
    known = [*map(str, at(read_tree(), "depth_train.models") or ())]  # which there are; one of them is read
    if name not in known:
        raise ZugwerkError(f"params.yaml: depth_train.models: no model '{name}'; there are: {', '.join(known)}")
    model, training = load(DepthModelParams, f"depth_train.models.{name}"), load(DepthTraining, "depth_train.training")
    balancing, seed = load(DepthBalancing, "depth_train.balancing"), load_value(int, "seed")
    shares = load(DepthSplitParams, "depth_split").shares
    positions = open_positions(SAMPLES)
    splits = split_by_game(positions, shares, seed)
    torch.set_num_threads(1)  # these small nets gain nothing from a second one
    folder = WORK / name
    trained = train_depth_net(positions, splits, model, training, balancing, seed=seed, folder=folder)
    save_depth_net(MODELS / name / "model.pt", trained.model)
    classes = range(trained.model.lowest, trained.model.highest + 1)
    counted = {
        when: {str(depth): count for depth, count in zip(classes, counts, strict=True)}
        for when, counts in (("before", trained.before), ("after", trained.after))
    }
    parameters = sum(weight.numel() for weight in trained.model.net.parameters())
    write_json(REPORTS / f"{name}.json", {**counted, "last": trained.rows[-1], "parameters": parameters})
    write_table(REPORTS / f"{name}.csv", trained.rows)
    write_json(REPORTS / f"{name}.timings.json", trained.timings)
    shutil.rmtree(folder)

"""Training of a generation on its replay window, from the start or from the last checkpoint of a killed run.

The loss is that of AlphaGo Zero (Silver et al., 2017). Positions and symmetries of a step depend only on the seed, the
generation and the number of the step, so that a resumed training sees the same batches.
"""

import hashlib
import json
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from lightning.pytorch import LightningModule
from torch import Tensor, nn
from torch.nn import Parameter
from torch.optim import SGD, AdamW, Optimizer
from torch.optim.swa_utils import AveragedModel, update_bn

from pipeline_src import streams
from pipeline_src.errors import ZugwerkError
from pipeline_src.files import write_json, write_table
from pipeline_src.learning.fit import Curves, Laps, Share, fit, own_folder, summed
from pipeline_src.learning.symmetry import COUNT
from pipeline_src.learning.torch_state import load_torch, save_torch
from pipeline_src.project.code import digest
from pipeline_src.selfplay.params import TrainParams
from pipeline_src.selfplay.subject import Round
from pipeline_src.selfplay.window import open_window

# The optimizer of a generation's training, its state, and the file in which the next generation finds that.


LearnerState = dict[str, Any]
"""``optimizer``: its name; ``state``: its ``state_dict()["state"]``, tensors by the parameter's number."""


def make_learner(
    parameters: Iterable[Parameter], params: TrainParams, rate: float, state: LearnerState | None
) -> Optimizer:
    """The optimizer of ``params``, going on from ``state``, which stays as it is; rate and decays are the params'.

    Raises:
        ZugwerkError: ``state`` is another optimizer's or of another net.
    """
    weights = list(parameters)
    optimizer: Optimizer
    if params.optimizer == "sgd":
        optimizer = SGD(weights, lr=rate, momentum=params.momentum, nesterov=params.momentum > 0, fused=True)
    else:
        betas = (params.momentum, 0.999)  # the second is AdamW's usual one
        optimizer = AdamW(weights, lr=rate, betas=betas, weight_decay=params.weight_decay, fused=True)
    if state is not None:
        optimizer.load_state_dict({**optimizer.state_dict(), "state": _for_weights(state, weights, params.optimizer)})
    return optimizer


def state_of(optimizer: Optimizer) -> LearnerState:
    """Return the state that `make_learner` continues from, on the CPU."""
    name = "sgd" if isinstance(optimizer, SGD) else "adamw"
    state: dict[int, dict[str, Any]] = optimizer.state_dict()["state"]
    return {"optimizer": name, "state": {number: _copies(entries) for number, entries in state.items()}}


def save_learner(path: Path | str, state: LearnerState) -> None:
    """Write it; the same state gives the same bytes, under any file name."""
    save_torch(path, state)


def load_learner(path: Path | str) -> LearnerState:
    """Read what `save_learner` wrote.

    Raises:
        ZugwerkError: the file is missing or damaged.
    """
    try:
        state = load_torch(Path(path).read_bytes())
        if set(state) != {"optimizer", "state"}:
            raise ValueError("not the state of a learner")
    except FileNotFoundError:
        raise ZugwerkError(f"{path}: no such file; the training of that generation writes it") from None
    except Exception as error:  # a damaged file makes the unpickler raise anything
        raise ZugwerkError(f"{path}: damaged ({type(error).__name__}); run its generation again") from None
    return dict(state)


def _for_weights(state: LearnerState, weights: list[Parameter], name: str) -> dict[int, dict[str, Any]]:
    """Copies of a state's tensors, laid out in memory as the weights are, which fused updates rely on."""
    if state["optimizer"] != name:
        raise ZugwerkError(
            f"the learner's state is for {state['optimizer']}, but the params have {name}; see the training's section"
        )
    if not state["state"] and name == "sgd":
        return {}  # without momentum there is nothing to keep
    if len(state["state"]) != len(weights):
        raise ZugwerkError("the learner's state is of another net than the one to train")
    found = {}
    for number, weight in enumerate(weights):
        found[number] = _copies(state["state"][number])
        for key, value in found[number].items():
            if torch.is_tensor(value) and value.dim():
                if value.shape != weight.shape:
                    raise ZugwerkError("the learner's state is of another net than the one to train")
                found[number][key] = torch.empty_like(weight, device="cpu").copy_(value)
    return found


def _copies(entries: dict[str, Any]) -> dict[str, Any]:
    """The same entries, each tensor a new one on the CPU, row after row in memory."""
    return {
        key: value.detach().cpu().clone(memory_format=torch.contiguous_format) if torch.is_tensor(value) else value
        for key, value in entries.items()
    }


ALL = Share()
STATISTICS = 16  # Number of batches from which a trained net's normalisations take their means and variances


class Answer(NamedTuple):
    """A net's answer for a batch, and the targets; E entries of a policy."""

    log_p: Tensor  # float32 [B, E]: logarithms of the net's policy
    policy: Tensor  # float32 [B, E]: the search's, 0 where there is no step
    value: Tensor  # float32 [B]: the net's, in -1..1
    result: Tensor  # float32 [B]: how the game ended
    further: Tensor | None = None  # float32 [B]: loss of what else the net learns, which no measure has


class Batches(nn.Module):
    """Positions of a window, brought to the net's device by the module; called with a step, it cuts that batch."""

    generation: npt.NDArray[np.int16]
    """[R], which generation played each position."""

    def __init__(self, generation: npt.NDArray[np.int16], params: TrainParams, *, seed: int, count: int) -> None:
        """``params.batch`` positions a step, drawn from all with equal chances, each under its own symmetry.

        Raises:
            ZugwerkError: there are no positions.
        """
        super().__init__()
        if not len(generation):
            raise ZugwerkError("self-play window: no positions to train on")
        self.generation, self.batch = generation, params.batch
        self.which, self.key = COUNT if params.augment else 1, (seed, streams.REPLAY_WINDOW, count)

    def forward(self, step: int, share: Share = ALL) -> Any:
        """A process's share of the batch of a step, counted from 0."""
        rng = np.random.default_rng([*self.key, step])
        rows, which = rng.integers(0, len(self.generation), self.batch), rng.integers(0, self.which, self.batch)
        return self.cut(share.of(rows), share.of(which))

    def cut(self, rows: npt.NDArray[np.int64], which: npt.NDArray[np.int64]) -> Any:
        """The positions ``rows`` under the symmetries ``which`` of `learning.symmetry`."""
        raise NotImplementedError

    def answer(self, net: nn.Module, batch: Any) -> Answer:
        """A net's answer for a batch."""
        raise NotImplementedError

    def arrays(self) -> Iterable[npt.NDArray[Any]]:
        """All that the batches follow from, for a digest."""
        raise NotImplementedError


MEASURES = ("policy_loss", "value_loss", "policy_entropy", "target_entropy", "value_accuracy")
"""Means over positions: - pi . log p, never below the entropy of pi; (z - v)^2; the entropies of p and of pi in nats;
share of the decided games whose winner v names."""


class _Asked(nn.Module):
    """A net, called with a batch."""

    def __init__(self, net: nn.Module, batches: Batches) -> None:
        super().__init__()
        self.net, self._held = net, (batches,)

    def forward(self, batch: Any) -> Answer:
        return self._held[0].answer(self.net, batch)


class ZeroModule(LightningModule):
    """A net, which is passed in, with its loss (z - v)^2 - pi . log p + c ||theta||^2 and its optimizer.

    The loss's last term has no graph: its gradient 2 c theta is added to the others' before they are clipped.
    """

    sums: Tensor

    def __init__(
        self, net: nn.Module, batches: Batches, params: TrainParams, *, rate: float, state: LearnerState | None
    ) -> None:
        """``net`` is one that ``batches`` can ask; ``rate`` is the learning rate.

        The optimizer resumes from ``state`` where there is one.
        """
        super().__init__()
        self.net, self.params = net, params
        self._held = (batches,)  # in a tuple: processes exchange submodules at each step
        self.rate, self.start_state = rate, state
        self.mean = AveragedModel(net).requires_grad_(False)
        self.register_buffer("sums", torch.zeros(len(MEASURES) + 1))

    @property
    def batches(self) -> Batches:
        """The training positions."""
        return self._held[0]

    def on_fit_start(self) -> None:
        """Bring the positions to the net."""
        self.batches.to(self.device)

    def answer(self, batch: Any) -> tuple[Tensor, Tensor]:
        """Loss without its last term, []; and sums over the batch, [1 + measures], of which the last counts."""
        log_p, policy, value, result, further = self.batches.answer(self.net, batch)
        policy_loss = -(policy * log_p).sum(1)
        value_loss = (result - value).square()
        loss = value_loss.mean() + policy_loss.mean()
        if further is not None:
            loss = loss + further.mean()
        with torch.no_grad():
            entropy = -(log_p.exp() * log_p).sum(1)
            target_entropy = -torch.xlogy(policy, policy).sum(1)
            named = result * value > 0
            measured = [policy_loss, value_loss, entropy, target_entropy, named.float(), (result != 0).float()]
            return loss, torch.stack([m.sum() for m in measured])

    def training_step(self, batch: Any, batch_idx: int) -> Tensor:  # noqa: ARG002 - Lightning's signature
        """Loss of a batch without its last term."""
        loss, sums = self.answer(batch)
        self.sums += summed(sums)
        return loss

    def on_before_optimizer_step(self, optimizer: Optimizer) -> None:  # noqa: ARG002
        """Add the gradient of c ||theta||^2, then clip; Lightning would not clip for fused optimizers."""
        if self.params.l2:
            pairs = [(weight.grad, weight.detach()) for weight in self.net.parameters() if weight.grad is not None]
            grads, weights = [grad for grad, _ in pairs], [weight for _, weight in pairs]
            torch._foreach_add_(grads, weights, alpha=2 * self.params.l2)
        if self.params.gradient_clip is not None:
            nn.utils.clip_grad_norm_(self.net.parameters(), self.params.gradient_clip)

    def on_train_batch_end(self, outputs: Any, batch: Any, batch_idx: int) -> None:  # noqa: ARG002
        """Log a row of the curves each ``log_steps`` steps, and at the end; complete the net after the last one."""
        step, steps, last = self.global_step, self.params.log_steps, self.trainer.max_steps
        if step % steps == 0 or step == last:
            row = self._take((step % steps or steps) * self.batches.batch)
            for logger in self.loggers:
                logger.log_metrics({"step": float(step), **row}, step=step)
        if step > (1 - self.params.averaged) * last:
            self.mean.update_parameters(self.net)
        if step == last:
            self._settle()

    def _settle(self) -> None:
        """Take the mean weights, then the statistics of the normalisations that belong to the weights.

        The running ones lag behind: at a high learning rate the weights move faster. See Izmailov et al., "Averaging
        weights leads to wider optima and better generalization", UAI 2018, and Wu and Johnson, "Rethinking 'Batch' in
        BatchNorm", 2021, arXiv 2105.07576.
        """
        if self.params.averaged:
            for weight, mean in zip(self.net.parameters(), self.mean.module.parameters(), strict=True):
                weight.data.copy_(mean)
        update_bn(([self.batches(step)] for step in range(STATISTICS)), _Asked(self.net, self.batches))

    def _take(self, count: int) -> dict[str, float]:
        """Means over ``count`` positions since the last call."""
        *sums, decided = self.sums.tolist()
        self.sums.zero_()
        means = dict(zip(MEASURES, (value / count for value in sums), strict=True))
        means["value_accuracy"] = sums[-1] / decided if decided else float("nan")
        return {"loss": means["policy_loss"] + means["value_loss"], **means}

    def configure_optimizers(self) -> Optimizer:
        """The learner's, going on from the last generation."""
        return make_learner(self.net.parameters(), self.params, self.rate, self.start_state)


class TrainedGeneration(NamedTuple):
    """Result of the training of a generation."""

    state_dict: dict[str, Tensor]  # Weights and buffers of the net, on the CPU
    learner_state: LearnerState  # For the next generation's training, and for `save_learner`
    rows: list[dict[str, float]]
    """Learning curves, means over each ``log_steps`` steps: ``step``, ``loss``, which is the sum of the next two, and
    `MEASURES`."""
    metrics: dict[str, float]
    """Means over the last quarter of ``rows``; ``steps``, ``positions``, ``new_positions``, ``learning_rate``."""
    timings: dict[str, Any]  # Seconds and hardware; of this process alone where the training was resumed


def train_generation(
    net: nn.Module,
    batches: Batches,
    params: TrainParams,
    *,
    generation: int,
    folder: Path,
    learner_state: LearnerState | None = None,
) -> TrainedGeneration:
    """Train ``net``, in place, on a replay window; it comes back in evaluation mode.

    A killed training is resumed from its checkpoint in ``folder`` if all its inputs are the same, and gives the same
    weights as an uninterrupted one, on a CPU bit for bit. The caller sets torch's threads before, and removes
    ``folder`` afterwards.

    Args:
        net: one that ``batches`` can ask.
        batches: of the window. How many positions its newest round brought says how many steps to train.
        params: the section.
        generation: its number sets the learning rate.
        folder: for checkpoints; this training's own.
        learner_state: state of the last generation's training, which is not changed; None for a new one.

    Raises:
        ZugwerkError: a ``learner_state`` of another optimizer or net, or a loss that is no number.
    """
    start = time.perf_counter()
    new = int((batches.generation == batches.key[-1]).sum())
    steps, rate = params.steps(new), params.rate(generation)
    key = _digest(net, batches, learner_state, [params.model_dump(), *batches.key, generation, torch.get_num_threads()])
    own = own_folder(folder, key)
    module = ZeroModule(net, batches, params, rate=rate, state=learner_state)
    module.train()
    _lay_out(net, torch.channels_last)  # a quarter less time on a CPU
    setup, laps, curves = time.perf_counter() - start, Laps(batches, params.checkpoint_steps), Curves()
    gpu = torch.cuda.is_available()
    done = fit(module, laps, params, own, batch=params.batch, curves=curves, max_steps=steps, benchmark=gpu)
    loop = time.perf_counter() - start - setup
    net.cpu().eval().zero_grad()
    _lay_out(net, torch.contiguous_format)  # the layout of a net read from a file, needed for equal answers bit for bit
    rate_s = done["steps"] * params.batch / loop
    timings = {"seconds": setup + loop, "setup_s": setup, "positions_per_s": rate_s, **done}
    last = curves.rows[-max(1, len(curves.rows) // 4) :]
    metrics = {name: sum(row[name] for row in last) / len(last) for name in last[0] if name != "step"}
    counts = {"steps": steps, "positions": len(batches.generation), "new_positions": new, "learning_rate": rate}
    weights = {name: tensor.detach().clone() for name, tensor in net.state_dict().items()}
    return TrainedGeneration(
        weights, state_of(module.trainer.optimizers[0]), curves.rows, {**metrics, **counts}, timings
    )


def _lay_out(net: nn.Module, layout: torch.memory_format) -> None:
    for weight in net.parameters():
        if weight.dim() == 4:
            weight.data = weight.data.clone(memory_format=layout)


def _digest(net: nn.Module, batches: Batches, state: LearnerState | None, rest: list[Any]) -> str:
    """Return a name that is specific to the code, torch, weights, positions and params of a training."""
    name = hashlib.sha256(json.dumps([*rest, torch.__version__], sort_keys=True).encode())
    name.update(digest(__name__, type(batches).__module__).encode())
    tensors = list(net.state_dict().values())
    for entries in state["state"].values() if state else ():
        tensors += [value for value in entries.values() if torch.is_tensor(value)]
    for tensor in tensors:
        name.update(tensor.detach().cpu().contiguous().numpy().tobytes())
    for array in batches.arrays():
        name.update(array.tobytes())
    return name.hexdigest()[:16]


def learn(own: Round) -> None:
    """Train the newest net on; write ``model.pt``, ``learner.pt``, ``curves.csv`` and ``train_result.json``.

    The first round begins with fresh weights or with a given model, every other one with the net that the previous
    round trained, whether or not that became the best player.
    """
    subject, setting, before, number = own.subject, own.setting, own.before, own.files.number
    torch.set_num_threads(setting.train.threads)  # the weights depend on it
    batches = subject.batches(open_window(own.window, subject.game), setting, own.count)
    torch.manual_seed(setting.seed * 1009 + streams.FIRST_NET)
    net = subject.net(before.model if before else own.start, setting, number)
    trained = train_generation(
        net,
        batches,
        setting.train,
        generation=number,
        folder=own.folder / "training",
        learner_state=load_learner(before.learner) if before else None,
    )
    subject.save(own.model, net, setting)
    save_learner(own.learner, trained.learner_state)
    write_table(own.folder / "curves.csv", trained.rows)
    write_json(own.folder / "train_result.json", trained.metrics)
    write_json(own.folder / "training.json", trained.timings)

"""Train a net on a replay window for one generation, from the start or from the last checkpoint of a killed run."""

import hashlib
import json
import time
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from pipeline_src.learning.checkpoints import own_folder
from pipeline_src.learning.fit import Curves, fit
from pipeline_src.project.code import digest
from pipeline_src.systems.gomoku_zero.batches import Batches
from pipeline_src.systems.gomoku_zero.learner import LearnerState, state_of
from pipeline_src.systems.gomoku_zero.module import ZeroModule
from pipeline_src.systems.gomoku_zero.params import GomokuTrainParams
from pipeline_src.systems.gomoku_zero.positions import Positions


class TrainedGeneration(NamedTuple):
    """Result of the training of a generation."""

    state_dict: dict[str, Tensor]
    """Weights and buffers of the net, on the CPU."""
    learner_state: LearnerState
    """For the next generation's training, and for `save_learner`."""
    rows: list[dict[str, float]]
    """Learning curves, means over each ``log_steps`` steps: ``step``, ``loss``, which is the sum of the next two, and
    `MEASURES`."""
    metrics: dict[str, float]
    """Means over the last quarter of ``rows``; ``steps``, ``positions``, ``new_positions``, ``learning_rate``."""
    timings: dict[str, Any]
    """Seconds and hardware; of this process alone where the training was resumed."""


def train_generation(
    net: nn.Module,
    positions: Positions,
    params: GomokuTrainParams,
    *,
    seed: int,
    generation: int,
    folder: Path,
    count: int | None = None,
    learner_state: LearnerState | None = None,
) -> TrainedGeneration:
    """Train ``net``, in place, on a replay window; it comes back in evaluation mode.

    A killed training is resumed from its checkpoint in ``folder`` if all its inputs are the same, and gives the same
    weights as an uninterrupted one, on a CPU bit for bit. The caller sets torch's threads before, and removes
    ``folder`` afterwards.

    Args:
        net: maps planes [B, C, H, W] to (policy logits [B, N], values [B] to the side to move).
        positions: all of the window.
        params: the section.
        seed: the pipeline's.
        generation: its number sets the learning rate.
        folder: for checkpoints; this training's own.
        count: number of the newest round in the window; how many positions it brought says how many steps to train.
            None: that of the generation, for generations of one round.
        learner_state: state of the last generation's training, which is not changed; None for a new one.

    Raises:
        ZugwerkError: no positions, a ``learner_state`` of another optimizer or net, or a loss that is no number.
    """
    start = time.perf_counter()
    count = generation if count is None else count
    new = int((positions.generation == count).sum())
    steps, rate = params.steps(new), params.rate(generation)
    batches = Batches(positions, batch=params.batch, augment=params.augment, seed=seed, generation=count)
    key = _digest(
        net, positions, learner_state, [params.model_dump(), seed, generation, count, torch.get_num_threads()]
    )
    own = own_folder(folder, key)
    module = ZeroModule(net, batches, params, rate=rate, state=learner_state)
    net.train()
    _lay_out(net, torch.channels_last)  # a quarter less time on a CPU
    setup, laps, curves = time.perf_counter() - start, range(min(steps, params.checkpoint_steps)), Curves()
    done = fit(
        module,
        laps,
        params,
        own,
        batch=params.batch,
        curves=curves,
        max_steps=steps,
        max_epochs=-1,
        benchmark=torch.cuda.is_available(),
    )
    loop = time.perf_counter() - start - setup
    net.cpu().eval().zero_grad()
    _lay_out(net, torch.contiguous_format)  # the layout of a net read from a file, needed for equal answers bit for bit
    rate_s = done["steps"] * params.batch / loop
    timings = {"seconds": setup + loop, "setup_s": setup, "positions_per_s": rate_s, **done}
    last = curves.rows[-max(1, len(curves.rows) // 4) :]
    metrics = {name: sum(row[name] for row in last) / len(last) for name in last[0] if name != "step"}
    counts = {"steps": steps, "positions": len(positions.value), "new_positions": new, "learning_rate": rate}
    weights = {name: tensor.detach().clone() for name, tensor in net.state_dict().items()}
    return TrainedGeneration(
        weights, state_of(module.trainer.optimizers[0]), curves.rows, {**metrics, **counts}, timings
    )


def _lay_out(net: nn.Module, layout: torch.memory_format) -> None:
    for weight in net.parameters():
        if weight.dim() == 4:
            weight.data = weight.data.clone(memory_format=layout)


def _digest(net: nn.Module, positions: Positions, state: LearnerState | None, rest: list[Any]) -> str:
    """Return a name that is specific to the code, torch, weights, positions and params of a training."""
    name = hashlib.sha256(json.dumps([*rest, torch.__version__], sort_keys=True).encode())
    name.update(digest(__name__).encode())
    tensors = list(net.state_dict().values())
    for entries in state["state"].values() if state else ():
        tensors += [value for value in entries.values() if torch.is_tensor(value)]
    for tensor in tensors:
        name.update(tensor.detach().cpu().contiguous().numpy().tobytes())
    for array in positions:  # the planes follow from the games, which the policies identify
        if array is not positions.planes:
            name.update(array.tobytes())
    return name.hexdigest()[:16]

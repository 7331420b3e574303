"""The optimizer of a generation's training, its state, and the file in which the next generation finds that."""

import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
from torch.nn import Parameter
from torch.optim import SGD, AdamW, Optimizer

from pipeline_src.errors import ZugwerkError
from pipeline_src.learning.torch_state import save_torch
from pipeline_src.systems.gomoku_zero.params import GomokuTrainParams

LearnerState = dict[str, Any]
"""``optimizer``: its name; ``state``: its ``state_dict()["state"]``, tensors by the parameter's number."""


def make_learner(
    parameters: Iterable[Parameter], params: GomokuTrainParams, rate: float, state: LearnerState | None
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
        state = torch.load(io.BytesIO(Path(path).read_bytes()), map_location="cpu", weights_only=True)
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
            f"the learner's state is for {state['optimizer']}, but the params have {name}; see gomoku_train"
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

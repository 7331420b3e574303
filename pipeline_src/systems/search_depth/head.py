"""Heads of the depth nets: the meaning of their outputs, as layers to search from the lowest to the highest class.

| head | outputs | layers |
| --- | --- | --- |
| ``linear`` | 1 | the output, rounded |
| ``sigmoid`` | 1 | lowest + (highest - lowest) * sigmoid(output), rounded |
| ``classes`` | K = highest - lowest + 1 | logits; the likeliest class, or the first that is likely enough |
| ``costs`` | K + 1 | what each depth costs here and how much is still to come; the deepest that the clock affords |

The first output of ``costs`` is the logarithm of the time of ``lowest`` layers, as a share of the whole clock; the next
ones are the logarithms of the factors of each further layer; the last one is the number of searches that the side still
has to make, including this one, divided by `SEARCHES`.
"""

from typing import Literal

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

Head = Literal["linear", "sigmoid", "classes", "costs"]
SEARCHES = 8.0
"""Divisor that brings the searches still to come to about 1."""


def head_outputs(head: Head, lowest: int, highest: int) -> int:
    """Outputs that a net needs for a head."""
    return {"classes": highest - lowest + 1, "costs": highest - lowest + 2}.get(head, 1)


def depth_value(head: Head, outputs: Tensor, lowest: int, highest: int) -> Tensor:
    """Return the unrounded layers of regression heads, float [B], for outputs [B, 1]."""
    value = outputs[:, 0]
    return value if head == "linear" else lowest + (highest - lowest) * torch.sigmoid(value)


def chosen_depths(
    head: Head,
    outputs: npt.NDArray[np.float32],
    lowest: int,
    highest: int,
    confidence: float | None = None,
    left: npt.ArrayLike = 1.0,
    shares: float = 1.0,
) -> npt.NDArray[np.int64]:
    """Return the layers to search, int64 [B], for outputs float32 [B, outputs].

    Args:
        head: head of the net.
        outputs: outputs of the net.
        lowest: lowest class.
        highest: highest class.
        confidence: for ``classes`` only: choose the first class up to which the probabilities sum to this; None chooses
            the most probable class.
        left: for ``costs`` only: share of the clock that is left, [B] or one for all.
        shares: for ``costs`` only: number of equal shares of the remaining clock, one for each search still to come,
            that one search may take.
    """
    if head == "costs":
        return lowest + _afforded(outputs.astype(np.float64), np.asarray(left, np.float64), shares)
    if head != "classes":
        value = outputs[:, 0].astype(np.float64)
        if head == "sigmoid":
            value = lowest + (highest - lowest) / (1 + np.exp(-value))
        return np.clip(np.rint(value), lowest, highest).astype(np.int64)
    if confidence is None:
        found = outputs.argmax(1)
    else:
        likely = np.exp(outputs - outputs.max(1, keepdims=True)).cumsum(1, dtype=np.float64)
        found = (likely < confidence * likely[:, -1:]).sum(1)
    layers: npt.NDArray[np.int64] = np.minimum(lowest + found, highest).astype(np.int64)
    return layers


def _afforded(outputs: npt.NDArray[np.float64], left: npt.NDArray[np.float64], shares: float) -> npt.NDArray[np.int64]:
    """Layers beyond the lowest, int64 [B], of the outputs of ``costs``."""
    logs = outputs[:, :-1].copy()
    logs[:, 1:] = np.maximum(logs[:, 1:], 0)
    budget = shares * left / np.maximum(SEARCHES * outputs[:, -1], 1)
    afforded = np.exp(logs.cumsum(1)) <= np.reshape(budget, (-1, 1))
    layers: npt.NDArray[np.int64] = np.maximum(afforded.sum(1) - 1, 0)
    return layers

"""What the outputs of a depth net mean: layers to search, from the lowest to the highest class.

| head | outputs | layers |
| --- | --- | --- |
| ``linear`` | 1 | the output, rounded |
| ``sigmoid`` | 1 | lowest + (highest - lowest) * sigmoid(output), rounded |
| ``classes`` | K = highest - lowest + 1 | logits; the likeliest class, or the first that is likely enough |
"""

from typing import Literal

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

Head = Literal["linear", "sigmoid", "classes"]


def head_outputs(head: Head, lowest: int, highest: int) -> int:
    """Outputs that a net needs for a head."""
    return highest - lowest + 1 if head == "classes" else 1


def depth_value(head: Head, outputs: Tensor, lowest: int, highest: int) -> Tensor:
    """Of regression heads: the layers before they are rounded, float [B], of outputs [B, 1]."""
    value = outputs[:, 0]
    return value if head == "linear" else lowest + (highest - lowest) * torch.sigmoid(value)


def chosen_depths(
    head: Head, outputs: npt.NDArray[np.float32], lowest: int, highest: int, confidence: float | None = None
) -> npt.NDArray[np.int64]:
    """Layers to search, int64 [B], of outputs float32 [B, outputs].

    Args:
        head: of the net.
        outputs: the net's.
        lowest: class.
        highest: class.
        confidence: of ``classes`` alone: the first class up to which the probabilities sum to this much; None takes
            the likeliest.
    """
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

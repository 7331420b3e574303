"""A trained net as a chooser of the depth, from the position and the used share of the clock.

One position at a time is answered in numpy: torch takes several times as long for so small a net. A convolution is a
gather and a matrix product: each output square's inputs are taken out of the flat planes by an index array made once,
where the last index is a zero, the padding.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.amazons.board import AmazonsState
from pipeline_src.games.amazons.moves import buffers, count_turns
from pipeline_src.systems.search_depth.net import (
    DepthNet,
    PublishedDepthNet,
    SavedDepthNet,
    chosen_depths,
    load_depth_net,
)
from pipeline_src.systems.search_depth.positions import Inputs, depth_planes

Floats = npt.NDArray[np.float32]


class Convolution:
    """A square convolution on planes that lie square by square: float32 [H * W, C] -> [H' * W', C']."""

    def __init__(self, layer: nn.Conv2d, side: int) -> None:
        """``side`` is H = W of the input."""
        kernel, stride, padding = layer.kernel_size[0], layer.stride[0], layer.padding[0]
        assert isinstance(padding, int)
        self.channels = layer.in_channels
        self.side = (side + 2 * padding - kernel) // stride + 1
        ends = np.arange(self.side) * stride - padding
        seen = ends[:, None] + np.arange(kernel)  # [side, kernel], rows or columns alike
        rows, columns = seen[:, None, :, None], seen[None, :, None, :]
        inside = (rows >= 0) & (rows < side) & (columns >= 0) & (columns < side)
        cells = np.where(inside, rows * side + columns, side * side)
        self.taken = cells.reshape(self.side**2, kernel**2)
        weight = layer.weight.detach().numpy().transpose(2, 3, 1, 0)
        self.weight = np.ascontiguousarray(weight.reshape(-1, layer.out_channels))
        assert layer.bias is not None
        self.bias = layer.bias.detach().numpy().copy()
        self.padded = np.zeros((side * side + 1, self.channels), np.float32)

    def __call__(self, x: Floats) -> Floats:
        """See the class."""
        self.padded[:-1] = x
        found: Floats = self.padded.take(self.taken, 0).reshape(len(self.taken), -1) @ self.weight
        found += self.bias
        return found


def depth_forward(net: DepthNet) -> Callable[[Floats], Floats]:
    """A function from planes float32 [C, H, W] to the net's outputs float32 [outputs], as `net` itself answers.

    It keeps scratch arrays: one thread at a time.
    """
    return _published(net) if isinstance(net, PublishedDepthNet) else _residual(net)


def _published(net: PublishedDepthNet) -> Callable[[Floats], Floats]:
    side, steps = net.config.size, list[Callable[[Floats], Floats]]()
    for layer in net.layers:
        if isinstance(layer, nn.Conv2d):
            convolution = Convolution(layer, side)
            side = convolution.side
            steps.append(convolution)
        elif isinstance(layer, nn.Sigmoid):
            steps.append(_sigmoid)
        elif isinstance(layer, nn.MaxPool2d):
            steps.append(_pool(side))
            side //= 2
        elif isinstance(layer, nn.Linear):
            steps.append(_linear(layer))

    def forward(planes: Floats) -> Floats:
        x = planes.reshape(len(planes), -1).T
        for step in steps:
            x = step(x)
        return x.ravel()

    return forward


def _residual(net: Any) -> Callable[[Floats], Floats]:
    stem = Convolution(net.stem, net.config.size)
    blocks = [(Convolution(block.first, stem.side), Convolution(block.second, stem.side)) for block in net.blocks]
    output = _linear(net.output)

    def forward(planes: Floats) -> Floats:
        x = np.maximum(stem(planes.reshape(len(planes), -1).T), 0)
        for first, second in blocks:
            x = np.maximum(x + second(np.maximum(first(x), 0)), 0)
        return output(x).ravel()

    return forward


def _sigmoid(x: Floats) -> Floats:
    with np.errstate(over="ignore"):
        found: Floats = np.reciprocal(1 + np.exp(-x))
    return found


def _pool(side: int) -> Callable[[Floats], Floats]:
    half = side // 2

    def pool(x: Floats) -> Floats:
        found: Floats = x.reshape(half, 2, half, 2, -1).max((1, 3)).reshape(half * half, -1)
        return found

    return pool


def _linear(layer: nn.Linear) -> Callable[[Floats], Floats]:
    weight, bias = layer.weight.detach().numpy().copy(), layer.bias.detach().numpy().copy()

    def linear(x: Floats) -> Floats:
        found: Floats = weight @ x.T.ravel() + bias  # flattened as torch does: plane by plane
        return found

    return linear


class DepthModel:
    """Asks a net: about one position as a player does, in numpy, or about many at once, in torch."""

    def __init__(self, saved: SavedDepthNet, confidence: float | None = None, shares: float = 1.0) -> None:
        """``confidence`` and ``shares``: see `chosen_depths`; of a classifying head, and of one of costs."""
        self.saved, self.confidence, self.shares = saved, confidence, shares
        self.forward = depth_forward(saved.net)
        self.inputs: Inputs = "published" if saved.inputs == "published" else "full"

    @property
    def label(self) -> str:
        """Label on which the net was trained."""
        return self.saved.label

    @property
    def classes(self) -> tuple[int, int]:
        """Lowest and highest answer."""
        return self.saved.lowest, self.saved.highest

    def choose(self, n: npt.NDArray[np.uint8], used: float, state: AmazonsState, expandable: int | None = None) -> int:
        """Layers to search.

        Args:
            n: [H, W], the result of the small search, row 0 = rank 1.
            used: share of its clock that the side to move has used, 0..1.
            state: before the turn.
            expandable: number of legal turns, where the caller knows it.
        """
        turns = 0
        if self.inputs == "full":
            turns = count_turns(state, buffers(state)[0]) if expandable is None else expandable
        planes = depth_planes(
            self.inputs,
            n[None],
            np.array([used], np.float32),
            state.board[None],
            np.array([state.turn[0]], np.int8),
            np.array([turns], np.int32),
        )
        return int(self._chosen(self.forward(planes[0])[None], np.float32(1) - np.float32(used))[0])

    def choose_all(self, planes: npt.NDArray[np.float32], used: npt.NDArray[np.float32]) -> npt.NDArray[np.int64]:
        """Layers to search, int64 [B], of planes float32 [B, C, H, W] and the shares of clocks used, [B]."""
        with torch.inference_mode():
            outputs = self.saved.net(torch.from_numpy(planes)).numpy()
        return self._chosen(outputs, 1 - used)

    def _chosen(self, outputs: npt.NDArray[np.float32], left: npt.ArrayLike) -> npt.NDArray[np.int64]:
        return chosen_depths(self.saved.head, outputs, *self.classes, self.confidence, left, self.shares)


def load_depth_model(
    path: Path | str,
    *,
    label: str | None = None,
    classes: tuple[int, int] | None = None,
    confidence: float | None = None,
    shares: float = 1.0,
) -> DepthModel:
    """The model in a file.

    Args:
        path: what `depth_train` wrote.
        label: required label of the training; None accepts any.
        classes: lowest and highest class it must choose among; None is any.
        confidence: choose the first depth that suffices with this probability; None takes the likeliest. Of a
            classifying head alone.
        shares: how many equal shares of the clock one search may take. Of a head of costs alone.

    Raises:
        ZugwerkError: the file is missing, damaged, or of a model for another label or other classes; or a confidence
            for a model that has no probabilities, or one outside 0..1.
    """
    saved = load_depth_net(path, label=label, classes=classes)
    if confidence is not None:
        if saved.head != "classes":
            raise ZugwerkError(f"{path}: its head '{saved.head}' has no probabilities; remove confidence")
        if not 0 < confidence <= 1:
            raise ZugwerkError(f"{path}: confidence must be above 0 and at most 1, not {confidence}")
    if shares != 1 and saved.head != "costs":
        raise ZugwerkError(f"{path}: its head '{saved.head}' does not use the clock; remove shares")
    return DepthModel(saved, confidence, shares)

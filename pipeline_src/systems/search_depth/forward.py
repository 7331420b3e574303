"""The forward pass of a depth net for one position, in numpy: torch takes several times as long for so small a net.

A convolution is a gather and a matrix product: each output square's inputs are taken out of the flat planes by an index
array made once, where the last index is a zero that stands for the padding.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from torch import nn

from pipeline_src.systems.search_depth.net import DepthNet, PublishedDepthNet

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

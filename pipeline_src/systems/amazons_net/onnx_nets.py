"""The residual net as an ONNX model, in 32-bit floats or with its trunk in 8-bit integers.

The model has one input, ``planes`` float32 [B, 15, H, W] as `planes` makes them, before a move or before an arrow, and
three outputs for each row: ``value`` float32 [B] (-1..1, to the side to move), ``move`` float32 [B, N * N] (logits,
entry ``from * N + to``) and ``arrow`` float32 [B, N]. One of the policies is of no use in each row; its cost is
small compared with the trunk.
"""

from typing import cast

import numpy as np
from torch import nn

from pipeline_src.games import amazons
from pipeline_src.learning.torch_state import OnnxGraph, array_of
from pipeline_src.systems.amazons_net.encode import PLANES
from pipeline_src.systems.amazons_net.nets import Block, ResidualNets
from pipeline_src.systems.amazons_net.onnx_evaluator import as_int8


def export_nets(nets: ResidualNets, int8: bool = False) -> bytes:
    """The ONNX file of a net; the same weights give the same bytes.

    With ``int8`` the convolutions but the last ones are in 8-bit integers, calibrated on positions of random play.

    Raises:
        ZugwerkError: a package is missing.
    """
    graph, size = OnnxGraph(), nets.config.size
    squares = size**2
    x = graph.add("Relu", [_normed(graph, "planes", nets.first)])
    for block in nets.blocks:
        assert isinstance(block, Block)
        out = _normed(graph, graph.add("Relu", [_normed(graph, x, block.one)]), block.two)
        x = graph.add("Relu", [graph.add("Add", [out, x])])
    flip = graph.constant(np.arange(size)[::-1])

    def by_square(x: str, channels: int) -> str:
        shape = graph.constant(np.array([0, channels, squares]))
        return graph.add("Reshape", [graph.add("Gather", [x, flip], axis=2), shape])

    policy, embedding = nets.move_policy, nets.move_policy.squares.out_channels // 2
    weight, bias = array_of(policy.squares.weight), array_of(policy.squares.bias)
    start = graph.convolution(x, weight[:embedding] * policy.scale, bias[:embedding] * policy.scale, "from")
    to = graph.convolution(x, weight[embedding:], bias[embedding:], "to")
    lines = graph.add("Transpose", [by_square(start, embedding)], perm=[0, 2, 1])
    relative = array_of(policy.relative[policy._places(size, size)])
    move = graph.add("Add", [graph.add("MatMul", [lines, by_square(to, embedding)]), graph.constant(relative)], "bias")
    graph.add("Flatten", [move], "move")

    before, _, last = nets.arrow_policy
    assert isinstance(last, nn.Conv2d)
    shots = graph.add("Relu", [_normed(graph, x, before)])
    arrows = graph.convolution(shots, array_of(last.weight), array_of(last.bias), "arrows")
    graph.add("Flatten", [by_square(arrows, 1)], "arrow")

    first, _ = nets.value.squares
    pooled = graph.pooled(graph.add("Relu", [graph.normed(x, cast(nn.Conv2d, first), None)]))
    hidden, _, output = nets.value.output
    inner = graph.add("Relu", [graph.linear(graph.add("Flatten", [pooled]), cast(nn.Linear, hidden))])
    logit = graph.add("Reshape", [graph.linear(inner, cast(nn.Linear, output)), graph.constant(np.array([-1]))])
    # The chance to win is the sigmoid; 2 * sigmoid(x) - 1 = tanh(x / 2).
    graph.add("Tanh", [graph.add("Mul", [logit, graph.constant(np.array(0.5))])], "value")

    content = graph.content(
        f"zugwerk {amazons.NAME}",
        {"planes": ["batch", PLANES, size, size]},
        {"value": ["batch"], "move": ["batch", squares**2], "arrow": ["batch", squares]},
        {"game": amazons.NAME, "version": str(amazons.VERSION), "size": str(size)},
    )
    return as_int8(content, "the net") if int8 else content


def _normed(graph: OnnxGraph, x: str, layer: nn.Module) -> str:
    convolution, norm = cast(nn.Sequential, layer)
    return graph.normed(x, cast(nn.Conv2d, convolution), cast(nn.BatchNorm2d, norm))

"""A self-play net as an ONNX model.

The model has one input ``planes`` float32 [B, C, H, W] and two outputs, ``policy`` float32 [B, N] (logits) and
``value`` float32 [B] (-1..1, to the side to move). Its metadata says what it is for, so that it can be played without
the file it was made from: game, variant, version, kind, height, width, positions.
"""

from typing import Any

import numpy as np
from torch import nn

from pipeline_src.errors import ZugwerkError
from pipeline_src.learning.onnx_graph import OnnxGraph, array_of, scale_and_shift
from pipeline_src.systems.gomoku_zero.blocks import Normed
from pipeline_src.systems.gomoku_zero.lines import LinesNet
from pipeline_src.systems.gomoku_zero.models import ZeroModel
from pipeline_src.systems.gomoku_zero.plain import PlainNet
from pipeline_src.systems.gomoku_zero.residual import ResidualNet
from pipeline_src.systems.gomoku_zero.uniform import UniformNet


def export_onnx(model: ZeroModel) -> bytes:
    """The model's net as an ONNX file; the same weights give the same bytes.

    Raises:
        ZugwerkError: the package onnx is missing, or the model is a line net.
    """
    net, config, graph = model.net, model.config, OnnxGraph()
    if isinstance(net, LinesNet):
        raise ZugwerkError("a line net has no ONNX form; backend=auto runs it in a kernel of its own")
    if isinstance(net, PlainNet):
        policy, value = _write_plain(graph, net)
    elif isinstance(net, ResidualNet):
        policy, value = _write_residual(graph, net)
    else:
        policy, value = _write_uniform(graph, net)
    graph.add("Identity", [policy], "policy")
    graph.add("Reshape", [value, graph.constant(np.array([-1]))], "value")
    return graph.content(
        f"zugwerk {model.game}",
        {"planes": ["batch", 2 * config.positions + 1, config.height, config.width]},
        {"policy": ["batch", config.height * config.width], "value": ["batch"]},
        describe(model),
    )


def describe(model: ZeroModel) -> dict[str, str]:
    """Return the description of a model as metadata of its ONNX file."""
    config = model.config
    fields = {"game": model.game, "variant": model.variant, "version": model.version, "kind": config.kind}
    fields |= {"height": config.height, "width": config.width, "positions": config.positions}
    return {name: str(value) for name, value in fields.items()}


def _write_plain(graph: OnnxGraph, net: PlainNet) -> tuple[str, str]:
    x = _signed(graph, net.config.positions) if net.config.signed else "planes"
    convolution: Any
    for convolution in net.trunk:
        x = graph.add("Relu", [_normed(graph, x, convolution)])
    before_policy, before_value = (
        graph.add("Relu", [_normed(graph, x, planes)]) for planes in (net.policy_planes, net.value_planes)
    )
    if isinstance(net.policy, nn.Linear):
        policy = graph.linear(graph.add("Flatten", [before_policy]), net.policy)
        pooled = before_value
    else:
        last = graph.convolution(before_policy, array_of(net.policy.weight), array_of(net.policy.bias))
        policy = graph.add("Flatten", [last])
        pooled = graph.pooled(before_value)
    hidden = graph.linear(graph.add("Flatten", [pooled]), net.value_hidden)
    return policy, graph.add("Tanh", [graph.linear(graph.add("Relu", [hidden]), net.value)])


def _write_residual(graph: OnnxGraph, net: ResidualNet) -> tuple[str, str]:
    x = graph.add("Relu", [_normed(graph, "planes", net.stem)])
    block: Any
    for block in net.blocks:
        out = _normed(graph, graph.add("Relu", [_normed(graph, x, block.one)]), block.two)
        if block.project is not None:
            x = _normed(graph, x, block.project)
        elif block.grow:
            x = graph.add("Pad", [x, graph.constant(np.array([0, 0, 0, 0, 0, block.grow, 0, 0]))])
        x = graph.add("Relu", [graph.add("Add", [out, x])])
    # Here the norm stands before the convolution, which being 1x1 sees no padding: it folds in as well.
    scale, shift = scale_and_shift(net.norm)
    weight, bias = array_of(net.head.weight), array_of(net.head.bias)
    bias = bias + (weight * shift[:, None, None]).sum((1, 2, 3))
    x = graph.add("Flatten", [graph.convolution(x, weight * scale[:, None, None], bias)])
    if net.config.head_relu:
        x = graph.add("Relu", [x])
    hidden = x if net.value_hidden is None else graph.add("Relu", [graph.linear(x, net.value_hidden)])
    return graph.linear(x, net.policy), graph.add("Tanh", [graph.linear(hidden, net.value)])


def _write_uniform(graph: OnnxGraph, net: UniformNet) -> tuple[str, str]:
    zeros = graph.add("Mul", ["planes", graph.constant(np.zeros(1))])
    first = graph.constant(np.array(0))
    even = graph.add("Flatten", [graph.add("Gather", [zeros, first], axis=1)])
    return graph.add("Add", [even, graph.constant(array_of(net.logits))]), graph.add("Gather", [even, first], axis=1)


def _normed(graph: OnnxGraph, x: str, layer: Normed) -> str:
    return graph.normed(x, layer.convolution, layer.norm)


def _signed(graph: OnnxGraph, positions: int) -> str:
    chosen = [graph.constant(np.array([plane])) for plane in (0, positions)]
    return graph.add("Sub", [graph.add("Gather", ["planes", plane], axis=1) for plane in chosen])

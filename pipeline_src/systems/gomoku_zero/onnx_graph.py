"""A self-play net as an ONNX model, written layer by layer, batch norm folded into the convolutions.

`torch.onnx` writes the same graph in seconds and through three more packages; these nets are few kinds of layers. The
model has one input ``planes`` float32 [B, C, H, W] and two outputs, ``policy`` float32 [B, N] (logits) and ``value``
float32 [B] (-1..1, to the side to move). Its metadata says what it is for, so that it can be played without the file
it was made from: game, variant, version, kind, height, width, positions.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from torch import Tensor, nn

from pipeline_src.errors import ZugwerkError
from pipeline_src.systems.gomoku_zero.blocks import Normed
from pipeline_src.systems.gomoku_zero.models import ZeroModel
from pipeline_src.systems.gomoku_zero.plain import PlainNet
from pipeline_src.systems.gomoku_zero.residual import ResidualNet
from pipeline_src.systems.gomoku_zero.uniform import UniformNet

Floats = npt.NDArray[np.float64]
OPSET, FORMAT = 17, 8
"""Versions of ONNX, old enough for every runtime in use."""


def export_onnx(model: ZeroModel) -> bytes:
    """The model's net as an ONNX file; the same weights give the same bytes.

    Raises:
        ZugwerkError: the package onnx is missing.
    """
    try:
        from onnx import TensorProto, checker, helper
    except ImportError:
        raise ZugwerkError("the package onnx is missing: pip install onnx; or use another backend") from None
    net, config, graph = model.net, model.config, _Graph()
    if isinstance(net, PlainNet):
        policy, value = _write_plain(graph, net)
    elif isinstance(net, ResidualNet):
        policy, value = _write_residual(graph, net)
    else:
        policy, value = _write_uniform(graph, net)
    graph.add("Identity", [policy], "policy")
    graph.add("Reshape", [value, graph.constant(np.array([-1]))], "value")
    shape: list[str | int | None] = ["batch", 2 * config.positions + 1, config.height, config.width]
    made = helper.make_model(
        helper.make_graph(
            graph.nodes,
            f"zugwerk {model.game}",
            [helper.make_tensor_value_info("planes", TensorProto.FLOAT, shape)],
            [
                helper.make_tensor_value_info("policy", TensorProto.FLOAT, ["batch", config.height * config.width]),
                helper.make_tensor_value_info("value", TensorProto.FLOAT, ["batch"]),
            ],
            graph.initializers,
        ),
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=FORMAT,
        producer_name="zugwerk",
    )
    helper.set_model_props(made, describe(model))
    checker.check_model(made)
    return bytes(made.SerializeToString())


def describe(model: ZeroModel) -> dict[str, str]:
    """Return the description of a model as metadata of its ONNX file."""
    config = model.config
    fields = {"game": model.game, "variant": model.variant, "version": model.version, "kind": config.kind}
    fields |= {"height": config.height, "width": config.width, "positions": config.positions}
    return {name: str(value) for name, value in fields.items()}


class _Graph:
    """Nodes and weights of a graph being written; each method returns its output's name."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.initializers: list[Any] = []

    def constant(self, array: npt.NDArray[Any]) -> str:
        from onnx import numpy_helper

        name = f"weights_{len(self.initializers)}"
        floats = array.dtype.kind == "f"
        array = np.ascontiguousarray(array, np.float32 if floats else np.int64)
        self.initializers.append(numpy_helper.from_array(array, name))
        return name

    def add(self, kind: str, inputs: list[str], output: str | None = None, **attributes: Any) -> str:
        from onnx import helper

        output = output or f"{kind.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [output], name=output, **attributes))
        return output

    def convolution(self, x: str, weight: Floats, bias: Floats) -> str:
        kernel = weight.shape[2]
        inputs = [x, self.constant(weight), self.constant(bias)]
        return self.add("Conv", inputs, kernel_shape=[kernel, kernel], pads=[kernel // 2] * 4)

    def normed(self, x: str, layer: Normed) -> str:
        """With its batch norm folded in."""
        weight = _array(layer.convolution.weight)
        if layer.norm is None:
            return self.convolution(x, weight, _array(layer.convolution.bias))
        scale, shift = _scale_and_shift(layer.norm)
        return self.convolution(x, weight * scale[:, None, None, None], shift)

    def linear(self, x: str, layer: nn.Linear) -> str:
        return self.add("Gemm", [x, self.constant(_array(layer.weight)), self.constant(_array(layer.bias))], transB=1)

    def signed(self, planes: str, positions: int) -> str:
        own, other = (
            self.add("Gather", [planes, self.constant(np.array([plane]))], axis=1) for plane in (0, positions)
        )
        return self.add("Sub", [own, other])


def _write_plain(graph: _Graph, net: PlainNet) -> tuple[str, str]:
    x = graph.signed("planes", net.config.positions) if net.config.signed else "planes"
    convolution: Any
    for convolution in net.trunk:
        x = graph.add("Relu", [graph.normed(x, convolution)])
    before_policy, before_value = (
        graph.add("Relu", [graph.normed(x, planes)]) for planes in (net.policy_planes, net.value_planes)
    )
    if isinstance(net.policy, nn.Linear):
        policy = graph.linear(graph.add("Flatten", [before_policy]), net.policy)
        pooled = before_value
    else:
        last = graph.convolution(before_policy, _array(net.policy.weight), _array(net.policy.bias))
        policy = graph.add("Flatten", [last])
        means, tops = (graph.add(f"Global{kind}Pool", [before_value]) for kind in ("Average", "Max"))
        pooled = graph.add("Concat", [means, tops], axis=1)
    hidden = graph.linear(graph.add("Flatten", [pooled]), net.value_hidden)
    return policy, graph.add("Tanh", [graph.linear(graph.add("Relu", [hidden]), net.value)])


def _write_residual(graph: _Graph, net: ResidualNet) -> tuple[str, str]:
    x = graph.add("Relu", [graph.normed("planes", net.stem)])
    block: Any
    for block in net.blocks:
        out = graph.normed(graph.add("Relu", [graph.normed(x, block.one)]), block.two)
        if block.project is not None:
            x = graph.normed(x, block.project)
        elif block.grow:
            x = graph.add("Pad", [x, graph.constant(np.array([0, 0, 0, 0, 0, block.grow, 0, 0]))])
        x = graph.add("Relu", [graph.add("Add", [out, x])])
    # Here the norm stands before the convolution, which being 1x1 sees no padding: it folds in as well.
    scale, shift = _scale_and_shift(net.norm)
    weight, bias = _array(net.head.weight), _array(net.head.bias)
    bias = bias + (weight * shift[:, None, None]).sum((1, 2, 3))
    x = graph.add("Flatten", [graph.convolution(x, weight * scale[:, None, None], bias)])
    if net.config.head_relu:
        x = graph.add("Relu", [x])
    hidden = x if net.value_hidden is None else graph.add("Relu", [graph.linear(x, net.value_hidden)])
    return graph.linear(x, net.policy), graph.add("Tanh", [graph.linear(hidden, net.value)])


def _write_uniform(graph: _Graph, net: UniformNet) -> tuple[str, str]:
    zeros = graph.add("Mul", ["planes", graph.constant(np.zeros(1))])
    first = graph.constant(np.array(0))
    even = graph.add("Flatten", [graph.add("Gather", [zeros, first], axis=1)])
    return graph.add("Add", [even, graph.constant(_array(net.logits))]), graph.add("Gather", [even, first], axis=1)


def _array(tensor: Tensor | None) -> Floats:
    assert tensor is not None
    return tensor.detach().cpu().double().numpy()


def _scale_and_shift(norm: nn.BatchNorm2d) -> tuple[Floats, Floats]:
    """A batch norm in evaluation mode is x * scale + shift, each float64 [C]."""
    scale = _array(norm.weight) / np.sqrt(_array(norm.running_var) + norm.eps)
    return scale, _array(norm.bias) - _array(norm.running_mean) * scale

"""Writing ONNX models layer by layer, batch norm folded into the convolutions.

`torch.onnx` writes the same graphs in seconds and through three more packages; our nets are few kinds of layers.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from torch import Tensor, nn

from pipeline_src.errors import ZugwerkError

Floats = npt.NDArray[np.float64]
Shape = Sequence[str | int]  # Lengths of axes; a name stands for any length
OPSET, FORMAT = 17, 8  # Versions of ONNX, old enough for every runtime in use


class OnnxGraph:
    """Nodes and weights of a graph being written; each method that adds a node returns its output's name."""

    def __init__(self) -> None:
        """Empty.

        Raises:
            ZugwerkError: the package onnx is missing.
        """
        try:
            import onnx  # noqa: F401
        except ImportError:
            raise ZugwerkError("the package onnx is missing: pip install onnx; or use another backend") from None
        self.nodes: list[Any] = []
        self.initializers: list[Any] = []

    def constant(self, array: npt.NDArray[Any]) -> str:
        """An array of the model, as float32 or int64."""
        from onnx import numpy_helper

        name = f"weights_{len(self.initializers)}"
        floats = array.dtype.kind == "f"
        array = np.ascontiguousarray(array, np.float32 if floats else np.int64)
        self.initializers.append(numpy_helper.from_array(array, name))
        return name

    def add(self, kind: str, inputs: list[str], output: str | None = None, **attributes: Any) -> str:
        """A node; it is called as its output is."""
        from onnx import helper

        output = output or f"{kind.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [output], name=output, **attributes))
        return output

    def convolution(self, x: str, weight: Floats, bias: Floats, output: str | None = None) -> str:
        """Add a convolution of odd size, which keeps height and width."""
        kernel = weight.shape[2]
        inputs = [x, self.constant(weight), self.constant(bias)]
        return self.add("Conv", inputs, output, kernel_shape=[kernel, kernel], pads=[kernel // 2] * 4)

    def normed(self, x: str, convolution: nn.Conv2d, norm: nn.BatchNorm2d | None) -> str:
        """A convolution with the batch norm after it folded in."""
        weight = array_of(convolution.weight)
        if norm is None:
            return self.convolution(x, weight, array_of(convolution.bias))
        scale, shift = scale_and_shift(norm)
        return self.convolution(x, weight * scale[:, None, None, None], shift)

    def linear(self, x: str, layer: nn.Linear) -> str:
        """A fully connected layer."""
        return self.add(
            "Gemm", [x, self.constant(array_of(layer.weight)), self.constant(array_of(layer.bias))], transB=1
        )

    def pooled(self, x: str) -> str:
        """Each channel's mean, then each one's highest value: [B, C, H, W] -> [B, 2 * C, 1, 1]."""
        return self.add("Concat", [self.add(f"Global{kind}Pool", [x]) for kind in ("Average", "Max")], axis=1)

    def content(
        self, name: str, inputs: Mapping[str, Shape], outputs: Mapping[str, Shape], metadata: Mapping[str, str]
    ) -> bytes:
        """The model's file, all inputs and outputs in float32; the same graph gives the same bytes."""
        from onnx import TensorProto, checker, helper

        def infos(shapes: Mapping[str, Shape]) -> list[Any]:
            return [helper.make_tensor_value_info(key, TensorProto.FLOAT, list(shape)) for key, shape in shapes.items()]

        made = helper.make_model(
            helper.make_graph(self.nodes, name, infos(inputs), infos(outputs), self.initializers),
            opset_imports=[helper.make_opsetid("", OPSET)],
            ir_version=FORMAT,
            producer_name="zugwerk",
        )
        helper.set_model_props(made, dict(metadata))
        checker.check_model(made)
        return bytes(made.SerializeToString())


def array_of(tensor: Tensor | None) -> Floats:
    """Return weights in float64."""
    assert tensor is not None
    return tensor.detach().cpu().double().numpy()


def scale_and_shift(norm: nn.BatchNorm2d) -> tuple[Floats, Floats]:
    """A batch norm in evaluation mode is x * scale + shift, each float64 [C]."""
    scale = array_of(norm.weight) / np.sqrt(array_of(norm.running_var) + norm.eps)
    return scale, array_of(norm.bias) - array_of(norm.running_mean) * scale

"""Shared by torch's nets: files, threads, number format, layers, and ONNX models written layer by layer.

In ONNX, batch norm is folded into the convolutions. `torch.onnx` writes the same graphs in seconds and through three
more packages; our nets are few kinds of layers.
"""

import io
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from pipeline_src.errors import ZugwerkError
from pipeline_src.files import written_aside
from pipeline_src.learning.devices import Precision


def save_torch(path: Path | str, value: Any) -> None:
    """Write a value with ``torch.save``; the same value gives the same bytes, under any file name."""
    buffer = io.BytesIO()  # torch.save writes a file's own name into it
    torch.save(value, buffer)
    with written_aside(path) as aside:
        aside.write_bytes(buffer.getvalue())


def load_torch(content: bytes, device: torch.device | str = "cpu") -> Any:
    """Read what `save_torch` wrote; raises anything if it is damaged. torch itself does not look at the checksums."""
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        if file.testzip() is not None:
            raise ValueError("its checksum does not fit")
    return torch.load(io.BytesIO(content), map_location=device, weights_only=True)


@contextmanager
def torch_threads(threads: int | None) -> Iterator[None]:
    """Set the number of torch's threads within the block; None changes nothing."""
    before = torch.get_num_threads()
    wanted = before if threads is None else threads
    if wanted != before:
        torch.set_num_threads(wanted)
    try:
        yield
    finally:
        if wanted != before:
            torch.set_num_threads(before)


def number_format(asked: Precision) -> Literal["32-true", "bf16-mixed"]:
    """Return Lightning's name of the format, which for ``auto`` is bf16-mixed where that is faster.

    CPUs that multiply bf16 (AVX512_BF16, AMX) train our nets in half to two thirds of the time, and as well
    (docs/experiments.md); others take longer with it.
    """
    if asked != "auto":
        return asked
    # With AMX always comes AVX512_BF16.
    return "bf16-mixed" if torch.cuda.is_available() or torch.cpu.get_capabilities().get("avx512_bf16") else "32-true"


class SameConv2d(nn.Conv2d):
    """Square convolution with stride 1 and zero padding, [B, C, H, W] -> [B, `out_channels`, H, W].

    An even kernel needs one more row and column on one side than on the other; it goes to the bottom and to the
    right, as TensorFlow's ``padding="same"`` has it. (PyTorch's own ``padding="same"`` pads alike but warns.)

    Weights start as He's uniform ones and biases as zeros, so that sixteen layers pass on their input: PyTorch's
    and Glorot's weights shrink it a hundredfold before the heads, and training stays on the plateau where a policy
    does not look at the board.
    """

    def __init__(self, in_channels: int, out_channels: int, kernel: int) -> None:
        before, after = (kernel - 1) // 2, kernel // 2
        super().__init__(in_channels, out_channels, kernel, padding=before if before == after else 0)
        self.uneven = None if before == after else (before, after, before, after)

    def reset_parameters(self) -> None:
        """Draw fresh weights from the global torch generator."""
        nn.init.kaiming_uniform_(self.weight, nonlinearity="relu")
        if self.bias is not None:
            nn.init.zeros_(self.bias)

    def forward(self, x: Tensor) -> Tensor:
        """Convolve ``x``, float [B, C, H, W]."""
        return super().forward(x if self.uneven is None else pad(x, self.uneven))


def dense(in_features: int, out_features: int) -> nn.Linear:
    """A fully connected layer that starts with Glorot's uniform weights and no bias."""
    layer = nn.Linear(in_features, out_features)
    with torch.no_grad():
        nn.init.xavier_uniform_(layer.weight)
        layer.bias.zero_()
    return layer


Floats = npt.NDArray[np.float64]
Shape = Sequence[str | int]  # Lengths of axes; a name stands for any length
OPSET, FORMAT = 17, 8  # Versions of ONNX, old enough for every runtime in use


class OnnxGraph:
    """Nodes and weights of a graph being written; each method that adds a node returns its output's name."""

    def __init__(self) -> None:
        """Empty. Raises ZugwerkError: the package onnx is missing."""
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
        weights = [self.constant(array_of(values)) for values in (layer.weight, layer.bias)]
        return self.add("Gemm", [x, *weights], transB=1)

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

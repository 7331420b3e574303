"""Files of values of torch, and the number of its threads within a block."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from pipeline_src.files import written_aside
from pipeline_src.learning.devices import Precision


def save_torch(path: Path | str, value: Any) -> None:
    """Write a value with ``torch.save``; the same value gives the same bytes, under any file name."""
    buffer = io.BytesIO()  # torch.save writes a file's own name into it
    torch.save(value, buffer)
    with written_aside(path) as aside:
        aside.write_bytes(buffer.getvalue())


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


# Number format of a training on this machine.


def number_format(asked: Precision) -> Literal["32-true", "bf16-mixed"]:
    """Return Lightning's name of the format, which for ``auto`` is bf16-mixed where that is faster.

    CPUs that multiply bf16 (AVX512_BF16, AMX) train our nets in half to two thirds of the time, and as well
    (docs/experiments.md); others take longer with it.
    """
    if asked != "auto":
        return asked
    # With AMX always comes AVX512_BF16.
    return "bf16-mixed" if torch.cuda.is_available() or torch.cpu.get_capabilities().get("avx512_bf16") else "32-true"


# A convolution whose output keeps the board's height and width, for even kernels too.


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

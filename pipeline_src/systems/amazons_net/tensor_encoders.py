"""Tensor encoders by the name under which a net asks for them: the numba `encoders` on another device."""

from collections.abc import Callable, Mapping

from torch import Tensor

from pipeline_src.systems.amazons_net.encode_tensors import EncodedTensors, encode
from pipeline_src.systems.amazons_net.planes_tensors import encode_planes
from pipeline_src.systems.amazons_net.protocol import Config

ENCODERS: Mapping[str, Callable[..., EncodedTensors]] = {"features": encode, "planes": encode_planes}


def encode_for(config: Config, boards: Tensor, movers: Tensor, moved: Tensor) -> EncodedTensors:
    """A batch of positions as the net of this config takes them, on the device that they are on."""
    return ENCODERS[config.encoding](boards, movers, moved, **config.options)

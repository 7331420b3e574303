"""Tensor encoders by the name under which a net asks for them: `pipeline_src.samples.encoders` on another device."""

from collections.abc import Callable, Mapping

from torch import Tensor

from pipeline_src.nets.amazons_encode import EncodedTensors, encode
from pipeline_src.nets.amazons_nets import Config
from pipeline_src.nets.amazons_planes import encode_planes

ENCODERS: Mapping[str, Callable[..., EncodedTensors]] = {"features": encode, "planes": encode_planes}


def encode_for(config: Config, boards: Tensor, movers: Tensor, moved: Tensor) -> EncodedTensors:
    """A batch of positions as the net of this config takes them, on the device that they are on."""
    return ENCODERS[config.encoding](boards, movers, moved, **config.options)

"""The kernels that make a net's input, by the name under which a net asks for them."""

from collections.abc import Callable, Mapping
from typing import Protocol

import numpy as np
import numpy.typing as npt

from pipeline_src.jit.needs import Need
from pipeline_src.systems.amazons_net.encode import Encoded, encode, encode_needs
from pipeline_src.systems.amazons_net.planes import encode_planes, planes_need


class View(Protocol):
    """How a net sees a position; a part of its config."""

    @property
    def encoding(self) -> str:
        """One of `ENCODERS`."""

    @property
    def options(self) -> Mapping[str, bool]:
        """Keyword arguments of that encoder."""


ENCODERS: Mapping[str, Callable[..., Encoded]] = {"features": encode, "planes": encode_planes}
NEEDS: Mapping[str, Callable[[], list[Need]]] = {"features": encode_needs, "planes": planes_need}
"""Kernels that each of them calls."""


def encode_for(
    view: View, boards: npt.NDArray[np.int8], movers: npt.NDArray[np.int8], moved: npt.NDArray[np.int16]
) -> Encoded:
    """A batch of positions as the net with this view takes them; arguments and errors as for `encode`."""
    return ENCODERS[view.encoding](boards, movers, moved, **view.options)

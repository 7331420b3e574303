"""The protocol of backends, which run a self-play net, and the description of a model."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from pipeline_src.games.gomoku.board import FIRST, GomokuState
from pipeline_src.games.gomoku.setup import from_board

Planes = npt.NDArray[np.float32] | npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float32]
Answer = tuple[Floats, Floats]
"""Policy logits [B, N] and values [B] in -1..1 to the side to move."""
Run = Callable[[Planes], Answer]
BackendName = Literal["auto", "torch", "onnx", "onnx-int8", "cuda"]


@dataclass(frozen=True)
class ModelInfo:
    """Description of a model: its game, its board and its input."""

    game: str
    variant: str
    version: int
    """Version of the game's rules."""
    kind: str
    height: int
    width: int
    positions: int
    """Number of positions of history in its planes."""


class Backend(Protocol):
    """Runs one model on planes [B, C, H, W] of zeros and ones, float32 or uint8.

    `submit` and `wait` let a caller work on one batch while the other is computed; where nothing runs beside the
    caller, `submit` computes. A row's answer depends on B and on no other row; the arrays may be overwritten by the
    next `submit`.
    """

    info: ModelInfo
    dtype: type[np.float32] | type[np.uint8]
    """Type of planes that need no conversion."""

    def run(self, planes: Planes) -> Answer:
        """Return the answer to a batch."""

    def submit(self, planes: Planes) -> Any:
        """Begin a batch; ``planes`` may be overwritten as soon as this returns."""

    def wait(self, handle: Any) -> Answer:
        """Return the answer to a batch that `submit` began; use each handle once."""


class Synchronous:
    """A `Backend` of a function that computes while the caller waits."""

    dtype: type[np.float32] | type[np.uint8] = np.float32

    def __init__(self, run: Run, info: ModelInfo) -> None:
        self.run, self.info = run, info

    def submit(self, planes: Planes) -> Answer:
        """See `Backend`."""
        return self.run(planes)

    def wait(self, handle: Answer) -> Answer:
        """See `Backend`."""
        return handle


def empty_state(info: ModelInfo) -> GomokuState:
    """Return the start position of a model's games."""
    return from_board(np.zeros((info.height, info.width), np.int8), FIRST, info.variant)

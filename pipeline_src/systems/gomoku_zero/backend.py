"""Backends, which run a self-play net, and the description of a model.

Torch is imported only if a backend needs it, so that self-play workers with an ONNX model start without torch.
"""

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, get_args

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.gomoku.board import FIRST, GomokuState
from pipeline_src.games.gomoku.setup import from_board

if TYPE_CHECKING:
    from pipeline_src.systems.gomoku_zero.models import ZeroModel

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


def open_backend(model: "Path | str | bytes | ZeroModel", backend: BackendName = "auto", threads: int = 1) -> Backend:
    """Prepare a model to run.

    Args:
        model: a ``.pt`` or ``.onnx`` file, the bytes of an ONNX model, or a model in memory.
        backend: ``auto`` is cuda where there is a GPU, else onnx where its packages are, else torch; of an ONNX model
            always onnx. ``onnx-int8`` computes with 8-bit integers, calibrated on positions of random play: faster and
            not quite the same player, so let a match clear it first.
        threads: of the CPU.

    Raises:
        ZugwerkError: no such file, a damaged one, no such backend, or one that is not to be had here.
    """
    if backend not in get_args(BackendName):
        raise ZugwerkError(f"no backend {backend!r}; there are: {', '.join(get_args(BackendName))}")
    if isinstance(model, str | Path) and Path(model).suffix == ".onnx":
        try:
            content: bytes | None = Path(model).read_bytes()
        except (FileNotFoundError, IsADirectoryError):
            raise ZugwerkError(f"{model}: no such model; `zugwerk export MODEL` makes one") from None
        return _open_onnx(content or b"", str(model), backend, threads)
    if isinstance(model, bytes):
        return _open_onnx(model, "ONNX model", backend, threads)
    return _open_model(model, backend, threads)


def _open_onnx(content: bytes, name: str, backend: BackendName, threads: int) -> Backend:
    from pipeline_src.systems.gomoku_zero.backends_onnx import OnnxBackend, as_int8

    if backend in ("torch", "cuda"):
        raise ZugwerkError(f"{name}: the {backend} backend runs model.pt, not an ONNX model")
    return OnnxBackend(as_int8(content) if backend == "onnx-int8" else content, threads, name)


def _open_model(model: "Path | str | ZeroModel", backend: BackendName, threads: int) -> Backend:
    from pipeline_src.systems.gomoku_zero.models import load_model

    loaded = load_model(model) if isinstance(model, str | Path) else model
    backend = resolve(backend)
    if backend == "torch":
        from pipeline_src.systems.gomoku_zero.backends_torch import TorchBackend

        return TorchBackend(loaded, threads)
    if backend == "cuda":
        from pipeline_src.systems.gomoku_zero.backends_torch import CudaBackend

        return CudaBackend(loaded)
    from pipeline_src.systems.gomoku_zero.onnx_graph import export_onnx

    return _open_onnx(export_onnx(loaded), "ONNX model", backend, threads)


def resolve(backend: BackendName) -> BackendName:
    """Return the backend that ``auto`` stands for on this machine; other names are returned unchanged."""
    if backend != "auto":
        return backend
    import torch

    if torch.cuda.is_available():
        return "cuda"
    packages = ("onnx", "onnxruntime")
    return "onnx" if all(importlib.util.find_spec(package) for package in packages) else "torch"

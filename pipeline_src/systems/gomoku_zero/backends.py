"""`open_backend`: prepare a model to run.

Torch is imported only if a backend needs it, so that self-play workers with an ONNX model start without torch.
"""

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from pipeline_src.errors import ZugwerkError
from pipeline_src.systems.gomoku_zero.backend import Backend, BackendName

if TYPE_CHECKING:
    from pipeline_src.systems.gomoku_zero.models import ZeroModel


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

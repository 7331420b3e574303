"""Evaluators of self-play: a model, opened once per process, or even priors without a model."""

from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pipeline_src.files import written_aside
from pipeline_src.systems.gomoku_zero.backend import BackendName
from pipeline_src.systems.gomoku_zero.backends import open_backend, resolve
from pipeline_src.systems.gomoku_zero.evaluator import ZeroEvaluator

Ints = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float32]


def even(states: object, steps: Ints, counts: Ints) -> tuple[Floats, Floats]:  # noqa: ARG001
    """Answer without a net: equal priors for all legal steps, and value 0."""
    shares = (np.float32(1) / counts.astype(np.float32))[:, None]
    return np.broadcast_to(shares, steps.shape), np.zeros(len(counts), np.float32)


def prepare_model(model: Path, backend: BackendName, folder: Path) -> Path:
    """Return the file that tasks open. For ONNX Runtime, export it into ``folder``, so that no task needs torch.

    Raises:
        ZugwerkError: no model there, or a damaged one.
    """
    if resolve(backend) not in ("onnx", "onnx-int8"):
        return model
    from pipeline_src.systems.gomoku_zero.models import load_model
    from pipeline_src.systems.gomoku_zero.onnx_graph import export_onnx

    with written_aside(folder / f"{model.stem}.onnx") as aside:
        aside.write_bytes(export_onnx(load_model(model)))
    return folder / f"{model.stem}.onnx"


@lru_cache(maxsize=2)
def open_evaluator(model: Path, backend: BackendName, chunk: int) -> ZeroEvaluator:
    """Return the evaluator of a model file. The file does not change while a generation is made."""
    opened = open_backend(model, backend)
    return ZeroEvaluator(opened, opened.info.positions, chunk)

"""`open_nets` and `open_forward`: prepare a file of nets to run. Torch is imported for files of torch alone."""

import importlib.util
from pathlib import Path
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.amazons.board import AmazonsState
from pipeline_src.jit.needs import Need
from pipeline_src.players.packaged import INT8
from pipeline_src.search.mcts.puct_trees import Answer
from pipeline_src.systems.amazons_net.answers import Forward
from pipeline_src.systems.amazons_net.onnx_evaluator import OnnxEvaluator, as_int8

Backend = Literal["auto", "torch", "onnx", "onnx-int8"]
Ints = npt.NDArray[np.int32]
ONNX = ".onnx"


class SearchNets(Protocol):
    """A net as a search asks it: `search.mcts.puct_trees.EvaluateBatch` of positions of one board size."""

    size: int

    def __call__(self, states: AmazonsState, steps: Ints, counts: Ints) -> Answer:
        """Priors and values."""

    def needs(self, state: AmazonsState) -> list[Need]:
        """Kernels that it calls for states of such a type."""

    def check_board(self, height: int, width: int) -> None:
        """Refuse a board of another size."""


def open_nets(path: str, backend: Backend, batch: int) -> SearchNets:
    """Read nets for a search.

    Args:
        path: of a file of `models.save_nets` or `onnx_nets.export_nets`.
        backend: ``auto`` runs an ONNX model as it is, the residual net of torch in onnx-int8 where its packages are,
            else in torch. torch computes with bfloat16 on processors that train faster with it (`number_format`);
            values then differ in the third digit from those of float32, with 8-bit integers in the second.
        batch: positions of a forward pass.

    Raises:
        ZugwerkError: no model there, a missing package, or a backend that does not run such nets.
    """
    if Path(path).suffix == ONNX:
        if backend == "torch":
            raise ZugwerkError(f"{path}: torch runs nets.pt, not an ONNX model; leave backend=torch out")
        content = _read(path)
        if backend == "onnx-int8" and not path.endswith(INT8):
            content = as_int8(content, path)
        return OnnxEvaluator(content, batch, path)
    from pipeline_src.systems.amazons_net.models import load_nets
    from pipeline_src.systems.amazons_net.onnx_nets import export_nets
    from pipeline_src.systems.amazons_net.residual import ResidualNets

    nets = load_nets(path)
    if backend == "auto":
        packages = all(importlib.util.find_spec(name) for name in ("onnx", "onnxruntime"))
        backend = "onnx-int8" if packages and isinstance(nets, ResidualNets) else "torch"
    if backend == "torch":
        from pipeline_src.systems.amazons_net.inference import torch_nets

        return torch_nets(nets, batch)
    if not isinstance(nets, ResidualNets):
        raise ZugwerkError(f"{path}: {backend} runs residual nets only; choose backend=torch")
    return OnnxEvaluator(export_nets(nets, int8=backend == "onnx-int8"), batch, path)


def open_forward(path: str, batch: int) -> Forward:
    """Read nets that are asked without a search, in 32-bit floats on one thread of the CPU; arguments as above.

    Raises:
        ZugwerkError: no model there, or a damaged one.
    """
    if Path(path).suffix == ONNX:
        return OnnxEvaluator(_read(path), batch, path)
    from pipeline_src.systems.amazons_net.forward import NetsForward
    from pipeline_src.systems.amazons_net.models import load_nets

    return NetsForward(load_nets(path), batch, threads=1)


def _read(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except (FileNotFoundError, IsADirectoryError):
        raise ZugwerkError(f"{path}: no such model") from None

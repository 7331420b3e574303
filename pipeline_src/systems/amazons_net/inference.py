"""Nets for a search that has to be quick: fewer operations, and 8 or 16 bits in place of 32."""

import importlib.util
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.amazons.board import AmazonsState
from pipeline_src.learning.precision import number_format
from pipeline_src.search.mcts.puct_trees import Answer
from pipeline_src.systems.amazons_net.evaluator import AmazonsNetEvaluator
from pipeline_src.systems.amazons_net.forward import NetsForward
from pipeline_src.systems.amazons_net.models import load_nets
from pipeline_src.systems.amazons_net.onnx_evaluator import OnnxEvaluator
from pipeline_src.systems.amazons_net.onnx_nets import export_nets
from pipeline_src.systems.amazons_net.protocol import Answers, Nets
from pipeline_src.systems.amazons_net.residual import ResidualNets

Backend = Literal["auto", "torch", "onnx", "onnx-int8"]
Ints = npt.NDArray[np.int32]


class QuickNets(Nets):
    """Nets in evaluation mode with each convolution and its batch norm as one operation, from and to float32."""

    def __init__(self, nets: Nets, dtype: torch.dtype) -> None:
        """``nets`` are changed; they compute with ``dtype``."""
        super().__init__()
        _fuse(nets.eval())
        self.config, self.dtype = nets.config, dtype
        self.nets = nets.to(dtype)

    def move(self, features: Tensor) -> Answers:
        """See `Nets.move`."""
        return _floats(self.nets.move(features.to(self.dtype)))

    def arrow(self, features: Tensor) -> Answers:
        """See `Nets.arrow`."""
        return _floats(self.nets.arrow(features.to(self.dtype)))


class SearchNets(Protocol):
    """A net as a search asks it: `search.mcts.puct_trees.EvaluateBatch` of positions of one board size."""

    size: int

    def __call__(self, states: AmazonsState, steps: Ints, counts: Ints) -> Answer:
        """Priors and values."""

    def check_board(self, height: int, width: int) -> None:
        """Refuse a board of another size."""


def open_nets(path: str, backend: Backend, batch: int) -> SearchNets:
    """Read nets for a search.

    Args:
        path: of a file of `models.save_nets`.
        backend: ``auto`` is onnx-int8 for the residual net where its packages are, else torch. torch computes with
            bfloat16 on processors that train faster with it (`number_format`); values then differ in the third digit
            from those of float32, with 8-bit integers in the second.
        batch: positions of a forward pass.

    Raises:
        ZugwerkError: no model there, a missing package, or a backend that does not run such nets.
    """
    nets = load_nets(path)
    if backend == "auto":
        packages = all(importlib.util.find_spec(name) for name in ("onnx", "onnxruntime"))
        backend = "onnx-int8" if packages and isinstance(nets, ResidualNets) else "torch"
    if backend == "torch":
        dtype = torch.bfloat16 if number_format("auto") == "bf16-mixed" else torch.float32
        return AmazonsNetEvaluator(NetsForward(QuickNets(nets, dtype), batch, threads=1))
    if not isinstance(nets, ResidualNets):
        raise ZugwerkError(f"{path}: {backend} runs residual nets only; choose backend=torch")
    return OnnxEvaluator(export_nets(nets, int8=backend == "onnx-int8"), nets.config.size, batch)


def _fuse(module: nn.Module) -> None:
    for child in module.children():
        _fuse(child)
    if isinstance(module, nn.Sequential):
        for i, (one, two) in enumerate(zip(module, list(module)[1:], strict=False)):
            if isinstance(one, nn.Conv2d) and isinstance(two, nn.BatchNorm2d):
                module[i], module[i + 1] = fuse_conv_bn_eval(one, two), nn.Identity()


def _floats(answers: Answers) -> Answers:
    value, policy = answers
    return value.float(), policy.float()

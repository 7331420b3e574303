"""Nets of torch as players ask them: passes of one constant size, a quick form for searches, and one for ONNX."""

from collections.abc import Callable
from typing import NamedTuple, cast

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

from pipeline_src.games import amazons
from pipeline_src.jit import Need
from pipeline_src.learning.torch_state import OnnxGraph, array_of, number_format, torch_threads
from pipeline_src.systems.amazons_net.answers import (
    AmazonsNetEvaluator,
    ArrowAnswer,
    Boards,
    Floats,
    Forward,
    MoveAnswer,
    RayForward,
    Squares,
    as_int8,
)
from pipeline_src.systems.amazons_net.encode import NEEDS, PLANES, Encoded, encode_for
from pipeline_src.systems.amazons_net.nets import (
    Answers,
    Block,
    Nets,
    ResidualNets,
    gather_rows,
    masked_log_softmax,
)
from pipeline_src.systems.amazons_net.rays import RaysNet, tabulate


class NetsForward(Forward):
    """Encodes boards, runs a net on them, and leaves all probability on legal moves.

    Every batch is padded to one size: a position's answer then does not depend on the others in its batch, so
    neither concurrent games nor the end of a file changes a bit of it.
    """

    def __init__(self, nets: Nets, batch: int, threads: int | None = None) -> None:
        """``threads`` is how many torch may use on the CPU, None for as many as it is set to."""
        self.nets, self.size = nets.eval(), nets.config.size
        self.batch = batch
        self.threads = threads

    def move(self, boards: Boards, movers: npt.NDArray[np.int8]) -> MoveAnswer:
        """See `Forward.move`."""
        encoded = self._encode(boards, movers, np.full(len(boards), -1, np.int16))
        log_p = np.empty(encoded.legal.shape, np.float32)
        win_rate = self._run(self.nets.move, encoded, _move_policy, log_p)
        return MoveAnswer(win_rate, log_p, encoded.amazons)

    def arrow(self, boards: Boards, movers: npt.NDArray[np.int8], moved: Squares) -> ArrowAnswer:
        """See `Forward.arrow`."""
        encoded = self._encode(boards, movers, moved)
        log_p = np.empty((len(boards), encoded.legal.shape[2]), np.float32)
        return ArrowAnswer(self._run(self.nets.arrow, encoded, _arrow_policy, log_p), log_p)

    def needs(self) -> list[Need]:
        """Kernels that it calls."""
        return NEEDS[self.nets.config.encoding]()

    def _encode(self, boards: Boards, movers: npt.NDArray[np.int8], moved: Squares) -> Encoded:
        self.check_board(*boards.shape[1:])
        return encode_for(self.nets.config, boards, movers, moved)

    def _run(
        self,
        net: Callable[[Tensor], tuple[Tensor, Tensor]],
        encoded: Encoded,
        policy: Callable[[Tensor, "_Rows"], Tensor],
        log_p: Floats,
    ) -> Floats:
        """Fill ``log_p``; return the win rates [B]."""
        win_rate = np.empty(len(log_p), np.float32)
        device = next(self.nets.parameters()).device
        with torch.inference_mode(), torch_threads(self.threads):
            for at in range(0, len(log_p), self.batch):
                rows = slice(at, at + self.batch)
                some = _Rows(*(torch.from_numpy(array[rows]) for array in encoded))
                n = len(some.features)
                features = torch.zeros(self.batch, *some.features.shape[1:])
                features[:n] = some.features
                value, logits = net(features.to(device))
                win_rate[rows] = value.float().sigmoid()[:n].cpu().numpy()
                some = some._replace(amazons=some.amazons.to(device), legal=some.legal.to(device))
                log_p[rows] = policy(logits[:n], some).cpu().numpy()
        return win_rate


def forward_of(nets: Nets, batch: int, threads: int | None = None) -> Forward:
    """Nets without a search: a net of rays by its table, as it plays, and any other in torch."""
    if isinstance(nets, RaysNet):
        return RayForward(tabulate(nets), nets.config.size)
    return NetsForward(nets, batch, threads)


class _Rows(NamedTuple):
    """Some rows of an `Encoded`, as tensors."""

    features: Tensor
    amazons: Tensor
    legal: Tensor


def _move_policy(logits: Tensor, rows: _Rows) -> Tensor:
    return masked_log_softmax(gather_rows(logits, rows.amazons), rows.legal)


def _arrow_policy(logits: Tensor, rows: _Rows) -> Tensor:
    return masked_log_softmax(logits, rows.legal[:, 0])


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


def torch_nets(nets: Nets, batch: int) -> AmazonsNetEvaluator:
    """Nets for a search, which are changed; passes of ``batch`` positions on one thread."""
    dtype = torch.bfloat16 if number_format("auto") == "bf16-mixed" else torch.float32
    return AmazonsNetEvaluator(NetsForward(QuickNets(nets, dtype), batch, threads=1))


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


def export_nets(nets: ResidualNets, int8: bool = False) -> bytes:
    """The ONNX file of a net; the same weights give the same bytes.

    The model has one input, ``planes`` float32 [B, 15, H, W] as `encode.encode_planes` makes them, before a move or
    before an arrow, and three outputs for each row: ``value`` float32 [B] (-1..1, to the side to move), ``move``
    float32 [B, N * N] (logits, entry ``from * N + to``) and ``arrow`` float32 [B, N]. One of the policies is of no use
    in each row; its cost is small compared with the trunk.

    With ``int8`` the convolutions but the last ones are in 8-bit integers, calibrated on positions of random play.

    Raises:
        ZugwerkError: a package is missing.
    """
    graph, size = OnnxGraph(), nets.config.size
    squares = size**2
    x = graph.add("Relu", [_normed(graph, "planes", nets.first)])
    for block in nets.blocks:
        assert isinstance(block, Block)
        out = _normed(graph, graph.add("Relu", [_normed(graph, x, block.one)]), block.two)
        x = graph.add("Relu", [graph.add("Add", [out, x])])
    flip = graph.constant(np.arange(size)[::-1])

    def by_square(x: str, channels: int) -> str:
        shape = graph.constant(np.array([0, channels, squares]))
        return graph.add("Reshape", [graph.add("Gather", [x, flip], axis=2), shape])

    policy, embedding = nets.move_policy, nets.move_policy.squares.out_channels // 2
    weight, bias = array_of(policy.squares.weight), array_of(policy.squares.bias)
    start = graph.convolution(x, weight[:embedding] * policy.scale, bias[:embedding] * policy.scale, "from")
    to = graph.convolution(x, weight[embedding:], bias[embedding:], "to")
    lines = graph.add("Transpose", [by_square(start, embedding)], perm=[0, 2, 1])
    relative = array_of(policy.relative[policy._places(size, size)])
    move = graph.add("Add", [graph.add("MatMul", [lines, by_square(to, embedding)]), graph.constant(relative)], "bias")
    graph.add("Flatten", [move], "move")

    before, _, last = nets.arrow_policy
    assert isinstance(last, nn.Conv2d)
    shots = graph.add("Relu", [_normed(graph, x, before)])
    arrows = graph.convolution(shots, array_of(last.weight), array_of(last.bias), "arrows")
    graph.add("Flatten", [by_square(arrows, 1)], "arrow")

    first, _ = nets.value.squares
    pooled = graph.pooled(graph.add("Relu", [graph.normed(x, cast(nn.Conv2d, first), None)]))
    hidden, _, output = nets.value.output
    inner = graph.add("Relu", [graph.linear(graph.add("Flatten", [pooled]), cast(nn.Linear, hidden))])
    logit = graph.add("Reshape", [graph.linear(inner, cast(nn.Linear, output)), graph.constant(np.array([-1]))])
    # The chance to win is the sigmoid; 2 * sigmoid(x) - 1 = tanh(x / 2).
    graph.add("Tanh", [graph.add("Mul", [logit, graph.constant(np.array(0.5))])], "value")

    content = graph.content(
        f"zugwerk {amazons.NAME}",
        {"planes": ["batch", PLANES, size, size]},
        {"value": ["batch"], "move": ["batch", squares**2], "arrow": ["batch", squares]},
        {"game": amazons.NAME, "version": str(amazons.VERSION), "size": str(size)},
    )
    return as_int8(content, "the net") if int8 else content


def _normed(graph: OnnxGraph, x: str, layer: nn.Module) -> str:
    convolution, norm = cast(nn.Sequential, layer)
    return graph.normed(x, cast(nn.Conv2d, convolution), cast(nn.BatchNorm2d, norm))

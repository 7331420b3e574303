"""The files of self-play nets: ``.pt`` with game, variant, kind, config and weights, and the net as an ONNX model.

The ONNX model has one input ``planes`` float32 [B, C, H, W] and two outputs, ``policy`` float32 [B, N] (logits) and
``value`` float32 [B] (-1..1, to the side to move). Its metadata describe it, so that it can be played without
the file it was made from: game, variant, version, kind, height, width, positions.
"""

import copy
import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from pipeline_src import streams
from pipeline_src.errors import ZugwerkError
from pipeline_src.files import read_model_bytes, remedy, why_no_model
from pipeline_src.games import gomoku
from pipeline_src.learning.torch_state import (
    OnnxGraph,
    array_of,
    load_torch,
    save_torch,
    scale_and_shift,
    torch_threads,
)
from pipeline_src.search.gomoku.line_net import read_table, write_table
from pipeline_src.search.tables import LINES
from pipeline_src.systems.gomoku_zero import ModelInfo
from pipeline_src.systems.gomoku_zero.nets import (
    LinesConfig,
    LinesNet,
    Normed,
    PlainConfig,
    PlainNet,
    ResidualConfig,
    ResidualNet,
    UniformConfig,
    UniformNet,
    from_table,
    tabulate,
)
from pipeline_src.systems.gomoku_zero.params import GomokuNet, StartModel

if TYPE_CHECKING:
    from pipeline_src.systems.gomoku_zero.evaluator import Answer, Planes


ZeroConfig = PlainConfig | ResidualConfig | LinesConfig | UniformConfig
ZeroNet = PlainNet | ResidualNet | LinesNet | UniformNet

KINDS: dict[str, tuple[type[Any], type[Any]]] = {
    "plain": (PlainConfig, PlainNet),
    "residual": (ResidualConfig, ResidualNet),
    "lines": (LinesConfig, LinesNet),
    "uniform": (UniformConfig, UniformNet),
}
"""Config and net, by the name that the file gives them."""


@dataclass(frozen=True)
class ZeroModel:
    """A net, with the variant of Gomoku that it plays."""

    net: ZeroNet  # The net, in evaluation mode
    variant: str

    @property
    def config(self) -> ZeroConfig:
        """The shape of the net."""
        return self.net.config


def info_of(model: ZeroModel) -> ModelInfo:
    """Return the description of a model."""
    config = model.config
    shape = config.height, config.width, config.positions
    return ModelInfo(gomoku.NAME, model.variant, gomoku.VERSION, config.kind, *shape)


def make_config(params: GomokuNet, height: int, width: int) -> ZeroConfig:
    """The config that a params section describes, for boards of one size."""
    section: Any = getattr(params, params.kind)
    config, _ = KINDS[params.kind]
    made: ZeroConfig = config(height=height, width=width, positions=params.positions, **vars(section))
    return made


def make_net(config: ZeroConfig) -> ZeroNet:
    """A net with fresh weights, from torch's global generator."""
    net: ZeroNet = KINDS[config.kind][1](config)
    return net


def folded(net: ZeroNet) -> ZeroNet:
    """A copy in evaluation mode, for play: batch norms are folded into the convolutions before them."""
    copied = copy.deepcopy(net).eval()
    for module in copied.modules():
        if isinstance(module, Normed):
            module.fold()
    return copied


def save_model(path: Path | str, net: nn.Module, variant: str = "freestyle", half: bool = False) -> None:
    """Write a model; the same weights give the same bytes, under any file name.

    Args:
        path: the file.
        net: one of `KINDS`.
        variant: variant of Gomoku.
        half: store the weights as 16-bit floats, half the size; `load_model` widens them again.
    """
    config: Any = net.config
    state = {name: tensor.detach().cpu().contiguous() for name, tensor in net.state_dict().items()}
    if half:
        state = {name: tensor.half() if tensor.is_floating_point() else tensor for name, tensor in state.items()}
    saved = {
        "game": gomoku.NAME,
        "variant": variant,
        "version": gomoku.VERSION,
        "kind": config.kind,
        "config": config.model_dump(),
        "state_dict": state,
    }
    save_torch(path, saved)


def load_model(path: Path | str) -> ZeroModel:
    """Read a model that `save_model` wrote; the net is on the CPU and in evaluation mode.

    ``load_model("artifacts/models/gomoku/10/best.pt").net(planes)`` gives policy logits and values.

    Raises:
        ZugwerkError: the file is missing or damaged, or the model is of another game or other rules; names the file.
    """
    again = remedy(path, "`dvc repro` makes the models of gomoku")
    content = read_model_bytes(path, again)
    try:
        saved: Any = load_torch(content)
        whose, version = saved["game"], saved["version"]
        variant = str(saved["variant"])
    except Exception as error:  # a damaged file makes the unpickler raise anything
        raise ZugwerkError(f"{path}: damaged, or not a model of self-play ({why_no_model(error)}){again}") from None
    if whose != gomoku.NAME:
        raise ZugwerkError(f"{path}: a model of {whose!r}, not of {gomoku.NAME}")
    if version != gomoku.VERSION:
        raise ZugwerkError(f"{path}: made under rules version {version} of gomoku; they are at {gomoku.VERSION}")
    try:
        config, make = KINDS[saved["kind"]]
        net: ZeroNet = make(config(**saved["config"]))
        net.load_state_dict(saved["state_dict"])
    except Exception as error:
        raise ZugwerkError(f"{path}: damaged, or not a model of self-play ({why_no_model(error)}){again}") from None
    return ZeroModel(net.eval(), variant)


def load_start(given: StartModel, params: GomokuNet, size: int, seed: int) -> ZeroNet:
    """The net of the model that a run begins with, for a board of another size if it is a line net.

    ``seed`` is the pipeline's: what a table has no weights for is drawn.

    Raises:
        ZugwerkError: the file is missing, damaged, not the one of the digest, or has a net of another shape.
    """
    path, wanted = Path(given.file), make_config(params, size, size)
    try:
        found = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise ZugwerkError(f"{path}: {error.strerror}; gomoku_game.start.file names it") from None
    if found != given.sha256:
        raise ZugwerkError(
            f"{path}: its SHA-256 is {found}, not that of gomoku_game.start.sha256; "
            "name the file that is meant, or give its digest"
        )
    torch.manual_seed(seed * 1009 + streams.FIRST_NET)
    net = _train_on(path, wanted) if path.suffix == LINES else load_model(path).net
    config = net.config.model_copy(update={"height": size, "width": size} if params.kind == "lines" else {})
    if config != wanted:
        raise ZugwerkError(f"{path}: a net of {net.config!r}, but gomoku_net and gomoku_game describe {wanted!r}")
    net.config = config
    return net


def _train_on(path: Path, wanted: ZeroConfig) -> ZeroNet:
    """The net of a table, to be trained on."""
    if not isinstance(wanted, LinesConfig):
        raise ZugwerkError(f"{path}: the table of a line net, but gomoku_net.kind is {wanted.kind}")
    try:
        return from_table(read_table(path)[0], wanted)
    except ZugwerkError as error:
        raise ZugwerkError(f"{path}: {error}") from None


def export_table(model: ZeroModel, path: Path) -> None:
    """Write the table of a model with a line net.

    Raises:
        ZugwerkError: a weight is not a finite number.
    """
    net: Any = model.net
    write_table(path, tabulate(net), vars(info_of(model)))


def export_onnx(model: ZeroModel) -> bytes:
    """The model's net as an ONNX file; the same weights give the same bytes.

    Raises:
        ZugwerkError: the package onnx is missing, or the model is a line net.
    """
    net, config, graph = model.net, model.config, OnnxGraph()
    if isinstance(net, LinesNet):
        raise ZugwerkError("a line net has no ONNX form; backend=auto runs it in a kernel of its own")
    if isinstance(net, PlainNet):
        policy, value = _write_plain(graph, net)
    elif isinstance(net, ResidualNet):
        policy, value = _write_residual(graph, net)
    else:
        policy, value = _write_uniform(graph, net)
    graph.add("Identity", [policy], "policy")
    graph.add("Reshape", [value, graph.constant(np.array([-1]))], "value")
    return graph.content(
        f"zugwerk {gomoku.NAME}",
        {"planes": ["batch", 2 * config.positions + 1, config.height, config.width]},
        {"policy": ["batch", config.height * config.width], "value": ["batch"]},
        {name: str(value) for name, value in vars(info_of(model)).items()},
    )


def _write_plain(graph: OnnxGraph, net: PlainNet) -> tuple[str, str]:
    x = _signed(graph, net.config.positions) if net.config.signed else "planes"
    convolution: Any
    for convolution in net.trunk:
        x = graph.add("Relu", [_normed(graph, x, convolution)])
    before_policy, before_value = (
        graph.add("Relu", [_normed(graph, x, planes)]) for planes in (net.policy_planes, net.value_planes)
    )
    if isinstance(net.policy, nn.Linear):
        policy = graph.linear(graph.add("Flatten", [before_policy]), net.policy)
        pooled = before_value
    else:
        last = graph.convolution(before_policy, array_of(net.policy.weight), array_of(net.policy.bias))
        policy = graph.add("Flatten", [last])
        pooled = graph.pooled(before_value)
    hidden = graph.linear(graph.add("Flatten", [pooled]), net.value_hidden)
    return policy, graph.add("Tanh", [graph.linear(graph.add("Relu", [hidden]), net.value)])


def _write_residual(graph: OnnxGraph, net: ResidualNet) -> tuple[str, str]:
    x = graph.add("Relu", [_normed(graph, "planes", net.stem)])
    block: Any
    for block in net.blocks:
        out = _normed(graph, graph.add("Relu", [_normed(graph, x, block.one)]), block.two)
        if block.project is not None:
            x = _normed(graph, x, block.project)
        elif block.grow:
            x = graph.add("Pad", [x, graph.constant(np.array([0, 0, 0, 0, 0, block.grow, 0, 0]))])
        x = graph.add("Relu", [graph.add("Add", [out, x])])
    # Here the norm comes before the convolution, which being 1x1 sees no padding: it folds in as well.
    scale, shift = scale_and_shift(net.norm)
    weight, bias = array_of(net.head.weight), array_of(net.head.bias)
    bias = bias + (weight * shift[:, None, None]).sum((1, 2, 3))
    x = graph.add("Flatten", [graph.convolution(x, weight * scale[:, None, None], bias)])
    if net.config.head_relu:
        x = graph.add("Relu", [x])
    hidden = x if net.value_hidden is None else graph.add("Relu", [graph.linear(x, net.value_hidden)])
    return graph.linear(x, net.policy), graph.add("Tanh", [graph.linear(hidden, net.value)])


def _write_uniform(graph: OnnxGraph, net: UniformNet) -> tuple[str, str]:
    zeros = graph.add("Mul", ["planes", graph.constant(np.zeros(1))])
    first = graph.constant(np.array(0))
    even = graph.add("Flatten", [graph.add("Gather", [zeros, first], axis=1)])
    return graph.add("Add", [even, graph.constant(array_of(net.logits))]), graph.add("Gather", [even, first], axis=1)


def _normed(graph: OnnxGraph, x: str, layer: Normed) -> str:
    return graph.normed(x, layer.convolution, layer.norm)


def _signed(graph: OnnxGraph, positions: int) -> str:
    chosen = [graph.constant(np.array([plane])) for plane in (0, positions)]
    return graph.add("Sub", [graph.add("Gather", ["planes", plane], axis=1) for plane in chosen])


# A net in torch: on the CPU, in float32 or bf16, and on a GPU in bf16 with one CUDA graph for each batch in flight.


class TorchBackend:
    """`Backend` on the CPU: channels last, no autograd, batch norms folded into the convolutions."""

    dtype: type[np.float32] | type[np.uint8] = np.float32

    def __init__(self, model: ZeroModel, threads: int = 1, bf16: bool = False) -> None:
        """``threads`` is the number of torch's threads here only; ``bf16`` is the net's type."""
        self.info = info_of(model)
        self.type = torch.bfloat16 if bf16 else torch.float32
        self.net = folded(model.net).to(self.type, memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.threads = threads

    def run(self, planes: "Planes") -> "Answer":
        """See `Backend`."""
        with torch_threads(self.threads):
            with torch.inference_mode():
                logits, values = self.net(torch.from_numpy(planes).to(self.type))
            return logits.float().numpy(), values.float().numpy()

    submit = run

    def wait(self, handle: "Answer") -> "Answer":
        """See `Backend`."""
        return handle


WARM_UP = 3  # Runs before a graph is captured, in which cuDNN chooses its algorithms


class _Slot(NamedTuple):
    """Memory and graph of one batch in flight. Planes cross to the GPU as bytes, a quarter of their floats."""

    planes: Tensor  # Pinned uint8 [B, C, H, W]
    logits: Tensor  # Pinned float32 [B, N]
    values: Tensor  # Pinned float32 [B]
    stream: torch.cuda.Stream
    graph: torch.cuda.CUDAGraph
    done: torch.cuda.Event


class CudaBackend:
    """`Backend` on the first GPU. Made for two batches in flight; a slot is made for each that is needed at a time."""

    dtype: type[np.float32] | type[np.uint8] = np.uint8

    def __init__(self, model: ZeroModel) -> None:
        """Move a copy of the net to the GPU.

        Raises:
            ZugwerkError: there is no GPU that torch can use.
        """
        if not torch.cuda.is_available():
            raise ZugwerkError("torch sees no GPU here; use another backend: onnx or torch")
        self.info = info_of(model)
        self.net = folded(model.net).to("cuda", torch.bfloat16, memory_format=torch.channels_last)  # type: ignore[call-overload]
        self._free: dict[int, list[_Slot]] = {}

    def run(self, planes: "Planes") -> "Answer":
        """See `Backend`."""
        return self.wait(self.submit(planes))

    def submit(self, planes: "Planes") -> _Slot:
        """See `Backend`."""
        free = self._free.setdefault(len(planes), [])
        slot = free.pop() if free else self._new_slot(planes.shape)
        slot.planes.numpy()[:] = planes
        with torch.cuda.stream(slot.stream):
            slot.graph.replay()
            slot.done.record(slot.stream)
        return slot

    def wait(self, handle: _Slot) -> "Answer":
        """See `Backend`."""
        handle.done.synchronize()
        self._free[len(handle.planes)].append(handle)
        return handle.logits.numpy(), handle.values.numpy()

    def _new_slot(self, shape: tuple[int, ...]) -> _Slot:
        """The copies there and back are part of the graph."""
        rows, cells = shape[0], self.info.height * self.info.width
        planes = torch.zeros(shape, dtype=torch.uint8, pin_memory=True)
        logits, values = torch.zeros(rows, cells, pin_memory=True), torch.zeros(rows, pin_memory=True)
        stream, graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()  # type: ignore[no-untyped-call]

        def forward() -> None:
            there = planes.to("cuda", non_blocking=True)
            found = self.net(there.to(torch.bfloat16))
            logits.copy_(found[0].float(), non_blocking=True)
            values.copy_(found[1].float(), non_blocking=True)

        with torch.inference_mode(), torch.cuda.stream(stream):
            for _ in range(WARM_UP):
                forward()
            stream.synchronize()
            with torch.cuda.graph(graph, stream=stream):
                forward()
        return _Slot(planes, logits, values, stream, graph, torch.cuda.Event())  # type: ignore[no-untyped-call]

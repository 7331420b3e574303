"""Nets that choose a search depth: the paper's three convolutions (Li and Gao, 2022), and a residual one of ours.

Both map planes float32 [B, C, H, W] to float32 [B, outputs]. Strides are not printed in the paper; three readings give
its 1x1x1 from 10x10:

| shrink | 5x5 | 5x5 | 4x4 | then |
| --- | --- | --- | --- | --- |
| ``stride`` | stride 2: 4 | 2 | 1 | |
| ``pooling`` | 8, pooled 2x2: 4 | 2 | 1 | |
| ``dense`` | 8 | 6 | 5 | a fully connected layer |

Heads define the meaning of the outputs, as layers to search from the lowest to the highest class:

| head | outputs | layers |
| --- | --- | --- |
| ``linear`` | 1 | the output, rounded |
| ``sigmoid`` | 1 | lowest + (highest - lowest) * sigmoid(output), rounded |
| ``classes`` | K = highest - lowest + 1 | logits; the likeliest class, or the first that is likely enough |
| ``costs`` | K + 1 | what each depth costs here and how much is still to come; the deepest that the clock affords |

The first output of ``costs`` is the logarithm of the time of ``lowest`` layers, as a share of the whole clock; the next
ones are the logarithms of the factors of each further layer; the last one is the number of searches that the side still
has to make, including this one, divided by `SEARCHES`.
"""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from pipeline_src.errors import ZugwerkError
from pipeline_src.files import read_model_bytes, remedy, why_no_model
from pipeline_src.games.amazons import AmazonsState, buffers, count_turns
from pipeline_src.learning.torch_state import SameConv2d, load_torch, save_torch
from pipeline_src.systems.search_depth.positions import Inputs, depth_planes

Shrink = Literal["stride", "pooling", "dense"]


@dataclass(frozen=True)
class PublishedDepthConfig:
    """The shape of the paper's net."""

    size: int  # H = W
    planes: int
    outputs: int
    filters: int = 1
    """Filters of the first two convolutions, and of the third before a fully connected layer; 1 gives 69 parameters."""
    shrink: Shrink = "stride"

    kind: ClassVar[str] = "published"


class PublishedDepthNet(nn.Module):
    """Convolutions 5x5, 5x5 and 4x4, padding 1, a sigmoid after all but the last layer."""

    def __init__(self, config: PublishedDepthConfig) -> None:
        super().__init__()
        self.config = config
        shrink, filters = config.shrink, config.filters
        side = (config.size - 3) // 2 + 1 if shrink == "stride" else config.size - 2
        side = side // 2 if shrink == "pooling" else side
        side -= 3  # 5x5 and 4x4 with padding 1 take 2 and 1 off
        if side < 1 or (side > 1 and shrink != "dense"):
            board = f"{config.size}x{config.size}"
            raise ValueError(f"shrink: {shrink} does not take {board} to 1x1; dense suits any board")
        dense = shrink == "dense"
        layers: list[nn.Module] = [
            nn.Conv2d(config.planes, filters, 5, stride=2 if shrink == "stride" else 1, padding=1),
            nn.Sigmoid(),
            *([nn.MaxPool2d(2)] if shrink == "pooling" else []),
            nn.Conv2d(filters, filters, 5, padding=1),
            nn.Sigmoid(),
            nn.Conv2d(filters, filters if dense else config.outputs, 4, padding=1),
        ]
        if dense:
            layers += [nn.Sigmoid(), nn.Flatten(), nn.Linear(filters * side * side, config.outputs)]
        self.layers = nn.Sequential(*layers)

    def forward(self, planes: Tensor) -> Tensor:
        """See the module."""
        found: Tensor = self.layers(planes)
        return found.flatten(1)


@dataclass(frozen=True)
class ResidualDepthConfig:
    """The shape of the residual net."""

    size: int  # H = W
    planes: int
    outputs: int
    channels: int = 16
    blocks: int = 1  # Number of blocks of two convolutions each

    kind: ClassVar[str] = "residual"


class ResidualDepthNet(nn.Module):
    """A 5x5 convolution with stride 2, residual blocks of 3x3 ones, and a fully connected layer on all that is left."""

    def __init__(self, config: ResidualDepthConfig) -> None:
        super().__init__()
        self.config = config
        self.stem = nn.Conv2d(config.planes, config.channels, 5, stride=2, padding=2)
        self.blocks = nn.ModuleList(ResidualBlock(config.channels) for _ in range(config.blocks))
        self.output = nn.Linear(config.channels * ((config.size + 1) // 2) ** 2, config.outputs)

    def forward(self, planes: Tensor) -> Tensor:
        """See the module."""
        x: Tensor = self.stem(planes).relu()
        for block in self.blocks:
            x = block(x)
        found: Tensor = self.output(x.flatten(1))
        return found


class ResidualBlock(nn.Module):
    """relu(x + g(relu(f(x)))), f and g 3x3 convolutions; begins as relu alone."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first = SameConv2d(channels, channels, 3)
        self.second = SameConv2d(channels, channels, 3)
        nn.init.zeros_(self.second.weight)

    def forward(self, x: Tensor) -> Tensor:
        """[B, C, H, W], the same shape out."""
        inner: Tensor = self.second(self.first(x).relu())
        return (x + inner).relu()


DepthConfig = PublishedDepthConfig | ResidualDepthConfig
DepthNet = PublishedDepthNet | ResidualDepthNet
Head = Literal["linear", "sigmoid", "classes", "costs"]
SEARCHES = 8.0  # Divisor that brings the searches still to come to about 1


def head_outputs(head: Head, lowest: int, highest: int) -> int:
    """Outputs that a net needs for a head."""
    return {"classes": highest - lowest + 1, "costs": highest - lowest + 2}.get(head, 1)


def depth_value(head: Head, outputs: Tensor, lowest: int, highest: int) -> Tensor:
    """Return the unrounded layers of regression heads, float [B], for outputs [B, 1]."""
    value = outputs[:, 0]
    return value if head == "linear" else lowest + (highest - lowest) * torch.sigmoid(value)


def chosen_depths(
    head: Head,
    outputs: npt.NDArray[np.float32],
    lowest: int,
    highest: int,
    confidence: float | None = None,
    left: npt.ArrayLike = 1.0,
    shares: float = 1.0,
) -> npt.NDArray[np.int64]:
    """Return the layers to search, int64 [B], for outputs float32 [B, outputs].

    Of ``classes``, the first class up to which the probabilities sum to ``confidence``; None chooses the most probable
    one. Of ``costs``, ``left`` is the share of the clock that is left, [B] or one for all; of its equal shares, one for
    each search still to come, a search may take ``shares``.
    """
    if head == "costs":
        logs = outputs[:, :-1].astype(np.float64)
        logs[:, 1:] = np.maximum(logs[:, 1:], 0)
        searches = np.maximum(SEARCHES * outputs[:, -1].astype(np.float64), 1)
        budget = shares * np.asarray(left, np.float64) / searches
        afforded = np.exp(logs.cumsum(1)) <= np.reshape(budget, (-1, 1))
        within: npt.NDArray[np.int64] = lowest + np.maximum(afforded.sum(1) - 1, 0)
        return within
    if head != "classes":
        value = outputs[:, 0].astype(np.float64)
        if head == "sigmoid":
            value = lowest + (highest - lowest) / (1 + np.exp(-value))
        return np.clip(np.rint(value), lowest, highest).astype(np.int64)
    if confidence is None:
        found = outputs.argmax(1)
    else:
        likely = np.exp(outputs - outputs.max(1, keepdims=True)).cumsum(1, dtype=np.float64)
        found = (likely < confidence * likely[:, -1:]).sum(1)
    layers: npt.NDArray[np.int64] = np.minimum(lowest + found, highest).astype(np.int64)
    return layers


FORMAT, VERSION = "zugwerk search depth", 1
KINDS: dict[str, tuple[type[Any], type[Any]]] = {
    PublishedDepthConfig.kind: (PublishedDepthConfig, PublishedDepthNet),
    ResidualDepthConfig.kind: (ResidualDepthConfig, ResidualDepthNet),
}  # Config and net, by the name that the file gives them


@dataclass(frozen=True)
class SavedDepthNet:
    """A net, with its label, classes and input."""

    net: DepthNet
    label: str  # Label on which it was trained: `reached` or `needed`
    lowest: int  # Class
    highest: int  # Class
    head: Head
    inputs: str  # Input of the net, see `pipeline_src.systems.search_depth.positions`


def make_depth_net(config: DepthConfig) -> DepthNet:
    """A net with fresh weights, from torch's global generator."""
    net: DepthNet = KINDS[config.kind][1](config)
    return net


def save_depth_net(path: Path | str, model: SavedDepthNet) -> None:
    """Write a model; the same weights give the same bytes, under any file name."""
    config = model.net.config
    saved = {
        "format": FORMAT,
        "version": VERSION,
        **{f.name: getattr(model, f.name) for f in dataclasses.fields(model) if f.name != "net"},
        "kind": config.kind,
        "config": dataclasses.asdict(config),
        "state_dict": {name: t.detach().cpu().contiguous() for name, t in model.net.state_dict().items()},
    }
    save_torch(path, saved)


def load_depth_net(
    path: Path | str, *, label: str | None = None, classes: tuple[int, int] | None = None
) -> SavedDepthNet:
    """Read what `save_depth_net` wrote; the net comes back on the CPU and in evaluation mode.

    Raises:
        ZugwerkError: the file is missing or damaged, or the model is for another label or other classes (lowest,
            highest) than asked for; names the file and the stage.
    """
    again = remedy(path, "`dvc repro depth_train` makes it")
    content = read_model_bytes(path, again)
    try:
        saved: Any = load_torch(content)
        if (saved["format"], saved["version"]) != (FORMAT, VERSION):
            raise ValueError(f"format {saved['format']!r}, version {saved['version']}")
        config, make = KINDS[saved["kind"]]
        net: DepthNet = make(config(**saved["config"]))
        net.load_state_dict(saved["state_dict"])
        what = {name: saved[name] for name in ("label", "lowest", "highest", "head", "inputs")}
    except Exception as error:  # a damaged file makes the unpickler raise anything
        why = why_no_model(error)
        raise ZugwerkError(f"{path}: damaged, or not a model that chooses the search depth ({why}){again}") from None
    model, anew = SavedDepthNet(net.eval(), **what), again and f"{again} anew"
    if label is not None and model.label != label:
        raise ZugwerkError(f"{path}: trained for the label '{model.label}', not '{label}'{anew}")
    if classes is not None and (model.lowest, model.highest) != classes:
        wanted = f"{classes[0]} to {classes[1]}"
        raise ZugwerkError(f"{path}: trained for classes {model.lowest} to {model.highest}, not {wanted}{anew}")
    return model


# A trained net as a chooser of the depth, from the position and the used share of the clock.
#
# One position at a time is answered in numpy: torch takes several times as long for so small a net. A convolution is a
# gather and a matrix product: each output square's inputs are taken out of the flat planes by an index array made once,
# where the last index is a zero, the padding.

Floats = npt.NDArray[np.float32]


class Convolution:
    """A square convolution on planes that lie square by square: float32 [H * W, C] -> [H' * W', C']."""

    def __init__(self, layer: nn.Conv2d, side: int) -> None:
        """``side`` is H = W of the input."""
        kernel, stride, padding = layer.kernel_size[0], layer.stride[0], layer.padding[0]
        assert isinstance(padding, int)
        self.channels = layer.in_channels
        self.side = (side + 2 * padding - kernel) // stride + 1
        ends = np.arange(self.side) * stride - padding
        seen = ends[:, None] + np.arange(kernel)  # [side, kernel], rows or columns alike
        rows, columns = seen[:, None, :, None], seen[None, :, None, :]
        inside = (rows >= 0) & (rows < side) & (columns >= 0) & (columns < side)
        cells = np.where(inside, rows * side + columns, side * side)
        self.taken = cells.reshape(self.side**2, kernel**2)
        weight = layer.weight.detach().numpy().transpose(2, 3, 1, 0)
        self.weight = np.ascontiguousarray(weight.reshape(-1, layer.out_channels))
        assert layer.bias is not None
        self.bias = layer.bias.detach().numpy().copy()
        self.padded = np.zeros((side * side + 1, self.channels), np.float32)

    def __call__(self, x: Floats) -> Floats:
        """See the class."""
        self.padded[:-1] = x
        found: Floats = self.padded.take(self.taken, 0).reshape(len(self.taken), -1) @ self.weight
        found += self.bias
        return found


def depth_forward(net: DepthNet) -> Callable[[Floats], Floats]:
    """A function from planes float32 [C, H, W] to the net's outputs float32 [outputs], as `net` itself answers.

    It keeps scratch arrays: one thread at a time.
    """
    return _published(net) if isinstance(net, PublishedDepthNet) else _residual(net)


def _published(net: PublishedDepthNet) -> Callable[[Floats], Floats]:
    side, steps = net.config.size, list[Callable[[Floats], Floats]]()
    for layer in net.layers:
        if isinstance(layer, nn.Conv2d):
            convolution = Convolution(layer, side)
            side = convolution.side
            steps.append(convolution)
        elif isinstance(layer, nn.Sigmoid):
            steps.append(_sigmoid)
        elif isinstance(layer, nn.MaxPool2d):
            steps.append(_pool(side))
            side //= 2
        elif isinstance(layer, nn.Linear):
            steps.append(_linear(layer))

    return lambda planes: reduce(lambda x, step: step(x), steps, planes.reshape(len(planes), -1).T).ravel()


def _residual(net: Any) -> Callable[[Floats], Floats]:
    stem = Convolution(net.stem, net.config.size)
    blocks = [(Convolution(block.first, stem.side), Convolution(block.second, stem.side)) for block in net.blocks]
    output = _linear(net.output)

    def forward(planes: Floats) -> Floats:
        x = np.maximum(stem(planes.reshape(len(planes), -1).T), 0)
        for first, second in blocks:
            x = np.maximum(x + second(np.maximum(first(x), 0)), 0)
        return output(x).ravel()

    return forward


def _sigmoid(x: Floats) -> Floats:
    with np.errstate(over="ignore"):
        found: Floats = np.reciprocal(1 + np.exp(-x))
    return found


def _pool(side: int) -> Callable[[Floats], Floats]:
    half = side // 2
    return lambda x: x.reshape(half, 2, half, 2, -1).max((1, 3)).reshape(half * half, -1)


def _linear(layer: nn.Linear) -> Callable[[Floats], Floats]:
    weight, bias = layer.weight.detach().numpy().copy(), layer.bias.detach().numpy().copy()
    return lambda x: weight @ x.T.ravel() + bias  # flattened as torch does: plane by plane


class DepthModel:
    """Asks a net: about one position as a player does, in numpy, or about many at once, in torch."""

    def __init__(self, saved: SavedDepthNet, confidence: float | None = None, shares: float = 1.0) -> None:
        """``confidence`` and ``shares``: see `chosen_depths`; of a classifying head, and of one of costs."""
        self.saved, self.confidence, self.shares = saved, confidence, shares
        self.forward = depth_forward(saved.net)
        self.inputs: Inputs = "published" if saved.inputs == "published" else "full"

    def choose(self, n: npt.NDArray[np.uint8], used: float, state: AmazonsState, expandable: int | None = None) -> int:
        """Layers to search in ``state``.

        ``n`` [H, W] is the result of the small search, row 0 = rank 1; ``used`` the share of its clock that the side to
        move has used, 0..1; ``expandable`` the number of legal turns, where the caller knows it.
        """
        turns = 0
        if self.inputs == "full":
            turns = count_turns(state, buffers(state)[0]) if expandable is None else expandable
        share, side, legal = (
            np.array([used], np.float32),
            np.array([state.turn[0]], np.int8),
            np.array([turns], np.int32),
        )
        planes = depth_planes(self.inputs, n[None], share, state.board[None], side, legal)
        return int(self._chosen(self.forward(planes[0])[None], np.float32(1) - np.float32(used))[0])

    def choose_all(self, planes: npt.NDArray[np.float32], used: npt.NDArray[np.float32]) -> npt.NDArray[np.int64]:
        """Layers to search, int64 [B], of planes float32 [B, C, H, W] and the shares of clocks used, [B]."""
        with torch.inference_mode():
            outputs = self.saved.net(torch.from_numpy(planes)).numpy()
        return self._chosen(outputs, 1 - used)

    def _chosen(self, outputs: npt.NDArray[np.float32], left: npt.ArrayLike) -> npt.NDArray[np.int64]:
        saved = self.saved
        return chosen_depths(saved.head, outputs, saved.lowest, saved.highest, self.confidence, left, self.shares)


def load_depth_model(
    path: Path | str,
    *,
    label: str | None = None,
    classes: tuple[int, int] | None = None,
    confidence: float | None = None,
    shares: float = 1.0,
) -> DepthModel:
    """The model in a file, see `load_depth_net`; for ``confidence`` and ``shares`` see `chosen_depths`.

    Raises:
        ZugwerkError: the file is missing, damaged, or of a model for another label or other classes; or a confidence
            for a model that has no probabilities, or one outside 0..1; or shares for one without costs.
    """
    saved = load_depth_net(path, label=label, classes=classes)
    if confidence is not None:
        if saved.head != "classes":
            raise ZugwerkError(f"{path}: its head '{saved.head}' has no probabilities; remove confidence")
        if not 0 < confidence <= 1:
            raise ZugwerkError(f"{path}: confidence must be above 0 and at most 1, not {confidence}")
    if shares != 1 and saved.head != "costs":
        raise ZugwerkError(f"{path}: its head '{saved.head}' does not use the clock; remove shares")
    return DepthModel(saved, confidence, shares)

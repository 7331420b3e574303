"""The common interface of nets for the Amazons, and the residual net.

Sources: He, Zhang, Ren and Sun, "Deep residual learning for image recognition", CVPR 2016 (the blocks); Silver et al.,
"A general reinforcement learning algorithm that masters chess, shogi, and Go through self-play", Science 362, 2018 (a
trunk with policy and value heads, from planes seen from the side to move); Shaw, Uszkoreit and Vaswani,
"Self-attention with relative position representations", NAACL 2018 (the bias by relative place).
"""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from pipeline_src.errors import ZugwerkError
from pipeline_src.files import read_model_bytes, remedy, why_no_model
from pipeline_src.learning.torch_state import SameConv2d, dense, load_torch, save_torch
from pipeline_src.search.amazons.rays import write_table
from pipeline_src.systems.amazons_net.encode import PLANES, Config
from pipeline_src.systems.amazons_net.rays import RaysConfig, RaysNet, tabulate

Answers = tuple[Tensor, Tensor]
"""Value logit [B] of the mover's chance to win, and policy logits [B, ...], illegal entries among them."""


class Nets(nn.Module):
    """A net that is called twice per turn: for the amazon's move, and then for the arrow.

    Input is float32 [B, C, H, W] as the encoder of ``config.encoding`` makes it; N = H * W squares.
    """

    config: Config

    def move(self, features: Tensor) -> Answers:
        """Value, and policy [B, N * N] with entry ``from * N + to``."""
        raise NotImplementedError

    def arrow(self, features: Tensor) -> Answers:
        """Value, and policy [B, N], of the position once the amazon has moved."""
        raise NotImplementedError

    def both(self, move: Tensor, arrow: Tensor) -> tuple[Answers, Answers]:
        """`move` of the one batch and `arrow` of the other, as one step of training asks for them."""
        return self.move(move), self.arrow(arrow)


def gather_rows(logits: Tensor, rows: Tensor) -> Tensor:
    """The rows of an N x N policy that can hold a legal move.

    A move starts on a square of one of the mover's own pieces, so the other rows are illegal as a whole: leaving
    them out changes no probability and saves most of the softmax.

    Args:
        logits: float [B, N * N], entry ``from * N + to``; or these rows, of a net that makes no others.
        rows: integer [B, K], the squares of the pieces.

    Returns:
        float [B, K, N].
    """
    if logits.dim() == 3:
        return logits
    size = round(logits.shape[1] ** 0.5)
    batch = torch.arange(len(logits), device=logits.device)[:, None]
    return logits.view(len(logits), size, size)[batch, rows.long()]


def masked_log_softmax(logits: Tensor, legal: Tensor) -> Tensor:
    """Log-probabilities over the legal entries of each position; minus infinity elsewhere.

    The mask goes into the logits before the softmax, so that all probability lies on legal entries. Where a
    position has none, all its entries are minus infinity, and neither they nor their gradients are NaN.

    Args:
        logits: float [B, ...]; the softmax runs over all but the first axis together.
        legal: bool, the same shape.

    Returns:
        float32, the same shape.
    """
    masked = logits.float().flatten(1).masked_fill(~legal.flatten(1), -torch.inf)
    empty = ~legal.flatten(1).any(1, keepdim=True)
    log_p = torch.log_softmax(masked.masked_fill(empty, 0.0), dim=1)
    return log_p.masked_fill(empty, -torch.inf).view(logits.shape)


MAX_SIDE = 10  # Largest board that the biases by relative place know


@dataclass(frozen=True)
class ResidualConfig:
    """The shape of the net."""

    size: int = 10
    """Squares along one side of the boards that it is trained on; the weights themselves fit any size up to 10."""
    channels: int = 32  # Filters of each 3x3 convolution of the trunk
    blocks: int = 4  # Residual blocks of two convolutions each
    embedding: int = 32  # Length of the embeddings of from and to squares in the move policy

    encoding: ClassVar[str] = "planes"

    @property
    def options(self) -> Mapping[str, bool]:
        """Keyword arguments of the encoder, which has none."""
        return {}


class ResidualNets(Nets):
    """Trunk and heads. `move` and `arrow` take planes float32 [B, 15, H, W], row 0 = rank H; N = H * W."""

    def __init__(self, config: ResidualConfig) -> None:
        super().__init__()
        self.config = config
        channels = config.channels
        self.first = _convolution(PLANES, channels)
        self.blocks = nn.Sequential(*(Block(channels) for _ in range(config.blocks)))
        self.move_policy = MovePolicy(channels, config.embedding)
        self.arrow_policy = nn.Sequential(_convolution(channels, channels), nn.ReLU(), nn.Conv2d(channels, 1, 1))
        self.value = PooledValue(channels)

    def move(self, planes: Tensor) -> Answers:
        """Planes of a position -> value logit [B], policy logits [B, N * N] with entry ``from * N + to``."""
        x = self._trunk(planes)
        return self.value(x), self.move_policy(x)

    def arrow(self, planes: Tensor) -> Answers:
        """Planes of the position once the amazon has moved -> value logit [B], policy logits [B, N]."""
        x = self._trunk(planes)
        return self.value(x), by_square(self.arrow_policy(x)).squeeze(1)

    def both(self, move: Tensor, arrow: Tensor) -> tuple[Answers, Answers]:
        """`move` of the one and `arrow` of the other; in training normalised together, as one batch."""
        x = self._trunk(torch.cat([move, arrow]))
        value, n = self.value(x), len(move)
        return (value[:n], self.move_policy(x[:n])), (value[n:], by_square(self.arrow_policy(x[n:])).squeeze(1))

    def _trunk(self, planes: Tensor) -> Tensor:
        # Channels last is the order that the convolutions of CPUs and tensor cores work in.
        x = planes.contiguous(memory_format=torch.channels_last)
        out: Tensor = self.blocks(self.first(x).relu_())
        return out


class Block(nn.Module):
    """Two 3x3 convolutions plus the identity, [B, C, H, W] -> the same shape."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.one, self.two = _convolution(channels, channels), _convolution(channels, channels, scale=0.0)

    def forward(self, x: Tensor) -> Tensor:
        """Return the input of the next block."""
        out: Tensor = self.two(self.one(x).relu_())
        return (out + x).relu_()


class MovePolicy(nn.Module):
    """Logits of all (from, to): the squares' embeddings multiplied, and a bias by where ``to`` lies from ``from``."""

    def __init__(self, channels: int, embedding: int) -> None:
        super().__init__()
        self.squares = nn.Conv2d(channels, 2 * embedding, 1)
        self.relative = nn.Parameter(torch.zeros((2 * MAX_SIDE - 1) ** 2))
        self.scale = embedding**-0.5

    def forward(self, x: Tensor) -> Tensor:
        """[B, C, H, W] -> [B, N * N], entry ``from * N + to``."""
        start, to = by_square(self.squares(x)).chunk(2, dim=1)
        logits: Tensor = (start * self.scale).transpose(1, 2) @ to
        return (logits + self.relative[self._places(x.shape[2], x.shape[3])]).flatten(1)

    def _places(self, height: int, width: int) -> Tensor:
        """int64 [N, N]: index of the bias of (from, to)."""
        square = torch.arange(height * width, device=self.relative.device)
        ranks, files = square // width, square % width
        up, right = (c[None, :] - c[:, None] + MAX_SIDE - 1 for c in (ranks, files))
        places: Tensor = up * (2 * MAX_SIDE - 1) + right
        return places


class PooledValue(nn.Module):
    """[B, C, H, W] -> the logit [B] of the mover's chance to win, from each channel's mean and highest value."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.squares = nn.Sequential(nn.Conv2d(channels, channels, 1), nn.ReLU())
        self.output = nn.Sequential(nn.Linear(2 * channels, channels), nn.ReLU(), nn.Linear(channels, 1))

    def forward(self, x: Tensor) -> Tensor:
        """Logit [B]; its sigmoid is the chance."""
        squares = self.squares(x)
        logit: Tensor = self.output(torch.cat([squares.mean((2, 3)), squares.amax((2, 3))], dim=1))
        return logit.squeeze(1)


def by_square(x: Tensor) -> Tensor:
    """[B, C, H, W] with row 0 = rank H -> [B, C, N] with s = (rank - 1) * W + (file - 1)."""
    return x.flip(2).flatten(2)


def _convolution(into: int, filters: int, scale: float = 1.0) -> nn.Sequential:
    """A 3x3 convolution that keeps height and width, normalised over the batch to ``scale`` at the start.

    At 0 a block starts as the identity, so that deep trunks learn from the first step.
    """
    norm = nn.BatchNorm2d(filters)
    nn.init.constant_(norm.weight, scale)
    return nn.Sequential(nn.Conv2d(into, filters, 3, padding=1, bias=False), norm)


# Move-Net and Arrow-Net of patent CN 111330255 B, their heads and their starting weights.
#
# The publication says nothing of starting weights. `mirror` lets the published layers begin as a net that is easy to
# train. Convolutions hand on their input in pairs of filters of opposite sign: what ReLU takes from the one, the other
# keeps, so that twelve layers begin as almost the identity (Balduzzi et al., "The shattered gradients problem: if
# resnets are the answer, then what is the question?", ICML 2017). The policies' fully connected layers begin as 1x1
# convolutions, in which a square's logit depends on that square alone, so that convolutions learn from the first step
# where on the board something is.


RANDOM = 0.1  # Scale of the He weights that `mirror` adds to the identity


@torch.no_grad()
def mirror(layers: nn.Module, *, first: bool) -> None:
    """Set convolutions that follow each other to hand on their input, in pairs of filters of opposite sign.

    The first half of the filters has the identity and random weights, the second half the same negated; a last one of
    an odd number stays as it is.

    Args:
        layers: convolutions with He's weights, each followed by its activation, ReLU or Tanh.
        first: whether these see the features, which do not come in pairs; else their input is that of a Tanh, in pairs.
    """
    paired, share = not first, 0.5
    for module in layers.modules():
        if isinstance(module, nn.ReLU | nn.Tanh):
            # relu(x) - relu(-x) is x; tanh(x) - tanh(-x) is twice tanh(x).
            paired, share = True, 0.5 if isinstance(module, nn.Tanh) else 1.0
        if isinstance(module, SameConv2d):
            _pair(module.weight, paired, share if paired else 1.0)


def _pair(weight: Tensor, paired: bool, share: float) -> None:
    """Set ``weight`` [F, C, K, K] for input that is ``paired`` or not."""
    filters, channels = weight.shape[0] // 2, weight.shape[1] // (1 + paired)
    middle, same = (weight.shape[2] - 1) // 2, torch.arange(min(filters, channels))
    half = weight[:filters, :channels] * RANDOM
    half[same, same, middle, middle] += 1.0
    half = torch.cat([half, -half]) * share
    weight[: 2 * filters, :channels] = half
    if paired:
        weight[: 2 * filters, channels : 2 * channels] = -half


@torch.no_grad()
def make_local(layer: nn.Linear, squares: int) -> None:
    """Set a fully connected layer [B, C * N] -> logits [B, N] or [B, N * N] to a 1x1 convolution.

    The logit of a square, or the two terms of a logit (from, to), come from the C channels of that square; all other
    weights are 0. Channels are laid out with row 0 = rank H, logits by s = (rank - 1) * W + (file - 1).
    """
    channels, side = layer.in_features // squares, round(squares**0.5)
    square = torch.arange(squares)
    cell = square.view(side, side).flip(0).flatten()
    nn.init.zeros_(layer.weight)
    weight = layer.weight.view(-1, squares, channels, squares)  # from, to, channel, cell; of arrows there is no from
    weight[:, square, :, cell] += torch.randn(channels) * channels**-0.5
    if len(weight) > 1:
        weight[square, :, :, cell] += torch.randn(channels) * channels**-0.5


class Layer(NamedTuple):
    """One convolution of a table: square kernel side, filters, activation."""

    kernel: int
    filters: int
    activation: Literal["relu", "tanh"]


def convolutions(
    channels: int, layers: Sequence[Layer], batch_norm: bool = False, shortcuts: bool = False
) -> list[nn.Module]:
    """The layers of a table, each followed by its activation; ``channels`` go into the first.

    With ``batch_norm`` each convolution is normalised over the batch, with ``shortcuts`` each layer adds its input.
    """
    modules: list[nn.Module] = []
    for layer in layers:
        norm = [nn.BatchNorm2d(layer.filters)] if batch_norm else []
        one = [
            SameConv2d(channels, layer.filters, layer.kernel),
            *norm,
            nn.ReLU() if layer.activation == "relu" else nn.Tanh(),
        ]
        modules += [Shortcut(*one)] if shortcuts else one
        channels = layer.filters
    return modules


class Shortcut(nn.Sequential):
    """Layers whose input is added to their output; channels that only one of both has stay as they are."""

    def forward(self, x: Tensor) -> Tensor:
        """[B, C, H, W] -> [B, D, H, W]."""
        out: Tensor = nn.Sequential.forward(self, x)  # type: ignore[no-untyped-call]
        return out + pad(x, (0, 0, 0, 0, 0, out.shape[1] - x.shape[1]))


class ValueHead(nn.Module):
    """One fully connected layer from [B, C, H, W] to the logit [B] of the mover's chance to win."""

    def __init__(self, channels: int, squares: int) -> None:
        super().__init__()
        self.output = dense(channels * squares, 1)

    def forward(self, x: Tensor) -> Tensor:
        """Logit [B]; its sigmoid is the chance."""
        logit: Tensor = self.output(x.flatten(1))
        return logit.squeeze(1)


class PolicyHead(nn.Module):
    """Convolutions, then one fully connected layer from [B, C, H, W] to logits [B, ``entries``]."""

    def __init__(self, channels: int, squares: int, layers: Sequence[Layer], entries: int) -> None:
        super().__init__()
        self.convolutions = nn.Sequential(*convolutions(channels, layers))
        self.output = dense(layers[-1].filters * squares, entries)

    def forward(self, x: Tensor) -> Tensor:
        """Logits [B, entries], illegal ones among them."""
        logits: Tensor = self.output(self.convolutions(x).flatten(1))
        return logits


StartingWeights = Literal["he", "mirrored"]
EMBEDDING = 32  # Numbers by which a spatial policy of moves knows a square to start from, and one to go to

FEATURE_PLANES = 4  # Feature planes: one for each of the mover's amazons

TRUNK = (
    Layer(6, 128, "relu"),
    Layer(5, 64, "relu"),
    Layer(4, 32, "tanh"),
    Layer(2, 16, "tanh"),
    Layer(4, 128, "relu"),
    Layer(3, 128, "relu"),
    Layer(3, 64, "tanh"),
    Layer(2, 64, "tanh"),
    Layer(3, 64, "relu"),
    Layer(4, 64, "relu"),
    Layer(5, 32, "tanh"),
    Layer(6, 16, "tanh"),
)
"""The twelve layers of tables 1 and 3; the first four and the last four are shared by both nets."""

POLICY = (Layer(2, 128, "relu"), Layer(2, 64, "relu"), Layer(2, 32, "tanh"), Layer(2, 16, "tanh"))
"""The four layers of tables 2 and 4, ahead of the fully connected one."""

EMPTY, SPREAD = 100.0, 40.0
"""Value of the features on an empty board, and their approximate standard deviation over positions of games (41)."""


@dataclass(frozen=True)
class AmazonsConfig:
    """The shape of the nets and the meaning of their input; `params.AmazonsTrainParams` describes the fields."""

    size: int = 10  # Squares along one side of the board
    width: float = 1.0
    fewest_filters: int = 4
    dropout: float = 0.3
    mover_relative: bool = False
    moved_first: bool = False
    starting_weights: StartingWeights = "he"
    batch_norm: bool = False
    shortcuts: bool = False
    spatial_heads: bool = False

    encoding: ClassVar[str] = "features"

    @property
    def options(self) -> Mapping[str, bool]:
        """Keyword arguments of the encoder."""
        return {"mover_relative": self.mover_relative, "moved_first": self.moved_first}


class AmazonsNets(Nets):
    """Both nets in one module: layers 1-4 and 9-12 are the same parameters, 5-8 and the heads each net's own.

    Both take features F, float32 [B, 4, H, W] on the scale 0..300 of the published board matrix. Scaling happens
    inside: (F - 100) / 40 is 0 on an empty board, below where arrows are, above where amazons are, and of unit spread.
    """

    def __init__(self, config: AmazonsConfig) -> None:
        super().__init__()
        self.config = config
        trunk = [_narrowed(layer, config) for layer in TRUNK]
        policy = [_narrowed(layer, config) for layer in POLICY]
        squares, channels = config.size**2, trunk[-1].filters

        def block(into: int, layers: list[Layer]) -> nn.Sequential:
            made = convolutions(into, layers, config.batch_norm, config.shortcuts)
            return nn.Sequential(*made, nn.Dropout(config.dropout))

        self.first = block(FEATURE_PLANES, trunk[:4])
        self.move_middle = block(trunk[3].filters, trunk[4:8])
        self.arrow_middle = block(trunk[3].filters, trunk[4:8])
        self.last = block(trunk[7].filters, trunk[8:])
        self.move_value, self.arrow_value, self.move_policy, self.arrow_policy = (
            _spatial_heads(channels) if config.spatial_heads else _published_heads(channels, squares, policy)
        )
        if config.starting_weights == "mirrored":
            self._mirror()

    def move(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Move-Net: F of a position -> value logit [B], policy logits [B, N * N] with entry ``from * N + to``."""
        x = self._trunk(features, self.move_middle)
        return self.move_value(x), self.move_policy(x)

    def arrow(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Arrow-Net: F of the position once the amazon has moved -> value logit [B], policy logits [B, N]."""
        x = self._trunk(features, self.arrow_middle)
        return self.arrow_value(x), self.arrow_policy(x)

    def _mirror(self) -> None:
        mirror(self.first, first=True)
        for layers in (self.move_middle, self.arrow_middle, self.last):
            mirror(layers, first=False)
        for head in (self.move_policy, self.arrow_policy):
            if isinstance(head, PolicyHead):
                mirror(head.convolutions, first=False)
                make_local(head.output, self.config.size**2)

    def _trunk(self, features: Tensor, middle: nn.Sequential) -> Tensor:
        # Channels last is the order that the convolutions of CPUs and tensor cores work in.
        scaled = ((features - EMPTY) / SPREAD).contiguous(memory_format=torch.channels_last)
        out: Tensor = self.last(middle(self.first(scaled)))
        return out


def _published_heads(channels: int, squares: int, policy: list[Layer]) -> list[nn.Module]:
    """Values and policies, each of the moves and of the arrows."""
    values = [ValueHead(channels, squares), ValueHead(channels, squares)]
    return [*values, PolicyHead(channels, squares, policy, squares**2), PolicyHead(channels, squares, policy, squares)]


def _spatial_heads(channels: int) -> list[nn.Module]:
    values = [PooledValue(channels), PooledValue(channels)]
    return [*values, MovePolicy(channels, EMBEDDING), ArrowPolicy(channels, 1, 1)]


class ArrowPolicy(nn.Conv2d):
    """A logit for each square, [B, C, H, W] -> [B, N], from the trunk's output there."""

    def forward(self, x: Tensor) -> Tensor:
        """Convolve, and lay out the squares as policies have them."""
        return by_square(super().forward(x)).squeeze(1)


def _narrowed(layer: Layer, config: AmazonsConfig) -> Layer:
    return layer._replace(filters=max(config.fewest_filters, round(layer.filters * config.width)))


# The file format of trained nets: which net it is, its config, its weights.


KINDS: dict[str, tuple[type[Any], type[Any]]] = {
    "published": (AmazonsConfig, AmazonsNets),
    "residual": (ResidualConfig, ResidualNets),
    "rays": (RaysConfig, RaysNet),
}
"""Config and net, by the name that the file gives them."""


def save_nets(path: Path | str, nets: Nets) -> None:
    """Write kind, config and weights; the same weights give the same bytes, under any file name."""
    kind = next(name for name, (_, made) in KINDS.items() if type(nets) is made)
    config: Any = nets.config
    state = {name: tensor.detach().cpu().contiguous() for name, tensor in nets.state_dict().items()}
    save_torch(path, {"kind": kind, "config": dataclasses.asdict(config), "state_dict": state})


def load_nets(path: Path | str, device: torch.device | str = "cpu") -> Nets:
    """Read what `save_nets` wrote; the nets come back in evaluation mode, with dropout off.

    Raises:
        ZugwerkError: the file is missing, damaged, or of other nets; names the file and the command that makes it.
    """
    again = remedy(path, "`dvc repro amazons_train` makes it")
    content = read_model_bytes(path, again)
    try:
        saved: Any = load_torch(content, device)
        config, make = KINDS[saved["kind"]]
        nets: Nets = make(config(**saved["config"]))
        nets.load_state_dict(saved["state_dict"])
    except Exception as error:  # a damaged file makes the unpickler raise anything
        raise ZugwerkError(f"{path}: damaged, or not a model of these nets ({why_no_model(error)}){again}") from None
    return nets.to(device).eval()


def export_rays(model: Path | str, out: Path) -> None:
    """Write the table of a file of `save_nets` with a net of rays.

    Raises:
        ZugwerkError: no model there, a damaged one, or another kind of net.
    """
    nets = load_nets(model)
    if not isinstance(nets, RaysNet):
        raise ZugwerkError(f"{model}: only nets of rays have a table; this is a {type(nets).__name__}")
    write_table(out, tabulate(nets), nets.config.size)

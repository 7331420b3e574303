"""The file format of self-play nets: game, variant, kind of net, config and weights."""

import copy
import dataclasses
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from pipeline_src.errors import ZugwerkError
from pipeline_src.files import remedy, why_no_model, written_aside
from pipeline_src.systems.gomoku_zero.backend import ModelInfo
from pipeline_src.systems.gomoku_zero.blocks import Normed
from pipeline_src.systems.gomoku_zero.lines import LinesConfig, LinesNet
from pipeline_src.systems.gomoku_zero.params import GomokuNet
from pipeline_src.systems.gomoku_zero.plain import PlainConfig, PlainNet
from pipeline_src.systems.gomoku_zero.residual import ResidualConfig, ResidualNet
from pipeline_src.systems.gomoku_zero.uniform import UniformConfig, UniformNet

ZeroConfig = PlainConfig | ResidualConfig | LinesConfig | UniformConfig
ZeroNet = PlainNet | ResidualNet | LinesNet | UniformNet

KINDS: dict[str, tuple[type[Any], type[Any]]] = {
    config.kind: (config, net)
    for config, net in (
        (PlainConfig, PlainNet),
        (ResidualConfig, ResidualNet),
        (LinesConfig, LinesNet),
        (UniformConfig, UniformNet),
    )
}
"""Config and net, by the name that the file gives them."""
VERSIONS = {"gomoku": 1}
"""Versions of each game's rules and action numbering. A model of another version is an error."""


@dataclass(frozen=True)
class ZeroModel:
    """A net, with its game and variant."""

    net: ZeroNet
    """The net, in evaluation mode."""
    game: str
    variant: str
    version: int
    """Version of the game's rules."""

    @property
    def config(self) -> ZeroConfig:
        """The shape of the net."""
        return self.net.config


def info_of(model: ZeroModel) -> ModelInfo:
    """Return the description of a model."""
    config = model.config
    return ModelInfo(
        model.game, model.variant, model.version, config.kind, config.height, config.width, config.positions
    )


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


def save_model(
    path: Path | str, net: nn.Module, game: str = "gomoku", variant: str = "freestyle", half: bool = False
) -> None:
    """Write a model; the same weights give the same bytes, whatever the file is called.

    Args:
        path: the file.
        net: one of `KINDS`.
        game: name of the game.
        variant: variant of the game.
        half: store the weights as 16-bit floats, half the size; `load_model` widens them again.
    """
    config: Any = net.config
    state = {name: tensor.detach().cpu().contiguous() for name, tensor in net.state_dict().items()}
    if half:
        state = {name: tensor.half() if tensor.is_floating_point() else tensor for name, tensor in state.items()}
    saved = {
        "game": game,
        "variant": variant,
        "version": VERSIONS[game],
        "kind": config.kind,
        "config": dataclasses.asdict(config),
        "state_dict": state,
    }
    buffer = io.BytesIO()  # torch.save writes a file's own name into it
    torch.save(saved, buffer)
    with written_aside(path) as aside:
        aside.write_bytes(buffer.getvalue())


def load_model(path: Path | str, game: str = "gomoku") -> ZeroModel:
    """Read a model that `save_model` wrote; the net is on the CPU and in evaluation mode.

    ``load_model("artifacts/models/gomoku/13/best.pt").net(planes)`` gives policy logits and values.

    Raises:
        ZugwerkError: the file is missing or damaged, or the model is of another game or other rules; names the file.
    """
    again = remedy(path, f"`dvc repro` makes the models of {game}")
    try:
        content = Path(path).read_bytes()
    except (FileNotFoundError, IsADirectoryError):
        raise ZugwerkError(f"{path}: no such model{again}") from None
    try:
        saved: Any = torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
        whose, version = saved["game"], saved["version"]
        variant = str(saved["variant"])
    except Exception as error:  # a damaged file makes the unpickler raise whatever its bytes happen to say
        raise ZugwerkError(f"{path}: damaged, or not a model of self-play ({why_no_model(error)}){again}") from None
    if whose != game:
        raise ZugwerkError(f"{path}: a model of {whose!r}, not of {game}")
    if version != VERSIONS.get(game):
        raise ZugwerkError(f"{path}: made under rules version {version} of {game}; they are at {VERSIONS.get(game)}")
    try:
        config, make = KINDS[saved["kind"]]
        fields = {name: tuple(v) if isinstance(v, list) else v for name, v in saved["config"].items()}
        net: ZeroNet = make(config(**fields))
        net.load_state_dict(saved["state_dict"])
    except Exception as error:
        raise ZugwerkError(f"{path}: damaged, or not a model of self-play ({why_no_model(error)}){again}") from None
    return ZeroModel(net.eval(), game, variant, version)

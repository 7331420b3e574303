"""The file format of the depth nets: label, classes, inputs, head, kind of net and weights."""

import dataclasses
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from pipeline_src.errors import ZugwerkError
from pipeline_src.files import remedy, why_no_model, written_aside
from pipeline_src.systems.search_depth.head import Head
from pipeline_src.systems.search_depth.net import (
    DepthConfig,
    DepthNet,
    PublishedDepthConfig,
    PublishedDepthNet,
    ResidualDepthConfig,
    ResidualDepthNet,
)

FORMAT, VERSION = "zugwerk search depth", 1
KINDS: dict[str, tuple[type[Any], type[Any]]] = {
    PublishedDepthConfig.kind: (PublishedDepthConfig, PublishedDepthNet),
    ResidualDepthConfig.kind: (ResidualDepthConfig, ResidualDepthNet),
}
"""Config and net, by the name that the file gives them."""


@dataclass(frozen=True)
class SavedDepthNet:
    """A net, with its label, classes and input."""

    net: DepthNet
    label: str
    """Label on which it was trained: ``reached`` or ``needed``."""
    lowest: int
    """Class."""
    highest: int
    """Class."""
    head: Head
    inputs: str
    """Input of the net, see `pipeline_src.systems.search_depth.planes`."""


def make_depth_net(config: DepthConfig) -> DepthNet:
    """A net with fresh weights, from torch's global generator."""
    net: DepthNet = KINDS[config.kind][1](config)
    return net


def save_depth_net(path: Path | str, model: SavedDepthNet) -> None:
    """Write a model; the same weights give the same bytes, whatever the file is called."""
    config = model.net.config
    saved = {
        "format": FORMAT,
        "version": VERSION,
        **{f.name: getattr(model, f.name) for f in dataclasses.fields(model) if f.name != "net"},
        "kind": config.kind,
        "config": dataclasses.asdict(config),
        "state_dict": {name: t.detach().cpu().contiguous() for name, t in model.net.state_dict().items()},
    }
    buffer = io.BytesIO()  # torch.save writes a file's own name into it
    torch.save(saved, buffer)
    with written_aside(path) as aside:
        aside.write_bytes(buffer.getvalue())


def load_depth_net(
    path: Path | str, *, label: str | None = None, classes: tuple[int, int] | None = None
) -> SavedDepthNet:
    """Read what `save_depth_net` wrote; the net comes back on the CPU and in evaluation mode.

    Args:
        path: the file.
        label: required label of the training; None accepts any.
        classes: lowest and highest class that it must choose among; None is any.

    Raises:
        ZugwerkError: the file is missing or damaged, or the model is for another label or other classes; names the
            file and the stage.
    """
    again = remedy(path, "`dvc repro depth_train` makes it")
    try:
        content = Path(path).read_bytes()
    except (FileNotFoundError, IsADirectoryError):
        raise ZugwerkError(f"{path}: no such model{again}") from None
    try:
        saved: Any = torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
        if (saved["format"], saved["version"]) != (FORMAT, VERSION):
            raise ValueError(f"format {saved['format']!r}, version {saved['version']}")
        config, make = KINDS[saved["kind"]]
        net: DepthNet = make(config(**saved["config"]))
        net.load_state_dict(saved["state_dict"])
        what = {name: saved[name] for name in ("label", "lowest", "highest", "head", "inputs")}
    except Exception as error:  # a damaged file makes the unpickler raise whatever its bytes happen to say
        why = why_no_model(error)
        raise ZugwerkError(f"{path}: damaged, or not a model that chooses the search depth ({why}){again}") from None
    model = SavedDepthNet(net.eval(), **what)
    if label is not None and model.label != label:
        raise ZugwerkError(f"{path}: trained for the label '{model.label}', not '{label}'{again and again + ' anew'}")
    if classes is not None and (model.lowest, model.highest) != classes:
        wanted = f"{classes[0]} to {classes[1]}"
        raise ZugwerkError(
            f"{path}: trained for classes {model.lowest} to {model.highest}, not {wanted}{again and again + ' anew'}"
        )
    return model

"""The file format of trained nets: which net it is, its config, its weights."""

import dataclasses
import io
from pathlib import Path
from typing import Any

import torch

from pipeline_src.errors import ZugwerkError
from pipeline_src.files import read_model_bytes, remedy, why_no_model
from pipeline_src.learning.torch_state import save_torch
from pipeline_src.systems.amazons_net.net import AmazonsConfig, AmazonsNets
from pipeline_src.systems.amazons_net.nets import Nets, ResidualConfig, ResidualNets

KINDS: dict[str, tuple[type[Any], type[Any]]] = {
    "published": (AmazonsConfig, AmazonsNets),
    "residual": (ResidualConfig, ResidualNets),
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
        saved: Any = torch.load(io.BytesIO(content), map_location=device, weights_only=True)
        config, make = KINDS[saved["kind"]]
        nets: Nets = make(config(**saved["config"]))
        nets.load_state_dict(saved["state_dict"])
    except Exception as error:  # a damaged file makes the unpickler raise anything
        raise ZugwerkError(f"{path}: damaged, or not a model of these nets ({why_no_model(error)}){again}") from None
    return nets.to(device).eval()

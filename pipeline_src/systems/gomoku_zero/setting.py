"""All params of the cycle, and the key that tells whether a generation was made from just these."""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Self

from pydantic import model_validator

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.gomoku.board import parse_variant
from pipeline_src.project.params import PARAMS_FILE, Params, build, load, load_part, load_value
from pipeline_src.systems.gomoku_zero.params import (
    GomokuGame,
    GomokuGate,
    GomokuNet,
    GomokuSelfPlay,
    GomokuTrainParams,
    NetKind,
)


class Setting(Params):
    """All params of a generation."""

    seed: int
    game: GomokuGame
    net: GomokuNet
    self_play: GomokuSelfPlay
    train: GomokuTrainParams
    gate: GomokuGate

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.game.smaller is not None and self.net.kind != "lines":
            raise ValueError(f"game.smaller needs net.kind: lines; a {self.net.kind} net is made for one board")
        if self.game.smaller is not None and not self.gate.always:
            raise ValueError("game.smaller needs gate.always: true; a best player without a net is made for one board")
        line, window = parse_variant(self.game.variant)[0], self.net.lines.window
        if self.net.kind == "lines" and 2 * line - 1 > window:
            raise ValueError(
                f"net.lines.window: {window} cells do not see a line of {line} (variant '{self.game.variant}') through "
                f"their middle; that takes {2 * line - 1}"
            )
        return self


def read_setting(path: Path = PARAMS_FILE) -> Setting:
    """The params of the cycle.

    Raises:
        ZugwerkError: a section is missing or malformed.
    """
    sections = {
        "seed": load_value(int, "seed", path),
        "game": load(GomokuGame, "gomoku_game", path),
        "net": _read_net("gomoku_net", path),
        "self_play": load(GomokuSelfPlay, "gomoku_self_play", path),
        "train": load(GomokuTrainParams, "gomoku_train", path),
        "gate": load(GomokuGate, "gomoku_gate", path),
    }
    return build(Setting, sections, "gomoku", str(path))


def setting_for(size: int, variant: str, path: Path = PARAMS_FILE) -> Setting:
    """The params of boards that grow, for one of them.

    Raises:
        ZugwerkError: a section is missing or malformed.
    """
    sections = {
        "seed": load_value(int, "seed", path),
        "game": GomokuGame(size=size, variant=variant),
        "net": _read_net("growing_net", path),
        "self_play": load(GomokuSelfPlay, "growing_self_play", path),
        "train": load(GomokuTrainParams, "growing_train", path),
        "gate": load(GomokuGate, "growing_gate", path),
    }
    return build(Setting, sections, "growing", str(path))


def _read_net(section: str, path: Path) -> GomokuNet:
    """A net with the sizes of its kind; those of other kinds are not read."""
    kind = load_part(NetKind, section, path).kind
    return load_part(GomokuNet, section, path, ["kind", "positions", kind])


def make_key(code: str, setting: Setting, number: int, made_from: Iterable[Path]) -> str:
    """Hash of code, params, generation number and of the files that a generation is made from (16 hex digits).

    Raises:
        ZugwerkError: one of these files is missing; names it.
    """
    key = hashlib.sha256(json.dumps([setting.model_dump(), number], sort_keys=True).encode())
    key.update(code.encode())
    for path in made_from:
        try:
            key.update(hashlib.sha256(path.read_bytes()).digest())
        except OSError as error:
            raise ZugwerkError(
                f"{path}: {error.strerror}; generation {number} is made from it: run the one before it first"
            ) from None
    return key.hexdigest()[:16]

"""Files of nets that play from a table: named arrays and a description; the same net gives the same bytes."""

import io
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from pipeline_src.errors import ZugwerkError
from pipeline_src.files import written_aside

Made = TypeVar("Made")
Arrays = dict[str, Any]
LINES, RAYS = ".lines", ".rays"  # Endings of the files of a line net and of a net of rays


class Kind(NamedTuple):
    """A kind of nets, as its files have it."""

    words: str  # Such as `line net`
    format: str
    version: int
    reads: str  # The version that this program reads, in words
    rules: tuple[str, int | str]  # Name of the game, and version or digest of its rules
    again: str  # How such a file is made


def write_net(path: Path | str, kind: Kind, about: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
    """Write a net's arrays with its description ``about``."""
    text = json.dumps({"format": kind.format, "format_version": kind.version, **about})
    content = io.BytesIO()
    named: Arrays = {"about": np.array(text), **arrays}
    np.savez_compressed(content, **named)
    with written_aside(path) as aside:
        aside.write_bytes(content.getvalue())


def read_net(path: Path | str, kind: Kind, make: Callable[[Arrays, dict[str, Any]], Made]) -> Made:
    """Read a net of `write_net`. ``make`` takes its arrays and its description, and raises anything if they are wrong.

    Raises:
        ZugwerkError: no such file, one that is cut short or damaged, or one of another version or game.
    """
    try:
        with np.load(io.BytesIO(Path(path).read_bytes()), allow_pickle=False) as saved:
            arrays = {name: saved[name] for name in saved.files}
        about = json.loads(str(arrays.pop("about")))
        found = about.pop("format"), about.pop("format_version")
        rules = about["game"], about["version"]
        made = make(arrays, about)
    except (FileNotFoundError, IsADirectoryError):
        raise ZugwerkError(f"{path}: no such {kind.words}; {kind.again}") from None
    except Exception as error:  # a damaged archive makes zipfile and NumPy raise anything
        raise ZugwerkError(
            f"{path}: cut short, damaged, or not a {kind.words} ({type(error).__name__}); {kind.again}"
        ) from None
    if found != (kind.format, kind.version):
        raise ZugwerkError(f"{path}: {found[0]} of version {found[1]}; this program reads {kind.reads}; {kind.again}")
    if rules != kind.rules:
        game, version = kind.rules
        raise ZugwerkError(
            f"{path}: made for {rules[0]} under rules version {rules[1]}; this is {game}, version {version}"
        )
    return made

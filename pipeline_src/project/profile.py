"""Profiles: the committed params.yaml is the profile laptop; profiles/<name>.yaml have the differences."""

import io
import subprocess
from pathlib import Path
from typing import Any

import yaml

from pipeline_src.errors import ZugwerkError
from pipeline_src.files import written_aside

PARAMS = Path("params.yaml")
PROFILES = Path("profiles")
LAPTOP = "laptop"
GIVEN_WHOLE = ("gomoku_generations", "growing_larger", "gomoku_train.schedule", "growing_train.schedule")
"""Mappings with a list of items as keys: a profile with such a mapping replaces all of it."""


def switch_profile(name: str, folder: Path = Path()) -> str:
    """Write ``params.yaml`` for profile ``name``, comments kept; return a line that says what was done.

    The differences go over the laptop's values: those of the file itself while it is the laptop's, else those last
    committed.

    Raises:
        ZugwerkError: no such profile, a difference in a key that the laptop does not have, or no laptop values found.
    """
    reader, params = round_trip_yaml(), folder / PARAMS
    known = sorted([LAPTOP, *(path.stem for path in (folder / PROFILES).glob("*.yaml"))])
    if name not in known:
        raise ZugwerkError(f"no profile {name!r}; there are: {', '.join(known)}")
    current = params.read_text(encoding="utf-8")
    if name == LAPTOP and reader.load(current).get("profile") == LAPTOP:
        return f"{params} is the laptop's already"
    text = current if reader.load(current).get("profile") == LAPTOP else _committed(folder)
    with written_aside(params) as aside:
        aside.write_text(text if name == LAPTOP else merged_text(name, folder, text), encoding="utf-8")
    return f"{params} is now the profile {name}; `dvc repro` runs it"


def merged_text(name: str, folder: Path, text: str | None = None) -> str:
    """Params of a profile other than the laptop's, comments kept; ``text`` is the laptop's, by default the file's.

    Raises:
        ZugwerkError: ``text`` is not the laptop's, or the profile has a key that it does not have.
    """
    reader, params = round_trip_yaml(), folder / PARAMS
    tree = reader.load(params.read_text(encoding="utf-8") if text is None else text)
    if tree.get("profile") != LAPTOP:
        raise ZugwerkError(f"{params} as committed is not the laptop's; restore it before switching profiles")
    source = folder / PROFILES / f"{name}.yaml"
    merge(tree, reader.load(source.read_text(encoding="utf-8")) or {}, str(source))
    tree["profile"] = name
    out = io.StringIO()
    reader.dump(tree, out)
    return out.getvalue()


def profile_tree(name: str, folder: Path) -> dict[str, Any]:
    """Params of a profile, over the laptop's values as they were last committed.

    Raises:
        ZugwerkError: no such profile, or git has no laptop's values.
    """
    text = _committed(folder)
    if name != LAPTOP and not (folder / PROFILES / f"{name}.yaml").is_file():
        raise ZugwerkError(f"{folder / PARAMS}: no profile {name!r} in {folder / PROFILES}")
    tree: dict[str, Any] = yaml.safe_load(text if name == LAPTOP else merged_text(name, folder, text))
    return tree


def merge(tree: Any, differences: Any, source: str, key: str = "") -> None:
    """Put ``differences``, which come from ``source``, over the params in ``tree``, below ``key``.

    Raises:
        ZugwerkError: a key that the params do not have.
    """
    for name, value in differences.items():
        if name not in tree:
            raise ZugwerkError(f"{source}: {key}{name}: params.yaml has no such key")
        if isinstance(value, dict) and isinstance(tree[name], dict) and key + name not in GIVEN_WHOLE:
            merge(tree[name], value, source, f"{key}{name}.")
        else:
            tree[name] = value


def round_trip_yaml() -> Any:
    """A reader and writer of params.yaml that keeps comments, order and quotes."""
    from ruamel.yaml import YAML

    yaml = YAML()
    yaml.width = 120
    yaml.indent(mapping=2, sequence=4, offset=2)
    yaml.representer.add_representer(type(None), lambda to, _: to.represent_scalar("tag:yaml.org,2002:null", "null"))
    yaml.preserve_quotes = True  # without quotes, a player's text in a flow mapping is no YAML to DVC
    return yaml


def _committed(folder: Path) -> str:
    command = ["git", "show", "HEAD:./params.yaml"]
    try:
        return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout  # noqa: S603
    except (OSError, subprocess.CalledProcessError):
        raise ZugwerkError("params.yaml is not the laptop's, and git has no committed one to start from") from None

"""Profiles: the committed params.yaml is the profile laptop; profiles/<name>.yaml have the differences."""

import io
import re
import subprocess
from collections.abc import Mapping
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
    """Write ``params.yaml`` for profile ``name``, comments kept; return lines that say what was done.

    What the present profile sets goes back to the laptop's values, as they were last committed; what the new one sets
    gets its values. All other keys stay as they are.

    Raises:
        ZugwerkError: no such profile, a difference in a key that the laptop does not have, or no laptop values found.
    """
    reader, params = round_trip_yaml(), folder / PARAMS
    known = sorted([LAPTOP, *(path.stem for path in (folder / PROFILES).glob("*.yaml"))])
    if name not in known:
        raise ZugwerkError(f"no profile {name!r}; there are: {', '.join(known)}")
    text = params.read_text(encoding="utf-8")
    tree = reader.load(text)
    present = tree.get("profile")
    if name == present == LAPTOP:
        return f"{params} is the laptop's already"
    if present not in known:
        raise ZugwerkError(f"{params}: profile: {present!r} is none of {', '.join(known)}; name the one it was made of")
    try:
        laptop = reader.load(_committed(folder))
    except ZugwerkError:
        if present != LAPTOP:
            raise
        laptop = reader.load(text)
    before = flat(tree)
    merge(tree, _part(laptop, _differences(present, folder)), f"{params} as committed")
    merge(laptop, _differences(present, folder), _file(present, folder))
    merge(tree, _differences(name, folder), _file(name, folder))
    unedited, after = flat(laptop) | {"profile": present}, flat(tree)
    lost = [key for key, value in before.items() if value != unedited.get(key) and value != after.get(key)]
    tree["profile"] = name
    with written_aside(params) as aside:
        reader.dump(tree, aside)
    done = f"{params} is now the profile {name}; `dvc repro` runs it"
    return "\n".join([done, *(f"replaced, a value of your own: {key}: {before[key]}" for key in lost)])


def merged_text(name: str, folder: Path, text: str | None = None) -> str:
    """Params of a profile other than the laptop's, comments kept; ``text`` is the laptop's, by default the file's.

    Raises:
        ZugwerkError: ``text`` is not the laptop's, or the profile has a key that it does not have.
    """
    reader, params = round_trip_yaml(), folder / PARAMS
    tree = reader.load(params.read_text(encoding="utf-8") if text is None else text)
    if tree.get("profile") != LAPTOP:
        raise ZugwerkError(f"{params} as committed is not the laptop's; restore it before switching profiles")
    merge(tree, _differences(name, folder), _file(name, folder))
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
        if _is_nested(value, tree[name], key + name):
            merge(tree[name], value, source, f"{key}{name}.")
        else:
            tree[name] = None  # or ruamel gives the new text the old one's quotes
            tree[name] = value
        comment = tree.ca.items.get(name) if hasattr(tree, "ca") else None
        if comment and comment[2]:
            comment[2].start_mark.column = 0  # a blank after the new value, not where the old one had it


def round_trip_yaml() -> Any:
    """A reader and writer of params.yaml that keeps comments, order and quotes."""
    from ruamel.yaml import YAML

    yaml = YAML()
    yaml.width = 120
    yaml.indent(mapping=2, sequence=4, offset=2)
    yaml.representer.add_representer(type(None), lambda to, _: to.represent_scalar("tag:yaml.org,2002:null", "null"))
    yaml.preserve_quotes = True  # without quotes, a player's text in a flow mapping is no YAML to DVC
    return yaml


def flat(tree: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """The values in ``tree`` by their whole keys, such as ``crawl.contact``; ``before`` begins each of them."""
    found: dict[str, Any] = {}
    for name, value in tree.items():
        key = f"{before}{name}"
        found |= flat(value, f"{key}.") if isinstance(value, Mapping) else {key: value}
    return found


def _is_nested(difference: Any, value: Any, key: str) -> bool:
    """Whether a profile's ``difference`` of ``key`` names keys within its ``value``, and not all of it."""
    return isinstance(difference, dict) and isinstance(value, dict) and key not in GIVEN_WHOLE


def _part(tree: Any, differences: Any, key: str = "") -> dict[str, Any]:
    """What ``tree`` has of the keys that ``differences`` name."""
    return {
        name: _part(tree[name], value, f"{key}{name}.") if _is_nested(value, tree[name], key + name) else tree[name]
        for name, value in differences.items()
        if name in tree
    }


def _file(name: str, folder: Path) -> str:
    return str(folder / PROFILES / f"{name}.yaml")


def _differences(name: str, folder: Path) -> Any:
    """What a profile's file says; the laptop has none."""
    return {} if name == LAPTOP else round_trip_yaml().load(Path(_file(name, folder)).read_text(encoding="utf-8")) or {}


def _committed(folder: Path) -> str:
    """The text of params.yaml in the last commit that has it as the laptop's: other profiles may be committed, too."""
    try:
        commits = _git(folder, "rev-list", "HEAD", "--", str(PARAMS)).split()
        texts = (_git(folder, "show", f"{commit}:./{PARAMS}") for commit in commits)
        return next(text for text in texts if re.search(rf"^profile: *{LAPTOP}\b", text, re.MULTILINE))
    except (OSError, subprocess.CalledProcessError, StopIteration):
        raise ZugwerkError(f"{PARAMS}: no commit has the laptop's values, which other profiles start from") from None


def _git(folder: Path, *command: str) -> str:
    return subprocess.run(["git", *command], cwd=folder, check=True, capture_output=True, text=True).stdout  # noqa: S603, S607

"""Profiles: profiles/laptop.yaml has all values, as params.yaml at first; the other files contain the differences."""

import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pipeline_src import yaml12
from pipeline_src.errors import ZugwerkError
from pipeline_src.files import written_aside

PARAMS = Path("params.yaml")
PROFILES = Path("profiles")
LAPTOP = "laptop"
GIVEN_WHOLE = (
    *("amazons_models.trained", "amazons_generations", "gomoku_generations", "growing_larger"),
    *("amazons_zero_game.boards", "amazons_zero_self_play.simulations_from", "amazons_zero_train.schedule"),
    *("gomoku_train.schedule", "growing_train.schedule"),
)  # Mappings with items as keys, which a profile replaces as a whole


def profile_names(folder: Path = Path()) -> list[str]:
    """Return the names of all profiles of a project."""
    return sorted({LAPTOP, *(path.stem for path in (folder / PROFILES).glob("*.yaml"))})


def switch_profile(name: str, folder: Path = Path()) -> str:
    """Write ``params.yaml`` for profile ``name``, comments kept; return lines that report the changes.

    Keys that the present profile sets return to the laptop's values; keys that the new profile sets
    get its values. All other keys stay.

    Raises:
        ZugwerkError: the profile is unknown, sets a key that the laptop lacks or a value for a section; or a file is
            missing or no valid YAML. Then nothing is written.
    """
    reader, params, known = round_trip_yaml(), folder / PARAMS, profile_names(folder)
    if not params.is_file():
        raise ZugwerkError(f"{params}: no such file; run in the project's folder")
    if name not in known:
        raise ZugwerkError(f"no profile {name!r}; there are: {', '.join(known)}")
    tree = _sections(params, str(params))
    present = tree.get("profile")
    if name == present == LAPTOP:
        return f"{params} is the laptop's already"
    if present not in known:
        raise ZugwerkError(f"{params}: profile: {present!r} is none of {', '.join(known)}; name the one it was made of")
    laptop = _sections(_laptop(folder), _file(LAPTOP, folder))
    before = flat(tree)
    merge(tree, _part(laptop, _differences(present, folder)), _file(LAPTOP, folder))
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
    """Return the params of a profile as text, comments kept, from ``text`` or params.yaml, which is the laptop's."""
    reader, params = round_trip_yaml(), folder / PARAMS
    tree = _sections(params if text is None else text, str(params))
    if tree.get("profile") != LAPTOP:
        raise ZugwerkError(f"{params} is not the laptop's; `zugwerk profile laptop` makes it so")
    merge(tree, _differences(name, folder), _file(name, folder))
    tree["profile"] = name
    out = io.StringIO()
    reader.dump(tree, out)
    return out.getvalue()


def profile_tree(name: str, folder: Path) -> dict[str, Any]:
    """Return the params of a profile, merged into the laptop's values. Raises ZugwerkError: no such profile."""
    text = _laptop(folder)
    if name != LAPTOP and not (folder / PROFILES / f"{name}.yaml").is_file():
        raise ZugwerkError(f"{folder / PARAMS}: no profile {name!r} in {folder / PROFILES}")
    tree: dict[str, Any] = yaml12.parse(merged_text(name, folder, text), folder / PARAMS)
    return tree


def own_values(folder: Path) -> dict[str, Any]:
    """Return the values in ``params.yaml``, by dotted key, that are not those of its profile.

    A key of the profile that it lacks has a ``~`` in front, as in `dvc exp run -S`, and the value None.

    Raises:
        ZugwerkError: the profile is unknown, or profiles/laptop.yaml is missing.
    """
    from pipeline_src.project.params import read_tree  # here: the help of commands needs no models

    params = read_tree(folder / PARAMS)
    profile = profile_tree(str(params.get("profile")), folder)
    known = flat(profile)
    own = {key: value for key, value in flat(params).items() if key not in known or known[key] != value}
    return own | {f"~{key}": None for key in _lacking(params, profile)}


def _lacking(params: Mapping[str, Any], profile: Mapping[str, Any], before: str = "") -> Iterator[str]:
    """The dotted keys of a profile that some params lack; of a missing mapping its own key alone."""
    for name, value in profile.items():
        if name not in params:
            yield f"{before}{name}"
        elif isinstance(value, Mapping) and isinstance(params[name], Mapping):
            yield from _lacking(params[name], value, f"{before}{name}.")


def merge(tree: Any, differences: Any, source: str, key: str = "") -> None:
    """Merge ``differences`` of ``source`` into params below ``key``. Raises ZugwerkError: no such key or section."""
    for name, value in differences.items():
        if name not in tree:
            raise ZugwerkError(f"{source}: {key}{name}: params.yaml has no such key")
        if isinstance(tree[name], dict) and value is not None and not isinstance(value, dict):  # some may be null
            raise ZugwerkError(f"{source}: {key}{name}: {value!r} for a section of params.yaml; name keys of it")
        if _is_nested(value, tree[name], key + name):
            merge(tree[name], value, source, f"{key}{name}.")
        else:
            tree[name] = None  # or ruamel gives the new text the old one's quotes
            tree[name] = value
        comment = tree.ca.items.get(name) if hasattr(tree, "ca") else None
        if comment and comment[2]:
            comment[2].start_mark.column = 0  # a blank after the new value, not where the old one had it


def round_trip_yaml() -> Any:
    """Return a reader and writer of params.yaml that keeps comments, order and quotes."""
    from ruamel.yaml import YAML

    yaml = YAML()
    yaml.width = 120
    yaml.indent(mapping=2, sequence=4, offset=2)
    yaml.representer.add_representer(type(None), lambda to, _: to.represent_scalar("tag:yaml.org,2002:null", "null"))
    yaml.preserve_quotes = True  # without quotes, a player's text in a flow mapping is no YAML to DVC
    return yaml


def flat(tree: Mapping[str, Any], before: str = "", whole: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the values in ``tree`` by dotted key after ``before``; the mappings of keys in ``whole`` are values."""
    found: dict[str, Any] = {}
    for name, value in tree.items():
        key = f"{before}{name}"
        nested = isinstance(value, Mapping) and key not in whole
        found |= flat(value, f"{key}.", whole) if nested else {key: value}
    return found


def _is_nested(difference: Any, value: Any, key: str) -> bool:
    """Whether a profile's ``difference`` of ``key`` sets keys within its ``value``, not the whole value."""
    return isinstance(difference, dict) and isinstance(value, dict) and key not in GIVEN_WHOLE


def _part(tree: Any, differences: Any, key: str = "") -> dict[str, Any]:
    """Return the part of ``tree`` whose keys ``differences`` has."""
    return {
        name: _part(tree[name], value, f"{key}{name}.") if _is_nested(value, tree[name], key + name) else tree[name]
        for name, value in differences.items()
        if name in tree
    }


def _file(name: str, folder: Path) -> str:
    return str(folder / PROFILES / f"{name}.yaml")


def _differences(name: str, folder: Path) -> Any:
    """Return the content of a profile's file, which may be empty; the laptop has none."""
    return {} if name == LAPTOP else _sections(Path(_file(name, folder)), _file(name, folder), empty={})


def _sections(text: str | Path, source: str, empty: Any = None) -> Any:
    """Return the mapping in a text, or in a file, comments kept; ``empty`` if it has none. Errors name ``source``."""
    from ruamel.yaml.error import YAMLError

    if isinstance(text, Path):
        text = yaml12.text_of(text)
    yaml12.refuse_conflict(text, source)
    try:
        tree = round_trip_yaml().load(text)
    except (YAMLError, ValueError) as error:
        raise ZugwerkError(f"{source}: not valid YAML: {' '.join(str(error).split())}") from None
    tree = empty if tree is None else tree
    if not isinstance(tree, dict):
        found = "nothing" if tree is None else "a list" if isinstance(tree, list) else repr(tree)
        raise ZugwerkError(f"{source}: expected sections with keys, found {found}")
    return tree


def _laptop(folder: Path) -> str:
    try:
        return Path(_file(LAPTOP, folder)).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ZugwerkError(f"{_file(LAPTOP, folder)}: no such file; all other profiles start from its values") from None

"""Read one section of params.yaml into its dataclass, strictly."""

import dataclasses
import types
import typing
from pathlib import Path
from typing import Any

import yaml

from pipeline_src.errors import ZugwerkError

PARAMS_FILE = Path("params.yaml")

T = typing.TypeVar("T")


def load(kind: type[T], section: str, path: Path | str = PARAMS_FILE) -> T:
    """Section ``section`` of a params file as the dataclass ``kind``.

    Raises:
        ZugwerkError: no such file or section, an unknown or missing key, a value of the wrong type, or a value
            that the dataclass' own checks refuse; the message names file and key.
    """
    tree = read_tree(path)
    if section not in tree:
        raise ZugwerkError(f"{path}: section '{section}' is missing")
    return typing.cast(T, build(kind, tree[section], section, str(path)))


def load_value(kind: type[T], key: str, path: Path | str = PARAMS_FILE) -> T:
    """The top-level value ``key`` (seed, torch_threads, profile) of a params file.

    Raises:
        ZugwerkError: missing, or not of type ``kind``.
    """
    tree = read_tree(path)
    if key not in tree:
        raise ZugwerkError(f"{path}: key '{key}' is missing")
    return typing.cast(T, _convert(kind, tree[key], key, str(path)))


def read_tree(path: Path | str = PARAMS_FILE) -> dict[str, Any]:
    """The whole params file as nested dicts.

    Raises:
        ZugwerkError: missing, not YAML, or not a mapping.
    """
    try:
        tree = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ZugwerkError(f"{path}: no such file; run in the project's folder") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # no UTF-8 and endless numbers are ValueErrors
        raise ZugwerkError(f"{path}: not valid YAML: {' '.join(str(error).split())}") from None
    if not isinstance(tree, dict):
        raise ZugwerkError(f"{path}: expected sections with keys, found {type(tree).__name__}")
    return tree


def build(kind: type[Any], values: Any, key: str, path: str) -> Any:
    """Values under ``key`` of a params file as the dataclass ``kind``.

    Raises:
        ZugwerkError: as `load`.
    """
    if not isinstance(values, dict):
        raise ZugwerkError(f"{path}: {key}: expected keys and values, found {values!r}")
    fields = {f.name: f for f in dataclasses.fields(kind)}
    hints = typing.get_type_hints(kind)
    for name in values:
        if name not in fields:
            raise ZugwerkError(f"{path}: {key}.{name}: unknown key; known: {', '.join(fields)}")
    for name, field in fields.items():
        if name not in values and dataclasses.MISSING is field.default is field.default_factory:
            raise ZugwerkError(f"{path}: {key}.{name}: missing")
    built = {name: _convert(hints[name], value, f"{key}.{name}", path) for name, value in values.items()}
    try:
        return kind(**built)
    except ValueError as error:
        raise ZugwerkError(f"{path}: {key}: {error}") from None


def _convert(hint: Any, value: Any, key: str, path: str) -> Any:
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return build(hint, value, key, path)
    if origin in (typing.Union, types.UnionType):
        if value is None and type(None) in args:
            return None
        return _convert(next(a for a in args if a is not type(None)), value, key, path)
    if origin is tuple and isinstance(value, list):
        return tuple(_convert(args[0], v, f"{key}[{i}]", path) for i, v in enumerate(value))
    if origin is dict and isinstance(value, dict):
        return {str(k): _convert(args[1], v, f"{key}.{k}", path) for k, v in value.items()}
    if origin is typing.Literal:
        if value in args:
            return value
        raise ZugwerkError(f"{path}: {key}: {value!r} is not one of {', '.join(map(str, args))}")
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if hint in (int, float, str, bool) and type(value) is hint:
        return value
    raise ZugwerkError(f"{path}: {key}: expected {getattr(hint, '__name__', hint)}, found {value!r}")

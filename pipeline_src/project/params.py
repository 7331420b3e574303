"""Sections of params.yaml and options of players as models: base class, bounds, and messages about wrong values.

Keys are dotted: ``depth_train.models.ours``. `load` reads a section or a part of one, `load_part` some keys of it,
`load_value` a single value. dvc.yaml lists the keys of each stage; `KEYS_READ` has those that a process has read.
Values are not converted: a whole number is also a number, but a text is no number, 1 is not true, and 1.0 is not 1.

`Described` is the base of all pydantic models: these, and the messages of the pages.
"""

import copy
import threading
import types
import typing
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeGuard

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, Strict, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from pipeline_src import yaml12
from pipeline_src.errors import ZugwerkError
from pipeline_src.files import OUTPUTS

if TYPE_CHECKING:
    from pydantic._internal._model_construction import ModelMetaclass
else:
    ModelMetaclass = type(BaseModel)


_ONE_AT_A_TIME = threading.RLock()


class _OneAtATime(ModelMetaclass):
    # Pydantic parses a class's source for the docstrings. Python 3.11 counts the parser's depth for all threads
    # (CPython issue 106905), so two at once end in "SystemError: AST constructor recursion depth mismatch".
    def __new__(cls, *args: Any, **options: Any) -> type:
        with _ONE_AT_A_TIME:
            return super().__new__(cls, *args, **options)


class Described(BaseModel, metaclass=_OneAtATime):
    """An immutable model without other keys than its fields and without NaN; fields' docstrings describe them."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True)


PARAMS_FILE = Path("params.yaml")
CODE_FILE = OUTPUTS / "code.json"  # Digests of the stages' code, which `zugwerk code` writes
MOST_WORKERS = "ZUGWERK_WORKERS"
"""Environment variable with the largest number of processes on this machine, for any params. `zugwerk repro`
divides the cores among the stages that run at the same time."""
KEYS_READ: set[str] = set()  # Keys of params files that this process has read; a key includes all keys below it

T = typing.TypeVar("T")


class Params(Described):
    """Base of all sections; converts no values."""

    model_config = ConfigDict(strict=True)


def _distinct(items: tuple[T, ...]) -> tuple[T, ...]:
    if not items or len(set(items)) < len(items):
        raise ValueError(f"must name at least one, each once, not {list(items)}")
    return items


Count = Annotated[int, Field(ge=1)]
Whole = Annotated[int, Field(ge=0)]
Text = Annotated[str, Field(min_length=1)]
Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]  # SHA-256 in hexadecimal digits
Even = Annotated[int, Field(ge=2, multiple_of=2)]
Positive = Annotated[float, Field(gt=0)]
NonNegative = Annotated[float, Field(ge=0)]
Fraction = Annotated[float, Field(ge=0, le=1)]
BelowOne = Annotated[float, Field(ge=0, lt=1)]
Items = Annotated[tuple[T, ...], Strict(False)]  # YAML has lists
Distinct = Annotated[tuple[T, ...], Strict(False), AfterValidator(_distinct)]
Named = dict[str, T]
WORDS = {int: "whole number", float: "number", str: "text", bool: "true or false"}
BOUNDS = {"multiple_of": "a multiple of", "ge": "at least", "gt": "above", "le": "at most", "lt": "below"}


def load(kind: type[T], key: str, path: Path | str = PARAMS_FILE) -> T:
    """The section at ``key`` of a params file, or a part of one, as the model ``kind``.

    Raises:
        ZugwerkError: no such file or key, an unknown or missing key, a value of the wrong type or out of its
            bounds, or values that do not go together; the message names file and key.
    """
    return build(kind, read_value(key, path), key, str(path))


def load_part(kind: type[T], key: str, path: Path | str = PARAMS_FILE, names: Iterable[str] | None = None) -> T:
    """Some keys of a section as a model: ``names``, by default all its own; others are not read. Raises as `load`."""
    section = _found(key, path)
    wanted = set(typing.cast(type[BaseModel], kind).model_fields if names is None else names)
    KEYS_READ.update(f"{key}.{name}" for name in wanted)
    part = {name: section[name] for name in wanted & section.keys()} if isinstance(section, dict) else section
    return build(kind, part, key, str(path))


def load_value(kind: type[T], key: str, path: Path | str = PARAMS_FILE) -> T:
    """A single value of a params file, such as ``seed``. Raises ZugwerkError: missing, or not of type ``kind``."""
    return build(typing.cast(type[T], Annotated[kind, Strict()]), read_value(key, path), key, str(path))


def read_value(key: str, path: Path | str = PARAMS_FILE) -> Any:
    """The value at ``key`` of a params file, unchecked. Raises ZugwerkError: no such file or key."""
    KEYS_READ.add(key)
    return _found(key, path)


def _found(key: str, path: Path | str) -> Any:
    value = at(read_tree(path), key, missing := object())
    if value is missing:
        raise ZugwerkError(f"{path}: '{key}' is missing")
    return value


def at(tree: Any, key: str, missing: Any = None) -> Any:
    """The value at a dotted key in nested mappings; ``missing`` if there is none."""
    for part in key.split("."):
        if not isinstance(tree, Mapping) or part not in tree:
            return missing
        tree = tree[part]
    return tree


def read_tree(path: Path | str = PARAMS_FILE) -> dict[str, Any]:
    """The whole params file as nested dicts. Raises ZugwerkError: missing, no mapping, or refused by `yaml12.read`."""
    try:
        tree = copy.deepcopy(_parsed(yaml12.text_of(path), str(path)))
    except FileNotFoundError:
        raise ZugwerkError(f"{path}: no such file; run in the project's folder") from None
    if not isinstance(tree, dict):
        raise ZugwerkError(f"{path}: expected sections with keys, found {type(tree).__name__}")
    return tree


@lru_cache(maxsize=1)
def _parsed(text: str, path: str) -> Any:
    """The YAML in a text; the last one is kept, since a stage reads many keys of one file."""
    return yaml12.parse(text, path)


def build(kind: type[T], values: Any, key: str, path: str) -> T:
    """Values under ``key`` of a params file as the model ``kind``. Raises ZugwerkError: as `load`."""
    try:
        return TypeAdapter(kind).validate_python(values)
    except ValidationError as error:
        raise ZugwerkError(f"{path}: {_complaint(first_fault(kind, error), key)}") from None


@dataclass(frozen=True)
class Fault:
    """One wrong value and its key."""

    error: str  # Pydantic's name of the error
    owner: str  # Key of the innermost model around the value, a dot before each name
    name: str  # Key of the value in there, likewise; empty where the model itself is wrong
    known: tuple[str, ...]  # The fields of that model
    kind: Any  # The type that the value should have
    value: Any
    refusal: str
    """Why a value of this type is refused, ``must be at least 1``, or of a model a whole sentence; else empty."""


def first_fault(kind: Any, error: ValidationError) -> Fault:
    """The fault that is reported: an unknown key, else a missing one, else the first that pydantic found."""
    order = {"extra_forbidden": 0, "invalid_key": 0, "missing": 1}
    found = min(error.errors(include_url=False), key=lambda one: order.get(one["type"], 2))
    (kind, bounds), owner, name, known = unwrapped(kind), "", "", tuple[str, ...]()
    for part in found["loc"]:
        if is_model(kind):
            owner, name, known = owner + name, f".{part}", tuple(kind.model_fields)
            field = kind.model_fields.get(str(part))
            kind, bounds = (None, {}) if field is None else unwrapped(field.annotation, field.metadata)
        else:
            name += f"[{part}]" if typing.get_origin(kind) is tuple else f".{part}"
            kind, bounds = unwrapped(typing.get_args(kind)[typing.get_origin(kind) is dict])
    if is_model(kind) and found["type"] != "missing":
        owner, name = owner + name, ""
    return Fault(found["type"], owner, name, known, kind, found["input"], _refusal(found, bounds))


def _refusal(found: Mapping[str, Any], bounds: Mapping[str, float]) -> str:
    if found["type"] == "value_error":
        return str(found["ctx"]["error"])
    if found["type"] == "too_short":
        least = found["ctx"]["min_length"]
        return f"must name at least {'one' if least == 1 else least}, not {found['ctx']['actual_length']}"
    if found["type"] == "string_too_short":
        return "must not be empty"
    if found["type"] == "finite_number" or set(BOUNDS) & set(found.get("ctx", {})):
        return f"must be {bound_words(bounds) or 'finite'}, not {found['input']!r}"
    return ""


def _complaint(fault: Fault, key: str) -> str:
    """A fault below ``key`` of a file, in words."""
    if fault.refusal:
        return f"{key}{fault.owner}: {f'{fault.name[1:]} {fault.refusal}'.strip()}"
    where = f"{key}{fault.owner}{fault.name}"
    if fault.error in ("extra_forbidden", "invalid_key"):
        return f"{where}: unknown key; known: {', '.join(fault.known)}"
    if fault.error == "missing":
        return f"{where}: missing"
    if fault.error == "literal_error":
        return f"{where}: {fault.value!r} is not one of {', '.join(map(str, typing.get_args(fault.kind)))}"
    many = is_model(fault.kind) or typing.get_origin(fault.kind) is dict
    expected = "keys and values" if many else "list" if typing.get_origin(fault.kind) is tuple else fault.kind.__name__
    return f"{where}: expected {expected}, found {fault.value!r}"


def is_model(kind: Any) -> TypeGuard[type[BaseModel]]:
    """Whether a type is a model."""
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def unwrapped(hint: Any, metadata: Iterable[Any] = ()) -> tuple[Any, dict[str, float]]:
    """A type without `Annotated` and None around it, and those of `BOUNDS` that stood there."""
    if typing.get_origin(hint) is Annotated:
        inner, *more = typing.get_args(hint)
        return unwrapped(inner, [*metadata, *more])
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return unwrapped(next(a for a in typing.get_args(hint) if a is not type(None)), metadata)
    flat = [bound for one in metadata for bound in (one.metadata if isinstance(one, FieldInfo) else [one])]
    return hint, {name: value for one in flat for name in BOUNDS if (value := getattr(one, name, None)) is not None}


def bound_words(bounds: Mapping[str, float]) -> str:
    """Bounds in words, such as ``at least 1``."""
    if bounds.keys() == {"ge", "le"}:
        return f"{bounds['ge']:.12g} to {bounds['le']:.12g}"
    words = [f"{words} {bounds[name]:.12g}" for name, words in BOUNDS.items() if name in bounds]
    return " and ".join("even" if one == "a multiple of 2" else one for one in words)


def sentence(text: str | None) -> str:
    """Return the first sentence of a docstring on one line, without reST's double backticks."""
    words = " ".join((text or "").split("\n\n")[0].split()).replace("``", "`")
    return words if words.endswith((".", ")")) or not words else words + "."


def type_words(field: FieldInfo) -> str:
    """Return type and bounds of a field, such as ``whole number, at least 1``."""
    return _type(field.annotation, field.metadata)


def _type(hint: Any, metadata: Iterable[Any] = ()) -> str:
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return f"{_type(next(a for a in typing.get_args(hint) if a is not type(None)), metadata)} or null"
    kind, bounds = unwrapped(hint, metadata)
    if typing.get_origin(kind) is typing.Literal:
        return ", ".join(f"`{choice}`" for choice in typing.get_args(kind))
    if typing.get_origin(kind) is tuple:
        item = typing.get_args(kind)[0]
        return "list" if is_model(item) else f"list of {_type(item)}"
    if typing.get_origin(kind) is dict:
        return "mapping"
    return ", ".join(filter(None, [WORDS[kind], bound_words(bounds)]))

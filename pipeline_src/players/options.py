"""Options of players as models, read from a text such as ``alphabeta:depth=3,width=20`` and validated."""

import typing
from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar

from pydantic import ValidationError

from pipeline_src.errors import ZugwerkError
from pipeline_src.players.player import PlayerText
from pipeline_src.project.params import Fault, Params, first_fault, unwrapped


class Options(Params):
    """Base of the options of all players. A player is made by a function that takes an instance of a subclass.

    A field is an option ``name=setting``. A field that is a dict takes all options ``name.KEY=setting``.
    """

    EXAMPLE: ClassVar[str] = ""
    """Example of a player's text."""
    VALUE: ClassVar[str] = ""
    """Name of the field for the value after the colon that has no key; empty if none is allowed."""
    ALIASES: ClassVar[Mapping[str, str]] = {}
    """Other names of options, with the field that each sets."""
    VARIANTS: ClassVar[tuple[str, ...]] = ()
    """Further texts, of players that call other kernels than the default one; used by `players.warm`."""


T = TypeVar("T", bound=Options)


def read_options(kind: type[T], text: PlayerText) -> T:
    """Read the options of a player's text.

    Raises:
        ZugwerkError: an option is unknown, given twice under two names, missing, of the wrong type or out of bounds, or
            two options exclude each other.
    """
    player = f"player '{text.name}'"
    if text.value and not kind.VALUE:
        raise ZugwerkError(f"{player} takes no {text.value!r} after the colon")
    value = text.raw if kind.VALUE == "command" else text.value
    values: dict[str, Any] = {kind.VALUE: _read(kind, kind.VALUE, value)} if text.value else {}
    written: dict[str, str] = {}
    for key, setting in text.options.items():
        name, _, inner = kind.ALIASES.get(key, key).partition(".")
        if name not in kind.model_fields or name == kind.VALUE or _is_mapping(kind, name) != bool(inner):
            known = ", ".join(option_names(kind)) or "none"
            raise ZugwerkError(f"{player} has no option {key!r}; its options: {known}")
        if inner:
            values.setdefault(name, {})[inner] = setting
        elif name in written:
            raise ZugwerkError(f"{player}: {written[name]} and {key} are one option; give one of them")
        else:
            values[name], written[name] = _read(kind, name, setting), key
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        raise ZugwerkError(f"{player}{_complaint(kind, first_fault(kind, error), written)}") from None


def option_names(kind: type[Options]) -> list[str]:
    """Return the names of the options that have a key."""
    return [f"{name}.KEY" if _is_mapping(kind, name) else name for name in kind.model_fields if name != kind.VALUE]


def _is_mapping(kind: type[Options], name: str) -> bool:
    return typing.get_origin(unwrapped(kind.model_fields[name].annotation)[0]) is dict


def _read(kind: type[Options], name: str, setting: str) -> Any:
    """Return a setting as a value of its field's type, or unchanged if it cannot be converted."""
    wanted, _ = unwrapped(kind.model_fields[name].annotation)
    if wanted is bool:
        return {"0": False, "1": True}.get(setting, setting)
    if wanted not in (int, float):
        return setting
    try:
        number = float(setting)
    except ValueError:
        return setting
    return int(number) if wanted is int and number.is_integer() else number


def _complaint(kind: type[Options], fault: Fault, written: Mapping[str, str]) -> str:
    name = fault.name.removeprefix(".")
    key = written.get(name, name)
    if fault.error == "missing":
        return f" needs a {name}, as in {kind.EXAMPLE}"
    if fault.refusal:
        return f": {f'{key} {fault.refusal}'.strip()}"
    if fault.error == "literal_error":
        return f": {key} is one of {', '.join(typing.get_args(fault.kind))}, not {fault.value!r}"
    if fault.kind is bool:
        return f": {key} must be 0 or 1, not {fault.value!r}"
    if isinstance(fault.value, float):
        return f": {key} must be a whole number, not {fault.value:.15g}"
    return f": {key}={fault.value!r} is not a number"

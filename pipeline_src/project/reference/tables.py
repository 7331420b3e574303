"""Markdown tables, and the words in their cells."""

import types
import typing
from collections.abc import Iterable, Sequence
from typing import Any

import yaml
from pydantic.fields import FieldInfo

from pipeline_src.project.params import bound_words, is_model, unwrapped

NOTE = "<!-- Written by `make docs` from the code; edit that. -->"
WORDS = {int: "whole number", float: "number", str: "text", bool: "true or false"}


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a table; bars inside cells are escaped."""
    lines = [list(head), ["---"] * len(head), *map(list, rows)]
    return ["| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |" for line in lines]


def code(text: str) -> str:
    """Return text as code; empty text stays empty."""
    return f"`{text}`" if text else ""


def value_code(value: Any) -> str:
    """Return a value of params.yaml as code."""
    text = yaml.safe_dump(value, default_flow_style=True, width=10_000, sort_keys=False).strip()
    return code(text.removesuffix("...").strip())


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
        return ", ".join(code(str(choice)) for choice in typing.get_args(kind))
    if typing.get_origin(kind) is tuple:
        item = typing.get_args(kind)[0]
        return "list" if is_model(item) else f"list of {_type(item)}"
    if typing.get_origin(kind) is dict:
        return "mapping"
    return ", ".join(filter(None, [WORDS[kind], bound_words(bounds)]))

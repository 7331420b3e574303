"""The page of params.yaml: every key with its type, its value in each profile, and what it means."""

import dataclasses
import inspect
import types
import typing
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from pipeline_src.project.profile import LAPTOP, PARAMS, PROFILES, merged_text, round_trip_yaml
from pipeline_src.project.reference.sections import SECTIONS, attribute_docs
from pipeline_src.project.reference.tables import NOTE, code, sentence, table

INTRO = f"""# params.yaml

{NOTE}

Every choice of the graph is a key of `params.yaml`; the file as committed is the profile `laptop`. Columns of other
profiles show what differs from it, an empty cell is the same value; a section that another profile changes has a
column for it too. `zugwerk profile NAME` writes a profile into the file, `dvc exp run -S KEY=VALUE` changes single
keys over it, such as `-S amazons_train.width=0.5`. An unknown key, a wrong type or a value out of range is an error
that names the key. In names, *NAME* stands for a name of your own.

"""
SHOWN = (LAPTOP, "smoke", "paper")
"""Profiles that have a column everywhere; others where they differ."""
TOP = {
    "profile": (str, "Which profile this is; changes nothing by itself."),
    "seed": (int, "Of everything that is drawn."),
    "torch_threads": (int, "Threads of torch on the CPU; another number may change the last bits of what is trained."),
}
MANY = 12
ABSENT = object()


def params_page(folder: Path = Path()) -> str:
    """The page's text, for the params.yaml and the profiles of ``folder``.

    Raises:
        ZugwerkError: params.yaml is not the laptop's.
    """
    names = [path.stem for path in sorted((folder / PROFILES).glob("*.yaml"))]
    trees = {LAPTOP: yaml.safe_load((folder / PARAMS).read_text(encoding="utf-8"))}
    trees |= {name: yaml.safe_load(merged_text(name, folder)) for name in [*SHOWN[1:], *names] if name in names}
    comments = _comments(round_trip_yaml().load((folder / PARAMS).read_text(encoding="utf-8")))
    readers = _readers(folder / "dvc.yaml")
    lines = [
        *INTRO.splitlines(),
        "| sections | of |",
        "| --- | --- |",
        *_contents(trees[LAPTOP]),
        "",
        "## All systems",
        "",
    ]
    tops = [Row(name, *about, {p: tree[name] for p, tree in trees.items()}) for name, about in TOP.items()]
    lines += _table(tops, [*trees])
    for name, kind in SECTIONS.items():
        values = {profile: tree[name] for profile, tree in trees.items()}
        about = comments.get(name, "") or sentence(None if _is_mapping(kind) else inspect.getdoc(kind))
        columns = [p for p in trees if p in SHOWN or values[p] != values[LAPTOP]]
        rows = list(_rows(kind, "", "", values, comments, name))
        stages = ", ".join(code(stage) for stage in readers.get(name, []))
        read = f"Read by {stages}." if stages else "No stage of the graph depends on it."
        lines += ["", f"## {name}", "", f"{sentence(_upper(about))} {read}", "", *_table(rows, columns)]
    return "\n".join(lines) + "\n"


@dataclasses.dataclass(frozen=True)
class Row:
    """A key: its type, its meaning, and its value in each profile."""

    name: str
    kind: Any
    meaning: str
    values: Mapping[str, Any]


def _contents(tree: Mapping[str, Any]) -> list[str]:
    systems: dict[str, list[str]] = {}
    for name in tree:
        if name in SECTIONS:
            systems.setdefault(name.split("_")[0] if "_" in name else "all systems", []).append(f"[{name}](#{name})")
    return [f"| {' '.join(links)} | {system} |" for system, links in systems.items()]


def _readers(path: Path) -> dict[str, list[str]]:
    """The stages that list a section, or part of it, among their params in dvc.yaml."""
    found: dict[str, list[str]] = {}
    for stage, definition in yaml.safe_load(path.read_text(encoding="utf-8"))["stages"].items():
        listed = definition.get("do", definition).get("params", [])
        for section in dict.fromkeys(str(key).split(".")[0] for key in listed):
            found.setdefault(section, []).append(stage)
    return found


def _rows(
    kind: Any, key: str, meaning: str, values: Mapping[str, Any], comments: Mapping[str, str], path: str
) -> Iterator[Row]:
    """The row of a key, or the rows of what is in it."""
    kind = _without_none(kind)
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        hints, texts = typing.get_type_hints(kind), attribute_docs(kind)
        for field in dataclasses.fields(kind):
            inner = {p: v.get(field.name, ABSENT) if isinstance(v, dict) else ABSENT for p, v in values.items()}
            if all(value is ABSENT for value in inner.values()) and field.default is not dataclasses.MISSING:
                inner = dict.fromkeys(inner, field.default)
            below = f"{path}.{field.name}"
            words = _meaning(texts.get(field.name, ""), comments.get(below, ""))
            yield from _rows(hints[field.name], f"{key}{field.name}.", words, inner, comments, below)
        return
    if _is_mapping(kind):
        item = typing.get_args(kind)[1]
        name = key or "*NAME*."
        if dataclasses.is_dataclass(item):
            hints, texts = typing.get_type_hints(item), attribute_docs(typing.cast(type, item))
            if meaning:
                yield Row(key.rstrip("."), kind, meaning, {})
            for field in dataclasses.fields(item):
                words = _meaning(texts.get(field.name, ""), "")
                yield Row(f"{key}*NAME*.{field.name}", hints[field.name], words, {})
        elif meaning:
            yield Row(name.rstrip("."), kind, meaning, {})
        yield from _entries(key, values)
        return
    yield Row(key.rstrip("."), kind, meaning, values)


def _entries(key: str, values: Mapping[str, Any]) -> Iterator[Row]:
    """A row an entry of a mapping, or one for all where they are many."""
    names = list(dict.fromkeys(name for value in values.values() if isinstance(value, dict) for name in value))
    if len(names) > MANY:
        spans = {p: f"{next(iter(v))} to {next(reversed(v))}" for p, v in values.items()}
        yield Row(f"{key}*NAME*", None, "", {p: Shown(text) for p, text in spans.items()})
        return
    for name in names:
        yield Row(f"{key}{name}", None, "", {p: v.get(name, ABSENT) for p, v in values.items()})


class Shown(str):
    """Text that is shown as it stands."""


def _table(rows: list[Row], columns: list[str]) -> list[str]:
    cells = []
    for row in rows:
        own = row.values.get(LAPTOP, ABSENT)
        others = [_difference(own, row.values.get(p, own)) for p in columns[1:]]
        cells.append([_name(row.name), _type(row.kind), _value(own), *others, row.meaning])
    return table(["key", "type", *columns, "meaning"], cells)


def _name(name: str) -> str:
    return "".join(
        part if part == "*NAME*" else code(part) for part in name.replace("*NAME*", "\0*NAME*\0").split("\0")
    )


def _difference(own: Any, other: Any) -> str:
    if other is own or other == own:
        return ""
    if isinstance(own, dict) and isinstance(other, dict):
        other = {key: value for key, value in other.items() if own.get(key, ABSENT) != value}
    return "none" if other is ABSENT else _value(other)


def _value(value: Any) -> str:
    if value is ABSENT:
        return ""
    if isinstance(value, Shown):
        return code(value)
    text = yaml.safe_dump(value, default_flow_style=True, width=10_000, sort_keys=False).strip()
    return code(text.removesuffix("...").strip())


def _type(kind: Any) -> str:
    if kind is None:
        return ""
    if typing.get_origin(kind) in (typing.Union, types.UnionType):
        return f"{_type(_some(kind))} or null"
    if typing.get_origin(kind) is typing.Literal:
        return ", ".join(code(str(choice)) for choice in typing.get_args(kind))
    if typing.get_origin(kind) is tuple:
        item = typing.get_args(kind)[0]
        return "list" if dataclasses.is_dataclass(item) else f"list of {_type(item)}"
    if _is_mapping(kind):
        return "mapping"
    return {int: "whole number", float: "number", str: "text", bool: "true or false"}[kind]


def _is_mapping(kind: Any) -> bool:
    return typing.get_origin(kind) is dict


def _without_none(kind: Any) -> Any:
    if typing.get_origin(kind) not in (typing.Union, types.UnionType):
        return kind
    return _some(kind) if _is_mapping(_some(kind)) else kind


def _some(kind: Any) -> Any:
    """The type beside None in a union."""
    return next(a for a in typing.get_args(kind) if a is not type(None))


def _meaning(text: str, comment: str) -> str:
    """The attribute's docstring, and of the comment in params.yaml what it says of the published value."""
    if not text:
        return _noted(comment) if "published" in comment or " | " not in comment else ""
    parts = comment.split("; ")
    said = next((i for i, part in enumerate(parts) if "published" in part and "{" not in part), len(parts))
    known = "published" in text or "paper" in text
    return text if known else " ".join(filter(None, [text, _noted("; ".join(parts[said:]))]))


def _noted(comment: str) -> str:
    """A comment as a sentence; a list of choices as it is."""
    return comment if " | " in comment else sentence(_upper(comment))


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def _comments(tree: Any, key: str = "") -> dict[str, str]:
    """The comment at the end of each key's line, by dotted key."""
    found = {}
    for name, value in tree.items():
        token = tree.ca.items.get(name)
        after = next((t for t in (token or []) if t is not None and not isinstance(t, list)), None)
        if isinstance(token, list) and after is None:
            after = next((t[0] for t in token if isinstance(t, list) and t), None)
        text = after.value.split("\n")[0].strip() if after is not None else ""
        if text.startswith("#"):
            found[f"{key}{name}"] = text.lstrip("# ")
        if hasattr(value, "ca") and hasattr(value, "items"):
            found |= _comments(value, f"{key}{name}.")
    return found

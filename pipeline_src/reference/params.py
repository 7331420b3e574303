"""The page of params.yaml: every key with its type, its value in each profile, and its meaning."""

import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pipeline_src import yaml12
from pipeline_src.project.params import is_model, read_tree, sentence, type_words, unwrapped
from pipeline_src.project.profile import LAPTOP, PARAMS, PROFILES, merged_text
from pipeline_src.reference.sections import SECTIONS, TopLevel, about
from pipeline_src.reference.tables import NOTE, code, table, value_code

INTRO = f"""# params.yaml

{NOTE}

The committed `params.yaml` is the profile `laptop`. `zugwerk profile NAME` writes another one to the file; keys that
profiles do not name, such as `crawl.contact`, stay as you set them. `dvc exp run -S KEY=VALUE` changes single keys,
such as `-S amazons_train.width=0.5`. An unknown key, a wrong type or a value out of range is an error that names the
key; editors with a YAML language server report it as you type.

A value is the laptop's; those of profiles with another one follow, each behind its profile's name. A count is a whole
number, at least 1. *NAME* in a key stands for a name of your own. [What runs again](graph.md) names the stages that
depend on each key.

"""
FIRST = (LAPTOP, "smoke", "paper")
"""Profiles whose values come first."""
ALIKE = 3
"""Number of keys shared with an earlier section at which what is equal there is not repeated."""
COUNT = "whole number, at least 1"
"""The most frequent type, which the page calls a count."""
MANY = 12
"""Number of entries of a mapping above which all share one row."""
ABSENT = object()


@dataclass(frozen=True)
class Row:
    """A key with its type, its meaning and its value in each profile."""

    name: str
    type: str
    meaning: str
    values: Mapping[str, Any]


class Shown(str):
    """Text that is shown unchanged."""


def params_page(folder: Path = Path()) -> str:
    """Return the page's text, for the params.yaml and the profiles of ``folder``.

    Raises:
        ZugwerkError: params.yaml is not the laptop's.
    """
    names = [path.stem for path in sorted((folder / PROFILES).glob("*.yaml"))]
    trees = {LAPTOP: read_tree(folder / PARAMS)}
    trees |= {name: yaml12.parse(merged_text(name, folder), name) for name in [*FIRST[1:], *names] if name in names}
    sections = [name for name in trees[LAPTOP] if name in SECTIONS]
    tops = {profile: {key: tree[key] for key in TopLevel.model_fields} for profile, tree in trees.items()}
    lines = [*INTRO.splitlines(), *table(["sections", "of"], _contents(sections)), "", "## All systems", ""]
    lines += _table(list(_rows(TopLevel, "", tops)))
    earlier: dict[str, list[Row]] = {}
    for name in sections:
        kind = SECTIONS[name]
        values = {profile: tree[name] for profile, tree in trees.items()}
        whole = list(_rows(kind, "", values))
        same, rows = _without_repeats(whole, earlier)
        earlier[name] = whole
        same = f" Keys without a type or a row are as in [{same}](#{same})." if same else ""
        lines += ["", f"## {name}", "", f"{sentence(about(kind))}{same}", "", *_table(rows)]
    return "\n".join(lines) + "\n"


def _without_repeats(rows: list[Row], earlier: Mapping[str, list[Row]]) -> tuple[str, list[Row]]:
    """Return the earlier section that shares most keys, and the rows without what stands there; empty for few."""
    shared = {name: {_words(row) for row in rows if row.type} & {*map(_words, old)} for name, old in earlier.items()}
    name = max(shared, key=lambda one: len(shared[one]), default="")
    if not name or len(shared[name]) < ALIKE:
        return "", rows
    values = {_words(row): row.values for row in earlier[name]}
    left = [row for row in rows if _words(row) not in shared[name] or row.values != values[_words(row)]]
    return name, [replace(row, type="", meaning="") if _words(row) in shared[name] else row for row in left]


def _words(row: Row) -> tuple[str, str, str]:
    return row.name, row.type, row.meaning


def _contents(sections: list[str]) -> list[tuple[str, str]]:
    systems: dict[str, list[str]] = {}
    for name in sections:
        systems.setdefault(name.split("_")[0] if "_" in name else "all systems", []).append(f"[{name}](#{name})")
    return [(" ".join(links), system) for system, links in systems.items()]


def _rows(kind: Any, key: str, values: Mapping[str, Any]) -> Iterator[Row]:
    """Return the rows of the keys in a model or mapping below ``key``, with the values of each profile."""
    if typing.get_origin(kind) is dict:
        item = typing.get_args(kind)[1]
        for name, field in getattr(item, "model_fields", {}).items():
            yield Row(f"{key}*NAME*.{name}", type_words(field), sentence(field.description), {})
        yield from _entries(key, values)
        return
    for name, field in kind.model_fields.items():
        default = field.default.model_dump() if is_model(type(field.default)) else field.default
        inner = {p: v.get(name, default) if isinstance(v, dict) else ABSENT for p, v in values.items()}
        below, _ = unwrapped(field.annotation)
        mapping = typing.get_origin(below) is dict
        if not is_model(below):
            yield Row(f"{key}{name}", type_words(field), sentence(field.description), {} if mapping else inner)
        if is_model(below) or mapping:
            yield from _rows(below, f"{key}{name}.", inner)


def _entries(key: str, values: Mapping[str, Any]) -> Iterator[Row]:
    """Return a row for each entry of a mapping, or one for all if there are many."""
    names = list(dict.fromkeys(name for value in values.values() if isinstance(value, dict) for name in value))
    if len(names) > MANY:
        spans = {p: f"{next(iter(v))} to {next(reversed(v))}" for p, v in values.items()}
        yield Row(f"{key}*NAME*", "", "", {p: Shown(text) for p, text in spans.items()})
        return
    for name in names:
        yield Row(f"{key}{name}", "", "", {p: v.get(name, ABSENT) for p, v in values.items()})


def _table(rows: list[Row]) -> list[str]:
    cells = [[_name(r.name), r.type.replace(COUNT, "count"), _values(r.values), r.meaning] for r in rows]
    return table(["key", "type", "value", "meaning"], cells)


def _values(values: Mapping[str, Any]) -> str:
    """Return the laptop's value, and the others with their profiles."""
    if not values:
        return ""
    own, others = values[LAPTOP], dict[str, list[str]]()
    for profile, value in values.items():
        if value is not own and value != own:
            others.setdefault(_value(_difference(own, value)), []).append(profile)
    return "; ".join([_value(own), *(f"{', '.join(names)} {text}" for text, names in others.items())])


def _name(name: str) -> str:
    return "".join(
        part if part == "*NAME*" else code(part) for part in name.replace("*NAME*", "\0*NAME*\0").split("\0")
    )


def _difference(own: Any, other: Any) -> Any:
    """Return the other value, without what two mappings have in common."""
    if isinstance(own, dict) and isinstance(other, dict):
        return {key: value for key, value in other.items() if own.get(key, ABSENT) != value}
    return other


def _value(value: Any) -> str:
    if value is ABSENT:
        return "none"
    return code(value) if isinstance(value, Shown) else value_code(value)

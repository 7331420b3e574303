"""The public surface, a line for each name that users write: params, commands, players, Python API, columns, messages.

``tests/released/VERSION/surface.txt`` keeps the lines of a release. Semantic versioning is about these names: a line
that is gone or changed breaks somebody's file, command or notebook.
"""

import importlib
import inspect
from collections.abc import Iterator
from typing import Any

import typer

ROOMS = ("games", "records", "search", "players", "arena")
"""Packages that offer names at their top."""
STARRED = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def surface() -> list[str]:
    """Return the lines, sorted; each is a kind, a name and what it takes or is."""
    return sorted({*_params(), *_commands(), *_players(), *_api(), *_columns(), *_messages()})


def _params() -> Iterator[str]:
    from pipeline_src.reference.stage_code import json_schema

    schema = json_schema()

    def below(node: dict[str, Any], key: str) -> Iterator[str]:
        node = schema["$defs"][node["$ref"].rpartition("/")[2]] if "$ref" in node else node
        for name, inner in node.get("properties", {}).items():
            yield from below(inner, f"{key}.{name}" if key else name)
        items = node.get("additionalProperties")
        if isinstance(items, dict):
            yield from below(items, f"{key}.*")
        if key and "properties" not in node and not isinstance(items, dict):
            yield f"param {key} {_kind(node)}"

    yield from below(schema, "")


def _kind(schema: dict[str, Any]) -> str:
    """A JSON schema in a few words, without its bounds, which may widen."""
    if "$ref" in schema:
        return str(schema["$ref"].rpartition("/")[2])
    for several in ("anyOf", "oneOf"):
        if several in schema:
            return "|".join(sorted({_kind(one) for one in schema[several]}))
    if "enum" in schema or "const" in schema:
        return "|".join(sorted(map(str, schema.get("enum", [schema.get("const")]))))
    kind = str(schema.get("type", "any"))
    return f"{kind}[{_kind(schema.get('items', {}))}]" if kind == "array" else kind


def _commands() -> Iterator[str]:
    from pipeline_src.cli.app import app

    def below(command: Any, name: str) -> Iterator[str]:
        yield f"command {name}"
        for one in command.params:
            if "--help" not in one.opts:
                words = one.opts if one.param_type_name == "option" else [one.name.upper()]
                yield from (f"command {name} {word}" for word in words)
        for inner in getattr(command, "commands", {}).values():
            yield from below(inner, f"{name} {inner.name}")

    yield from below(typer.main.get_command(app), "zugwerk")


def _players() -> Iterator[str]:
    from pipeline_src.players.registry import listed

    for player in listed():
        yield f"player {player.game} {player.name}"
        yield from (f"player {player.game} {player.name}:{option.name}" for option in player.options)


def _api() -> Iterator[str]:
    for room in ROOMS:
        package = importlib.import_module(f"pipeline_src.{room}")
        for name in package.__all__:
            thing = getattr(package, name)
            yield f"name {package.__name__}.{name}{_arguments(thing)}"
            if inspect.isclass(thing):
                for own, member in sorted(vars(thing).items()):
                    if not own.startswith("_"):
                        yield f"name {package.__name__}.{name}.{own}{_arguments(member)}"


def _arguments(thing: Any) -> str:
    """Names of arguments; in brackets those that may be left out."""
    if not callable(thing) or getattr(thing, "_is_protocol", False):
        return ""
    try:
        parameters = inspect.signature(thing).parameters.values()
    except (TypeError, ValueError):
        return "(...)"
    words = (f"*{one.name}" if one.kind in STARRED else one.name for one in parameters)
    shown = (word if one.default is one.empty else f"[{word}]" for word, one in zip(words, parameters, strict=True))
    return f"({', '.join(shown)})"


def _columns() -> Iterator[str]:
    from pipeline_src.records import raw, record

    for name, schema in (("games", record.schema()), ("pages", raw.schema()), ("rejects", record.rejects_schema())):
        yield from (f"column {name}.{field.name} {field.type}" for field in schema)


def _messages() -> Iterator[str]:
    from pipeline_src.web.app import create_app
    from pipeline_src.web.settings import Settings

    found = create_app(Settings()).openapi()
    for path, methods in found["paths"].items():
        yield from (f"route {method.upper()} {path}" for method in methods)
    for name, schema in found["components"]["schemas"].items():
        if name not in ("HTTPValidationError", "ValidationError"):
            fields = schema.get("properties", {}).items()
            yield from (f"message {name}.{field} {_kind(about)}" for field, about in fields)


if __name__ == "__main__":
    print(*surface(), sep="\n")  # noqa: T201

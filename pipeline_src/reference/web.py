"""The page of the interface of `zugwerk web`: routes, the WebSocket of a game, all messages."""

import re
from collections.abc import Iterator
from typing import Any

from pydantic.json_schema import models_json_schema

from pipeline_src.project.params import sentence
from pipeline_src.reference.tables import NOTE, code, table
from pipeline_src.web.app import create_app
from pipeline_src.web.incoming import A_SECOND, BURST, FLOOD
from pipeline_src.web.messages.analyse import AnalysisRequest, AnalysisState, PlyAnalysis, Thinking, ThinkRequest
from pipeline_src.web.messages.play import Act, GameMessage, Problem, ThoughtMessage
from pipeline_src.web.play import BUSY, GONE, MOST_TABS, SLOW
from pipeline_src.web.settings import HOST, PORT, Settings

INTRO = f"""# The server of the pages

{NOTE}

`zugwerk web` listens at `http://{HOST}:{PORT}`; `--port` and `--host` change that. The pages use what follows, and so
can a client of your own: requests and answers are JSON, `GET /api/openapi.json` has the same as a schema. An answer
whose status is not 2xx is `{{"error": TEXT}}`: 400 and 422 for what is wrong with the request, 403 for a page of
another site, 404, 413 for a body that is too large, 503 where there is no room.

A request needs a `Host` that is the server's own, and no `Origin` but the server's; programs that are no browsers send
none. Files are named by their paths, below the folders that the server was given (`--folder`).

## Routes

"""
SOCKET = f"""
## The WebSocket of a game

`POST /api/play/games` begins a game; its WebSocket is `/api/play/games/ID/socket`. At once, and after each change, the
server sends the whole game ([GameMessage](#gamemessage)) with the legal moves, where it is a person's turn. The client
sends what the person does ([Act](#act)): `{{"do": "move", "move": "h8", "ply": 0}}`. An action that is not
possible is answered by a [Problem](#problem) and changes nothing; the game is sent once more, so that a client that has
drawn the move already can undo it. While a player thinks, [ThoughtMessage](#thoughtmessage)s report its search, ten a
second at most.

A game may be open several times. Once nobody has it open, its player and its clock stop, and it is kept for a day: who
connects again finds it as it was.

| code of the close | why |
| --- | --- |
| 1008 | the client is a page of another site |
| {GONE} | there is no such game, any more |
| {BUSY} | it is open {MOST_TABS} times already |
| {FLOOD} | more than {BURST} messages at once, or {A_SECOND} a second |
| {SLOW} | the client does not read |

Moves are texts: `d1-d7/g7` (from, to, arrow), `h8`. A position text (`fen`) has the ranks from the top one down; the
[glossary](../glossary.md) says which letters. Times are milliseconds where the name ends in `_ms`.

## The WebSocket of an analysis

A client opens `/api/analyse/watch` and sends one message, an [AnalysisRequest](#analysisrequest). The server answers
with what it has of that line by that player, then with each position as it is analysed: [PlyAnalysis](#plyanalysis),
and after each the [AnalysisState](#analysisstate). After `done` or `failed` it closes the socket. A client that closes
it ends the analysis; the same request later continues it, as long as the server runs.

At `/api/analyse/think` a client sends a [ThinkRequest](#thinkrequest) for each position that it shows, and hears
[Thinking](#thinking) messages until it sends the next one or closes the socket, which end the search.

## Messages

"""
SPOKEN = (
    Act,
    GameMessage,
    ThoughtMessage,
    Problem,
    AnalysisRequest,
    PlyAnalysis,
    AnalysisState,
    ThinkRequest,
    Thinking,
)


def web_page() -> str:
    """Return the page's text."""
    app = create_app(Settings())
    found = app.openapi()
    _, spoken = models_json_schema(
        [(one, "serialization") for one in SPOKEN], ref_template="#/components/schemas/{model}"
    )
    schemas = {**found["components"]["schemas"], **spoken.get("$defs", {})}
    schemas = {name: one for name, one in schemas.items() if name not in ("HTTPValidationError", "ValidationError")}
    routes = table(["route", "what it does", "takes", "answers"], _routes(found["paths"]))
    lines = [*INTRO.splitlines(), *routes, *SOCKET.splitlines()]
    for name, schema in sorted(schemas.items()):
        if "properties" in schema or "enum" in schema:
            lines += [f"### {name}", "", *_about(schema)]
    return "\n".join(lines).rstrip() + "\n"


def _routes(paths: dict[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    for path, methods in paths.items():
        for method, about in methods.items():
            takes = [_content(about.get("requestBody", {}))]
            takes += [code(one["name"]) for one in about.get("parameters", []) if one["in"] == "query"]
            good = next(answer for status, answer in about["responses"].items() if status.startswith("2"))
            text = sentence(about.get("description", about.get("summary", "")))
            yield code(f"{method.upper()} {path}"), text, ", ".join(filter(None, takes)), _content(good)


def _content(body: dict[str, Any]) -> str:
    found = [one["schema"] for one in body.get("content", {}).values() if one.get("schema")]
    return _type(found[0]) if found else ""


def _about(schema: dict[str, Any]) -> list[str]:
    lines = [*sentence_of(schema).splitlines(), ""]
    needed = schema.get("required", [])
    rows = [
        (code(name), _type(field), "" if name in needed else _default(field), sentence(field.get("description")))
        for name, field in schema.get("properties", {}).items()
    ]
    return [*lines, *table(["key", "type", "default", "meaning"], rows), ""] if rows else lines


def sentence_of(schema: dict[str, Any]) -> str:
    """Return a model's docstring without reST's double backticks."""
    return re.sub(r"``", "`", schema.get("description", "")).strip()


def _default(field: dict[str, Any]) -> str:
    if "default" not in field:
        return ""
    value = field["default"]
    return "null" if value is None else code(str(value)) if value not in ("", [], {}) else "empty"


def _type(schema: dict[str, Any]) -> str:
    """Return a JSON schema in words."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema or "oneOf" in schema:
        return " or ".join(dict.fromkeys(_type(one) for one in schema.get("anyOf") or schema["oneOf"]))
    if "const" in schema:
        return code(str(schema["const"]))
    if "enum" in schema:
        return ", ".join(code(str(one)) for one in schema["enum"])
    kind = schema.get("type", "anything")
    if kind == "array":
        items = schema.get("prefixItems")
        return f"[{', '.join(map(_type, items))}]" if items else f"list of {_type(schema.get('items', {}))}"
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"mapping to {_type(schema['additionalProperties'])}"
    words = {"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false"}
    bounds = {"minimum": "at least", "exclusiveMinimum": "above", "maximum": "at most", "exclusiveMaximum": "below"}
    limits = [f"{word} {schema[name]:g}" for name, word in bounds.items() if name in schema]
    return ", ".join([words.get(kind, kind), *limits])

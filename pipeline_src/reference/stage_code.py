"""The first-party code behind each stage of dvc.yaml: its module, names that it looks up, and their closure.

Modules that a stage looks up by name are the players that its params name, the declarations of systems, and the charts
and boards of these.

With ``ZUGWERK_CHECK_CODE=1`` each stage that DVC runs compares, at its end, the first-party modules that it has loaded
with the closure behind its digest, and the keys of params.yaml that it has read with those of its target
(`check_stage`). CI runs the smoke graph so.
"""

import contextlib
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.game import GAMES
from pipeline_src.players.player import PlayerText
from pipeline_src.players.registry import maker_of
from pipeline_src.project.code import CHANGE_NO_OUTPUT, Code, this_code
from pipeline_src.project.graph import Stage, read_graph
from pipeline_src.project.params import PARAMS_FILE, at, read_tree
from pipeline_src.project.systems import declarations, systems

CHANGE_NO_RESULT = "parallel"
"""Section of params.yaml that changes no result."""


def roots(stage: Stage, params: Mapping[str, Any], code: Code | None = None) -> list[str]:
    """Modules that a stage starts from: its own, and those that it looks up by name.

    A text in the params names a player where it begins with the name of one, up to a colon, of a game that the stage's
    code imports. Code that makes up such a text itself imports the player.
    """
    code = code or this_code()
    closure = code.closure(stage.module)
    modules = {module for finder, found in _looked_up().items() if finder in closure for module in found}
    closure = code.closure(stage.module, *modules)
    games = [game for game in GAMES if f"pipeline_src.games.{game}" in closure]
    for text in {text for key in stage.keys_of() for text in _texts(at(params, key))}:
        for game in games:
            with contextlib.suppress(ZugwerkError):  # no player's text
                modules.add(maker_of(game, PlayerText.parse(text)).partition(":")[0])
    return [stage.module, *sorted(modules)]


def closure(stage: Stage, params: Mapping[str, Any]) -> list[str]:
    """Modules that a stage runs, in the order of their names."""
    return this_code().closure(*roots(stage, params))


def digests(graph: Mapping[str, Stage], params: Mapping[str, Any]) -> dict[str, str]:
    """Digest of the code of each stage but ``code`` itself, by the stage's name."""
    return {name: this_code().digest(*roots(stage, params)) for name, stage in graph.items() if name != "code"}


def find_stage(graph: Mapping[str, Stage], name: str) -> Stage:
    """A stage by its name; a member of a `foreach` group, ``amazons_train@residual``, has its group's code.

    Raises:
        ZugwerkError: there is no such stage; lists those there are.
    """
    stage = graph.get(name.partition("@")[0])
    if stage is None:
        raise ZugwerkError(f"no stage {name!r} in dvc.yaml; known: {', '.join(graph)}")
    return stage


def check_stage(name: str, loaded: Iterable[str], keys_read: Iterable[str]) -> None:
    """End the process with status 1 if stage ``name`` loaded code or read params that the graph does not know of.

    An ``__init__`` does not count, since the registry looks up the players of all rooms there.
    """
    stage = find_stage(read_graph(), name)
    files = {module: this_code().file(module) for module in loaded}
    own = {module for module, file in files.items() if file is not None and file.name != "__init__.py"}
    missed = sorted(own - CHANGE_NO_OUTPUT - set(closure(stage, read_tree())))
    if missed:
        _end(f"{name} has loaded {', '.join(missed)}, which its digest does not cover; import them where they are used")
    if unlisted := unlisted_keys(stage, name, keys_read):
        _end(f"{name} has read {', '.join(unlisted)}, which dvc.yaml does not list for it; add them to its params")


def unlisted_keys(stage: Stage, target: str, keys_read: Iterable[str]) -> list[str]:
    """Keys of params.yaml that a stage has read, but that dvc.yaml does not list for it; none if the file is a dep."""
    if stage.reads(PARAMS_FILE.name):
        return []
    listed = [f"{key}." for key in (*stage.keys_of(target), CHANGE_NO_RESULT)]
    return sorted(key for key in keys_read if not any(f"{key}.".startswith(one) for one in listed))


def _end(what: str) -> None:
    print(f"error: {what}", file=sys.stderr, flush=True)  # noqa: T201
    os._exit(1)  # an exception at the interpreter's end does not change the exit status


def _looked_up() -> dict[str, list[str]]:
    """Modules that are looked up by name, by the module that looks them up."""
    declared = systems().values()
    return {
        "pipeline_src.project.systems": declarations(),
        "pipeline_src.report.charts": [one.charts.partition(":")[0] for one in declared if one.charts],
        "pipeline_src.report.positions.params": [
            one.boards.function.partition(":")[0] for one in declared if one.boards
        ],
    }


def _texts(value: Any) -> Iterator[str]:
    """All texts in a section, however deep."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)

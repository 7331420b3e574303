"""The first-party code behind each stage of dvc.yaml: its module, the players that its params name, their closure."""

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.game import GAMES
from pipeline_src.players.player import PlayerText
from pipeline_src.players.registry import maker_of
from pipeline_src.project.code import Code, this_code
from pipeline_src.project.graph import Stage
from pipeline_src.project.params import at


def roots(stage: Stage, params: Mapping[str, Any], code: Code | None = None) -> list[str]:
    """Modules that a stage starts from: its own, and those of the players that its params name in a text.

    A text names a player where it begins with the name of one, up to a colon, of a game that the stage's code imports.
    Code that makes up such a text itself imports the player.
    """
    closure = (code or this_code()).closure(stage.module)
    games = [game for game in GAMES if f"pipeline_src.games.{game}" in closure]
    modules = set()
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

"""The first-party code behind each stage of dvc.yaml: its module, names that it looks up, and their closure.

Modules that a stage looks up by name are the players that its params name, the declarations of systems, and the charts
and boards of these.

With ``ZUGWERK_CHECK_CODE=1`` each stage that DVC runs compares, at its end, the first-party modules that it has loaded
with the closure behind its digest, and the keys of params.yaml that it has read with those of its target
(`check_stage`). CI runs the smoke graph so.
"""

import contextlib
import inspect
import os
import sys
import typing
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, cast

from pydantic import Field, Strict, create_model

from pipeline_src.arena.score import CalibrationParams
from pipeline_src.errors import ZugwerkError
from pipeline_src.files import read_json, write_json, written_aside
from pipeline_src.games.game import GAMES
from pipeline_src.players.player import PlayerText
from pipeline_src.players.registry import maker_of
from pipeline_src.project.code import CHANGE_NO_OUTPUT, this_code
from pipeline_src.project.graph import GRAPH, Stage, read_graph, with_outputs
from pipeline_src.project.params import CODE_FILE, PARAMS_FILE, Count, Params, at, load, read_tree
from pipeline_src.project.systems import declarations, module_of, sections, systems
from pipeline_src.report.boards import ReportPositionsParams
from pipeline_src.systems.amazons_net.params import read_zero_numbers
from pipeline_src.systems.gomoku_zero.params import read_numbers
from pipeline_src.systems.growing_boards.params import read_boards

# The sections of params.yaml, the model that reads each, and the model and the JSON schema of the whole file.


SECTIONS: dict[str, Any] = {**sections(), "calibration": CalibrationParams, "report_positions": ReportPositionsParams}
"""The model of each section; the names in `Named` ones are the user's own."""


class TopLevel(Params):
    """Keys of params.yaml that are no sections."""

    profile: str
    """Name of the profile. It has no effect of its own."""
    seed: int
    """Seed of all random numbers."""
    torch_threads: Count
    """Number of CPU threads of torch. Another number may change the last bits of trained weights."""


def check_params(path: Path | str = PARAMS_FILE) -> None:
    """Refuse a params file with anything wrong in any section, whichever stages read it.

    Raises:
        ZugwerkError: no such file; or an unknown or missing key, or a wrong value, which the message names.
    """
    tree = read_tree(path)
    if unknown := tree.keys() - SECTIONS.keys() - TopLevel.model_fields.keys():
        raise ZugwerkError(f"{path}: {', '.join(sorted(map(str, unknown)))}: no such section")
    for name, field in TopLevel.model_fields.items():
        load(cast(Any, Annotated[field.annotation, *field.metadata, Strict()]), name, path)
    for name, kind in SECTIONS.items():
        load(kind, name, path)
    read_numbers(path)
    read_zero_numbers(path)
    read_boards(path)


def about(kind: Any) -> str:
    """The docstring of a section's model, or of a mapping's values."""
    return inspect.getdoc(typing.get_args(kind)[1] if typing.get_args(kind) else kind) or ""


_FIELDS: dict[str, Any] = {name: (kind, Field(description=about(kind))) for name, kind in SECTIONS.items()}
ParamsFile = create_model("ParamsFile", __base__=TopLevel, **_FIELDS)  # All of params.yaml


def json_schema(*, whole: bool = True) -> dict[str, Any]:
    """The JSON schema of params.yaml, or, not ``whole``, of a profile, which may leave out any key."""
    schema: dict[str, Any] = _tidied(ParamsFile.model_json_schema(), [] if whole else ["required"])
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _tidied(node: Any, without: list[str]) -> Any:
    """A schema without the titles that pydantic gives to all, and with descriptions as one line each."""
    if isinstance(node, dict):
        left_out = ["title", *without]  # a property of that name has a schema, a dict, as its value
        kept = {key: value for key, value in node.items() if key not in left_out or isinstance(value, dict)}
        return {key: _tidied(value, without) for key, value in kept.items()}
    if isinstance(node, list):
        return [_tidied(value, without) for value in node]
    return " ".join(node.split()).replace("``", "`") if isinstance(node, str) else node


CHANGE_NO_RESULT = "parallel"  # Section of params.yaml that changes no result


def roots(stage: Stage, params: Mapping[str, Any]) -> list[str]:
    """Modules that a stage starts from: its own, and those that it looks up by name.

    A text in the params names a player where it begins with the name of one, up to a colon, of a game that the stage's
    code imports. Code that makes up such a text itself imports the player.
    """
    code = this_code()
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
    """Digest of the code of each stage, by the stage's name."""
    return {name: this_code().digest(*roots(stage, params)) for name, stage in graph.items()}


def record(folder: Path = Path()) -> list[str]:
    """Write the digests of all stages' code to ``artifacts/code.json``; return the stages whose digest has changed.

    The file is in git, and no output of the graph: an edited comment changes nothing, and any other edit the digests
    of the stages that run it, which DVC then runs again. Lists of outputs in dvc.yaml are written too.

    Raises:
        ZugwerkError: dvc.yaml or a source file cannot be read, or something is wrong in params.yaml.
    """
    check_params(folder / PARAMS_FILE)
    text, now = _graph_texts(folder)
    if text != now:
        with written_aside(folder / GRAPH) as aside:
            aside.write_text(now, encoding="utf-8")
    known, made = _recorded(folder), digests(read_graph(folder / GRAPH), read_tree(folder / PARAMS_FILE))
    if known != made:
        write_json(folder / CODE_FILE, {"code": made})
    return sorted(name for name in known.keys() | made.keys() if known.get(name) != made.get(name))


def require_recorded(*names: str) -> None:
    """Refuse digests that are not those of the sources, of some stages or by default of all, and outdated lists.

    Raises:
        ZugwerkError: they differ, see the stages in the message; or as `record`, before anything runs for hours.
    """
    check_params()
    if len(set(_graph_texts(Path()))) == 2:
        raise ZugwerkError(f"{GRAPH}: the outputs that it lists are not those of {PARAMS_FILE}; {_REMEDY}")
    graph, params, known = read_graph(), read_tree(), _recorded(Path())
    chosen = {name: find_stage(graph, name) for name in names or graph}
    wrong = [name for name, digest in digests(chosen, params).items() if known.get(name.partition("@")[0]) != digest]
    if wrong := wrong or ([] if names else sorted(known.keys() - graph.keys())):
        raise ZugwerkError(f"{CODE_FILE}: not the digests of the present code of {', '.join(wrong)}; {_REMEDY}")


_REMEDY = "`zugwerk code` writes them, then run this again"


def _graph_texts(folder: Path) -> tuple[str, str]:
    """The text of dvc.yaml, and as it is with the lists of outputs that the params make."""
    text = (folder / GRAPH).read_text(encoding="utf-8")
    return text, with_outputs(text, read_graph(folder / GRAPH))


def _recorded(folder: Path) -> dict[str, str]:
    """The digests in the file; empty for one that is missing or cannot be read, as after a merge conflict."""
    with contextlib.suppress(ZugwerkError, TypeError, KeyError):
        return dict(read_json(folder / CODE_FILE)["code"])
    return {}


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
    """Keys of params.yaml that a stage has read, but that dvc.yaml does not list for it."""
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
        "pipeline_src.report.charts": [module for one in declared if (module := module_of(one, "charts"))],
        "pipeline_src.report.boards": [module for one in declared if (module := module_of(one, "boards"))],
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

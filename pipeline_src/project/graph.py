"""The stages of dvc.yaml: their sections of params.yaml, their files, and their order."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from pipeline_src.errors import ZugwerkError
from pipeline_src.project.params import PARAMS_FILE, read_tree

GRAPH = Path("dvc.yaml")
CODE = "code"
"""The stage that writes the digests of the others' code; every edit of a source or of the params runs it."""
_INTERPOLATED = re.compile(r"\$\{\s*([\w.]+)")


@dataclass(frozen=True)
class Stage:
    """A stage, or all stages of a `foreach`."""

    name: str
    module: str
    """The first-party module that its command runs."""
    sections: frozenset[str]
    """Sections of params.yaml that it lists, or whose values stand in its command, paths or `foreach`."""
    deps: tuple[str, ...]
    outs: tuple[str, ...]
    """Metrics and plots too. In paths, ``*`` stands for what DVC fills in."""

    def reads(self, path: str) -> bool:
        """Whether a file or folder is one of its deps, lies in one, or holds one."""
        return any(_meet(path, dep) for dep in self.deps)


def read_graph(path: Path = GRAPH) -> dict[str, Stage]:
    """The stages by name, in the file's order.

    Raises:
        ZugwerkError: the file is missing or has no stages.
    """
    stages = read_tree(path).get("stages")
    if not isinstance(stages, dict):
        raise ZugwerkError(f"{path}: no stages")
    given = path.with_name(PARAMS_FILE.name)
    params = read_tree(given) if given.is_file() else {}
    return {name: _stage(name, definition, params) for name, definition in stages.items()}


def reading_section(graph: Mapping[str, Stage], section: str) -> set[str]:
    """Names of the stages that a change in a section of params.yaml runs again by itself."""
    return {name for name, stage in graph.items() if section in stage.sections}


def reading_file(graph: Mapping[str, Stage], path: str) -> set[str]:
    """Names of the stages that list a file of data, or a folder, among their deps."""
    return {name for name, stage in graph.items() if stage.reads(path)}


def reached(graph: Mapping[str, Stage], first: Iterable[str]) -> set[str]:
    """Stages, and all that read what they write, directly or not.

    DVC runs the latter only where what they read has come out otherwise than before. What comes after stage ``code`` is
    decided by each digest for itself (`project.stage_code`).
    """
    seen, todo = set(), list(first)
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            outs = () if name == CODE else graph[name].outs
            todo += [other for other, stage in graph.items() if any(stage.reads(out) for out in outs)]
    return seen


def _stage(name: str, definition: Mapping[str, Any], params: Mapping[str, Any]) -> Stage:
    body = definition.get("do", definition)
    listed = [entry for entry in body.get("params", []) if isinstance(entry, str)]
    files = [file for entry in body.get("params", []) if isinstance(entry, dict) for file in entry]
    filled_in = [key for key in _INTERPOLATED.findall(yaml.safe_dump(definition)) if key.split(".")[0] not in _LOCAL]
    outs = [*body.get("outs", []), *body.get("metrics", []), *body.get("plots", [])]
    return Stage(
        name,
        _module(name, body.get("cmd")),
        frozenset(key.split(".")[0] for key in [*listed, *filled_in]),
        tuple(_pattern(_given(dep, params)) for dep in [*files, *body.get("deps", [])]),
        tuple(map(_pattern, outs)),
    )


def _module(name: str, command: Any) -> str:
    words = str(command).split()
    if words[:2] != ["python", "-m"] or len(words) < 3:
        raise ZugwerkError(f"{GRAPH}: {name}: expected a command `python -m MODULE ...`, found {command!r}")
    return words[2]


_LOCAL = ("item", "key")
"""Names that `foreach` fills in."""


def _given(entry: str | Mapping[str, Any], params: Any) -> str | Mapping[str, Any]:
    """A dependency that is nothing but a value of params.yaml, as it is there; any other as it is."""
    whole = _INTERPOLATED.fullmatch(entry.removesuffix("}")) if isinstance(entry, str) else None
    for part in whole[1].split(".") if whole else ():
        params = params.get(part) if isinstance(params, Mapping) else None
    return params if whole and isinstance(params, str) else entry


def _pattern(entry: str | Mapping[str, Any]) -> str:
    path = entry if isinstance(entry, str) else next(iter(entry))
    return re.sub(r"\$\{[^}]*\}", "*", path)


def _meet(one: str, other: str) -> bool:
    """Whether two paths, in which ``*`` is any part of a name, are the same, or one lies in the other."""
    pairs = zip(Path(one).parts, Path(other).parts, strict=False)
    return all(_may_be(a, b) for a, b in pairs)


def _may_be(one: str, other: str) -> bool:
    a, b = (".*".join(map(re.escape, name.split("*"))) for name in (one, other))
    return re.fullmatch(a, other) is not None or re.fullmatch(b, one) is not None

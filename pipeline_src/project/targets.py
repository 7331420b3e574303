"""The targets of the graph as DVC reports them: dependencies, which have changed, and the places that each takes.

The number of places of a stage is set in dvc.yaml by its ``meta``, which DVC itself ignores. There

    meta: {threads: torch_threads, workers: parallel.workers}

names keys of params.yaml: the number of places that the stage needs, and the number that it can use.
"""

import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from pathlib import Path
from typing import Any

from pipeline_src.errors import ZugwerkError
from pipeline_src.project.children import Children
from pipeline_src.project.dvc_run import run_dvc
from pipeline_src.project.graph import GRAPH
from pipeline_src.project.params import PARAMS_FILE, at, read_tree
from pipeline_src.project.schedule import Places

_LINE = re.compile(r'"(?P<target>.+?)"(?: -> "(?P<after>.+)")?;')


def read_targets(checkout: Path, children: Children) -> dict[str, set[str]]:
    """Return the dependencies of each target, in the order of dvc.yaml.

    Raises:
        ZugwerkError: there are no targets, or DVC cannot read dvc.yaml or params.yaml.
    """
    before: dict[str, set[str]] = {}
    for line in _ask(["dag", "--dot"], checkout, children):
        if found := _LINE.fullmatch(line):
            target, after = found["target"], found["after"]
            before.setdefault(after or target, set()).update([target] if after else [])
    if not before:
        raise ZugwerkError(f"{checkout / GRAPH}: no stage")
    return before


def changed_targets(targets: Sequence[str], checkout: Path, children: Children) -> set[str]:
    """Return the targets, of those given or of all, that `dvc repro --single-item` would run."""
    lines = _ask(["status", "--json", *targets], checkout, children)
    return set(json.loads(next(line for line in lines if line.startswith("{"))))


def select(graph: Mapping[str, Set[str]], targets: Sequence[str], system: str = "") -> dict[str, Set[str]]:
    """Return the part of a graph with some targets and all their dependencies, in the graph's order.

    Args:
        graph: from `read_targets`.
        targets: stages, members ``stage@item`` or groups.
        system: without targets, those whose names begin with this word, and its headline figures; empty means all.

    Raises:
        ZugwerkError: a target is unknown; the message lists the known ones.
    """
    groups = defaultdict(list)
    for name in graph:
        groups[name.partition("@")[0]].append(name)
    of_system = f"{system}_" if system else "", f"report_headlines@{system}"
    todo = [name for name in graph if name.startswith(of_system)] if not targets else []
    if not targets and not todo:
        raise ZugwerkError(f"{GRAPH}: no stage whose name starts with '{of_system[0]}'")
    for target in targets:
        if target not in graph and target not in groups:
            raise ZugwerkError(f"{GRAPH}: no target {target!r}; there are: {', '.join(map(_listed, groups.values()))}")
        todo += groups.get(target, [target])
    found: set[str] = set()
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo += graph[name]
    return {name: before for name, before in graph.items() if name in found}


def read_places(checkout: Path, params: Mapping[str, Any]) -> dict[str, Places]:
    """Return the places of each stage or group.

    Raises:
        ZugwerkError: dvc.yaml cannot be read, or a stage names a key of the params that is no whole number above 0.
    """
    found = {}
    for name, definition in read_tree(checkout / GRAPH).get("stages", {}).items():
        meta = definition.get("do", definition).get("meta", {})
        where = f"{GRAPH}: {name}: meta"
        found[name] = Places(*(_number(meta.get(kind), params, f"{where}.{kind}") for kind in ("threads", "workers")))
    return found


def _ask(words: list[str], checkout: Path, children: Children) -> list[str]:
    lines: list[str] = []
    run_dvc(words, checkout, lines.append, children)
    return lines


def _listed(group: list[str]) -> str:
    """Return a group as one word, which a shell expands to all members."""
    name, _, first = group[0].partition("@")
    members = ",".join(member.partition("@")[2] for member in group)
    return f"{name}@{{{members}}}" if first else name


def _number(key: str | None, params: Mapping[str, Any], where: str) -> int:
    if key is None:
        return 1
    value = at(params, key)
    if not isinstance(value, int) or value < 1:
        raise ZugwerkError(f"{where}: {PARAMS_FILE} has no whole number above 0 at {key}")
    return value

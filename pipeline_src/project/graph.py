"""The stages of dvc.yaml: their keys of params.yaml, their files, and their order."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

from pipeline_src.errors import ZugwerkError
from pipeline_src.files import read_json
from pipeline_src.project.code import reach
from pipeline_src.project.params import CODE_FILE, PARAMS_FILE, at, read_tree

GRAPH = Path("dvc.yaml")
NO_RESULTS = ("parallel", "crawl")  # Sections of params.yaml that change no result
PACKAGE = "pipeline_src"
RUNNER = f"{PACKAGE}.stage"  # Its first word is the stage's module
_OUTPUTS = re.compile(
    r"^(?P<comment>(?P<indent> +)# outputs in (?P<folder>\S+)\n)(?:(?P=indent)- (?P=folder)/.*\n)*", re.MULTILINE
)
_PLACE = re.compile(r"\$\{\s*([\w.]+)\s*\}")


@dataclass(frozen=True)
class Stage:
    """A stage, or all stages of a `foreach`."""

    name: str
    module: str  # The first-party module that its command runs
    listed: Mapping[str, frozenset[str]]
    """Keys of params.yaml among its params, by target: the stage itself, or each member of the `foreach`."""
    filled_in: Mapping[str, frozenset[str]]  # Keys whose values are part of a target's command, paths or params
    files: Mapping[str, tuple[frozenset[str], frozenset[str]]]  # Deps and outs of each target, values filled in
    deps: tuple[str, ...]
    outs: tuple[str, ...]  # Outputs, metrics and plots. In paths, `*` stands for a value that DVC fills in.

    def keys_of(self, target: str = "") -> frozenset[str]:
        """Keys that a target depends on; without a target, those of all."""
        targets = [target] if target else [*self.listed]
        return frozenset(key for one in targets for some in (self.listed, self.filled_in) for key in some.get(one, ()))

    def reads(self, path: str) -> bool:
        """Whether a file or folder is one of its deps, is inside one, or contains one."""
        return any(_meet(path, dep) for dep in self.deps)


def read_graph(path: Path = GRAPH, params: Mapping[str, Any] | None = None) -> dict[str, Stage]:
    """The stages by name, in the file's order; by default with the params next to it. Raises ZugwerkError: none."""
    stages = read_tree(path).get("stages")
    if not isinstance(stages, dict):
        raise ZugwerkError(f"{path}: no stages")
    given = path.with_name(PARAMS_FILE.name)
    if params is None:
        params = read_tree(given) if given.is_file() else {}
    return {name: _stage(name, definition, params) for name, definition in stages.items()}


def overlap(one: str, other: str, sign: str = ".") -> bool:
    """Whether two keys, or paths with the ``sign`` ``/``, are the same, or one is below the other."""
    return f"{one}{sign}".startswith(f"{other}{sign}") or f"{other}{sign}".startswith(f"{one}{sign}")


def reached(graph: Mapping[str, Stage], first: Iterable[str]) -> set[str]:
    """Stages, and all that read their outputs, directly or indirectly; DVC runs the latter if their inputs change."""

    def readers(name: str) -> list[str]:
        return [other for other, stage in graph.items() if any(stage.reads(out) for out in graph[name].outs)]

    return reach(first, readers)


def keys_behind(graph: Mapping[str, Stage]) -> dict[str, list[str]]:
    """Keys of params.yaml behind the outputs of each target, but those of `NO_RESULTS` and those below another one."""
    own = {target: stage.keys_of(target) for stage in graph.values() for target in stage.listed}
    files = {target: found for stage in graph.values() for target, found in stage.files.items()}

    @cache
    def before(target: str) -> list[str]:
        deps, pairs = files[target][0], files.items()
        return [other for other, (_, outs) in pairs if any(overlap(dep, out, "/") for dep in deps for out in outs)]

    found = {}
    for target in own:
        keys = set[str]().union(*(own[one] for one in reach([target], before))) - {"", *NO_RESULTS}
        above = (*keys, *NO_RESULTS)
        below = {key for key in keys for other in above if other != key and f"{key}.".startswith(f"{other}.")}
        found[target] = sorted(keys - below)
    return found


def with_outputs(text: str, graph: Mapping[str, Stage]) -> str:
    """The text of dvc.yaml with the outputs of a graph listed after each comment ``# outputs in FOLDER``.

    DVC has no dependency on a list in params.yaml. It has folders, but counts all files in them, such as those of a
    generation that the params no longer have, and so a clone could not have what dvc.lock names.
    """
    outs = [out for stage in graph.values() for _, outs in stage.files.values() for out in sorted(outs)]

    def listed(found: re.Match[str]) -> str:
        own = [out for out in outs if out.startswith(f"{found['folder']}/")]
        return "".join([found["comment"], *(f"{found['indent']}- {out}\n" for out in own)])

    return _OUTPUTS.sub(listed, text)


def made_by(target: str) -> dict[str, Any]:
    """Return what makes the reports of a target, as they say themselves (`files.write_json`).

    Returns:
        ``stage``, the target; ``code``, the digest of its code; ``params``, the values in params.yaml by dotted key on
        which its outputs depend, those of the stages before it included. Empty without a file of digests.
    """
    if not CODE_FILE.exists():
        return {}
    tree, code = read_tree(), read_json(CODE_FILE)["code"].get(target.partition("@")[0])
    keys = keys_behind(read_graph()).get(target, ())
    return {"stage": target, "code": code, "params": {key: at(tree, key) for key in keys}}


def _stage(name: str, definition: Mapping[str, Any], params: Mapping[str, Any]) -> Stage:
    body = definition.get("do", definition)
    listed = [entry for entry in body.get("params", []) if isinstance(entry, str)]
    files = [file for entry in body.get("params", []) if isinstance(entry, dict) for file in entry]
    outs = [*body.get("outs", []), *body.get("metrics", []), *body.get("plots", [])]
    targets = _members(name, definition["foreach"], params) if "foreach" in definition else {name: ("", {})}
    places = set(_PLACE.findall(str(body))) - {"key"}

    def paths(entries: Iterable[Any], own: Mapping[str, Any]) -> frozenset[str]:
        return frozenset(
            _filled(entry if isinstance(entry, str) else next(iter(entry)), {**params, **own}) for entry in entries
        )

    return Stage(
        name,
        _module(name, body.get("cmd")),
        {target: frozenset(_filled(key, {**params, **own}) for key in listed) for target, (_, own) in targets.items()},
        {target: frozenset(_source(place, item) for place in places) for target, (item, _) in targets.items()},
        {target: (paths(body.get("deps") or [], own), paths(outs, own)) for target, (_, own) in targets.items()},
        tuple(_pattern(dep, params) for dep in [*files, *(body.get("deps") or [])]),
        tuple(map(_pattern, outs)),
    )


def _members(name: str, items: Any, params: Mapping[str, Any]) -> dict[str, tuple[str, dict[str, Any]]]:
    """The targets of a `foreach`: the key of each item, and its value. Unknown items are one target ``*``."""
    found = _PLACE.fullmatch(items) if isinstance(items, str) else None
    key = found[1] if found else ""
    values = at(params, key) if found else items
    if isinstance(values, Mapping):
        return {f"{name}@{one}": (f"{key}.{one}", {"key": str(one), "item": item}) for one, item in values.items()}
    return {f"{name}@{item}": (key, {"item": item}) for item in values or ["*"]}


def _source(place: str, item: str) -> str:
    """The key of params.yaml behind a placeholder; ``item`` is that of the target's item."""
    return f"{item}{place.removeprefix('item')}" if place.split(".")[0] == "item" else place


def _filled(text: str, values: Mapping[str, Any]) -> str:
    """A text with its placeholders filled in; ``*`` for unknown ones."""
    return _PLACE.sub(lambda place: str(at(values, place[1], "*")), text)


def _module(name: str, command: Any) -> str:
    words = str(command).split()
    if words[:2] != ["python", "-m"] or len(words) < 3 + (words[2:3] == [RUNNER]):
        raise ZugwerkError(f"{GRAPH}: {name}: expected a command `python -m {RUNNER} MODULE ...`, found {command!r}")
    return f"{PACKAGE}.{words[3].partition(':')[0]}" if words[2] == RUNNER else words[2]


def _pattern(entry: str | Mapping[str, Any], params: Mapping[str, Any] | None = None) -> str:
    """A path with ``*`` for each placeholder; one that is only a placeholder is replaced by its value in ``params``."""
    path = entry if isinstance(entry, str) else next(iter(entry))
    whole = _PLACE.fullmatch(path)
    value = at(params, whole[1]) if whole else None
    return re.sub(r"\$\{[^}]*\}", "*", value if isinstance(value, str) else path)


@cache
def _meet(one: str, other: str) -> bool:
    """Whether two paths, in which ``*`` is any part of a name, are the same, or one lies in the other."""
    pairs = zip(Path(one).parts, Path(other).parts, strict=False)
    return all(fnmatchcase(a, b) or fnmatchcase(b, a) for a, b in pairs)

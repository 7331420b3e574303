"""Answers from dvc.lock: with which params a figure, and all that it comes from, was made."""

import re
from collections.abc import Iterator, Mapping
from functools import cache, reduce
from pathlib import Path
from typing import Any

import yaml

from pipeline_src.project.params import at


class Lock:
    """The last run of each stage that the graph has with these params."""

    def __init__(self, folder: Path, params: Mapping[str, Any]) -> None:
        """Read dvc.lock and dvc.yaml of the checkout ``folder``; ``params`` are those of params.yaml."""
        graph = _stages(folder / "dvc.yaml")
        self._stages = {
            name: stage for name, stage in _stages(folder / "dvc.lock").items() if _is_there(name, graph, params)
        }
        self._params = params
        self._outs = {out["path"]: (name, out) for name, stage in self._stages.items() for out in stage.get("outs", ())}
        self._is_current = cache(self._find)

    def is_current(self, file: str, stage: str) -> bool:
        """Whether a file of a stage was last made with the values of params.yaml, and from files that were.

        A file that is not an output in dvc.lock, such as one of times, is current if all items of its stage are.
        """
        items = [name for name in self._stages if name.split("@")[0] == stage]
        made_by = [self._outs[file][0]] if file in self._outs else items
        return bool(made_by) and all(map(self._is_current, made_by))

    def params_of(self, file: str, stage: str) -> Mapping[str, Any]:
        """Return the params that made a file, as far as they are known: if it is not current, its own stage's alone."""
        if self.is_current(file, stage):
            return self._params
        tree: dict[str, Any] = {}
        for key, value in self._read(file, stage, "params.yaml").items():  # dotted keys, as dvc.yaml lists them
            *sections, name = key.split(".")
            reduce(lambda inner, section: inner.setdefault(section, {}), sections, tree)[name] = value
        return tree

    def code_of(self, file: str, stage: str) -> str | None:
        """Return the digest of the code that made a file of a stage; None if it is not known."""
        found = self._read(file, stage, "artifacts/code.json")
        digest: str | None = found.get(f"code.{stage}", found.get(stage))  # the second in locks of earlier versions
        return digest

    def digests(self, folder: str) -> dict[str, str]:
        """Return the MD5 of each output below a folder, by its path; that of a folder ends in ``.dir``."""
        return {path: out["md5"] for path, (_, out) in self._outs.items() if path.startswith(folder) and "md5" in out}

    def _read(self, file: str, stage: str, params_file: str) -> Mapping[str, Any]:
        """The values that the stage behind a file has read from a file of params."""
        made_by = self._stages.get(self._outs[file][0] if file in self._outs else stage, {})
        found: Mapping[str, Any] = made_by.get("params", {}).get(params_file, {})
        return found

    def _find(self, name: str) -> bool:
        stage = self._stages[name]
        own = stage.get("params", {}).get("params.yaml", {})
        if any(at(self._params, key) != value for key, value in own.items()):
            return False
        return all(
            self._is_current(maker) and (out["path"] != dep["path"] or out.get("md5") == dep.get("md5"))
            for dep in stage.get("deps", ())
            for maker, out in self._behind(dep["path"])
        )

    def _behind(self, dep: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """The stages that made a stage's inputs, with the outputs of each."""
        for path, made in self._outs.items():
            if path == dep or path.startswith(f"{dep}/") or dep.startswith(f"{path}/"):
                yield made


class _Yaml12(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # the C one is ten times as fast
    """Reads 1e-06 as a number, as DVC does."""


_Yaml12.add_implicit_resolver("tag:yaml.org,2002:float", re.compile(r"[-+]?\d+[eE][-+]?\d+$"), list("-+0123456789"))


def _stages(path: Path) -> dict[str, Any]:
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return dict((_Yaml12(text).get_single_data() or {}).get("stages", {}))


def _is_there(name: str, graph: Mapping[str, Any], params: Mapping[str, Any]) -> bool:
    """Whether the graph has a stage; dvc.lock keeps items that a ``foreach`` has no more."""
    stage, _, item = name.partition("@")
    items = re.fullmatch(r"\$\{(.+)\}", str(graph.get(stage, {}).get("foreach")))
    return not item or not items or item in map(str, at(params, items[1]) or ())

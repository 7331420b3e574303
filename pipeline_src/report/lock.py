"""Answers from dvc.lock: with which params a figure, and all that it comes from, was made."""

import hashlib
import re
import time
from collections.abc import Iterator, Mapping
from functools import cache, reduce
from pathlib import Path
from typing import Any

from pipeline_src import yaml12
from pipeline_src.errors import ZugwerkError
from pipeline_src.project.params import at

READS, BETWEEN_S, WRITING_S = 50, 0.3, 2.0
"""DVC writes its lock in place and in pieces, in about a second. A file that is older than `WRITING_S` is whole; of a
younger one two reads, `BETWEEN_S` apart, must be equal."""


class Lock:
    """The last run of each stage that the graph has with these params."""

    def __init__(self, folder: Path, params: Mapping[str, Any]) -> None:
        """Read dvc.lock and dvc.yaml of the checkout ``folder``; ``params`` are those of params.yaml.

        Raises:
            ZugwerkError: one of the files cannot be read, or has no stages.
        """
        graph = _stages(folder / "dvc.yaml")
        self._stages = {
            name: stage for name, stage in _stages(folder / "dvc.lock").items() if _is_there(name, graph, params)
        }
        self._folder, self._params = folder, params
        self._outs = {out["path"]: (name, out) for name, stage in self._stages.items() for out in stage.get("outs", ())}
        self._is_current, self._is_other = cache(self._find), cache(self._compare)

    def is_current(self, file: str, stage: str) -> bool:
        """Whether a file of a stage was last made with the values of params.yaml, and from files that were.

        A file with other bytes than dvc.lock has of it, as another run left it, is not. A file that is not an output in
        dvc.lock, such as one of times, is current if all items of its stage are.
        """
        if self._is_other(file):
            return False
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
        """The values that the stage behind a file has read from a file of params; none if another run made the file."""
        if self._is_other(file):
            return {}
        made_by = self._stages.get(self._outs[file][0] if file in self._outs else stage, {})
        found: Mapping[str, Any] = made_by.get("params", {}).get(params_file, {})
        return found

    def _compare(self, file: str) -> bool:
        """Whether a file is there, with another MD5 than dvc.lock has; False for files within an output folder."""
        _, out = self._outs.get(file, ("", {}))
        path = self._folder / file
        if "md5" not in out or not path.is_file():
            return False
        return hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest() != str(out["md5"])

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


def _stages(path: Path) -> dict[str, Any]:
    """Return the stages of dvc.lock or dvc.yaml; none without the file.

    Raises:
        ZugwerkError: it has conflict markers, is not YAML, has no stages, or does not come to rest.
    """
    before, wrong = "", ZugwerkError(f"{path}: another process keeps writing it; try again when that has ended")
    for _ in range(READS):
        if not path.exists():
            return {}
        whole = time.time() - path.stat().st_mtime > WRITING_S
        text = path.read_text(encoding="utf-8", errors="replace")
        yaml12.refuse_conflict(text, path)
        if whole or text == before:
            try:
                return _parsed(text, path)
            except ZugwerkError as error:
                wrong = error
        if whole:
            break
        before = text
        time.sleep(BETWEEN_S)
    raise wrong


def _parsed(text: str, path: Path) -> dict[str, Any]:
    restore = "`git checkout` it, or see `dvc status`"
    try:
        tree = yaml12.parse(text, path)
    except ZugwerkError as error:
        raise ZugwerkError(f"{error}; {restore}") from None
    stages = tree.get("stages") if isinstance(tree, dict) else None
    if not isinstance(stages, dict) or not all(isinstance(stage, dict) for stage in stages.values()):
        raise ZugwerkError(f"{path}: no stages; {restore}")
    return stages


def _is_there(name: str, graph: Mapping[str, Any], params: Mapping[str, Any]) -> bool:
    """Whether the graph has a stage; dvc.lock keeps items that a ``foreach`` has no more."""
    stage, _, item = name.partition("@")
    items = re.fullmatch(r"\$\{(.+)\}", str(graph.get(stage, {}).get("foreach")))
    return not item or not items or item in map(str, at(params, items[1]) or ())

"""`Journal` keeps the finished tasks of a match or a stage, so that a killed run can be resumed.

The file has one JSON object on each line: first the identity of the work, then for each task its key and its result. A
line is on disk when `Journal.add` returns. A kill can only tear the last line, which is then dropped.
"""

import base64
import contextlib
import io
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

import numpy as np
import numpy.typing as npt
from pydantic import TypeAdapter

from pipeline_src.errors import ZugwerkError
from pipeline_src.parallel import Parallel, run_tasks
from pipeline_src.parallel.crew import Task
from pipeline_src.parallel.tasks import nothing
from pipeline_src.project.code import this_code

FORMAT = 2


class Journal:
    """Results of tasks by key, kept in a file."""

    def __init__(self, path: Path, identity: Mapping[str, Any], *, resume: bool = True, replace: bool = False) -> None:
        """Open the journal at ``path``, or begin one there.

        Args:
            path: path of the file; its folder is made.
            identity: everything that decides the results beside the tasks' keys, as JSON data.
            resume: False begins a new journal.
            replace: whether to begin a new journal if the identity differs, which is otherwise an error.

        Raises:
            ZugwerkError: the journal belongs to another match, is damaged, or is in use by another process.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.entries: dict[str, Any] = {}
        self._file: BinaryIO = open(path, "a+b")  # noqa: SIM115 - open as long as the journal is
        try:
            self._lock()
            if not resume:
                self._file.truncate(0)
            self._take_up(json.loads(json.dumps({"format": FORMAT, **identity})), replace)
        except BaseException:
            self.close()
            raise

    def _lock(self) -> None:
        with contextlib.suppress(ImportError):
            import fcntl

            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise ZugwerkError(f"{self.path}: another match is writing it") from None

    def _take_up(self, head: dict[str, Any], replace: bool) -> None:
        self._file.seek(0)
        whole = [line for line in self._file if line.endswith(b"\n")]
        self._file.truncate(sum(map(len, whole)))
        try:
            found = json.loads(whole[0]) if whole else None
            lines = map(json.loads, whole[1:] if found == head else ())
            self.entries = {str(line["key"]): line["value"] for line in lines}
        except (ValueError, TypeError, KeyError) as error:
            raise ZugwerkError(f"{self.path}: damaged ({error!r}); remove it to begin the match anew") from None
        if found is None or (replace and found != head):
            self._file.truncate(0)
            self._write(head)
        elif found != head:
            keys = found.keys() | head.keys() if isinstance(found, dict) else set()
            other = ", ".join(sorted(key for key in keys if found.get(key) != head.get(key))) or "format"
            raise ZugwerkError(
                f"{self.path}: the journal of another match ({other} differs); choose another --out, or remove it"
            )

    def add(self, key: str, value: Any) -> None:
        """Write the result of a task, as `add_all` does."""
        self.add_all({key: value})

    def add_all(self, entries: Mapping[str, Any]) -> None:
        """Write results of tasks by key, as JSON data; they are on disk when this returns.

        Raises:
            OSError: the file cannot be written; a torn line is dropped when the journal is next opened.
        """
        self._write(*({"key": key, "value": value} for key, value in entries.items()))
        self.entries.update(entries)

    def _write(self, *lines: Mapping[str, Any]) -> None:
        try:
            for line in lines:
                self._file.write(json.dumps(line, separators=(",", ":")).encode() + b"\n")
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self.path)) from None

    def close(self) -> None:
        """Release the journal for other processes."""
        with contextlib.suppress(OSError):  # a line that could not be written has raised its error
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def stage_journal(folder: Path, module: str, identity: Mapping[str, Any]) -> Journal:
    """Return the journal of a running stage. Entries of other code or of another identity are dropped.

    Args:
        folder: folder of the file, ignored by git and DVC; the stage removes it at its end.
        module: full name of the stage's module.
        identity: everything that decides the results beside the code and the tasks' keys, as JSON data.

    Raises:
        ZugwerkError: as `Journal`.
    """
    code = {"module": module, "code": this_code().digest_of_all()}  # a player's text may name code anywhere
    return Journal(folder / "journal.jsonl", {**code, **identity}, replace=True)


def run_kept(
    function: Callable[[list[Task]], list[Any]],
    tasks: Mapping[str, Task],
    parallel: Parallel,
    description: str,
    journal: Journal | None = None,
    at_end: Callable[[], None] = nothing,
    together: int = 1,
    kind: Any = Any,
) -> list[Any]:
    """Run tasks as `run_tasks` does, except those in the journal; keep the results of each batch when it has finished.

    Results are JSON data, or of the ``kind`` that pydantic turns into JSON data and back; see `pack` for arrays.
    """
    adapter = TypeAdapter(kind)
    known = {} if journal is None else journal.entries
    found = {key: adapter.validate_python(known[key]) for key in tasks if key in known}
    missing = [key for key in tasks if key not in found]

    def keep(some: list[tuple[int, Any]]) -> None:
        if journal is not None:
            journal.add_all({missing[index]: adapter.dump_python(value, mode="json") for index, value in some})

    new = run_tasks(function, [tasks[key] for key in missing], parallel, description, at_end, keep, together)
    found.update(zip(missing, new, strict=True))
    return [found[key] for key in tasks]


def pack(arrays: Mapping[str, Any]) -> str:
    """Return named arrays, or numbers, as a text for a journal."""
    file = io.BytesIO()
    np.savez_compressed(file, allow_pickle=False, **arrays)
    return base64.b64encode(file.getvalue()).decode()


def unpack(text: str) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays that `pack` was given."""
    with np.load(io.BytesIO(base64.b64decode(text)), allow_pickle=False) as found:
        return {name: found[name] for name in found}

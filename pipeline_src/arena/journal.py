"""`Journal` keeps the finished tasks of a match or a stage, so that a killed run can be resumed.

The file has one JSON object on each line: first the identity of the work, then for each task its key and its result. A
line is on disk when `Journal.add` returns. A kill can only tear the last line, which is then dropped.
"""

import contextlib
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

from pipeline_src.errors import ZugwerkError
from pipeline_src.parallel import Parallel, run_tasks
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
            self._file.close()
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
        """Write the result of a task, as JSON data; it is on disk when this returns."""
        self._write({"key": key, "value": value})
        self.entries[key] = value

    def _write(self, line: Mapping[str, Any]) -> None:
        self._file.write(json.dumps(line, separators=(",", ":")).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Release the journal for other processes."""
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
    function: Callable[..., Any],
    tasks: Mapping[str, tuple[Any, ...]],
    parallel: Parallel,
    description: str,
    journal: Journal | None = None,
    at_end: Callable[[], None] = nothing,
) -> dict[str, Any]:
    """Run tasks as `run_tasks` does, except those in the journal; write each result to the journal as it finishes."""
    known = {} if journal is None else journal.entries
    missing = [key for key in tasks if key not in known]

    def keep(index: int, value: Any) -> None:
        if journal is not None:
            journal.add(missing[index], value)

    found = run_tasks(function, [tasks[key] for key in missing], parallel, description, at_end, keep)
    return known | dict(zip(missing, found, strict=True))

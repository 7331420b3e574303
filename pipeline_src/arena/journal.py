"""`Journal` keeps the finished tasks of a match or a stage, so that a killed run can be resumed.

The file has one JSON object on each line: first the identity of the work, then for each task its key and its result.
Tasks that ran together are there together, since one may have what belongs to all: each of their lines but the last
says that there are ``more``. They are on disk when `Journal.add` returns; what a kill cuts off is dropped with them.
"""

import base64
import contextlib
import io
import json
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

import numpy as np
import numpy.typing as npt
from pydantic import TypeAdapter

from pipeline_src.errors import ZugwerkError
from pipeline_src.parallel import Parallel, run_tasks
from pipeline_src.parallel.tasks import Task, nothing, run_in_batches
from pipeline_src.project.code import this_code

FORMAT = 2


class Entries(Mapping[str, Any]):
    """Values by key, read from the journal's file when they are asked for."""

    def __init__(self, file: BinaryIO) -> None:
        self.file, self.places = file, dict[str, int]()

    def __getitem__(self, key: str) -> Any:
        self.file.seek(self.places[key])
        return json.loads(self.file.readline())["value"]

    def __iter__(self) -> Iterator[str]:
        return iter(self.places)

    def __len__(self) -> int:
        return len(self.places)


class Journal:
    """Results of tasks by key, kept in a file."""

    def __init__(self, path: Path, identity: Mapping[str, Any], *, resume: bool = True, replace: bool = False) -> None:
        """Open the journal at ``path``, or begin one there; its folder is made.

        The ``identity`` is everything that decides the results, besides the tasks' keys, as JSON data. A new journal is
        begun without ``resume``, or with ``replace`` if the identity differs, which is otherwise an error.

        Raises:
            ZugwerkError: the journal belongs to another match, is damaged, or is in use by another process.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self._file: BinaryIO = open(path, "a+b")  # noqa: SIM115 - closed with the journal
        self.entries = Entries(self._file)
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
        found: Any = None
        at, end, together = 0, 0, dict[str, int]()
        try:
            for line in self._file:
                if not line.endswith(b"\n"):
                    if not at and not line.startswith(b'{"format"'[: len(line)]):
                        raise ValueError("not a journal")
                    break
                more = False
                if not at:
                    found = json.loads(line)
                elif found == head:
                    entry = json.loads(line)
                    together[str(entry["key"])], _ = at, entry["value"]
                    more = "more" in entry
                at += len(line)
                if not more:
                    self.entries.places.update(together)
                    end, together = at, {}
        except (ValueError, TypeError, KeyError) as error:
            raise ZugwerkError(f"{self.path}: damaged ({error!r}); remove it to begin the match anew") from None
        self._file.truncate(end)
        if found is None or (replace and found != head):
            self._file.truncate(0)
            self._write(head)
        elif found != head:
            keys = found.keys() | head.keys() if isinstance(found, dict) else set()
            other = ", ".join(sorted(key for key in keys if found.get(key) != head.get(key))) or "format"
            raise ZugwerkError(
                f"{self.path}: the journal of another match ({other} differs); choose another --out, or remove it"
            )

    def add(self, entries: Mapping[str, Any]) -> None:
        """Write results of tasks that ran together, by key, as JSON data; they are on disk when this returns.

        Raises:
            OSError: the file cannot be written; what is there of them is dropped when the journal is next opened.
        """
        lines = [{"key": key, "value": value, "more": True} for key, value in entries.items()]
        for line in lines[-1:]:
            del line["more"]
        self.entries.places.update(zip(entries, self._write(*lines), strict=True))

    def _write(self, *lines: Mapping[str, Any]) -> list[int]:
        """Write lines; return where each begins."""
        places = []
        try:
            end = self._file.seek(0, os.SEEK_END)
            for line in lines:
                places.append(end)
                end += self._file.write(json.dumps(line, separators=(",", ":")).encode() + b"\n")
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self.path)) from None
        return places

    def close(self) -> None:
        """Release the journal for other processes."""
        with contextlib.suppress(OSError):  # a line that could not be written has raised its error
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def stage_journal(folder: Path, module: str, identity: Mapping[str, Any]) -> Journal:
    """Return the journal of a running stage, given the full name of its module; for the identity see `Journal`.

    Entries of other code or of another identity are dropped. The folder is ignored by git and DVC; the stage removes it
    at its end.
    """
    code = {"module": module, "code": this_code().digest_of_all()}  # a player's text may name code anywhere
    return Journal(folder / "journal.jsonl", {**code, **identity}, replace=True)


def each_kept(
    function: Callable[[list[Task]], list[Any]],
    tasks: Mapping[str, Task],
    parallel: Parallel,
    description: str,
    journal: Journal | None = None,
    at_end: Callable[[], None] = nothing,
    together: int = 1,
    kind: Any = Any,
) -> Iterator[Any]:
    """Run the tasks that are not in the journal, then read the results from it one by one, in the order of the tasks.

    Results of a batch are kept when it has finished; without a journal, none is. They are JSON data, or of the ``kind``
    that pydantic turns into JSON data and back; see `pack` for arrays. For the other arguments see `run_in_batches`.
    """
    if journal is None:
        return iter(run_tasks(function, list(tasks.values()), parallel, description, at_end, together))
    adapter, missing = TypeAdapter(kind), [key for key in tasks if key not in journal.entries]
    for some in run_in_batches(function, [tasks[key] for key in missing], parallel, description, at_end, together):
        journal.add({missing[index]: adapter.dump_python(value, mode="json") for index, value in some})
    return (adapter.validate_python(journal.entries[key]) for key in tasks)


def pack(arrays: Mapping[str, Any]) -> str:
    """Return named arrays, or numbers, as a text for a journal."""
    file = io.BytesIO()
    np.savez_compressed(file, allow_pickle=False, **arrays)
    return base64.b64encode(file.getvalue()).decode()


def unpack(text: str) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays that `pack` was given."""
    with np.load(io.BytesIO(base64.b64decode(text)), allow_pickle=False) as found:
        return {name: found[name] for name in found}

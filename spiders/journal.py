"""The journal of a crawl: all pages fetched so far, so that a killed crawl can continue.

One JSON object on each line, written as each answer comes: ``{"key": ..., "body": ...}``, with the body in Latin-1,
which holds any bytes. A kill can only tear the last line, which is then dropped. Bodies stay on disk, because those of
a whole site would not fit into memory.
"""

import json
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self


class Journal:
    """Good answers by key, kept in a file from the first one on."""

    def __init__(self, path: Path) -> None:
        """Open the journal at ``path``, or create it."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self._lines: dict[str, int] = {}  # Offset of the line of a key
        self._file: BinaryIO = open(path, "a+b")  # noqa: SIM115 - closed with the journal
        self._take_up()

    def _take_up(self) -> None:
        self._file.seek(0)
        good = 0
        for line in self._file:
            try:
                self._lines[_read(line)[0]] = good
            except (ValueError, TypeError, KeyError, AttributeError):
                break
            good += len(line)
        self._file.truncate(good)

    def __len__(self) -> int:
        return len(self._lines)

    def __contains__(self, key: str) -> bool:
        return key in self._lines

    def get(self, key: str) -> bytes | None:
        """The body for ``key``, if there is one."""
        if key not in self._lines:
            return None
        self._file.seek(self._lines[key])
        return _read(self._file.readline())[1]

    def add(self, key: str, body: bytes) -> None:
        """Keep an answer; when this returns the operating system has it, so that killing the process cannot lose it."""
        self._lines[key] = self._file.seek(0, 2)
        self._file.write(json.dumps({"key": key, "body": body.decode("latin-1")}).encode() + b"\n")
        self._file.flush()

    def clear(self) -> None:
        """Clear the journal, once its pages are stored elsewhere."""
        self._file.truncate(0)
        self._lines.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._file.close()
        if not self._lines:
            self.path.unlink(missing_ok=True)


def _read(line: bytes) -> tuple[str, bytes]:
    """Key and body of a whole line."""
    entry = json.loads(line if line.endswith(b"\n") else b"")
    return entry["key"], entry["body"].encode("latin-1")

"""The pairs of a match as they finish, so that a match which is killed goes on from there.

One JSON object a line, on the disk when `PairJournal.add` returns: first what the match is, then a line a pair. Only
the last line can be torn, by a kill while it was written; it is dropped.
"""

import contextlib
import dataclasses
import json
import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

from pipeline_src.arena.timed import TimedGame
from pipeline_src.errors import ZugwerkError

Pair = tuple[TimedGame, TimedGame]
"""The two games of an opening; ``a`` moves first in the first."""
FORMAT = 1


class PairJournal:
    """Finished pairs by number, kept in a file."""

    def __init__(self, path: Path, match: Mapping[str, Any], resume: bool = True) -> None:
        """Take up the journal at ``path``, or begin one there.

        Args:
            path: of the file; its folder is made.
            match: what the match is; a journal of another one is refused.
            resume: False begins anew.

        Raises:
            ZugwerkError: the journal is another match's, damaged, or being written by another process.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.pairs: dict[int, Pair] = {}
        self._file: BinaryIO = open(path, "a+b")  # noqa: SIM115 - open as long as the journal is
        try:
            self._lock()
            if not resume:
                self._file.truncate(0)
            self._take_up(json.loads(json.dumps({"format": FORMAT, **match})))
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

    def _take_up(self, head: dict[str, Any]) -> None:
        self._file.seek(0)
        whole = [line for line in self._file if line.endswith(b"\n")]
        self._file.truncate(sum(map(len, whole)))
        if not whole:
            self._write(head)
            return
        try:
            found, *entries = map(json.loads, whole)
            self.pairs = {int(entry["pair"]): _read_pair(entry["games"]) for entry in entries}
        except (ValueError, TypeError, KeyError) as error:
            raise ZugwerkError(f"{self.path}: damaged ({error!r}); remove it to begin the match anew") from None
        if found != head:
            keys = found.keys() | head.keys() if isinstance(found, dict) else set()
            other = ", ".join(sorted(key for key in keys if found.get(key) != head.get(key))) or "format"
            raise ZugwerkError(
                f"{self.path}: the journal of another match ({other} differs); choose another --out, or remove it"
            )

    def add(self, number: int, pair: Pair) -> None:
        """Keep a finished pair; when this returns, it is on the disk."""
        self._write({"pair": number, "games": [dataclasses.asdict(game) for game in pair]})
        self.pairs[number] = pair

    def _write(self, entry: Mapping[str, Any]) -> None:
        self._file.write(json.dumps(entry, separators=(",", ":")).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Let another process write it."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def _read_pair(games: Any) -> Pair:
    one, other = (
        TimedGame(**{**game, "actions": tuple(game["actions"]), "times": tuple(game["times"])}) for game in games
    )
    return one, other

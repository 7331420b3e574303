"""Another program, spoken to line by line, that never outlives its use.

It runs in a process group of its own. The group is killed when the engine is closed, when its object is collected and
when this process ends; and where this process is killed itself, a guard does it: a shell that waits for the end of a
pipe which only this process holds.
"""

import contextlib
import os
import queue
import signal
import subprocess
import threading
import time
import weakref
from collections.abc import Sequence
from typing import IO

from pipeline_src.players.errors import PlayerError

LONGEST = 1 << 16
"""Characters of an engine's line; what comes after them is another line."""
MOST_LINES = 10_000
"""That wait to be read."""
Lines = queue.Queue[str | None]
"""None is the end."""
_GUARD = 'read -r _; kill -9 "-$1" 2>/dev/null'


class EngineProcess:
    """A running program."""

    def __init__(self, command: Sequence[str]) -> None:
        """Start ``command``, given as its words.

        Raises:
            PlayerError: it cannot be started.
        """
        self.command = tuple(command)
        try:
            self._process = subprocess.Popen(  # noqa: S603 - a program that the user named
                self.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as error:
            raise PlayerError("crash", f"engine {command[0]!r} cannot be started: {error.strerror}") from None
        guard = _start_guard(self._process.pid)
        self._lines: Lines = queue.Queue(MOST_LINES)
        self._over = False
        closed = threading.Event()
        assert self._process.stdout is not None
        threading.Thread(target=_read, args=(self._process.stdout, self._lines, closed), daemon=True).start()
        self._end = weakref.finalize(self, _end, self._process, guard, closed)

    @property
    def pid(self) -> int:
        """Its process id, also that of its group."""
        return self._process.pid

    def alive(self) -> bool:
        """Whether it is there and has not been closed."""
        return self._end.alive and self._process.poll() is None

    def send(self, line: str) -> None:
        """Write a line to its standard input.

        Raises:
            PlayerError: it has ended.
        """
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line.encode() + b"\n")
            self._process.stdin.flush()
        except (OSError, ValueError):
            raise self._ended() from None

    def read(self, deadline: float) -> str | None:
        """The next line of its output, without its end; None where none came before ``deadline`` (`time.monotonic`).

        Raises:
            PlayerError: it has ended.
        """
        if self._over:
            raise self._ended()
        try:
            line = self._lines.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            return None
        if line is None:
            self._over = True
            raise self._ended()
        return line

    def skip(self) -> None:
        """Forget the lines that have come so far."""
        with contextlib.suppress(queue.Empty):
            for _ in range(MOST_LINES):  # not for ever: an engine may write faster than we read
                if not self._over:
                    self._over = self._lines.get_nowait() is None

    def close(self) -> None:
        """End it and all it has started; may be called twice."""
        self._end()

    def _ended(self) -> PlayerError:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(0.2)
        return PlayerError("crash", f"engine {self.command[0]!r} ended (status {self._process.poll()})")


def _read(stream: "IO[bytes]", lines: Lines, closed: threading.Event) -> None:
    """Pass lines on; an engine that writes more than anybody reads has to wait."""
    line: str | None = ""
    while line is not None:
        raw = b""
        with contextlib.suppress(OSError, ValueError):
            raw = stream.readline(LONGEST)
        line = raw.decode("utf-8", "replace").strip() if raw else None
        while not closed.is_set():
            with contextlib.suppress(queue.Full):
                lines.put(line, timeout=0.1)
                break
    stream.close()


def _start_guard(group: int) -> "subprocess.Popen[bytes] | None":
    """A shell that kills the group once this process is gone; None on systems without one."""
    if os.name != "posix":
        return None
    return subprocess.Popen(  # noqa: S603
        ["/bin/sh", "-c", _GUARD, "guard", str(group)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _end(process: "subprocess.Popen[bytes]", guard: "subprocess.Popen[bytes] | None", closed: threading.Event) -> None:
    closed.set()
    with contextlib.suppress(OSError):  # the group may be gone
        if guard is None:
            process.kill()
        elif process.returncode is None or _has_members(process.pid):
            os.killpg(process.pid, signal.SIGKILL)
    if guard is not None:
        guard.kill()  # before its pipe is closed, which it takes for our end
        guard.wait()
    process.wait()
    for one in (process, guard):
        if one is not None and one.stdin is not None:
            with contextlib.suppress(OSError):
                one.stdin.close()


def _has_members(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except OSError:
        return False
    return True

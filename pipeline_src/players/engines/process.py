"""Another program, spoken to line by line, that never outlives its use.

It runs in a process group of its own. An engine that is closed is told to leave and has a short time for it. The group
is killed after that, when the engine's object is collected and when this process ends; and where this process is killed
itself, a guard does it: a shell that waits for the end of a pipe which only this process holds.
"""

import contextlib
import os
import queue
import re
import signal
import subprocess
import threading
import time
import weakref
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

from pipeline_src.players.errors import ErrorKind, PlayerError

LONGEST = 1 << 16
"""Characters of an engine's line; what comes after them is another line."""
MOST_LINES = 10_000
"""That wait to be read."""
LEAVE_S = 2.0
"""For an engine to leave once it was told to: some write files then."""
LAST_LINES = 4
"""Of its output and of its standard error that are quoted where it goes wrong."""
MOST_KEPT = 1 << 20
"""Bytes of an engine's standard error that a file keeps."""
QUOTED = 160
"""Characters of such a line."""
Lines = queue.Queue[str | None]
"""None is the end."""
_GUARD = 'read -r _; kill -9 "-$1" 2>/dev/null'


class EngineProcess:
    """A running program."""

    def __init__(self, command: Sequence[str], farewell: str = "quit", log: Path | None = None) -> None:
        """Start a program.

        Args:
            command: as its words.
            farewell: line that tells it to leave.
            log: file that takes its standard error, up to so many bytes (`MOST_KEPT`).

        Raises:
            PlayerError: it cannot be started.
        """
        self.command, self._farewell = tuple(command), farewell
        try:
            self._process = subprocess.Popen(  # noqa: S603 - a program that the user named
                self.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise PlayerError("crash", f"engine {command[0]!r} cannot be started: {error.strerror}") from None
        guard = _start_guard(self._process.pid)
        self._lines: Lines = queue.Queue(MOST_LINES)
        self._over = False
        self._said, self._complained = deque[str](maxlen=LAST_LINES), deque[str](maxlen=LAST_LINES)
        closed = threading.Event()
        assert self._process.stdout is not None and self._process.stderr is not None  # noqa: PT018
        reader = (self._process.stdout, self._lines, closed, self._said)
        threading.Thread(target=_read, args=reader, daemon=True).start()
        self._ear = threading.Thread(target=_keep, args=(self._process.stderr, self._complained, log), daemon=True)
        self._ear.start()
        self._end = weakref.finalize(self, _end, self._process, guard, closed)

    @property
    def pid(self) -> int:
        """Its process id, also that of its group."""
        return self._process.pid

    @property
    def status(self) -> int | None:
        """Its exit status, negative for the signal that killed it; None while it runs."""
        return self._process.poll()

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

    def skip(self) -> list[str]:
        """Take the lines that have come so far, of which nobody waited for one."""
        found = list[str]()
        with contextlib.suppress(queue.Empty):
            while not self._over and len(found) < MOST_LINES:  # an engine may write faster than we read
                line = self._lines.get_nowait()
                self._over = line is None
                found += [] if line is None else [line]
        return found

    def close(self, patience_s: float = LEAVE_S) -> None:
        """End it and all it has started, after so long at most for it to leave by itself; may be called twice."""
        if patience_s and self.alive():
            assert self._process.stdin is not None
            with contextlib.suppress(PlayerError, OSError):
                self.send(self._farewell)
                self._process.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(patience_s)
        self._end()

    def fault(self, what: str, kind: ErrorKind = "crash") -> PlayerError:
        """The error that says ``what`` the engine does wrong, with its last words."""
        return PlayerError(kind, f"engine {self.command[0]!r} {what}{self.last_words()}")

    def last_words(self) -> str:
        """Its last lines and the last of its standard error, for the end of a message; empty where there are none."""
        both = {"its last lines": self._said, "on stderr": self._complained}
        return "".join(f"; {name}: {' | '.join(lines)}" for name, lines in both.items() if lines)

    def _ended(self) -> PlayerError:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(0.2)
        self._ear.join(0.2)  # its last complaint may still be on its way
        status = self._process.poll()
        if status is None:
            return self.fault("closed its output")
        if status == 0:
            return self.fault("left unasked (status 0)", "exit")
        return self.fault(f"crashed ({f'status {status}' if status > 0 else signal.Signals(-status).name})")


def _read(stream: "IO[bytes]", lines: Lines, closed: threading.Event, last: "deque[str]") -> None:
    """Pass lines on; an engine that writes more than anybody reads has to wait."""

    def put(line: str | None) -> None:
        while not closed.is_set():
            with contextlib.suppress(queue.Full):
                lines.put(line, timeout=0.1)
                break

    for line in _lines(stream):
        last.append(_quoted(line))
        put(line)
    put(None)


def _keep(stream: "IO[bytes]", last: "deque[str]", log: Path | None) -> None:
    """Read all that comes, so that the engine never waits for it, and keep the last lines, and the first in a file."""
    for line in _lines(stream):
        last.append(_quoted(line))
        if log is not None:
            with contextlib.suppress(OSError):  # a full disk ends no match before its journal does
                log.parent.mkdir(parents=True, exist_ok=True)
                with open(log, "ab") as file:
                    file.write(line.encode() + b"\n" if file.tell() < MOST_KEPT else b"")


def _lines(stream: "IO[bytes]") -> Iterator[str]:
    """Lines with something in them to the end of the stream, which is closed; CR, LF or both end a line."""
    rest = b""
    with stream, contextlib.suppress(OSError, ValueError):
        while raw := stream.read1(LONGEST):  # type: ignore[attr-defined]  # a BufferedReader has it
            *whole, rest = re.split(rb"[\r\n]", rest + raw)
            if len(rest) >= LONGEST:
                whole, rest = [*whole, rest], b""
            yield from filter(None, (line.decode("utf-8", "replace").strip() for line in whole))
    if text := rest.decode("utf-8", "replace").strip():
        yield text


def _quoted(line: str) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in line[:QUOTED])


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

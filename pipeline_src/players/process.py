"""Players that are other programs: the process, its start and end, and the waiting times."""

import contextlib
import logging
import math
import os
import queue
import re
import shlex
import signal
import subprocess
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Annotated, Any, NamedTuple

from pydantic import BeforeValidator, Field

from pipeline_src.players.player import ErrorKind, Options, Player, PlayerError, Position, RefusalError
from pipeline_src.project.params import NonNegative

# A child process that is driven line by line and never outlives its use. It runs in a process group of its own.
# `EngineProcess.close` asks it to exit and waits a short time; then the group is killed, as it is when the object is
# collected and when this process ends. If this process is killed, a guard kills the group: a shell that waits for the
# end of a pipe held by this process alone.


LONGEST = 1 << 16  # Longest line of an engine, in characters. The rest counts as another line.
MOST_LINES = 10_000  # Largest number of lines that wait to be read
LEAVE_S = 2.0  # Seconds for an engine to exit after it was asked to: some write files then
LAST_LINES = 4  # Number of last lines, of the output and of standard error each, that an error message quotes
MOST_KEPT = 1 << 20  # Bytes of an engine's standard error that its log file keeps
QUOTED = 160  # Number of characters of a line that an error message quotes
Lines = queue.Queue[str | None]  # Queue of lines; None is the end
SLOW_S = 10.0  # Seconds without readiness after which a message says that the engine is awaited
log = logging.getLogger(__name__)
_GUARD = 'read -r _; kill -9 "-$1" 2>/dev/null'


class EngineProcess:
    """A running program."""

    def __init__(self, command: Sequence[str], farewell: str = "quit", log: Path | None = None) -> None:
        """Start a program. ``farewell`` asks it to exit; ``log`` gets its standard error, up to `MOST_KEPT` bytes.

        Raises:
            PlayerError: the program cannot be started.
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
            hint = "; a path with a space or comma needs double quotes that the shell leaves: 'NAME:\"/a b/engine\"'"
            hint = hint if command[1:] else ""
            raise PlayerError("crash", f"engine {command[0]!r} cannot be started: {error.strerror}{hint}") from None
        guard = _start_guard(self._process.pid)
        self._lines: Lines = queue.Queue(MOST_LINES)
        self._over, self._heard = False, -math.inf  # when a line was last read, by `time.monotonic`
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
        """Process id, which is also the id of its process group."""
        return self._process.pid

    @property
    def status(self) -> int | None:
        """Exit status, negative for the signal that killed it; None while it runs."""
        return self._process.poll()

    def alive(self) -> bool:
        """Whether the process runs and has not been closed."""
        return self._end.alive and self._process.poll() is None

    def rest(self, seconds: float) -> float:
        """Wait until ``seconds`` have passed since its last line was read; return the seconds that were waited."""
        begin = time.monotonic()
        if (left := self._heard + seconds - begin) <= 0:
            return 0.0
        time.sleep(left)
        return time.monotonic() - begin

    def send(self, line: str) -> None:
        """Write a line to its standard input.

        Raises:
            PlayerError: the process has ended.
        """
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line.encode() + b"\n")
            self._process.stdin.flush()
        except (OSError, ValueError):
            raise self._ended() from None

    def read(self, deadline: float) -> str | None:
        """Return the next line of its output; None if none came before ``deadline`` (`time.monotonic`).

        Raises:
            PlayerError: the process has ended.
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
        self._heard = time.monotonic()
        return line

    def skip(self) -> list[str]:
        """Discard and return the lines that have come so far."""
        found = list[str]()
        with contextlib.suppress(queue.Empty):
            while not self._over and len(found) < MOST_LINES:  # an engine may write faster than we read
                line = self._lines.get_nowait()
                self._over = line is None
                found += [] if line is None else [line]
        return found

    def close(self, patience_s: float = LEAVE_S) -> None:
        """End the process and its children, ``patience_s`` after it was asked to exit. May be called twice."""
        if patience_s and self.alive():
            assert self._process.stdin is not None
            with contextlib.suppress(PlayerError, OSError):
                self.send(self._farewell)
                self._process.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(patience_s)
        self._end()

    def fault(self, what: str, kind: ErrorKind = "crash") -> PlayerError:
        """Return the error for a fault of the engine, with its last words."""
        return PlayerError(kind, f"engine {self.command[0]!r} {what}{self.last_words()}")

    def last_words(self) -> str:
        """Return its last lines of output and of standard error for the end of a message; empty if it wrote none."""
        both = {"its last lines": self._said, "on stderr": self._complained}
        return "".join(f"; {name}: {' | '.join(lines)}" for name, lines in both.items() if lines)

    def _ended(self) -> PlayerError:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(0.2)
        self._ear.join(0.2)  # the last lines may still be on their way
        status = self._process.poll()
        if status is None:
            return self.fault("closed its output")
        if status == 0:
            return self.fault("left unasked (status 0)", "exit")
        return self.fault(f"crashed ({f'status {status}' if status > 0 else signal.Signals(-status).name})")


def _read(stream: "IO[bytes]", lines: Lines, closed: threading.Event, last: "deque[str]") -> None:
    """Pass lines on. An engine that writes more than is read has to wait."""

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
    """Read everything, so that the engine never blocks; keep the last lines, and write the first ones to a file."""
    for line in _lines(stream):
        last.append(_quoted(line))
        if log is not None:
            with contextlib.suppress(OSError):  # a full disk here does not end a match
                log.parent.mkdir(parents=True, exist_ok=True)
                with open(log, "ab") as file:
                    file.write(line.encode() + b"\n" if file.tell() < MOST_KEPT else b"")


def _lines(stream: "IO[bytes]") -> Iterator[str]:
    """Yield the lines that are not empty, then close the stream. CR, LF or both end a line."""
    rest = b""
    with stream, contextlib.suppress(OSError, ValueError):
        while raw := stream.read1(LONGEST):  # type: ignore[attr-defined]  # a BufferedReader has it
            *whole, rest = re.split(rb"[\r\n]", rest + raw)
            if len(rest) >= LONGEST:
                whole, rest = [*whole, rest], b""
            yield from filter(None, (line.decode("utf-8-sig", "replace").strip() for line in whole))
    if text := rest.decode("utf-8-sig", "replace").strip():
        yield text


def _quoted(line: str) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in line[:QUOTED])


def _start_guard(group: int) -> "subprocess.Popen[bytes] | None":
    """Start a shell that kills the group once this process is gone; None on systems without a shell."""
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
        guard.kill()  # before the pipe is closed, which would trigger it
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


class Patience(NamedTuple):
    """Waiting times for a program."""

    grace_s: float = 5.0  # Seconds after the end of its time until a program without an answer counts as hung
    start_s: float = 300.0  # Seconds to load, or to compile what it needs the first time, and to report readiness
    first_s: float = 1.0  # Seconds by which its first move in a game may be late: some programs restart on BOARD


PATIENT = Patience()


class EnginePlayer(Player):
    """One engine process, started by the first move, and restarted after it has ended or was killed.

    A subclass for each protocol greets the engine and asks it for moves.
    """

    FAREWELL = "quit"  # Line that asks the engine to exit

    def __init__(self, command: Sequence[str], patience: Patience, pause_s: float = 0.0) -> None:
        """`_send` writes a line ``pause_s`` seconds after the last line of the engine at the earliest."""
        self._pause_s = pause_s
        self._command, self._patience, self.first_ms = tuple(command), patience, patience.first_s * 1000
        self._process: EngineProcess | None = None

    def choose(self, positions: Sequence[Position]) -> list[int]:
        """See `Player.choose`. The games are asked one after the other.

        Raises:
            PlayerError: no legal move came in time. The engine is ended, and restarted for the next move.
        """
        self.waited_ms = 0.0
        return [self._choose(position) for position in positions]

    def ready(self, start: Any = None) -> None:  # noqa: ARG002 - for protocols that must know the board
        """See `Player.ready`. Waits until the engine is ready, for a game from ``start`` if that is given."""
        self._running()

    def cpu_seconds(self) -> float:
        """See `Player.cpu_seconds`; with the children of the process. 0 while it does not run."""
        import psutil

        if self._process is None or not self._process.alive():
            return 0.0
        seconds = 0.0
        try:
            parent = psutil.Process(self._process.pid)
            for one in (parent, *parent.children(recursive=True)):
                seconds += sum(one.cpu_times()[:2])
        except psutil.NoSuchProcess:  # one of them has just ended
            return seconds
        except psutil.Error as error:
            raise PlayerError("crash", f"engine {self._command[0]!r}: no CPU time is known of it: {error}") from None
        return seconds

    def last_words(self) -> str:
        """See `Player.last_words`."""
        return "" if self._process is None else self._process.last_words()

    def close(self) -> None:
        """See `Player.close`."""
        if self._process is not None:
            self._process.rest(self._pause_s)
            self._process.close()
        self._process = None

    def _choose(self, position: Position) -> int:
        raise NotImplementedError

    def _greet(self, process: EngineProcess) -> None:
        raise NotImplementedError

    def _running(self) -> EngineProcess:
        if self._process is not None and self._process.alive():
            return self._process
        self.close()
        with self._ended_on_error():
            log_file = None if self.logs is None else self.logs / f"{file_name(self._command)}.stderr.txt"
            self._process = process = EngineProcess(self._command, self.FAREWELL, log_file)
            self._greet(process)
        return process

    def _send(self, process: EngineProcess, line: str) -> None:
        """Write a line after the pause, which counts as time of neither side."""
        self.waited_ms += process.rest(self._pause_s) * 1000
        process.send(line)

    def _await(self, process: EngineProcess, wanted: Callable[[str], bool], what: str, seconds: float) -> str:
        """Return the first line that is ``wanted``; skip other lines."""
        return self._listen(process, wanted, what, seconds, math.inf)

    def _await_start(self, process: EngineProcess, wanted: Callable[[str], bool], what: str) -> str:
        """`_await` before a game: after `SLOW_S` a message says what is awaited."""
        return self._listen(process, wanted, what, self._patience.start_s, SLOW_S)

    def _listen(
        self, process: EngineProcess, wanted: Callable[[str], bool], what: str, seconds: float, slow_s: float
    ) -> str:
        begin = time.monotonic()
        deadline, slow = begin + seconds, begin + slow_s
        while (now := time.monotonic()) < deadline:
            if now >= slow:
                words = process.last_words() or "; it has said nothing"
                said = "waiting for engine %r: no %s after %.0f s, of %.0f s that it may take%s"
                log.warning(said, process.command[0], what, slow_s, seconds, words)
                slow = math.inf
            line = process.read(min(deadline, slow))
            if line is not None and wanted(line):
                return line
        raise process.fault(f"hung: no {what} within {seconds:.1f} s", "hang")

    @contextlib.contextmanager
    def _ended_on_error(self) -> Any:
        """Close the process on an error or interrupt, since its next lines could answer an earlier question."""
        try:
            yield
        except BaseException as error:
            if self._process is not None:
                self._process.close(LEAVE_S if isinstance(error, RefusalError) else 0)
            self._process = None
            raise


def file_name(command: Sequence[str]) -> str:
    """Return a name for files about a program: its words without their folders."""
    return re.sub(r"[^\w.=+-]+", "-", " ".join(os.path.basename(word) for word in command)).strip("-.")[:80]  # noqa: PTH119


def command_words(text: str) -> tuple[str, ...]:
    """Split a command line into words; quotes keep words together.

    Raises:
        ValueError: a quote is not closed.
    """
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise ValueError(f"is not a command line: {error}") from None


class ProgramOptions(Options):
    """Options of every player that is another program."""

    VALUE = "command"

    command: Annotated[tuple[str, ...], BeforeValidator(command_words), Field(min_length=1)]
    """Command line that starts the program; double quotes keep a path with spaces or commas together."""
    start: Annotated[float, Field(ge=1)] = PATIENT.start_s * 1000
    """Milliseconds to report readiness before a game; a program without an answer then counts as hung."""
    first: NonNegative = PATIENT.first_s * 1000
    """Milliseconds that its first move of a game may take beyond `movetime`."""
    grace: NonNegative = PATIENT.grace_s * 1000
    """Milliseconds after the end of its time until a program without an answer counts as hung."""
    name: str = ""
    """Label in tables, without any other effect."""

    @property
    def patience(self) -> Patience:
        """Return the waiting times."""
        return Patience(self.grace / 1000, self.start / 1000, self.first / 1000)

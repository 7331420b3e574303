"""Base of the players that are other programs: the process, its start and end, and the waiting times."""

import contextlib
import logging
import math
import os
import re
import shlex
import time
from collections.abc import Callable, Sequence
from typing import Annotated, Any, NamedTuple

from pydantic import BeforeValidator, Field

from pipeline_src.players.engines.process import LEAVE_S, EngineProcess
from pipeline_src.players.errors import RefusalError
from pipeline_src.players.options import Options
from pipeline_src.players.player import Player, Position
from pipeline_src.project.params import NonNegative

log = logging.getLogger(__name__)

SLOW_S = 10.0
"""Seconds without readiness after which a message says that the engine is awaited."""


class Patience(NamedTuple):
    """Waiting times for a program."""

    grace_s: float = 5.0
    """Seconds after the end of its time until a program without an answer counts as hung."""
    start_s: float = 300.0
    """Seconds to load, or to compile what it needs the first time, and to report readiness."""
    first_s: float = 1.0
    """Seconds by which its first move in a game may be late: some programs restart on BOARD."""


PATIENT = Patience()


class EnginePlayer(Player):
    """One engine process, started by the first move, and restarted after it has ended or was killed.

    A subclass for each protocol greets the engine and asks it for moves.
    """

    FAREWELL = "quit"
    """Line that asks the engine to exit."""

    def __init__(self, command: Sequence[str], patience: Patience = PATIENT, pause_s: float = 0.0) -> None:
        """``command`` is a list of words. The process is not started yet.

        `_send` writes a line ``pause_s`` seconds after the last line of the engine at the earliest.
        """
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
        """Greet a new process and wait for its answer."""
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
                log.warning(
                    "waiting for engine %r: no %s yet, given up after %.0f s%s",
                    process.command[0],
                    what,
                    seconds,
                    words,
                )
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

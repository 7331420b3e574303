"""What players have in common that are other programs: the process, its start and end, and how long to wait."""

import contextlib
import shlex
import time
from collections.abc import Callable, Sequence
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from pipeline_src.players.engines.process import EngineProcess
from pipeline_src.players.errors import PlayerError
from pipeline_src.players.options import Options
from pipeline_src.players.player import Player, Position
from pipeline_src.project.params import NonNegative

START_S = 300.0
"""For an engine to load, or to compile what it needs the first time, and say that it is ready."""
GRACE_S = 5.0
"""After the end of its time, for an engine to answer before it counts as hung."""


class EnginePlayer(Player):
    """One engine process: started by the first move, and again after it ended or had to be killed.

    A protocol says how to greet the engine and how to ask it for a move.
    """

    def __init__(self, command: Sequence[str], grace_s: float = GRACE_S) -> None:
        """``command`` as its words; nothing is started yet."""
        self._command, self._grace_s = tuple(command), grace_s
        self._process: EngineProcess | None = None

    def choose(self, positions: Sequence[Position]) -> list[int]:
        """See `Player.choose`; a game after the other.

        Raises:
            PlayerError: no legal move in time; the engine is ended and started again for the next one.
        """
        return [self._choose(position) for position in positions]

    def ready(self, start: Any = None) -> None:  # noqa: ARG002 - for protocols that must know the board
        """See `Player.ready`; waits until the engine is ready, for a game from ``start`` where that is known."""
        self._running()

    def close(self) -> None:
        """See `Player.close`."""
        if self._process is not None:
            self._process.close()
        self._process = None

    def _choose(self, position: Position) -> int:
        raise NotImplementedError

    def _greet(self, process: EngineProcess) -> None:
        """What a new process is told, and waited for."""
        raise NotImplementedError

    def _running(self) -> EngineProcess:
        if self._process is not None and self._process.alive():
            return self._process
        self.close()
        with self._ended_on_error():
            self._process = process = EngineProcess(self._command)
            self._greet(process)
        return process

    def _await(self, process: EngineProcess, wanted: Callable[[str], bool], what: str, seconds: float) -> str:
        """The first line that is ``wanted``; other lines are passed over."""
        deadline = time.monotonic() + seconds
        while (line := process.read(deadline)) is not None:
            if wanted(line):
                return line
            if time.monotonic() > deadline:
                break
        raise PlayerError("crash", f"engine {process.command[0]!r} hung: no {what} within {seconds:.1f} s")

    @contextlib.contextmanager
    def _ended_on_error(self) -> Any:
        """An engine that hung or ended, or from which an interrupt took us away, is not spoken to again."""
        try:
            yield
        except BaseException:
            self.close()
            raise


def _words(text: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise ValueError(f"is no command line: {error}") from None


class ProgramOptions(Options):
    """Options of all players that are other programs."""

    VALUE = "command"

    command: Annotated[tuple[str, ...], BeforeValidator(_words), Field(min_length=1)]
    """Command line that starts the program; quotes keep words together."""
    grace: NonNegative = GRACE_S * 1000
    """Milliseconds after the end of its time before it counts as hung."""
    name: str = ""
    """Tells engines apart in tables, and does nothing else."""

"""What players have in common that are other programs: the process, its start and end, and how long to wait."""

import contextlib
import shlex
import time
from collections.abc import Callable, Sequence
from typing import Any

from pipeline_src.errors import ZugwerkError
from pipeline_src.players.engines.process import EngineProcess
from pipeline_src.players.errors import PlayerError
from pipeline_src.players.player import Player, PlayerText, Position

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


def read_command(text: PlayerText, example: str) -> list[str]:
    """The words of the command line in a player's text.

    Raises:
        ZugwerkError: none, or quotes that do not close.
    """
    try:
        command = shlex.split(text.value)
    except ValueError as error:
        raise ZugwerkError(f"player '{text.name}': {text.value!r} is no command line: {error}") from None
    if not command:
        raise ZugwerkError(f"player '{text.name}' needs a program: {example}")
    return command


def split_settings(text: PlayerText, prefix: str) -> tuple[dict[str, str], PlayerText]:
    """The options that begin with ``prefix``, without it; and a text of the others, but for ``name``."""
    settings = {key: value for key, value in text.options.items() if key.startswith(prefix)}
    rest = {key: value for key, value in text.options.items() if key not in settings and key != "name"}
    found = {key.removeprefix(prefix): value for key, value in settings.items()}
    return found, PlayerText(text.name, "", rest)

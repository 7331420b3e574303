"""An external engine as a player: any program that speaks the protocol of `pipeline_src.arena.uci`."""

import contextlib
import shlex
import time
from collections.abc import Sequence
from typing import Any

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.game import Game, get_game
from pipeline_src.players.clocks import clock_words
from pipeline_src.players.engine_process import EngineProcess
from pipeline_src.players.player import PlayerText, Position
from pipeline_src.players.player_error import PlayerError
from pipeline_src.players.uci_text import read_move, write_move

START_S = 300.0
"""For an engine to load, or to compile what it needs the first time, and say that it is ready."""
GRACE_S = 5.0
"""After the end of its time, for an engine to answer before it counts as hung."""
UNLIMITED_S = 3600.0
"""For a move that no time limits (nodes, depth), before the engine counts as hung."""


class UciPlayer:
    """One engine process: started by the first move, and again after it ended or had to be killed."""

    def __init__(
        self,
        game: str,
        command: Sequence[str],
        go: Sequence[str] = (),
        options: dict[str, str] | None = None,
        grace_s: float = GRACE_S,
    ) -> None:
        """``go`` holds the words after ``go``, unless the game is played on a clock; ``options`` those to be set."""
        self._game: Game = get_game(game)
        self._command, self._go, self._options, self._grace_s = tuple(command), tuple(go), options or {}, grace_s
        self._standard = self._game.to_fen(self._game.initial_state())
        self._process: EngineProcess | None = None
        self._fresh = False  # nothing of a game was sent since the last ucinewgame

    def choose(self, positions: Sequence[Position]) -> list[int]:
        """See `Player.choose`; a game after the other.

        Raises:
            PlayerError: no legal move in time; the engine is ended and started again for the next one.
        """
        return [self._choose(position) for position in positions]

    def new_game(self) -> None:
        """Tell the engine that another game begins; done before the first move of one."""
        if self._process is not None and self._process.alive() and not self._fresh:
            with self._ended_on_error():
                self._process.send("ucinewgame")
                self._await_ready(self._process)
        self._fresh = True

    def ready(self) -> None:
        """Start the engine and wait until it is ready.

        Raises:
            PlayerError: it cannot be started, or does not say that it is ready.
        """
        self._running()

    def close(self) -> None:
        """End the engine; the next move starts it again."""
        if self._process is not None:
            self._process.close()
        self._process = None

    def _choose(self, position: Position) -> int:
        first = self._game.to_play(position.state) == 0
        go = clock_words(position, first) or list(self._go)
        with self._ended_on_error():
            process = self._running()
            self._fresh = False
            process.skip()  # an answer that came too late is none to what is asked now
            process.send(self._position_line(position))
            process.send(" ".join(["go", *go]))
            text = self._await(process, "bestmove", self._patience(position))
        if text == "(none)":
            raise PlayerError("illegal", "the engine answers that it has no move")
        try:
            action = read_move(self._game, position.state, text)
        except ZugwerkError as error:
            raise PlayerError("illegal", f"the engine's move cannot be read: {error}") from None
        if not self._game.is_legal(position.state, action):
            raise PlayerError("illegal", f"the engine's move {text} is not legal")
        return action

    def _patience(self, position: Position) -> float:
        if position.clock is not None:
            return position.clock.own_ms / 1000 + self._grace_s
        if "movetime" in self._go:
            return float(self._go[self._go.index("movetime") + 1]) / 1000 + self._grace_s
        return UNLIMITED_S

    def _position_line(self, position: Position) -> str:
        game = self._game
        if position.start is None:
            return f"position fen {game.to_fen(position.state)}"
        fen = game.to_fen(position.start)
        words = ["position startpos"] if fen == self._standard else [f"position fen {fen}"]
        state: Any = position.start
        if position.actions:
            words += ["moves", *(write_move(game, state, action) for action in position.actions)]
        return " ".join(words)

    def _running(self) -> EngineProcess:
        if self._process is not None and self._process.alive():
            return self._process
        self.close()
        with self._ended_on_error():
            self._process = process = EngineProcess(self._command)
            process.send("uci")
            self._await(process, "uciok", START_S)
            for name, value in self._options.items():
                process.send(f"setoption name {name} value {value}")
            process.send("ucinewgame")
            self._await_ready(process)
        self._fresh = True
        return process

    def _await_ready(self, process: EngineProcess) -> None:
        process.send("isready")
        self._await(process, "readyok", START_S)

    def _await(self, process: EngineProcess, word: str, seconds: float) -> str:
        """What follows ``word`` on the line that begins with it; other lines are passed over."""
        deadline = time.monotonic() + seconds
        while (line := process.read(deadline)) is not None:
            words = line.split()
            if words[:1] == [word]:
                return words[1] if len(words) > 1 else "(none)"
            if time.monotonic() > deadline:
                break
        raise PlayerError("crash", f"engine {process.command[0]!r} hung: no {word} within {seconds:.1f} s")

    @contextlib.contextmanager
    def _ended_on_error(self) -> Any:
        """An engine that hung or ended, or from which an interrupt took us away, is not spoken to again."""
        try:
            yield
        except BaseException:
            self.close()
            raise


def uci_player(text: PlayerText) -> UciPlayer:
    """``uci:COMMAND[,movetime=MS][,nodes=N][,depth=D][,name=NAME][,grace=MS][,option.NAME=VALUE...]`` for the Amazons.

    ``name`` tells engines apart in tables and does nothing else.

    Raises:
        ZugwerkError: no command, quotes that do not close, or another option.
    """
    settings = {key: value for key, value in text.options.items() if key.startswith("option.")}
    rest = {key: value for key, value in text.options.items() if key not in settings and key != "name"}
    numbers = PlayerText(text.name, "", rest).numbers(movetime=0, nodes=0, depth=0, grace=GRACE_S * 1000)
    try:
        command = shlex.split(text.value)
    except ValueError as error:
        raise ZugwerkError(f"player 'uci': {text.value!r} is no command line: {error}") from None
    if not command:
        raise ZugwerkError("player 'uci' needs a program: uci:COMMAND[,movetime=MS]")
    go: list[str] = []
    for name in ("movetime", "nodes", "depth"):
        if name in rest:
            if not 1 <= numbers[name] < 1e15:
                raise ZugwerkError(f"player 'uci': {name} must be 1 or more, not {rest[name]}")
            go += [name, str(int(numbers[name]))]
    options = {key.removeprefix("option."): value for key, value in settings.items()}
    return UciPlayer("amazons", command, go, options, max(0.0, numbers["grace"] / 1000))

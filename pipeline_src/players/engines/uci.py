"""An external engine as a player: any program that speaks the protocol of `pipeline_src.arena.uci`."""

from collections.abc import Callable, Sequence
from typing import Annotated, Any

from pydantic import Field

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.game import Game, get_game
from pipeline_src.players.engines.engine import PATIENT, EnginePlayer, Patience, ProgramOptions
from pipeline_src.players.engines.process import EngineProcess
from pipeline_src.players.engines.uci_text import read_move, write_move
from pipeline_src.players.player import Position
from pipeline_src.players.searching import Limits
from pipeline_src.search.limits import Limit

UNLIMITED_S = 3600.0
"""Seconds for a move without a time limit (nodes, depth) until the engine counts as hung."""


class UciPlayer(EnginePlayer):
    """See `EnginePlayer`."""

    def __init__(
        self,
        game: str,
        command: Sequence[str],
        go: Sequence[str] = (),
        options: dict[str, str] | None = None,
        patience: Patience = PATIENT,
    ) -> None:
        """``go`` are the words after ``go``, unless the game is played on a clock; ``options`` are set at the start."""
        super().__init__(command, patience)
        self._game: Game = get_game(game)
        self._go, self._options = tuple(go), options or {}
        self._standard = self._game.to_fen(self._game.initial_state())
        self._fresh = False  # whether no position was sent since the last ucinewgame

    def new_game(self) -> None:
        """Send ucinewgame; called before the first move of a game."""
        if self._process is not None and self._process.alive() and not self._fresh:
            with self._ended_on_error():
                self._process.send("ucinewgame")
                self._await_ready(self._process)
        self._fresh = True

    def _choose(self, position: Position) -> int:
        first = self._game.to_play(position.state) == 0
        go = _clock_words(position, first) or list(self._go)
        with self._ended_on_error():
            process = self._running()
            self._fresh = False
            process.skip()  # late answers to earlier questions
            process.send(self._position_line(position))
            process.send(" ".join(["go", *go]))
            words = self._await(process, _begins_with("bestmove"), "bestmove", self._seconds(position)).split()
        text = words[1] if len(words) > 1 else "(none)"
        if text == "(none)":
            raise process.fault("answers that it has no move", "illegal")
        try:
            action = read_move(self._game, position.state, text)
        except ZugwerkError as error:
            raise process.fault(f"answers a move that cannot be read: {error}", "illegal") from None
        if not self._game.is_legal(position.state, action):
            raise process.fault(f"plays {text}, which is not legal", "illegal")
        return action

    def _seconds(self, position: Position) -> float:
        if position.clock is not None:
            return position.clock.own_ms / 1000 + self._patience.grace_s
        if "movetime" in self._go:
            return float(self._go[self._go.index("movetime") + 1]) / 1000 + self._patience.grace_s
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

    def _greet(self, process: EngineProcess) -> None:
        process.send("uci")
        self._await_start(process, _begins_with("uciok"), "uciok")
        for name, value in self._options.items():
            process.send(f"setoption name {name} value {value}")
        process.send("ucinewgame")
        self._await_ready(process)
        self._fresh = True

    def _await_ready(self, process: EngineProcess) -> None:
        process.send("isready")
        self._await_start(process, _begins_with("readyok"), "readyok")


def _begins_with(word: str) -> Callable[[str], bool]:
    return lambda line: line.split()[:1] == [word]


def _clock_words(position: Position, first_to_move: bool) -> list[str]:
    """Return the clock of a position as words of a ``go`` command; empty without a clock."""
    clock = position.clock
    if clock is None:
        return []
    white, black = (clock.own_ms, clock.other_ms) if first_to_move else (clock.other_ms, clock.own_ms)
    return [
        *("wtime", str(int(white)), "btime", str(int(black))),
        *("winc", str(int(clock.increment_ms)), "binc", str(int(clock.increment_ms))),
    ]


class UciOptions(ProgramOptions, Limits):
    """Any program that speaks UCI for the Amazons, such as `zugwerk amazons uci`; its own limit if none is given."""

    EXAMPLE = "uci:'./engine --quiet',movetime=1000,option.Hash=64"
    DEFAULT = Limit()

    movetime: Annotated[float, Field(ge=1, lt=1e15)] | None = None
    """Milliseconds for a move."""
    option: dict[str, str] = Field(default_factory=dict)
    """A UCI option of the program, set at its start."""


def uci_player(options: UciOptions) -> UciPlayer:
    """The player ``uci``."""
    limits = {"movetime": options.movetime, "nodes": options.nodes, "depth": options.depth}
    go = [word for name, value in limits.items() if value is not None for word in (name, str(int(value)))]
    return UciPlayer("amazons", options.command, go, options.option, options.patience)

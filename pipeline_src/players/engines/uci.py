"""An external engine as a player: any program that speaks the protocol of `pipeline_src.arena.uci`."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Any, Literal

from pydantic import Field

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.game import Game, get_game
from pipeline_src.players.engines.engine import PATIENT, EnginePlayer, EngineProcess, Patience, ProgramOptions
from pipeline_src.players.engines.uci_text import Form, form_of, read_move, write_move
from pipeline_src.players.player import PlayerError, Position
from pipeline_src.players.searching import Limits
from pipeline_src.search.limits import Limit

UNLIMITED_S = 3600.0  # Seconds for a move without a time limit (nodes, depth) until the engine counts as hung
TRIAL_MS = 50.0  # Milliseconds of the search that shows how an engine writes moves
TRIAL_GRACE_S = 1.0  # Seconds after which that search is stopped, for engines that know no movetime


class UciPlayer(EnginePlayer):
    """See `EnginePlayer`."""

    def __init__(
        self,
        game: str,
        command: Sequence[str],
        limits: Mapping[str, float] = MappingProxyType({}),
        options: dict[str, str] | None = None,
        patience: Patience = PATIENT,
        form: Form | None = None,
    ) -> None:
        """``limits`` follow ``go``, unless the game is played on a clock; ``options`` are set at the start.

        Moves are written in ``form``; with None, as the engine writes its own.
        """
        super().__init__(command, patience)
        self._form = form
        self._game: Game = get_game(game)
        self._limits, self._options = dict(limits), options or {}
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
        limits = _clock_limits(position, first) or self._limits
        with self._ended_on_error():
            process = self._running()
            start = position.state if position.start is None else position.start
            actions = () if position.start is None else position.actions
            if self._form is None and actions:
                self._learn_form(process, start)
            self._fresh = False
            process.skip()  # late answers to earlier questions
            process.send(self._position_line(start, actions))
            process.send(_go_line(limits))
            words = self._await(process, _begins_with("bestmove"), "bestmove", self._seconds(position)).split()
        text = words[1] if len(words) > 1 else "(none)"
        if text == "(none)":
            raise process.fault("answers that it has no move", "illegal")
        self._form = self._form or form_of(text)
        try:
            action = read_move(self._game, position.state, text)
        except ZugwerkError as error:
            raise process.fault(f"answers a move that cannot be read: {error}", "illegal") from None
        if not self._game.is_legal(position.state, action):
            raise process.fault(f"plays {text}, which is not legal", "illegal")
        return action

    def ready(self, start: Any = None) -> None:
        """See `EnginePlayer.ready`. Before its first game the engine is asked how it writes moves."""
        process = self._running()
        if start is not None and self._form is None:
            with self._ended_on_error():
                self._learn_form(process, start)

    def _learn_form(self, process: EngineProcess, start: Any) -> None:
        """Ask for a move of the first position of a game, which can be sent without moves."""
        process.send(self._position_line(start, ()))
        process.send(_go_line({"movetime": TRIAL_MS} | self._limits | {"movetime": TRIAL_MS}))
        try:
            answer = self._await(process, _begins_with("bestmove"), "bestmove", TRIAL_MS / 1000 + TRIAL_GRACE_S)
        except PlayerError as error:
            if error.kind != "hang":
                raise
            process.send("stop")  # an engine that knows no movetime
            answer = self._await(process, _begins_with("bestmove"), "bestmove", self._patience.grace_s)
        self._form = form_of(" ".join(answer.split()[1:2]))
        process.send("ucinewgame")
        self._await_ready(process)
        self._fresh = True

    def _seconds(self, position: Position) -> float:
        if position.clock is not None:
            return position.clock.own_ms / 1000 + self._patience.grace_s
        if "movetime" in self._limits:
            return self._limits["movetime"] / 1000 + self._patience.grace_s
        return UNLIMITED_S

    def _position_line(self, start: Any, actions: Sequence[int]) -> str:
        fen = self._game.to_fen(start)
        words = ["position startpos"] if fen == self._standard else [f"position fen {fen}"]
        if actions:
            words += ["moves", *(write_move(self._game, start, action, self._form or "joined") for action in actions)]
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


def _go_line(limits: Mapping[str, float]) -> str:
    return " ".join(["go", *(f"{name} {int(value)}" for name, value in limits.items())])


def _clock_limits(position: Position, first_to_move: bool) -> dict[str, float]:
    """Return the clock of a position as the limits of a ``go`` command; empty without a clock."""
    clock = position.clock
    if clock is None:
        return {}
    white, black = (clock.own_ms, clock.other_ms) if first_to_move else (clock.other_ms, clock.own_ms)
    limits = {"wtime": white, "btime": black, "winc": clock.increment_ms, "binc": clock.increment_ms}
    return limits if clock.moves is None else limits | {"movestogo": clock.moves}


class UciOptions(ProgramOptions, Limits):
    """Any program that speaks UCI for the Amazons, such as `zugwerk amazons uci`; its own limit if none is given."""

    EXAMPLE = "uci:'./engine --quiet',movetime=1000,option.Hash=64"
    DEFAULT = Limit()

    movetime: Annotated[float, Field(ge=1, lt=1e15)] | None = None
    """Milliseconds for a move."""
    option: dict[str, str] = Field(default_factory=dict)
    """A UCI option of the program, set at its start."""
    moves: Literal["ask", "joined", "pairs", "comma"] = "ask"
    """Text of moves that are sent: `joined` d1d7g7, `pairs` d1d7,d7g7, `comma` d1d7,g7; `ask`: as it writes its own."""


def uci_player(options: UciOptions) -> UciPlayer:
    """The player ``uci``."""
    limits = {"movetime": options.movetime, "nodes": options.nodes, "depth": options.depth}
    given = {name: value for name, value in limits.items() if value is not None}
    form = None if options.moves == "ask" else options.moves
    return UciPlayer("amazons", options.command, given, options.option, options.patience, form)

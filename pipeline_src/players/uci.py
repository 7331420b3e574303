"""UCI for the Amazons, after the Universal Chess Interface (Meyer-Kahlen and Huber, 2000), on both sides.

`UciPlayer` is another program as a player, `Session` a player that serves another program.
"""

import math
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from pipeline_src import __version__
from pipeline_src.errors import ZugwerkError
from pipeline_src.games.game import Game, get_game
from pipeline_src.jit import plainly
from pipeline_src.players.packaged import elo_range, ladders
from pipeline_src.players.player import Bounds, Player, PlayerError, Position
from pipeline_src.players.process import EnginePlayer, EngineProcess, ProgramOptions
from pipeline_src.players.registry import build_player
from pipeline_src.players.searching import Limits
from pipeline_src.players.session import Conversation, Search, error_text, one_line, time_of
from pipeline_src.search.evaluator import COUNTED, WIN
from pipeline_src.search.limits import Clock, Limit, SearchResult, searching_seconds

_SIGNS = re.compile(r"[-/()]")
_TURN = re.compile(r"([a-z]\d+)([a-z]\d+)([a-z]\d+)")
_COMMA = re.compile(r"([a-z]\d+)([a-z]\d+),(?P<again>\2)?([a-z]\d+)")
"""``d1d7,g7``, or ``d1d7,d7g7`` in the form of chess programs with walls."""
Form = Literal["joined", "pairs", "comma"]  # `joined` is `d1d7g7`, `pairs` is `d1d7,d7g7`, `comma` is `d1d7,g7`
_FORMS: dict[Form, str] = {"joined": r"\1\2\3", "pairs": r"\1\2,\2\3", "comma": r"\1\2,\3"}


def write_move(game: Game, state: Any, action: int, form: Form = "joined") -> str:
    """Return the text of an action on the board of ``state``, such as ``d1d7g7`` for ``d1-d7/g7``."""
    return _TURN.sub(_FORMS[form], _SIGNS.sub("", game.format_move(action, *state.board.shape)))


def form_of(text: str) -> Form:
    """Return the form in which a move is written.

    >>> form_of("d1d7,d7g7")
    'pairs'
    """
    found = _COMMA.fullmatch(text.strip().lower())
    if found is None:
        return "joined"
    return "pairs" if found["again"] else "comma"


def read_move(game: Game, state: Any, text: str) -> int:
    """Return the action id of ``d1d7g7``, ``d1d7,g7``, ``d1d7,d7g7`` or the game's own text. Only the form is checked.

    Raises:
        ZugwerkError: the text is not a move, or a square is not on the board.
    """
    return game.parse_move(_COMMA.sub(r"\1\2\4", text.strip().lower()), *state.board.shape)


# Another program as a player.


UNLIMITED_S = 3600.0  # Seconds for a move without a time limit (nodes, depth) until the engine counts as hung
TRIAL_MS = 50.0  # Milliseconds of the search that shows how an engine writes moves
TRIAL_GRACE_S = 1.0  # Seconds after which that search is stopped, for engines that know no movetime


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


class UciPlayer(EnginePlayer):
    """See `EnginePlayer`. The limits of the options apply unless the game is played on a clock."""

    def __init__(self, options: UciOptions) -> None:
        super().__init__(options.command, options.patience)
        self._form: Form | None = None if options.moves == "ask" else options.moves  # None before it is known
        self._game: Game = get_game("amazons")
        limits = {name: getattr(options, name) for name in ("movetime", "nodes", "depth")}
        self._limits: dict[str, float] = {name: value for name, value in limits.items() if value is not None}
        self._options = options.option
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


# The arguments of ``position`` and ``go``.


MOST_MS, MOST_NODES, MOST_DEPTH = 1e9, 1 << 62, 1_000
"""Largest limits, which no search reaches. Larger ones are reduced to them."""
_START = re.compile(r"startpos(\d*)")


@dataclass(frozen=True)
class Placed:
    """A position as the ``position`` command gives it."""

    start: Any
    state: Any
    actions: tuple[int, ...] = ()


def read_position(game: Game, words: Sequence[str]) -> Placed:
    """Read ``startpos[SIZE]|fen RANKS w|b [COUNTERS] [moves MOVE...]``, the words after ``position``.

    Raises:
        ZugwerkError: the position is malformed or a move is illegal; the message says why.
    """
    at = words.index("moves") if "moves" in words else len(words)
    head, moves = words[:at], words[at + 1 :]
    match = _START.fullmatch(head[0]) if len(head) == 1 else None
    if match:
        start = game.initial_state(int(match[1][:4])) if match[1] else game.initial_state()
    elif len(head) >= 3 and head[0] == "fen":
        start = game.from_fen(" ".join(head[1:]))
    else:
        raise ZugwerkError("position: expected startpos, or fen RANKS w|b, then moves MOVE...")
    state, actions = start, []
    for number, text in enumerate(moves, 1):
        action = read_move(game, state, text)
        if game.winner(state) is not None or not game.is_legal(state, action):
            raise ZugwerkError(f"position: move {number}, {text}, is not legal there")
        actions.append(action)
        state = game.play(state, action)
    return Placed(start, state, tuple(actions))


@dataclass
class GoCommand:
    """The limits of a ``go`` command; times in milliseconds, pairs by side."""

    numbers: dict[str, float] = field(default_factory=dict)
    infinite: bool = False
    ponder: bool = False
    moves: list[str] = field(default_factory=list)  # Texts of `searchmoves`
    actions: tuple[int, ...] = ()  # Legal ones among them, from `read_moves`
    complaints: list[str] = field(default_factory=list)  # Messages about words that could not be read and were ignored

    def place(self, placed: Placed, side: int, rng: np.random.Generator, overhead_ms: float) -> Position:
        """Return the position for the player of ``side``, with ``overhead_ms`` of its clock reserved for delays."""
        numbers = self.numbers
        own, other, increment = ("wtime", "btime", "winc") if side == 0 else ("btime", "wtime", "binc")
        clock = None
        if own in numbers:
            left = _less(numbers[own], overhead_ms)
            moves = int(numbers.get("movestogo", 0)) or None  # some programs send 0 for a time without an end
            clock = Clock(left, numbers.get(other, left), numbers.get(increment, 0.0), moves)
        return Position(placed.state, rng, placed.start, placed.actions, clock)

    def bounds(self, overhead_ms: float) -> Bounds:
        """Return the limits other than the clock, with ``overhead_ms`` of a move's time reserved for delays."""
        numbers = self.numbers
        movetime = numbers.get("movetime")
        depth = min(numbers.get("depth", math.inf), 2 * numbers.get("mate", math.inf) - 1)
        return Bounds(
            depth=None if depth == math.inf else int(depth),
            nodes=int(numbers["nodes"]) if "nodes" in numbers else None,
            movetime_ms=None if movetime is None else _less(movetime, overhead_ms),
            infinite=self.infinite,
            actions=self.actions,
        )

    def read_moves(self, game: Game, state: Any) -> None:
        """Read ``moves`` in a position; note those that are not legal in ``complaints``."""
        for text in self.moves:
            try:
                action = read_move(game, state, text)
                legal = game.is_legal(state, action)
            except ZugwerkError:
                legal = False
            if legal:
                self.actions += (action,)
            else:
                self.complaints.append(f"go searchmoves: {text[:40]!r} is not legal there and left out")


def _less(time_ms: float, overhead_ms: float) -> float:
    return max(1.0, time_ms / 2, time_ms - overhead_ms)


_RANGES = {
    **dict.fromkeys(("depth", "mate"), (1.0, float(MOST_DEPTH))),
    **dict.fromkeys(("movetime", "wtime", "btime"), (1.0, MOST_MS)),
    **dict.fromkeys(("winc", "binc", "movestogo"), (0.0, MOST_MS)),
    "nodes": (1.0, float(MOST_NODES)),
}
_WORDS = {*_RANGES, "infinite", "ponder", "searchmoves"}


def read_go(words: Sequence[str]) -> GoCommand:
    """Read the words after ``go``, in any order; of one given twice the last counts.

    Unreadable words are ignored and noted in ``complaints``; no error is raised.
    """
    go, left = GoCommand(), list(words)
    while left:
        word = left.pop(0)
        if word == "infinite":
            go.infinite = True
        elif word == "ponder":
            go.ponder = True
        elif word == "searchmoves":
            while left and left[0] not in _WORDS:
                go.moves.append(left.pop(0))
        elif word in _RANGES:
            text = left.pop(0) if left and left[0] not in _WORDS else ""
            if not re.fullmatch(r"[+-]?\d{1,30}(\.\d*)?", text, re.ASCII):
                go.complaints.append(f"go {word}: {text[:40]!r} is not a number")
            else:
                low, high = _RANGES[word]
                go.numbers[word] = min(high, max(low, float(text)))
        else:
            go.complaints.append(f"go: {word[:40]!r} is not known and left out")
    return go


PROVEN = (WIN + COUNTED) / 2
"""Larger values are ends of the game, `WIN` less the plies to the end. Values from `SURE` on are counted endings."""
SURE = WIN - 2000


def info_lines(game: Game, state: Any, found: SearchResult) -> list[str]:
    """Return ``info depth .. nodes .. nps .. time .. score .. pv ..``, with the score from `score_words`.

    A search with several lines gets one for each, which are numbered (``multipv``).
    """
    said = []
    each: Sequence[Any] = found.lines or (found,)  # both have value, depth and pv
    for k, one in enumerate(each, 1):
        words = [f"info depth {one.depth}", *([f"multipv {k}"] if found.lines else []), f"nodes {found.nodes}"]
        words += [f"nps {int(found.nodes / found.seconds)}"] if found.seconds > 0 else []
        words += [f"time {int(found.seconds * 1000)}"]
        words += [score_words(one.value)] if math.isfinite(one.value) else []
        words += ["pv", *(write_move(game, state, action) for action in one.pv)] if one.pv else []
        said.append(" ".join(words))
    return said


def score_words(value: float) -> str:
    """Return ``score mate N``, N moves to the end, negative for a loss; or ``score cp C``, in 1/100 square."""
    if PROVEN < abs(value) < WIN:
        return f"score mate {int(math.copysign((WIN - abs(value) + 1) // 2, value))}"
    return f"score cp {round(100 * value)}"


def exact_words(value: float) -> str:
    """Describe the proven result of the position; empty without one."""
    if not SURE < abs(value) <= WIN:
        return ""
    side = "won" if value > 0 else "lost"
    if abs(value) > PROVEN:
        return f"exact: {side}" if abs(value) == WIN else f"exact: {side} in {int(WIN - abs(value))} plies"
    # The value is half a turn less than the margin: the side to move needs one more turn than the other to win.
    ahead = abs(value) - COUNTED + (0.5 if value > 0 else -0.5)
    return f"exact: {side}, by counting: {ahead:.0f} or more turns {'ahead' if value > 0 else 'behind'}"


DEFAULT_PLAYER = "puct"
OVERHEAD_MS = 10
HASH_MIB, MOST_HASH_MIB = 64, 4096
MOST_LINES = 50  # Largest number of lines of an analysis (MultiPV)


class Session(Conversation):
    """A UCI conversation."""

    TOO_LONG = "info string line too long"

    def __init__(self, game: str, player: str, write: Callable[[str], None], seed: int = 0) -> None:
        """See `session.Conversation`."""
        super().__init__(game, player, write, seed)
        self._start = self._rules.initial_state()
        self._placed = Placed(self._start, self._start)
        self._rejected = ""
        self._hash_mib: int | None = None
        self._waiting: threading.Thread | None = None
        self._overhead_ms = float(OVERHEAD_MS)
        self._lines = 1
        self._limited = False
        self._elo_range = elo_range(game) if ladders(game) else None
        self._elo = 0 if self._elo_range is None else self._elo_range[1]
        self._says_reply = False

    def handle(self, line: str) -> bool:
        """See `session.Conversation.handle`."""
        given = line.split()
        if not given:
            return True
        if given[0] == "quit":
            return False
        act = self._COMMANDS.get(given[0])
        if act is None:
            self._complain(f"unknown command {given[0][:40]!r}")
            return True
        try:
            act(self, given[1:])
        except OSError:
            raise  # the reader of the answers is gone
        except Exception as error:
            self._complain(error_text(error))
        return True

    def finish(self, seconds: float) -> None:
        """See `session.Conversation.finish`."""
        if self._waiting is not None:
            self._waiting.join(seconds)
        super().finish(seconds)

    def _complain(self, text: str) -> None:
        self._out("info string " + one_line(text))

    _note = _complain

    def _uci(self, _: list[str]) -> None:
        self._out(f"id name Zugwerk {__version__} {self._game}")
        self._out("id author the Zugwerk authors")
        self._out(f"option name Player type string default {self._text}")
        self._out(f"option name Hash type spin default {HASH_MIB} min 1 max {MOST_HASH_MIB}")
        self._out(f"option name Move Overhead type spin default {OVERHEAD_MS} min 0 max 10000")
        self._out(f"option name MultiPV type spin default 1 min 1 max {MOST_LINES}")
        self._out("option name Ponder type check default false")
        if self._elo_range is not None:
            low, high = self._elo_range
            self._out("option name UCI_LimitStrength type check default false")
            self._out(f"option name UCI_Elo type spin default {high} min {low} max {high}")
        self._out("uciok")
        self._thread.submit(self._prepare)  # in the background; errors of the player are reported later

    def _isready(self, _: list[str]) -> None:
        if self._thread.busy:
            self._out("readyok")  # during a search, this only shows that the engine is alive
            return
        self._thread.submit(self._begin_ready)

    def _newgame(self, _: list[str]) -> None:
        self._stop([])
        self._thread.submit(self._forget)

    def _setoption(self, words: list[str]) -> None:
        at = words.index("value") if "value" in words else len(words)
        name, value = " ".join(words[1:at]).lower(), " ".join(words[at + 1 :])
        if words[:1] != ["name"] or not value:
            raise ZugwerkError("setoption: expected name NAME value VALUE")
        if name == "player":
            self._stop([])
            self._thread.submit(lambda: self._set_player(value))
        elif name == "move overhead":
            self._overhead_ms = float(_whole("Move Overhead", value, 0, 10_000))
        elif name == "multipv":
            self._lines = _whole("MultiPV", value, 1, MOST_LINES)
        elif name == "ponder":
            self._says_reply = _truth("Ponder", value)
        elif name == "uci_limitstrength" and self._elo_range is not None:
            limited = _truth("UCI_LimitStrength", value)
            self._stop([])
            self._thread.submit(lambda: self._limit_strength(limited, self._elo))
        elif name == "uci_elo" and self._elo_range is not None:
            elo = _whole("UCI_Elo", value, *self._elo_range)
            self._stop([])
            self._thread.submit(lambda: self._limit_strength(self._limited, elo))
        elif name == "hash":
            self._hash_mib = _whole("Hash", value, 1, MOST_HASH_MIB)
            self._stop([])
            self._thread.submit(self._fit_memory)
        else:
            raise ZugwerkError(f"no option {name[:40]!r}; `uci` lists the options")

    def _position(self, words: list[str]) -> None:
        self._rejected = "the last position could not be read: send another one"
        with plainly():
            self._placed = read_position(self._rules, words)
            over = self._rules.winner(self._placed.state) is not None
        self._rejected = "the game is over" if over else ""

    def _go(self, words: list[str]) -> None:
        received = time.perf_counter()
        self._stop([])
        go = read_go(words)
        if go.moves and not self._rejected:
            with plainly():
                go.read_moves(self._rules, self._placed.state)
        for complaint in go.complaints:
            self._complain(complaint)
        placed, rejected = self._placed, self._rejected
        self._thread.search(lambda search: self._run(search, placed, go, rejected, received))

    def _ponderhit(self, _: list[str]) -> None:
        self._thread.hit()

    def _stop(self, _: list[str]) -> None:
        self._thread.stop()

    _COMMANDS = {  # noqa: RUF012 - a table, never changed
        "uci": _uci,
        "isready": _isready,
        "ucinewgame": _newgame,
        "setoption": _setoption,
        "position": _position,
        "go": _go,
        "stop": _stop,
        "ponderhit": _ponderhit,
        **dict.fromkeys(("debug", "register"), lambda *_: None),
    }

    # The methods below run in the search thread, one job after the other.

    @property
    def _playing(self) -> str:
        """Text of the player that chooses the moves: the nearest level where the strength is limited."""
        return f"level:elo={self._elo}" if self._limited else self._text

    def _make(self) -> Player:
        return self._seat(self._playing, self._start)

    def _prepare(self) -> None:
        with suppress(ZugwerkError):
            self._make()

    def _begin_ready(self) -> None:
        """Answer once all kernels are compiled. Moves that are requested meanwhile do not wait."""
        if self._say_ready(0):
            return
        preparation = self._preparation
        assert preparation is not None

        def wait() -> None:
            preparation.wait()
            self._thread.submit(lambda: self._say_ready(None))

        self._waiting = threading.Thread(target=wait, daemon=True)
        self._waiting.start()

    def _say_ready(self, milliseconds: float | None) -> bool:
        """Answer if the player, or its error, is there within that time; return whether it was."""
        try:
            self._make()
            if not self._ready(self._start, milliseconds):
                return False
        except ZugwerkError as error:
            self._complain(str(error))
        self._out("readyok")
        return True

    def _forget(self) -> None:
        self._rng = np.random.default_rng(self._seed)
        if self._player is not None:
            self._player.new_game()

    def _set_player(self, text: str) -> None:
        if self._limited:
            build_player(self._game, text).close()  # plays once its strength is no longer limited
        else:
            self._seat(text, self._start)
        self._text = text

    def _limit_strength(self, limited: bool, elo: int) -> None:
        before = self._playing
        self._limited, self._elo = limited, elo
        if self._playing != before:
            self._make()

    def _made(self, player: Player) -> None:
        if self._hash_mib is not None:
            player.take_memory(self._hash_mib << 20)

    def _fit_memory(self) -> None:
        if self._player is not None:
            self._made(self._player)

    def _run(self, search: Search, placed: Placed, go: GoCommand, rejected: str, received: float) -> None:
        best = "(none)"
        try:
            if rejected:
                raise ZugwerkError(rejected)
            best = self._search(search, placed, go, received)
        except Exception as error:
            self._complain(error_text(error))
        if go.infinite:
            search.stopped.wait()
        elif go.ponder:
            search.hit.wait()
        search.end()
        self._out(f"bestmove {best}")

    def _search(self, search: Search, placed: Placed, go: GoCommand, received: float) -> str:
        rules, state, only = self._rules, placed.state, go.actions
        player = self._make()
        position = go.place(placed, rules.to_play(state), self._rng, self._overhead_ms)
        bounds = replace(go.bounds(self._overhead_ms), lines=self._lines)
        limit = Limit()
        if go.ponder:
            assert self._preparation is not None
            self._preparation.wait(None, search.hit)
            if not player.searches:
                search.hit.wait()
            received = time.perf_counter()  # no clock runs before
            if not search.hit.is_set():
                limit, bounds = _limit(player, position, bounds), replace(bounds, infinite=True)
        reported: SearchResult | None = None

        def report(found: SearchResult) -> None:
            nonlocal reported
            reported = found
            if search.hit.is_set() and _reached(limit, found):
                search.stop()
            if not only or found.action in only:
                for line in info_lines(rules, state, found):
                    self._out(line)

        def end_ponder() -> None:
            search.hit.wait()
            time_ms, reached = limit.movetime_ms, reported is not None and _reached(limit, reported)
            if reached or (time_ms is not None and not search.stopped.wait(searching_seconds(time_ms))):
                search.stop()

        if limit != Limit():
            threading.Thread(target=end_ponder, daemon=True).start()
        thought = self._think(search, received, position, bounds, report)
        if only and thought.action not in only:
            self._complain(f"the player {self._playing} searches all moves: this is the first of searchmoves")
            return write_move(rules, state, only[0])
        if thought.found is None:
            return write_move(rules, state, thought.action)
        if thought.found != reported:
            report(thought.found)
        if exact := exact_words(thought.found.value):
            self._complain(exact)
        pv = thought.found.pv if self._says_reply and thought.action in thought.found.pv[:1] else (thought.action,)
        return " ponder ".join(write_move(rules, state, action) for action in pv[:2])


def _limit(player: Player, position: Position, bounds: Bounds) -> Limit:
    """Return the limit of a search after the ponderhit; none if it is infinite."""
    if bounds.infinite:
        return Limit()
    time_ms = time_of(position, bounds)
    if (bounds.depth, bounds.nodes, time_ms) == (None, None, None):
        return player.limit or Limit(nodes=1)
    return Limit(bounds.depth, bounds.nodes, time_ms)


def _reached(limit: Limit, found: SearchResult) -> bool:
    return found.depth >= (limit.depth or math.inf) or found.nodes >= (limit.nodes or math.inf)


def _truth(name: str, text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ZugwerkError(f"{name} must be true or false, not {text[:40]!r}")
    return text.lower() == "true"


def _whole(name: str, text: str, low: int, high: int) -> int:
    if not (text.isascii() and text.isdigit() and low <= int(text[:9]) <= high):
        raise ZugwerkError(f"{name} must be a whole number from {low} to {high}, not {text[:40]!r}")
    return int(text)

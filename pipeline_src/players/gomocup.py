"""The Gomocup protocol (of Piskvork, by Petr Lastovicka), on both sides.

`BrainPlayer` is another program as a player of Gomoku, `Session` a player that serves a manager of tournaments.
`search.limits` manages its time, `players.gomoku` chooses in swap2.
"""

import contextlib
import logging
import math
import os
import re
import resource
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import zip_longest
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from pipeline_src import __version__
from pipeline_src.errors import ZugwerkError
from pipeline_src.games import gomoku
from pipeline_src.games.gomoku import BLACK, FIRST, GomokuState, any_line, format_variant, from_board
from pipeline_src.jit import plainly
from pipeline_src.players.gomoku import choose, first_stones, swap_needs
from pipeline_src.players.player import Bounds, Player, PlayerError, Position, RefusalError
from pipeline_src.players.process import EnginePlayer, EngineProcess, ProgramOptions
from pipeline_src.players.registry import limits_in, players_of
from pipeline_src.players.session import Conversation, Preparation, Search, Write, error_text, ms_since, one_line
from pipeline_src.project.params import NonNegative
from pipeline_src.search.limits import thinking_ms

# Cells are ``x,y`` from 0, where x is the column and y the row from the top.


RULES = {0: "freestyle", 1: "exact", 4: "renju", 8: "caro"}
"""Our variants by the number in ``INFO rule``, a sum of bits; 2, to continue after a win, is not played."""
_CELL = re.compile(r"([0-9]{1,3})\s*,\s*([0-9]{1,3})")


def write_cell(action: int, width: int) -> str:
    """Return the text of a cell's action id."""
    return f"{action % width},{action // width}"


def read_cell(text: str, height: int, width: int) -> int:
    """Return the action id of ``x,y``. Whether the cell is empty is not checked.

    Raises:
        ZugwerkError: the text is not two numbers, or the cell is not on the board.
    """
    match = _CELL.fullmatch(text.strip())
    if match is None:
        raise ZugwerkError(f"{text[:40]!r} is not a cell; expected x,y")
    x, y = int(match[1]), int(match[2])
    if x >= width or y >= height:
        raise ZugwerkError(f"no cell {x},{y} on a board of {width}x{height}")
    return y * width + x


def is_cell(text: str) -> bool:
    """Whether a line has the form ``x,y``, on the board or not."""
    return _CELL.fullmatch(text.strip()) is not None


log = logging.getLogger(__name__)

# Another program as a player.
#
# Some programs print their move before they have put their state away, and refuse a command that comes at once;
# managers of tournaments take longer than that. So each command waits `PAUSE_MS` after the program's last line, and a
# move that is answered by ERROR is asked for once more, by BOARD.


NO_LIMIT = (1 << 31) - 1  # Value of `time_left` in a game without a clock
RULE_S = 0.3  # Seconds to wait for an ERROR as the answer to a rule, before a match. INFO has no other answer.
PAUSE_MS = 10.0  # Default pause between a line of the program and the next command
QUIET_S, QUIET_AT_MOST_S = 0.05, 1.0
"""Seconds of silence after an ERROR, which may be one for each line, before a command is sent again; and seconds after
which it is sent anyway."""
LOST_START_S = 5.0
"""Seconds without an answer to START until it is sent again, to a program that has answered one before."""
_MOVE_OF_ANOTHER_KIND = re.compile(r"[(\[]?-?\d+(\s*[,;:. ]\s*-?\d+)*[)\]]?|[a-z]-?\d{1,2}|swap", re.IGNORECASE)


class BrainOptions(ProgramOptions):
    """Any program that speaks the Gomocup protocol, such as `zugwerk gomoku brain`."""

    EXAMPLE = "brain:'./pbrain-engine',movetime=1000,info.max_memory=80000000"

    movetime: Annotated[float, Field(ge=1, lt=NO_LIMIT)] = 1000.0
    """Milliseconds for a move, unless the game is played on a clock."""
    info: dict[str, str] = Field(default_factory=dict)
    """Value of an INFO line that the program gets at the start of a game."""
    pause: NonNegative = PAUSE_MS
    """Milliseconds between a line of the program and the next command, as time of neither side: some programs refuse a
    command that comes at once."""


class BrainPlayer(EnginePlayer):
    """See `EnginePlayer`. The moves of a game are sent one by one, any other position as a whole board."""

    FAREWELL = "END"

    def __init__(self, options: BrainOptions) -> None:
        super().__init__(options.command, options.patience, options.pause / 1000)
        self.movetime_ms: float = options.movetime
        self._infos = options.info
        self._start: str | None = None  # start of the game that the engine knows; None before any
        self._known: tuple[int, ...] = ()  # stones of that game, in the order of play
        self._told: dict[str, int] = {}  # values of INFO since the last START; empty before any
        self._has_refused = False

    def new_game(self) -> None:
        """Announce that the next position belongs to another game."""
        self._start = None

    def check(self, state: Any) -> None:
        """See `Player.check`. The program is started and asked.

        Raises:
            PlayerError: the program cannot be asked.
            RefusalError: the program refuses the board or the rule; the message quotes it.
        """
        self.new_game()
        process = self._running()
        with self._ended_on_error():
            refusal, deadline = self._refusal_to_begin(process, state), time.monotonic() + RULE_S
            while not refusal and (line := process.read(deadline)) is not None:
                refusal = line if _word(line) == "ERROR" else ""
            if refusal:
                said = f"does not play {format_variant(state)}: {refusal[:200]}"
                raise RefusalError("illegal", f"engine {process.command[0]!r} {said}")

    def ready(self, start: Any = None) -> None:
        """See `EnginePlayer.ready`."""
        process = self._running()
        if start is not None and self._start is None:
            with self._ended_on_error():
                self._begin(process, start)

    def _greet(self, process: EngineProcess) -> None:  # noqa: ARG002 - START sends what it plays on
        self._start, self._told = None, {}

    def _begin(self, process: EngineProcess, start: Any) -> None:
        if refusal := self._refusal_to_begin(process, start):
            raise process.fault(f"answers {refusal[:200]!r} to what it is told (INFO)", "illegal")

    def _refusal_to_begin(self, process: EngineProcess, start: Any) -> str:
        """Announce a new game, twice if INFO is answered by ERROR; return the second ERROR, or an empty text."""
        refused = list[str]()
        for pause_s in (0.0, QUIET_S):
            self._announce(process, start, pause_s)
            refused = [line for line in self._settle(process) if _word(line) == "ERROR"]
            if not refused:
                return ""
            self._tell_of_refusal(process, refused[0])
        return refused[0]

    def _announce(self, process: EngineProcess, start: Any, pause_s: float) -> None:
        """Send START, and INFO ``pause_s`` after its answer."""
        (height, width), variant = start.board.shape, format_variant(start)
        rule = next((number for number, name in RULES.items() if name == variant), None)
        if rule is None:
            raise ZugwerkError(f"Gomocup's programs know {', '.join(RULES.values())}, not {variant}")
        process.skip()
        answer = self._answer_to_start(process, f"START {width}" if height == width else f"RECTSTART {width},{height}")
        if _word(answer) != "OK":
            said = f"does not play on {width}x{height}: {answer[:200]}"
            raise RefusalError("illegal", f"engine {process.command[0]!r} {said}")
        self.waited_ms += process.rest(pause_s) * 1000
        self._told = {}
        for name, value in self._infos.items():
            self._send(process, f"INFO {name} {value}")
        self._inform(process, "rule", rule)
        self._inform(process, "game_type", 1)
        self._limit(process, None)
        self._start, self._known = gomoku.to_fen(start), ()

    def _answer_to_start(self, process: EngineProcess, line: str) -> str:
        """Announce a board. A program that has answered a START before gets it twice if it refuses or is silent.

        A program that has just been started gets it once: it had no answer to put away, and may load for long.
        """
        if self._told:
            self._send(process, line)
            with contextlib.suppress(PlayerError):  # if the process has ended, sending reports it
                patience_s = min(LOST_START_S, self._patience.start_s)
                answer = self._listen(process, _answers_start, "OK", patience_s, math.inf)
                if _word(answer) == "OK":
                    return answer
                self._settle(process)
        self._send(process, line)
        return self._await_start(process, _answers_start, "OK")

    def _limit(self, process: EngineProcess, position: Position | None) -> None:
        clock = None if position is None else position.clock
        if clock is None:
            turn, match, left = int(self.movetime_ms), 0, NO_LIMIT
        else:
            left = max(1, int(clock.own_ms))
            turn, match = left, max(left, self._told.get("timeout_match", 0))
        self._inform(process, "timeout_turn", turn)
        self._inform(process, "timeout_match", match)
        self._inform(process, "time_left", left)

    def _inform(self, process: EngineProcess, name: str, value: int) -> None:
        if self._told.get(name) != value:
            self._send(process, f"INFO {name} {value}")
            self._told[name] = value

    def _choose(self, position: Position) -> int:
        start = position.state if position.start is None else position.start
        with self._ended_on_error():
            process = self._running()
            if self._start != gomoku.to_fen(start) or (self._known and self._known != position.actions[:-1]):
                self._begin(process, start)
            late = [line for line in process.skip() if _word(line) == "ERROR"]  # answers to earlier lines
            if late and not self._known:
                raise process.fault(f"answers {late[0][:200]!r} to what it is told (INFO)", "illegal")
            self._limit(process, position)
            answer = self._ask(process, position, self._lines(position, start, whole=bool(late)))
            if _word(answer) == "ERROR":
                self._tell_of_refusal(process, answer)
                moves = filter(is_cell, self._settle(process))  # one comes if the ERROR answered an earlier line
                whole = self._lines(position, start, whole=True)
                answer = next(moves, "") or self._ask(process, position, whole)
        action = self._read(process, answer, position.state)
        self._start = gomoku.to_fen(start)
        self._known = (*position.actions, action)
        return action

    def _ask(self, process: EngineProcess, position: Position, lines: list[str]) -> str:
        for line in lines:
            self._send(process, line)
        own = self.movetime_ms if position.clock is None else position.clock.own_ms
        return self._await(process, _answers_move, "move", own / 1000 + self._patience.grace_s)

    def _settle(self, process: EngineProcess) -> list[str]:
        """Wait, on no clock, until a program has been silent for `QUIET_S`, and return the lines that came."""
        begin, heard = time.monotonic(), list[str]()
        try:
            while (now := time.monotonic()) < begin + QUIET_AT_MOST_S and (line := process.read(now + QUIET_S)):
                heard.append(line)
            return heard
        finally:
            self.waited_ms += (time.monotonic() - begin) * 1000

    def _tell_of_refusal(self, process: EngineProcess, answer: str) -> None:
        """Say, once for a player, that a command was refused."""
        if not self._has_refused:
            said = "engine %r answers %r and is told once more; a longer pause may help, now pause=%g"
            log.warning(said, process.command[0], answer[:200], self._pause_s * 1000)
        self._has_refused = True

    def _lines(self, position: Position, start: Any, whole: bool = False) -> list[str]:
        """Return the lines that send a position to the engine; with ``whole``, all stones even if it knows them."""
        width, actions = start.board.shape[1], position.actions
        if not position.state.board.any():
            return ["BEGIN"]
        if not whole and actions and self._known == actions[:-1] and (self._known or not start.board.any()):
            return [f"TURN {write_cell(actions[-1], width)}"]
        lines = [f"{write_cell(cell, width)},{whose}" for cell, whose in _stones(position, start)]
        return ["BOARD", *lines, "DONE"]

    def _read(self, process: EngineProcess, answer: str, state: Any) -> int:
        self._start = None  # after an error the next move is not sent by TURN
        if not is_cell(answer):
            raise process.fault(f"answers {answer[:200]!r} in place of a move", "illegal")
        try:
            action = read_cell(answer, *state.board.shape)
        except ZugwerkError as error:
            raise process.fault(f"plays {answer}: {error}", "illegal") from None
        if not gomoku.is_legal(state, action):
            reason = "where there is a stone" if state.board.flat[action] else f"where Black may not make {gomoku.WHAT}"
            raise process.fault(f"plays {answer}, {reason}", "illegal")
        return action


def _stones(position: Position, start: Any) -> list[tuple[int, int]]:
    """Return the stones in the order of play, as far as known: (cell, 1 for the side to move or 2 for the other)."""
    board = position.state.board.ravel()
    own = BLACK + gomoku.to_play(position.state)
    colours = [np.flatnonzero(start.board.ravel() == colour) for colour in (1, 2)]
    first = [int(cells[k]) for k in range(max(map(len, colours))) for cells in colours if k < len(cells)]
    played = position.actions if position.start is not None else ()
    return [(cell, 1 if board[cell] == own else 2) for cell in (*first, *played)]


def _word(line: str) -> str:
    return "".join(line.split()[:1]).upper()


def _answers_start(line: str) -> bool:
    return _word(line) in ("OK", "ERROR", "UNKNOWN")


def _answers_move(line: str) -> bool:
    """Whether a line is a move, a refusal to move or a move in another protocol's form. UNKNOWN may answer an INFO."""
    known = is_cell(line) or _MOVE_OF_ANOTHER_KIND.fullmatch(line) is not None
    return known or _word(line) in ("ERROR", "SUGGEST")


# `Settings`, the values that ``INFO`` sets, and the memory that one of them limits.


def resident_bytes() -> int:
    """Return the resident memory of the process in bytes, or its peak on systems that report only that."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most << 10


ENDLESS_MS = 1e9  # A time of at least this is no limit
_NUMBER = re.compile(r"[+-]?[0-9]{1,18}")


@dataclass
class Settings:
    """Settings of a session, kept between its games. Times are in milliseconds; None is a time that was never sent."""

    timeout_turn: int | None = None  # Time of a move; 0 is as fast as possible
    timeout_match: int | None = None  # Time of a game; 0 is no limit
    time_left: int | None = None  # Time left in the game, as last sent
    max_memory: int = 0
    """Memory limit of the process in bytes; 0 is none. Searches get what the interpreter and the kernels leave."""
    rule: int = 0  # Bits: 1 exactly five in a row wins, 2 the game continues after a win, 4 Renju, 8 Caro

    def read(self, words: list[str]) -> str | None:
        """Read the words after ``INFO``; return the name of the changed setting, or None for another one.

        Raises:
            ZugwerkError: the value is not a number. Nothing is changed.
        """
        if not words:
            raise ZugwerkError("INFO: expected a name and a value")
        name, text = words[0].lower(), " ".join(words[1:])
        if name not in vars(self):
            return None
        if _NUMBER.fullmatch(text) is None:
            raise ZugwerkError(f"INFO {name}: {text[:40]!r} is not a whole number")
        setattr(self, name, max(0, int(text)))
        return name

    @property
    def match_ms(self) -> float | None:
        """Time of a whole game; None is no limit."""
        return _limit(self.timeout_match) or None


def _limit(milliseconds: int | None) -> float | None:
    return None if milliseconds is None or milliseconds >= ENDLESS_MS else milliseconds


# The board of a session, as the manager's commands build it.


OWN, OTHER = 1, 2  # Third number of a stone in `BOARD`


@dataclass(frozen=True)
class Board:
    """A game. It works without kernels while they are being compiled; what raises an error changes nothing."""

    start: GomokuState
    state: GomokuState
    actions: tuple[int, ...] = ()  # Since the start

    @classmethod
    def empty(cls, height: int, width: int, variant: str) -> "Board":
        """Return a board without stones.

        Raises:
            ZugwerkError: there is no such board.
        """
        if not (min(height, width) >= gomoku.LINE_LENGTH and max(height, width) <= gomoku.MAX_SIDE):
            sizes = f"sides go from {gomoku.LINE_LENGTH} to {gomoku.MAX_SIDE}, such as 15 or 20"
            raise ZugwerkError(f"no board of {width}x{height}; {sizes}")
        start = from_board(np.zeros((height, width), np.int8), FIRST, variant)
        return cls(start, start)

    @property
    def variant(self) -> str:
        """The rule."""
        return format_variant(self.state)

    @property
    @plainly()
    def over(self) -> bool:
        """Whether a side has won, or the board is full."""
        return gomoku.winner(self.state) is not None

    @property
    def played(self) -> int:
        """Number of stones."""
        return int(self.state.turn[gomoku.PLY])

    def read(self, text: str) -> int:
        """Return the action id of ``x,y``; see `read_cell`."""
        return read_cell(text, *self.state.board.shape)

    def write(self, action: int) -> str:
        """Return the text ``x,y`` of an action id."""
        return write_cell(action, self.state.board.shape[1])

    @plainly()
    def place(self, action: int) -> "Board":
        """Return the board with a stone more, of the side to move.

        Raises:
            ZugwerkError: the cell is occupied or forbidden in Renju, or the game is over.
        """
        if self.over:
            raise ZugwerkError("the game is over")
        if not gomoku.is_legal(self.state, action):
            if self.state.board.flat[action]:
                raise ZugwerkError(f"there is a stone on {self.write(action)} already")
            raise ZugwerkError(f"{self.write(action)} is forbidden to Black: {gomoku.WHAT}")
        return Board(self.start, gomoku.play(self.state, action), (*self.actions, action))

    @plainly()
    def take_back(self, action: int) -> "Board":
        """Return the board without its last stone.

        Raises:
            ZugwerkError: the stone is not the last one.
        """
        *before, last = self.actions or (None,)
        if last != action:
            there = "there is none" if last is None else f"the last stone is on {self.write(last)}"
            raise ZugwerkError(f"cannot take back {self.write(action)}: {there}")
        return Board(self.start, reduce(gomoku.play, before, self.start), tuple(before))

    @plainly()
    def by_rule(self, variant: str) -> "Board":
        """Return the game by another rule. If that rule refuses a move, the stones stay, without a history."""
        start: Any = from_board(self.start.board, int(gomoku.to_play(self.start)), variant)
        state = start
        for action in self.actions:
            if not gomoku.is_legal(state, action):  # forbidden, or the game is over
                side = int(gomoku.to_play(self.state))
                start = from_board(self.state.board, side, variant)
                if any_line(start, BLACK if side == FIRST else gomoku.WHITE):
                    # The other side moved after the end, so nobody wins by the last move.
                    start.turn[gomoku.STANDING] = gomoku.DRAWN
                return Board(start, start)
            state = gomoku.play(state, action)
        return Board(start, state, self.actions)

    @plainly()
    def set_up(self, stones: Sequence[tuple[int, int]]) -> "Board":
        """Return the position of a ``BOARD`` command, cells with OWN or OTHER, with us to move.

        The lines give the order of the moves within each colour. If no legal game has that order, the stones are set up
        without a history.

        Raises:
            ZugwerkError: two stones are on one cell, the numbers of stones are impossible, or we have a winning line
                already.
        """
        own, other = ([cell for cell, whose in stones if whose == side] for side in (OWN, OTHER))
        if len({cell for cell, _ in stones}) < len(stones):
            raise ZugwerkError("two stones on one cell")
        if len(other) - len(own) not in (0, 1):
            raise ZugwerkError(f"{len(own)} own and {len(other)} other stones, with own to move")
        side, black, white = (FIRST, own, other) if len(own) == len(other) else (gomoku.SECOND, other, own)
        start: Any = from_board(np.zeros_like(self.state.board), FIRST, self.variant)
        order = [cell for pair in zip_longest(black, white) for cell in pair if cell is not None]
        state = start
        for cell in order:
            if not gomoku.is_legal(state, cell):
                break
            state = gomoku.play(state, cell)
        else:
            return Board(start, state, tuple(order))
        board = np.zeros_like(self.state.board)
        board.flat[black], board.flat[white] = BLACK, gomoku.WHITE
        start = from_board(board, side, self.variant)
        if any_line(start, BLACK if side == FIRST else gomoku.WHITE):
            raise ZugwerkError("own stones make a line already, with own to move")
        return Board(start, start)


# A player that serves a manager.


MARGIN_MS = 100.0
END_S = 0.5  # Seconds to finish after `END`. A manager kills a program that does not end within a second.
MEMORY_SHARE = 0.8
"""Share of the remaining memory that searches may use. The rest is a reserve for memory that they allocate besides."""
LEAST_MEMORY = 4 << 20  # Least memory of searches in bytes, however little of the manager's limit is left
START_MS = 1000.0  # START waits for kernels for half of this time. Loading them from disk takes less, compiling more.
UNJUDGED = (0, 1, 2)
"""First stones of swap2 while kernels are still being compiled: a corner, where they give little advantage."""


class Session(Conversation):
    """A conversation with a manager."""

    TOO_LONG = "ERROR line too long"

    def __init__(
        self, player: str, write: Write, seed: int = 0, margin_ms: float = MARGIN_MS, verbose: bool = False
    ) -> None:
        """See `session.Conversation`. The player is made at the first ``START``.

        Once the manager has set a time, it replaces the time limit of the player's text; a depth or a number of nodes
        in the text still applies. Of a turn's time ``margin_ms`` are reserved for delays. With ``verbose``, the result
        of each search is a MESSAGE before its move.
        """
        super().__init__("gomoku", player, write, seed)
        self._margin_ms, self._verbose = margin_ms, verbose
        self._ended, self._notes = False, list[str]()
        self._choices: Preparation | None = None
        self._settings = Settings()
        self._board: Board | None = None
        self._left: float | None = None
        self._told = False  # whether the manager has sent the time left since the last move
        self._listing: tuple[str, list[str]] | None = None

    def handle(self, line: str) -> bool:
        """See `session.Conversation.handle`; `finish` comes before the end."""
        given, begin = line.strip("\x00 \t\r\n\f\v"), time.perf_counter()
        if not given.split():  # blanks beyond ASCII too
            return True
        name, *words = given.split()
        name = name.upper()
        if self._listing is not None and self._listed(given, name, begin):
            return True
        if name == "END":
            self._ended = True
            self.finish(END_S)
            return False
        if name in ("BOARD", "SWAP2BOARD"):
            self._listing = (name, [])
        elif name in ("BEGIN", "TURN"):
            self._search(lambda search: self._move(search, begin, lambda board: self._asked(board, name, words)))
        elif name in self._SIMPLE:
            if name not in ("INFO", "ABOUT"):
                self._thread.stop()  # a manager that sends another command does not wait for the search
            act = self._SIMPLE[name]
            self._thread.submit(lambda: act(self, words))
        else:
            self._thread.submit(lambda: self._write(f"UNKNOWN command {name[:40]}"))  # after earlier output
        return True

    def finish(self, seconds: float) -> None:
        """See `session.Conversation.finish`."""
        self._thread.submit(self._leave)
        super().finish(seconds)

    def _leave(self) -> None:
        if self._player is not None:
            self._player.close()

    def _listed(self, line: str, name: str, begin: float) -> bool:
        """Handle a line within BOARD ... DONE; return False for a command that breaks it off."""
        assert self._listing is not None
        command, lines = self._listing
        if name in ("END", "START", "RESTART", "RECTSTART"):
            self._listing = None
            return False
        if name != "DONE":
            lines.append(line)
            return True
        self._listing = None
        if command == "BOARD":
            self._search(lambda search: self._move(search, begin, lambda board: self._set_up(board, lines)))
        else:
            self._search(lambda search: self._choose_side(search, begin, lines))
        return True

    def _search(self, find: Callable[[Search], str]) -> None:
        def answer(search: Search) -> None:
            try:
                found = find(search)
            except Exception as error:
                search.end()
                self._complain(error_text(error))
            else:
                search.end()
                self._write(found)

        self._thread.search(answer)

    def _complain(self, text: str) -> None:
        self._write("ERROR " + one_line(text))

    def _note(self, text: str) -> None:
        self._notes.append(text)

    def _write(self, line: str) -> None:
        """Write a line, unless ``END`` was received. Errors about an ``INFO`` go before it as MESSAGEs."""
        if self._ended:
            return
        notes, self._notes = self._notes, []
        for note in notes:
            self._out(f"MESSAGE {note}")
        self._out(line)

    # The methods below run in the search thread, one job after the other.

    def _start(self, words: list[str]) -> None:
        if len(words) != 1:
            raise ZugwerkError("START: expected a size, such as START 15")
        self._open(*[_size(words[0])] * 2)

    def _rect_start(self, words: list[str]) -> None:
        sides = " ".join(words).replace(",", " ").split()
        if len(sides) != 2:
            raise ZugwerkError("RECTSTART: expected width,height")
        width, height = map(_size, sides)
        self._open(height, width)

    def _restart(self, _: list[str]) -> None:
        self._open(*self._known().state.board.shape)

    def _open(self, height: int, width: int) -> None:
        board = Board.empty(height, width, RULES.get(self._settings.rule, RULES[0]))
        player = self._seat(self._text, board.start)
        player.new_game()
        sizes = [(one.height, one.width) for one in player.boards] or [(height, width)]  # of its models, or all
        refusal = self._refusal(board)
        if refusal and (height, width) not in sizes:  # the rule may still change, the size may not
            raise ZugwerkError(refusal)
        if refusal:
            self._write(f"MESSAGE {refusal}")
        else:
            self._ready(board.start, START_MS)  # else OK at once, and moves without a search until all is compiled
        self._fit_memory()
        self._board, self._rng = board, np.random.default_rng(self._seed)
        if not self._told:
            self._left = self._settings.match_ms
        self._write("OK")

    def _info(self, words: list[str]) -> None:
        try:
            changed = self._settings.read(words)
        except ZugwerkError as error:
            self._note(str(error))  # INFO has no answer, and the manager reads none
            return
        settings = self._settings
        if changed == "timeout_match" and not self._told:
            self._left = settings.match_ms
        elif changed == "time_left":
            self._left, self._told = _limit(settings.time_left), True
        elif changed == "max_memory":
            self._fit_memory()
        elif changed == "rule" and self._board is not None and (variant := RULES.get(settings.rule)) is not None:
            self._board = self._board.by_rule(variant)  # another rule is refused when a move is asked for
            if not self._refusal(self._board):
                self._ready(self._board.start, 0)  # opens the rule's net before the clock of a move runs
            self._fit_memory()

    def _fit_memory(self) -> None:
        """Limit the player's memory to what the process leaves of the manager's limit."""
        most = self._settings.max_memory
        if self._player is None or most == 0:
            return
        self._player.use_memory(LEAST_MEMORY)  # frees the memory of earlier searches
        left = most - resident_bytes()
        if left < LEAST_MEMORY:
            self._note(f"INFO max_memory: {most >> 20} MiB, and {resident_bytes() >> 20} are used before any search")
        self._player.use_memory(max(LEAST_MEMORY, int(MEMORY_SHARE * left)))

    def _take_back(self, words: list[str]) -> None:
        board = self._known()
        self._board = board.take_back(board.read(" ".join(words)))
        self._write("OK")

    def _about(self, _: list[str]) -> None:
        player = self._seated or self._text
        self._write(f'name="Zugwerk", version="{__version__}", author="the Zugwerk authors", player="{player}"')

    _SIMPLE: dict[str, Callable[["Session", list[str]], None]] = {  # noqa: RUF012 - a table, never changed
        "START": _start,
        "RECTSTART": _rect_start,
        "RESTART": _restart,
        "INFO": _info,
        "TAKEBACK": _take_back,
        "ABOUT": _about,
    }

    def _asked(self, board: Board, name: str, words: list[str]) -> Board:
        if name == "TURN":
            return board.place(board.read(" ".join(words)))
        if board.played:
            raise ZugwerkError("BEGIN: the board is not empty; RESTART first")
        return board

    def _set_up(self, board: Board, lines: list[str]) -> Board:
        stones = []
        for line in lines:
            cell, _, whose = line.rpartition(",")
            if whose.strip() not in (str(OWN), str(OTHER)):
                raise ZugwerkError(f"BOARD: {line[:40]!r}; expected x,y,1 for an own stone or x,y,2 for the other's")
            stones.append((board.read(cell), int(whose)))
        return board.set_up(stones)

    def _move(self, search: Search, begin: float, place: Callable[[Board], Board]) -> str:
        """Answer the stones that are placed. If there is no answer, the board stays as it was."""
        board = place(self._known())
        action = self._move_on(search, board, begin)
        self._board = board.place(action)
        return board.write(action)

    def _choose_side(self, search: Search, begin: float, lines: list[str]) -> str:
        """Swap2: place three stones, choose a side after three or five stones, or place two more."""
        board = self._known()
        if len(lines) not in (0, 3, 5) or not all(map(is_cell, lines)):
            raise ZugwerkError("SWAP2BOARD: expected no stones, 3 or 5, as x,y; then DONE")
        cells = [board.read(line) for line in lines]
        board = board.set_up([(cell, OTHER if i % 2 == 0 else OWN) for i, cell in enumerate(cells)])
        movetime = self._bounds(self._player_for(board), board).movetime_ms
        seconds = None if movetime is None else movetime / 2e3  # the other half is for a move
        placed: str | tuple[int, ...]
        if self._choices is None:
            self._choices = Preparation(swap_needs, board.start)
        if not self._choices.wait(movetime, search.stopped):
            placed = "stay" if cells else UNJUDGED
            self._note("kernels are still being compiled: chosen without a search")
        elif cells:
            placed = choose(board.state, self._rng, seconds, may_place=len(cells) == 3)
        else:
            placed = first_stones(board.state, self._rng, seconds)
        if placed == "stay":
            placed = (self._move_on(search, board, begin),)
        self._board = board if isinstance(placed, str) else reduce(Board.place, placed, board)
        return "SWAP" if isinstance(placed, str) else " ".join(map(board.write, placed))

    def _player_for(self, board: Board) -> Player:
        """Return the player, if the game is unfinished and the player supports the board.

        Raises:
            ZugwerkError: the game is over, or its rule is not supported.
        """
        if board.over:
            raise ZugwerkError("the game is over")
        if (rule := self._settings.rule) not in RULES:
            offered = ", ".join(f"{number} {name}" for number, name in RULES.items())
            raise ZugwerkError(f"rule {rule} is not played here; there are: {offered}")
        if refusal := self._refusal(board):
            raise ZugwerkError(refusal)
        assert self._player is not None
        return self._player

    def _move_on(self, search: Search, board: Board, begin: float) -> int:
        bounds = self._bounds(self._player_for(board), board)
        position = Position(board.state, self._rng, board.start, board.actions)
        thought = self._think(search, begin, position, bounds)
        self._told = False
        if self._left is not None:
            self._left = max(0.0, self._left - ms_since(begin))
        if self._verbose and (found := thought.found) is not None:
            self._write(f"MESSAGE depth {found.depth}, {found.nodes} nodes, value {found.value:+.2f}")
        return thought.action

    def _bounds(self, player: Player, board: Board) -> Bounds:
        own, cells = limits_in("gomoku", self._seated) or player.limit, board.state.board.size
        turn, match = _limit(self._settings.timeout_turn), self._settings.match_ms
        movetime = thinking_ms(turn, self._left, 0, self._margin_ms, board.played, cells, match)
        if movetime is None:
            return Bounds()
        return Bounds(own.depth if own else None, own.nodes if own else None, movetime)

    def _known(self) -> Board:
        if self._board is None:
            raise ZugwerkError("no board yet; send START SIZE first")
        return self._board

    def _refusal(self, board: Board) -> str:
        """Return why the player does not support the board or the rule, and a player that does; empty if it does."""
        try:
            if self._player is not None:
                self._player.check(board.start)
        except ZugwerkError as error:
            others = ", ".join(name for name in players_of("gomoku") if name not in ("zero", "brain", "level"))
            return f"{error}; on any board, by any rule: --player {others}"
        return ""


def _size(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 5):
        raise ZugwerkError(f"{text[:40]!r} is not a size of a board")
    return int(text)

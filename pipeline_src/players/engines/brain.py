"""An external Gomoku engine as a player: any program that speaks the Gomocup protocol.

Some programs print their move before they have put their state away, and refuse a command that comes at once; managers
of tournaments take longer than that. So each command waits `PAUSE_MS` after the program's last line, and a move that is
answered by ERROR is asked for once more, by BOARD.
"""

import contextlib
import logging
import math
import re
import time
from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import gomoku
from pipeline_src.games.gomoku import BLACK, WHAT, format_variant
from pipeline_src.players.engines.engine import PATIENT, EnginePlayer, EngineProcess, Patience, ProgramOptions
from pipeline_src.players.player import PlayerError, Position, RefusalError
from pipeline_src.project.params import NonNegative

# Cells and rules in the Gomocup protocol: ``x,y`` from 0, where x is the column and y the row from the top.


RULES = {0: "freestyle", 1: "exact", 4: "renju", 8: "caro"}
"""Our variants by the number in ``INFO rule``. The number is a sum of bits."""
OTHER_RULES = {2: "continuous"}
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


def rule_number(variant: str) -> int:
    """Return the number of a variant.

    Raises:
        ZugwerkError: the protocol has no number for it.
    """
    for number, name in RULES.items():
        if name == variant:
            return number
    raise ZugwerkError(f"Gomocup's programs know {', '.join(RULES.values())}, not {variant}")


def rule_words(number: int) -> str:
    """Return the name of an unsupported rule."""
    bits = [name for bit, name in (RULES | OTHER_RULES).items() if number & bit]
    return " ".join(bits) or "unknown"


log = logging.getLogger(__name__)

MOVETIME_MS = 1000.0  # Default time of a move. The protocol requires a time for every move.
NO_LIMIT = (1 << 31) - 1  # Value of `time_left` in a game without a clock
RULE_S = 0.3  # Seconds to wait for an ERROR as the answer to a rule, before a match. INFO has no other answer.
PAUSE_MS = 10.0  # Default pause between a line of the program and the next command
QUIET_S, QUIET_AT_MOST_S = 0.05, 1.0
"""Seconds of silence after an ERROR, which may be one for each line, before a command is sent again; and seconds after
which it is sent anyway."""
LOST_START_S = 5.0
"""Seconds without an answer to START until it is sent again, to a program that has answered one before."""
_MOVE_OF_ANOTHER_KIND = re.compile(r"[(\[]?-?\d+(\s*[,;:. ]\s*-?\d+)*[)\]]?|[a-z]-?\d{1,2}|swap", re.IGNORECASE)


class BrainPlayer(EnginePlayer):
    """See `EnginePlayer`. The moves of a game are sent one by one, any other position as a whole board."""

    FAREWELL = "END"

    def __init__(
        self,
        command: Sequence[str],
        movetime_ms: float = MOVETIME_MS,
        infos: dict[str, str] | None = None,
        patience: Patience = PATIENT,
        pause_ms: float = PAUSE_MS,
    ) -> None:
        """``movetime_ms`` applies unless the game is played on a clock; ``infos`` are sent at the start of a game."""
        super().__init__(command, patience, pause_ms / 1000)
        self.movetime_ms: float = movetime_ms
        self._infos = infos or {}
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
                variant = format_variant(state)
                raise RefusalError(f"engine {process.command[0]!r} does not play {variant}: {refusal[:200]}")

    def ready(self, start: Any = None) -> None:
        """See `EnginePlayer.ready`."""
        process = self._running()
        if start is not None and self._start is None:
            with self._ended_on_error():
                self._begin(process, start)

    def _greet(self, process: EngineProcess) -> None:  # noqa: ARG002 - START sends what it plays on
        self._start, self._told = None, {}

    def _begin(self, process: EngineProcess, start: Any) -> None:
        """Announce a new game to the engine, and wait until it is ready."""
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
        height, width = start.board.shape
        rule = rule_number(format_variant(start))
        process.skip()
        answer = self._answer_to_start(process, f"START {width}" if height == width else f"RECTSTART {width},{height}")
        if _word(answer) != "OK":
            raise RefusalError(f"engine {process.command[0]!r} does not play on {width}x{height}: {answer[:200]}")
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
        """Send a position and return the answer."""
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
            log.warning(
                "engine %r answers %r and is told once more; a longer pause may help, now pause=%g",
                process.command[0],
                answer[:200],
                self._pause_s * 1000,
            )
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
            reason = "where there is a stone" if state.board.flat[action] else f"where Black may not make {WHAT}"
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
    return line.split()[0].upper() if line.split() else ""


def _answers_start(line: str) -> bool:
    return _word(line) in ("OK", "ERROR", "UNKNOWN")


def _answers_move(line: str) -> bool:
    """Whether a line is a move, a refusal to move or a move in another protocol's form. UNKNOWN may answer an INFO."""
    known = is_cell(line) or _MOVE_OF_ANOTHER_KIND.fullmatch(line) is not None
    return known or _word(line) in ("ERROR", "SUGGEST")


class BrainOptions(ProgramOptions):
    """Any program that speaks the Gomocup protocol, such as `zugwerk gomoku brain`."""

    EXAMPLE = "brain:'./pbrain-engine',movetime=1000,info.max_memory=80000000"

    movetime: Annotated[float, Field(ge=1, lt=NO_LIMIT)] = MOVETIME_MS
    """Milliseconds for a move, unless the game is played on a clock."""
    info: dict[str, str] = Field(default_factory=dict)
    """Value of an INFO line that the program gets at the start of a game."""
    pause: NonNegative = PAUSE_MS
    """Milliseconds between a line of the program and the next command, as time of neither side: some programs refuse a
    command that comes at once."""


def brain_player(options: BrainOptions) -> BrainPlayer:
    """The player ``brain``."""
    return BrainPlayer(options.command, options.movetime, options.info, options.patience, options.pause)

"""The Gomocup protocol (of Piskvork, by Petr Lastovicka): a Gomoku player on two streams.

`settings` reads ``INFO``, `position` holds the board, `swap2` plays the opening, `session` answers, `memory` measures
the memory of the process; `pipeline_src.search.limits` manages the time.
"""

import os
import re
import resource
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from pipeline_src import __version__
from pipeline_src.arena.session import Preparation, Search, SearchThread, any_move, error_text
from pipeline_src.errors import ZugwerkError
from pipeline_src.games import gomoku
from pipeline_src.games.game import get_game
from pipeline_src.games.gomoku import (
    BLACK,
    DRAWN,
    FIRST,
    LINE_LENGTH,
    MAX_SIDE,
    PLY,
    SECOND,
    STANDING,
    WHAT,
    WHITE,
    GomokuState,
    any_line,
    from_board,
)
from pipeline_src.jit import Need, plainly
from pipeline_src.players.engines.brain import RULES, is_cell, read_cell, rule_words, write_cell
from pipeline_src.players.player import Bounds, Player, Position, Thought
from pipeline_src.players.registry import build_player, limits_in, players_of
from pipeline_src.search.gomoku.engine import Engine, Options
from pipeline_src.search.limits import Limit, thinking_ms

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

    timeout_turn: float | None = None  # Time of a move; 0 is as fast as possible
    timeout_match: float | None = None  # Time of a game; 0 is no limit
    time_left: float | None = None  # Time left in the game, as last sent
    max_memory: int = 0
    """Memory limit of the process in bytes; 0 is none. Searches get what the interpreter and the kernels leave."""
    game_type: int = 0  # Opponent: 0 a person, 1 a program, 2 a tournament, 3 a tournament over a network
    rule: int = 0  # Bits: 1 exactly five in a row wins, 2 the game continues after a win, 4 Renju, 8 Caro
    folder: str = ""  # Folder for persistent files
    level: int = 0
    """Level of the player on its board, 1 the weakest; 0 is the player's own strength. A setting of ours."""

    def read(self, words: list[str]) -> str | None:
        """Read the words after ``INFO``; return the name of the changed setting, or None for an unknown one.

        Raises:
            ZugwerkError: the value is not a number. Nothing is changed.
        """
        if not words:
            raise ZugwerkError("INFO: expected a name and a value")
        name, text = words[0].lower(), " ".join(words[1:])
        if name == "folder":
            self.folder = text
        elif name in ("timeout_turn", "timeout_match", "time_left"):
            setattr(self, name, float(max(0, _number(name, text))))
        elif name in ("max_memory", "game_type", "rule", "level"):
            setattr(self, name, max(0, _number(name, text)))
        else:
            return None
        return name

    @property
    def turn_ms(self) -> float | None:
        """Time of a move; None is no limit."""
        return _limit(self.timeout_turn)

    @property
    def match_ms(self) -> float | None:
        """Time of a whole game; None is no limit."""
        return _limit(self.timeout_match) or None


def _limit(milliseconds: float | None) -> float | None:
    return None if milliseconds is None or milliseconds >= ENDLESS_MS else milliseconds


def _number(name: str, text: str) -> int:
    if _NUMBER.fullmatch(text) is None:
        raise ZugwerkError(f"INFO {name}: {text[:40]!r} is not a whole number")
    return int(text)


# The board of a session, as the manager's commands build it.


OWN, OTHER = 1, 2  # Third number of a stone in `BOARD`


@dataclass
class Board:
    """A game: its start position and its actions. It works without kernels while they are being compiled."""

    height: int
    width: int
    variant: str
    start: GomokuState = field(init=False)
    state: GomokuState = field(init=False)
    actions: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not (min(self.height, self.width) >= LINE_LENGTH and max(self.height, self.width) <= MAX_SIDE):
            raise ZugwerkError(
                f"no board of {self.width}x{self.height}; sides go from {LINE_LENGTH} to {MAX_SIDE}, such as 15 or 20"
            )
        self.start = self.state = from_board(np.zeros((self.height, self.width), np.int8), FIRST, self.variant)

    @property
    @plainly()
    def over(self) -> bool:
        """Whether a side has won, or the board is full."""
        return gomoku.winner(self.state) is not None

    @property
    def played(self) -> int:
        """Number of stones."""
        return int(self.state.turn[PLY])

    def read(self, text: str) -> int:
        """Return the action id of ``x,y``.

        Raises:
            ZugwerkError: the text is not a cell of the board.
        """
        return read_cell(text, self.height, self.width)

    def write(self, action: int) -> str:
        """Return the text ``x,y`` of an action id."""
        return write_cell(action, self.width)

    @plainly()
    def place(self, action: int) -> None:
        """Place a stone of the side to move.

        Raises:
            ZugwerkError: the cell is occupied or forbidden in Renju, or the game is over.
        """
        if self.over:
            raise ZugwerkError("the game is over")
        if not gomoku.is_legal(self.state, action):
            if self.state.board.flat[action]:
                raise ZugwerkError(f"there is a stone on {self.write(action)} already")
            raise ZugwerkError(f"{self.write(action)} is forbidden to Black: {WHAT}")
        self.state = gomoku.play(self.state, action)
        self.actions.append(action)

    def take_back(self, action: int) -> None:
        """Undo the last stone.

        Raises:
            ZugwerkError: the stone is not the last one.
        """
        if not self.actions or self.actions[-1] != action:
            last = f"the last stone is on {self.write(self.actions[-1])}" if self.actions else "there is none"
            raise ZugwerkError(f"cannot take back {self.write(action)}: {last}")
        self._replay(self.actions[:-1])

    @contextmanager
    def unless_refused(self) -> Iterator["Board"]:
        """Context in which an error restores the board."""
        before = self.variant, self.start, self.state, list(self.actions)
        try:
            yield self
        except Exception:
            self.variant, self.start, self.state, self.actions = before
            raise

    @plainly()
    def change_rule(self, variant: str) -> None:
        """Continue the game by another rule. If that rule refuses a move, the stones stay, without a history."""
        start: Any = from_board(self.start.board, int(gomoku.to_play(self.start)), variant)
        state, actions = start, list(self.actions)
        for action in actions:
            if not gomoku.is_legal(state, action):  # forbidden, or the game is over
                side = int(gomoku.to_play(self.state))
                start = state = from_board(self.state.board, side, variant)
                if any_line(start, BLACK if side == FIRST else WHITE):
                    start.turn[STANDING] = DRAWN  # the other side moved after the end, so nobody wins by the last move
                actions = []
                break
            state = gomoku.play(state, action)
        self.variant, self.start, self.state, self.actions = variant, start, state, actions

    @plainly()
    def set_up(self, stones: Sequence[tuple[int, int]]) -> None:
        """Set up the position of a ``BOARD`` command, cells with OWN or OTHER, with us to move.

        The lines give the order of the moves within each colour. If no legal game has that order, the stones are set up
        without a history.

        Raises:
            ZugwerkError: two stones are on one cell, the numbers of stones are impossible, or we have a winning line
                already. The board is not changed.
        """
        own, other = ([cell for cell, whose in stones if whose == side] for side in (OWN, OTHER))
        if len({cell for cell, _ in stones}) < len(stones):
            raise ZugwerkError("two stones on one cell")
        if len(other) - len(own) not in (0, 1):
            raise ZugwerkError(f"{len(own)} own and {len(other)} other stones, with own to move")
        black, white = (own, other) if len(own) == len(other) else (other, own)
        empty = from_board(np.zeros((self.height, self.width), np.int8), FIRST, self.variant)
        order = [cell for pair in zip_longest(black, white) for cell in pair if cell is not None]
        state: Any = empty
        for cell in order:
            if not gomoku.is_legal(state, cell):
                self._forget_order(black, white)
                return
            state = gomoku.play(state, cell)
        self.start, self.state, self.actions = empty, state, order

    def _forget_order(self, black: Sequence[int], white: Sequence[int]) -> None:
        board = np.zeros(self.height * self.width, np.int8)
        board[black], board[white] = BLACK, WHITE
        side = FIRST if len(black) == len(white) else SECOND
        start = from_board(board.reshape(self.height, self.width), side, self.variant)
        if any_line(start, BLACK if side == FIRST else WHITE):
            raise ZugwerkError("own stones make a line already, with own to move")
        self.start = self.state = start
        self.actions = []

    @plainly()
    def _replay(self, actions: Sequence[int]) -> None:
        self.state, self.actions = self.start, []
        for action in actions:
            self.place(action)


# The openings swap2 and swap1, in which the players choose colours. Our own search makes the choices.
#
# In *swap2* the first player places three stones: Black, White, Black. The second player swaps (takes Black), or stays
# (takes White and plays), or places a white and a black stone and leaves the choice to the first player, who then swaps
# or stays. *Swap1* has no third option. White is to move at every choice, so the player who stays is the side to move.
# Values are in points of `search.gomoku.engine`; 400 points are a factor of e in the odds.


SIDE = 9  # Side of the central square from which stones are drawn
EVEN = 40.0  # Up to this absolute value, two stones are placed, because the search does not prefer a side clearly
LEVEL = 15.0  # An absolute value of at most this ends the search for balanced stones
NODES, DRAWN_NODES, DRAWS = 100_000, 20_000, 40
"""Without a time limit: positions searched for a choice, positions searched for each draw of stones, and draws."""


def first_stones(
    state: GomokuState, rng: np.random.Generator, seconds: float | None = None, count: int = 3
) -> tuple[int, ...]:
    """Return actions, black and white in turn, after which the search sees the smallest advantage.

    Args:
        state: the empty board, or one on which some stones of the opening stand.
        rng: generator for the draws.
        seconds: time for all draws; None is `DRAWS` draws.
        count: number of stones.
    """
    return _most_level(_engine(), state, count, rng, _deadline(seconds))[0]


def choose(
    state: GomokuState, rng: np.random.Generator, seconds: float | None = None, may_place: bool = True
) -> str | tuple[int, ...]:
    """Return ``swap``, ``stay``, or the white and the black stone to place.

    Args:
        state: the position, with White to move.
        rng: generator for the draws.
        seconds: time for the choice; None is `NODES` positions and `DRAWS` draws.
        may_place: whether placing two stones is allowed, as after three stones in swap2.
    """
    engine, deadline = _engine(), _deadline(seconds)
    value = _value(engine, state, Limit(nodes=NODES) if seconds is None else Limit(movetime_ms=500 * seconds))
    if may_place and abs(value) <= EVEN:
        stones, left = _most_level(engine, state, 2, rng, deadline)
        if left <= EVEN:
            return stones
    return "swap" if value < 0 else "stay"


def needs(state: GomokuState) -> list[Need]:
    """Kernels of the choices."""
    return _engine().needs(state)


def _engine() -> Engine:
    return Engine(Options(table_mb=4, threats=DRAWN_NODES))


def _deadline(seconds: float | None) -> float:
    return float("inf") if seconds is None else time.perf_counter() + seconds


def _most_level(
    engine: Engine, state: GomokuState, plies: int, rng: np.random.Generator, deadline: float
) -> tuple[tuple[int, ...], float]:
    """Return the most balanced of random stones near the middle, and the absolute value after them."""
    best: tuple[int, ...] = ()
    least = np.inf
    for _ in range(DRAWS):
        after, drawn = state, list[int]()
        while len(drawn) < plies and gomoku.winner(after) is None:
            drawn.append(int(rng.choice(_near_middle(after))))
            after = gomoku.play(after, drawn[-1])
        if gomoku.winner(after) is None:
            rest = None if deadline == np.inf else max(1.0, (deadline - time.perf_counter()) * 1000)
            value = abs(_value(engine, after, Limit(nodes=DRAWN_NODES, movetime_ms=rest)))
            if value < least:
                best, least = tuple(drawn), value
        if best and (least <= LEVEL or time.perf_counter() > deadline):
            break
    return best, float(least)


def _value(engine: Engine, state: GomokuState, limit: Limit) -> float:
    """Return the mean value of the two deepest iterations, since the side that moves last in a search looks better."""
    values: dict[int, float] = {}
    engine.search(state, limit, on_info=lambda found: values.update({found.depth: found.value}))
    last = list(values.values())[-2:]
    return sum(last) / len(last)


def _near_middle(state: GomokuState) -> list[int]:
    """Return the legal actions within the central square, or all legal actions if it has none."""
    height, width = state.board.shape
    legal = [int(action) for action in gomoku.legal_actions(state)]
    rows, columns = (abs(np.array(legal) // width - height // 2), abs(np.array(legal) % width - width // 2))
    return [action for action, off in zip(legal, np.maximum(rows, columns), strict=True) if off <= SIDE // 2] or legal


# One conversation with a manager of the Gomocup: commands in, moves out, the search in a thread of its own.


MARGIN_MS = 100.0
END_S = 0.5  # Seconds to finish after `END`. A manager kills a program that does not end within a second.
MEMORY_SHARE = 0.8
"""Share of the remaining memory that searches may use. The rest is a reserve for memory that they allocate besides."""
LEAST_MEMORY = 4 << 20  # Least memory of searches in bytes, however little of the manager's limit is left
START_MS = 1000.0  # START waits for kernels for half of this time. Loading them from disk takes less, compiling more.
UNJUDGED = (0, 1, 2)
"""First stones of swap2 while kernels are still being compiled: a corner, where they give little advantage."""
NOT_EVERYWHERE = ("zero", "brain", "level")  # Players that do not play on every board


class Session:
    """A conversation with a manager. `handle` is called from one thread, ``write`` from two."""

    def __init__(
        self,
        player: str,
        write: Callable[[str], None],
        seed: int = 0,
        margin_ms: float = MARGIN_MS,
        verbose: bool = False,
    ) -> None:
        """Prepare a session. Nothing is loaded yet.

        Args:
            player: a text for `registry.build_player`, read at the first ``START``. Once the manager has set a time, it
                replaces the text's time limit; a depth or a number of nodes in the text still applies.
            write: receives the answers.
            seed: seed of all random choices.
            margin_ms: part of a turn's time that is reserved for delays.
            verbose: whether to write the result of each search as a MESSAGE before its move.
        """
        self._text, self._out, self._seed, self._margin_ms, self._verbose = player, write, seed, margin_ms, verbose
        self._seated = ""
        self._player: Player | None = None
        self._given: Limit | None = None
        self._ended, self._notes = False, list[str]()
        self._preparation: Preparation | None = None
        self._choices: Preparation | None = None
        self._settings = Settings()
        self._board: Board | None = None
        self._left: float | None = None
        self._told = False  # whether the manager has sent the time left since the last move
        self._rng = np.random.default_rng(seed)
        self._listing: tuple[str, list[str]] | None = None
        self._thread = SearchThread(self._fail)

    def handle(self, line: str) -> bool:
        """Handle one line; return False once the conversation is over, after `finish`."""
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
            self._search(lambda search: self._move(search, begin, lambda: self._asked(name, words)))
        elif name in self._SIMPLE:
            if name not in ("INFO", "ABOUT"):
                self._thread.stop()  # a manager that sends another command does not wait for the search
            act = self._SIMPLE[name]
            self._thread.submit(lambda: act(self, words))
        else:
            self._thread.submit(lambda: self._write(f"UNKNOWN command {name[:40]}"))  # after earlier output
        return True

    def finish(self, seconds: float) -> None:
        """Stop the searches and wait ``seconds`` at most for their answers."""
        self._thread.submit(self._leave)
        self._thread.finish(seconds)

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
            self._search(lambda search: self._move(search, begin, lambda: self._set_up(lines)))
        else:
            self._search(lambda search: self._choose_side(search, begin, lines))
        return True

    def _search(self, find: Callable[[Search], str]) -> None:
        self._thread.search(lambda search: self._answer(search, lambda: find(search)))

    def _fail(self, text: str) -> None:
        self._write("ERROR " + " ".join(text.split())[:300])

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
        size = _size(words[0])
        self._open(size, size)

    def _rect_start(self, words: list[str]) -> None:
        sides = " ".join(words).replace(",", " ").split()
        if len(sides) != 2:
            raise ZugwerkError("RECTSTART: expected width,height")
        width, height = map(_size, sides)
        self._open(height, width)

    def _restart(self, _: list[str]) -> None:
        board = self._known()
        self._open(board.height, board.width)

    def _open(self, height: int, width: int) -> None:
        board = Board(height, width, self._variant() or RULES[0])
        self._seat(board)
        refusal = self._refusal(board)
        if refusal is not None and not self._has_size(board):  # the rule may still change, the size may not
            raise ZugwerkError(refusal)
        if refusal is not None:
            self._write(f"MESSAGE {refusal}")
        else:
            self._ready(board, START_MS)  # if not ready: OK at once, and moves without a search until all is compiled
        self._fit_memory()
        self._board, self._rng = board, np.random.default_rng(self._seed)
        if not self._told:
            self._left = self._settings.match_ms
        self._write("OK")

    def _seat(self, board: Board) -> None:
        """Make the player, or the one of another level if that has changed, and let it begin a game."""
        text = f"level:{self._settings.level}" if self._settings.level else self._text
        if self._player is None or text != self._seated:
            player, given = build_player("gomoku", text), limits_in("gomoku", text)
            if self._player is not None and self._preparation is not None:
                self._preparation.stop()
                self._player.close()
            self._player, self._given, self._seated = player, given, text
            self._preparation = Preparation(player.needs, board.start)
        self._player.new_game()

    def _ready(self, board: Board, milliseconds: float | None, given_up: threading.Event | None = None) -> bool:
        """Whether the player becomes ready for a game on this board within a share of the time."""
        assert self._player is not None
        assert self._preparation is not None
        if not self._preparation.wait(milliseconds, given_up):
            return False
        self._player.ready(board.start)
        return True

    def _info(self, words: list[str]) -> None:
        level = self._settings.level
        try:
            changed = self._settings.read(words)
        except ZugwerkError as error:
            self._notes.append(str(error))  # INFO has no answer, and the manager reads none
            return
        settings = self._settings
        if changed == "timeout_match" and not self._told:
            self._left = settings.match_ms
        elif changed == "time_left":
            told, self._told = settings.time_left, True
            self._left = None if told is None or told >= ENDLESS_MS else told
        elif changed == "max_memory":
            self._fit_memory()
        elif changed == "rule" and self._board is not None and (variant := self._variant()) is not None:
            self._board.change_rule(variant)  # another rule is refused when a move is asked for
            if self._refusal(self._board) is None:
                self._ready(self._board, 0)  # opens the rule's net before the clock of a move runs
            self._fit_memory()
        elif changed == "level":
            self._change_level(level)

    def _change_level(self, before: int) -> None:
        """Play the rest of the game at another level; an unknown level leaves the one before."""
        try:
            if self._board is not None:
                self._seat(self._board)
                self._fit_memory()
            elif self._settings.level:
                build_player("gomoku", f"level:{self._settings.level}").close()
        except ZugwerkError as error:
            self._settings.level = before
            self._notes.append(f"INFO level: {error}")

    def _fit_memory(self) -> None:
        """Limit the player's memory to what the process leaves of the manager's limit."""
        most = self._settings.max_memory
        if self._player is None or most == 0:
            return
        self._player.use_memory(LEAST_MEMORY)  # frees the memory of earlier searches
        left = most - resident_bytes()
        if left < LEAST_MEMORY:
            self._notes.append(
                f"INFO max_memory: {most >> 20} MiB, and {resident_bytes() >> 20} are used before any search"
            )
        self._player.use_memory(max(LEAST_MEMORY, int(MEMORY_SHARE * left)))

    def _take_back(self, words: list[str]) -> None:
        board = self._known()
        board.take_back(board.read(" ".join(words)))
        self._write("OK")

    def _about(self, _: list[str]) -> None:
        player = self._seated or self._text
        facts = {"name": "Zugwerk", "version": __version__, "author": "the Zugwerk authors", "player": player}
        self._write(", ".join(f'{key}="{value}"' for key, value in facts.items()))

    _SIMPLE: dict[str, Callable[["Session", list[str]], None]] = {  # noqa: RUF012 - a table, never changed
        "START": _start,
        "RECTSTART": _rect_start,
        "RESTART": _restart,
        "INFO": _info,
        "TAKEBACK": _take_back,
        "ABOUT": _about,
    }

    def _asked(self, name: str, words: list[str]) -> None:
        board = self._known()
        if name == "TURN":
            board.place(board.read(" ".join(words)))
        elif board.played:
            raise ZugwerkError("BEGIN: the board is not empty; RESTART first")

    def _set_up(self, lines: list[str]) -> None:
        board, stones = self._known(), []
        for line in lines:
            cell, _, whose = line.rpartition(",")
            if whose.strip() not in (str(OWN), str(OTHER)):
                raise ZugwerkError(f"BOARD: {line[:40]!r}; expected x,y,1 for an own stone or x,y,2 for the other's")
            stones.append((board.read(cell), int(whose)))
        board.set_up(stones)

    def _answer(self, search: Search, find: Callable[[], str]) -> None:
        try:
            answer = find()
        except Exception as error:
            search.end()
            self._fail(error_text(error))
            return
        search.end()
        self._write(answer)

    def _move(self, search: Search, begin: float, place: Callable[[], None]) -> str:
        """Answer the stones that were placed. If there is no answer, the board is restored."""
        with self._known().unless_refused() as board:
            place()
            action = self._think(search, board, begin).action
            board.place(action)
        return board.write(action)

    def _choose_side(self, search: Search, begin: float, lines: list[str]) -> str:
        """Swap2: place three stones, choose a side after three or five stones, or place two more."""
        with self._known().unless_refused() as board:
            if len(lines) not in (0, 3, 5) or not all(map(is_cell, lines)):
                raise ZugwerkError("SWAP2BOARD: expected no stones, 3 or 5, as x,y; then DONE")
            cells = [board.read(line) for line in lines]
            board.set_up([(cell, OTHER if i % 2 == 0 else OWN) for i, cell in enumerate(cells)])
            player = self._player_for(board)
            movetime = self._bounds(player, board, begin).movetime_ms
            seconds = None if movetime is None else movetime / 2e3  # the other half is for a move
            placed: str | tuple[int, ...]
            if self._choices is None:
                self._choices = Preparation(needs, board.start)
            if not self._choices.wait(movetime, search.stopped):
                placed = "stay" if cells else UNJUDGED
                self._notes.append("kernels are still being compiled: chosen without a search")
            elif cells:
                placed = choose(board.state, self._rng, seconds, may_place=len(cells) == 3)
            else:
                placed = first_stones(board.state, self._rng, seconds)
            if placed == "swap":
                return "SWAP"
            if isinstance(placed, str):
                placed = (self._think(search, board, begin).action,)
            for action in placed:
                board.place(action)
        return " ".join(map(board.write, placed))

    def _player_for(self, board: Board) -> Player:
        """Return the player, if the game is unfinished and the player supports the board.

        Raises:
            ZugwerkError: the game is over, or its rule is not supported.
        """
        if board.over:
            raise ZugwerkError("the game is over")
        if self._variant() is None:
            raise ZugwerkError(self._no_rule())
        refusal = self._refusal(board)
        if refusal is not None:
            raise ZugwerkError(refusal)
        assert self._player is not None
        return self._player

    def _think(self, search: Search, board: Board, begin: float) -> Thought:
        player = self._player_for(board)
        position = Position(board.state, self._rng, board.start, tuple(board.actions))
        if self._ready(board, self._bounds(player, board, begin).movetime_ms, search.stopped):
            search.begin(player)
            thought = player.think(position, self._bounds(player, board, begin))
        else:
            thought = Thought(any_move(get_game("gomoku"), board.state))
            self._notes.append("kernels are still being compiled: any legal move")
        self._told = False
        if self._left is not None:
            self._left = max(0.0, self._left - _since(begin))
        if self._verbose and (found := thought.found) is not None:
            self._write(f"MESSAGE depth {found.depth}, {found.nodes} nodes, value {found.value:+.2f}")
        return thought

    def _bounds(self, player: Player, board: Board, begin: float) -> Bounds:
        own, cells = self._given or player.limit, board.state.board.size
        turn, match = self._settings.turn_ms, self._settings.match_ms
        movetime = thinking_ms(turn, self._left, _since(begin), self._margin_ms, board.played, cells, match)
        if movetime is None:
            return Bounds()
        return Bounds(own.depth if own else None, own.nodes if own else None, movetime)

    def _known(self) -> Board:
        if self._board is None:
            raise ZugwerkError("no board yet; send START SIZE first")
        return self._board

    def _variant(self) -> str | None:
        return RULES.get(self._settings.rule)

    def _no_rule(self) -> str:
        rule = self._settings.rule
        offered = ", ".join(f"{number} {name}" for number, name in RULES.items())
        return f"rule {rule} ({rule_words(rule)}) is not played here; there are: {offered}"

    def _refusal(self, board: Board) -> str | None:
        """Return why the player does not support the board or the rule, and a player that does; None if it does."""
        if self._player is None:
            return None
        try:
            self._player.check(board.start)
        except ZugwerkError as error:
            others = ", ".join(name for name in players_of("gomoku") if name not in NOT_EVERYWHERE)
            return f"{error}; on any board, by any rule: --player {others}"
        return None

    def _has_size(self, board: Board) -> bool:
        """Whether the player plays on boards of this size. A player without a model plays on all."""
        sizes = [] if self._player is None else [(one.height, one.width) for one in self._player.boards]
        return not sizes or (board.height, board.width) in sizes

    def _leave(self) -> None:
        if self._player is not None:
            self._player.close()


def _since(begin: float) -> float:
    return (time.perf_counter() - begin) * 1000


def _size(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 5):
        raise ZugwerkError(f"{text[:40]!r} is not a size of a board")
    return int(text)

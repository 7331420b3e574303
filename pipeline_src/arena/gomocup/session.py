"""One conversation with a manager of the Gomocup: commands in, moves out, the search in a thread of its own."""

import threading
import time
from collections.abc import Callable

import numpy as np

from pipeline_src import __version__
from pipeline_src.arena.gomocup.position import OTHER, OWN, Board
from pipeline_src.arena.gomocup.settings import ENDLESS_MS, Settings, resident_bytes
from pipeline_src.arena.gomocup.swap2 import choose, first_stones, needs
from pipeline_src.arena.preparation import Preparation, any_move
from pipeline_src.arena.search_thread import Search, SearchThread, error_text
from pipeline_src.errors import ZugwerkError
from pipeline_src.games.game import get_game
from pipeline_src.players.engines.gomocup_text import RULES, is_cell, rule_words
from pipeline_src.players.player import Bounds, Player, Position, Thought
from pipeline_src.players.registry import build_player, limits_in, players_of
from pipeline_src.players.turn_time import thinking_ms
from pipeline_src.search.limits import Limit

MARGIN_MS = 100.0
END_S = 0.5
"""Seconds to finish after ``END``. A manager kills a program that does not end within a second."""
MEMORY_SHARE = 0.8
"""Share of the remaining memory that searches may use. The rest is a reserve for memory that they allocate besides."""
LEAST_MEMORY = 4 << 20
"""Least memory of searches in bytes, however little of the manager's limit is left."""
START_MS = 1000.0
"""START waits for kernels for half of this time. Loading them from disk takes less, compiling more."""
UNJUDGED = (0, 1, 2)
"""First stones of swap2 while kernels are still being compiled: a corner, where they give little advantage."""
NOT_EVERYWHERE = ("zero", "brain", "level")
"""Players that do not play on every board."""


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

"""The process of searches and nets: ``python -m pipeline_src.web.child``, started by `engine`."""

import contextlib
import math
import os
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import IO, Any

import numpy as np

from pipeline_src.arena.runner import stamps_of
from pipeline_src.errors import ZugwerkError
from pipeline_src.games.game import Game
from pipeline_src.players.levels import plays_as
from pipeline_src.players.player import Bounds, Player, Position
from pipeline_src.players.registry import build_player
from pipeline_src.players.session import Search, SearchThread, error_text
from pipeline_src.processes import end_with_parent
from pipeline_src.search.limits import Clock, Line, SearchResult
from pipeline_src.web import calls
from pipeline_src.web.calls import placed, unit_of, win_rate
from pipeline_src.web.engine import Answer, Chosen, OnlyBoard, Request, Task, Thought, ThoughtLine

EVERY_S = 0.08  # Least seconds between two reports of a search: those who look want ten a second
NICER = 5  # Niceness of the process, so that the server comes first on few cores
PLAYERS = 4  # Number of players that a process keeps, such as both sides of a game and one that analyses


class Reports:
    """Forwards the latest report, at most one per `EVERY_S` seconds and none after `close`."""

    def __init__(self, write: Callable[[SearchResult], None]) -> None:
        """Send reports to ``write``, which is called from any thread, one at a time."""
        self._write, self._lock = write, threading.Lock()
        self._last, self._waiting, self._open = -math.inf, False, True
        self._latest: SearchResult | None = None

    def report(self, found: SearchResult) -> None:
        """Forward a report now, or when the interval has passed."""
        with self._lock:
            self._latest = found
            wait = self._last + EVERY_S - time.monotonic()
            if wait <= 0:
                self._pass_on()
            elif not self._waiting:
                self._waiting = True
                timer = threading.Timer(wait, self._later)
                timer.daemon = True
                timer.start()

    def close(self) -> None:
        """Forward no more reports."""
        with self._lock:
            self._open = False

    def _later(self) -> None:
        with self._lock:
            self._waiting = False
            self._pass_on()

    def _pass_on(self) -> None:
        if self._open and self._latest is not None:
            self._last = time.monotonic()
            self._write(self._latest)
            self._latest = None


class Child:
    """Runs tasks one after the other."""

    def __init__(self, sink: IO[str]) -> None:
        """Write answers to ``sink``."""
        self._sink, self._lock = sink, threading.Lock()
        self._players: OrderedDict[tuple[Any, ...], Player] = OrderedDict()
        self._thread = SearchThread(lambda _: None)
        self._rng = np.random.default_rng()
        self._begun = 0

    def handle(self, request: Request) -> None:
        """Begin a task, or stop the one that was begun last. A stop of an earlier one comes too late."""
        if request.task is None and request.call is None:
            if request.id == self._begun:
                self._thread.stop()
        else:
            self._begun = request.id
            self._thread.search(lambda search: self._run(search, request))

    def _answer(self, answer: Answer) -> None:
        with self._lock:
            self._sink.write(answer.model_dump_json() + "\n")
            self._sink.flush()

    def _run(self, search: Search, request: Request) -> None:
        last = Answer(id=request.id, ended=True)
        try:
            self._answer(Answer(id=request.id, stage="loading"))
            if request.task is not None:
                last = Answer(id=request.id, chosen=self._think(search, request.id, request.task))
            elif request.call is not None:
                for value in getattr(calls, request.call.function)(*request.call.arguments):
                    self._answer(Answer(id=request.id, values=(value,)))
                    if search.stopped.is_set():
                        break
        except Exception as error:  # any error is reported to the page
            last = Answer(id=request.id, failed=error_text(error))
        search.end()
        self._answer(last)

    def _think(self, search: Search, number: int, task: Task) -> Chosen:
        if task.only_made:
            player = build_player(task.place.game, task.player)
            player.close()
            return Chosen(move="", thought=None, only=only_board(player))
        rules, position = placed(task.place, self._rng, Clock(**task.clock.model_dump()) if task.clock else None)
        player = self._player(task, position)
        task = task.model_copy(update={"player": plays_as(task.place.game, task.player, position.start)})
        if task.infinite and not player.searches:
            raise ZugwerkError(f"player {task.player} does not search, so it has no values to show; take another one")
        self._answer(Answer(id=number, stage="thinking"))

        def tell(found: SearchResult) -> None:
            self._answer(Answer(id=number, thought=thought_of(rules, position, task, found)))

        reports = Reports(tell)
        search.begin(player)
        try:
            chosen = player.think(position, _bounds(task), reports.report)
        finally:
            reports.close()
        thought = None if chosen.found is None else thought_of(rules, position, task, chosen.found)
        return Chosen(
            move=rules.format_move(chosen.action, *position.state.board.shape), thought=thought, only=only_board(player)
        )

    def _player(self, task: Task, position: Position) -> Player:
        """Return the player of a game with its memory of the game, or one with the same text and an empty memory."""
        key = (task.key, task.place.game, task.player, stamps_of(task.player))
        if key not in self._players:
            own = task.key.partition("/")[0]
            others = (other for other in self._players if other[1:] == key[1:] and other[0].partition("/")[0] != own)
            same = next(others, None)
            if same is not None:
                player = self._players.pop(same)
                player.new_game()
            else:
                player = build_player(task.place.game, task.player)
            player.check(position.start)
            self._players[key] = player
        self._players.move_to_end(key)
        while len(self._players) > PLAYERS:
            self._players.popitem(last=False)[1].close()
        self._players[key].ready(position.start)
        return self._players[key]


def only_board(player: Player) -> OnlyBoard | None:
    """Return the only board of a player, or None."""
    return None if player.only is None else OnlyBoard(**player.only._asdict())


def thought_of(rules: Game, position: Position, task: Task, found: SearchResult) -> Thought:
    """Return the report of a search with moves as texts and the value as a win rate."""
    shape = position.state.board.shape

    def texts(actions: tuple[int, ...]) -> tuple[str, ...]:
        return tuple(rules.format_move(action, *shape) for action in actions)

    def rate(value: float) -> float | None:
        return win_rate(task.place.game, task.player, value)

    lines = found.lines or (Line(found.pv or (found.action,), found.value, found.depth),)
    return Thought(
        depth=found.depth,
        nodes=found.nodes,
        seconds=found.seconds,
        value=_finite(found.value),
        unit=unit_of(task.place.game, task.player),
        win_rate=rate(found.value),
        line=texts(found.pv),
        lines=tuple(
            ThoughtLine(
                moves=texts(one.pv),
                value=_finite(one.value),
                win_rate=rate(one.value),
                depth=one.depth,
                visits=one.visits,
            )
            for one in lines
        ),
    )


def _bounds(task: Task) -> Bounds:
    return Bounds(task.depth, task.nodes, task.movetime_ms, task.infinite, task.lines)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def main() -> None:
    """Run the requests from stdin until it ends."""
    end_with_parent()
    with contextlib.suppress(OSError):
        os.nice(NICER)
    sink = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # stray prints go elsewhere
    child = Child(sink)
    for line in sys.stdin:
        child.handle(Request.model_validate_json(line))
    os._exit(0)  # at once, even where a search still runs in its thread


if __name__ == "__main__":
    main()

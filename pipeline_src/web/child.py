"""The process of searches and nets: ``python -m pipeline_src.web.child``, started by `engine`.

`Child` runs tasks, which choose a move, and calls (`CALLS`): functions of any values, each of which yields JSON data.
"""

import contextlib
import math
import os
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import IO, Any

import numpy as np

from pipeline_src.arena.runner import stamps_of
from pipeline_src.errors import ZugwerkError
from pipeline_src.games import gomoku
from pipeline_src.games.game import Game, get_game
from pipeline_src.players.levels import plays_as
from pipeline_src.players.player import RATES, Bounds, Player, PlayerText, Position, by_results
from pipeline_src.players.registry import build_player
from pipeline_src.players.session import Search, SearchThread, error_text
from pipeline_src.processes import end_with_parent
from pipeline_src.records.record import GameRecord
from pipeline_src.records.sgf_games import start_of
from pipeline_src.search.gomoku.solver import Solver
from pipeline_src.search.limits import Clock, Limit, Line, SearchResult
from pipeline_src.web.engine import Answer, Chosen, OnlyBoard, Place, Request, Task, Thought, ThoughtLine, Unit
from pipeline_src.web.game import began, played, rules_of
from pipeline_src.web.messages import Cells, ForcedAnswer, ForcedLine, PlyAnalysis
from pipeline_src.web.settings import GAME_FILES

EVERY_S = 0.08  # Least seconds between two reports of a search: those who look want ten a second
NICER = 5  # Niceness of the process, so that the server comes first on few cores
PLAYERS = 4  # Number of players that a process keeps, such as both sides of a game and one that analyses
ODDS: dict[Unit, float] = {"squares": 4.0, "points": 400.0}  # Value in each unit that corresponds to odds of e to 1
PLAIN = 10.0  # Points of Gomoku's engine for one point of the plain evaluation, approximately
TREES = frozenset({*RATES, "uct"})  # Players whose depth is the length of the longest line, not that of an iteration
DECIDED = 5_000.0  # Least absolute value of a proven win or loss
RESULTS = {"first": 1.0, "draw": 0.5, "second": 0.0}
OPENING_S = 2.0  # Seconds of a player for its stones or its choice in the opening of a game
PROOF = 50_000  # Most positions of a proof; those of the packaged forced wins take less
LEAST, LISTED = 0.0005, 8  # Least share of a cell that is shown, and number of listed moves of a net
SHARES = ("start_policy", "start_visits", "arrow_policy", "arrow_visits")
NO_TURN: dict[str, Any] = {"arrow_after": "", **{name: {} for name in SHARES}}
"""Parts of a view that only turns of the Amazons have."""

Half = tuple[int | None, int | None]


class Reports:
    """Forwards the latest report from any thread, at most one per `EVERY_S` seconds and none after `close`."""

    def __init__(self, write: Callable[[SearchResult], None]) -> None:
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
                for value in CALLS[request.call.function](*request.call.arguments):
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

        by_depth: dict[int, float] = {}

        def tell(found: SearchResult) -> None:
            self._answer(Answer(id=number, thought=thought_of(rules, position, task, found, by_depth)))

        def report(found: SearchResult) -> None:
            by_depth[found.depth] = found.value
            reports.report(found)

        reports = Reports(tell)
        bounds = Bounds(task.depth, task.nodes, task.movetime_ms, task.infinite, task.lines)
        search.begin(player)
        try:
            chosen = player.think(position, bounds, report)
        finally:
            reports.close()
        thought = None if chosen.found is None else thought_of(rules, position, task, chosen.found, by_depth)
        move = rules.format_move(chosen.action, *position.state.board.shape)
        return Chosen(move=move, thought=thought, only=only_board(player))

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


def thought_of(rules: Game, position: Position, task: Task, found: SearchResult, by_depth: dict[int, float]) -> Thought:
    """Return the report of a search with moves as texts and the value as a win rate."""
    game, player, shape = task.place.game, task.player, position.state.board.shape

    def texts(actions: tuple[int, ...]) -> tuple[str, ...]:
        return tuple(rules.format_move(action, *shape) for action in actions)

    def line(one: Line) -> ThoughtLine:
        value, rate = _finite(one.value), win_rate(game, player, one.value)
        return ThoughtLine(moves=texts(one.pv), value=value, win_rate=rate, depth=one.depth, visits=one.visits)

    best = line(Line(found.pv or (found.action,), found.value, found.depth))
    return Thought(
        depth=found.depth,
        nodes=found.nodes,
        seconds=found.seconds,
        value=best.value,
        unit=unit_of(game, player),
        win_rate=_evened(game, player, found, by_depth) if math.isfinite(found.value) else best.win_rate,
        line=texts(found.pv),
        lines=tuple(map(line, found.lines)) or (best,),
    )


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def placed(place: Place, rng: np.random.Generator, clock: Clock | None = None) -> tuple[Game, Position]:
    """Return the position of a place (`ZugwerkError`: see `began` and `played`)."""
    rules, start = began(place)
    actions, state = played(rules, start, place.moves)
    return rules, Position(state, rng, start, actions, clock)


def win_rate(game: str, player: str, value: float) -> float | None:
    """Return a value of a player as a win rate from 0 to 1; None for NaN."""
    unit = unit_of(game, player)
    if math.isnan(value):
        return None
    if unit == "rate":
        return _share(value)
    if unit == "points" and PlayerText.parse(player).name != "engine":
        value *= PLAIN
    return 1 / (1 + math.exp(-max(-500.0, min(500.0, value / ODDS[unit]))))


def unit_of(game: str, player: str) -> Unit:
    """Return the unit of a player's values."""
    if by_results(player):
        return "rate"
    return "squares" if game == "amazons" else "points"


# The analysis of a game, position by position.


def analyse(
    game: dict[str, Any], player: str, nodes: int, first: int, done: list[dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    """Yield an analysis of each position that is not ``done``, in order, after an empty row when the player is ready.

    Args:
        game: a record (`dataclasses.asdict`), as JSON has it.
        player: text of a player that searches.
        nodes: nodes per position, or simulations.
        first: number of moves before the first position.
        done: earlier results, `PlyAnalysis` as JSON objects, like the yielded ones.
    """
    record = GameRecord(**{**game, "actions": tuple(game["actions"])})
    rules, shape = rules_of(record.game), (record.height, record.width)
    start = start_of(record, rules)
    one = build_player(record.game, player)
    if not one.searches:
        raise ZugwerkError(f"player {player} does not search, so it has no values to show; take another one")
    one.check(start)
    one.ready(start)
    yield {}
    try:
        states = [start]
        for action in record.actions:
            states.append(rules.play(states[-1], action))
        found = {one["ply"]: PlyAnalysis.model_validate(one) for one in done}
        for ply in [ply for ply in range(first, len(states)) if ply not in found]:
            state, before, winner = states[ply], found.get(ply - 1), rules.winner(states[ply])
            about: dict[str, Any] = {"value": None, "depth": 0, "nodes": 0, "line": ()}
            if winner is not None:
                rate = RESULTS[winner]
            else:
                position = Position(state, np.random.default_rng(ply), start, record.actions[:ply])
                heard = list[SearchResult]()
                search = one.think(position, Bounds(nodes=nodes), heard.append).found
                if search is None:
                    raise ZugwerkError(f"player {player} gives no value of its positions; take another one")
                rate = _evened(record.game, player, search, {info.depth: info.value for info in heard})
                rate = rate if rules.to_play(state) == 0 else 1 - rate
                line = tuple(rules.format_move(action, *shape) for action in search.pv or (search.action,))
                about = {"value": _finite(search.value), "depth": search.depth, "nodes": search.nodes, "line": line}
            lost = None
            if before:
                best = before.line[:1] == (rules.format_move(record.actions[ply - 1], *shape),)
                change = (before.win_rate - rate) * (1 if rules.to_play(states[ply - 1]) == 0 else -1)
                lost = 0.0 if best else max(0.0, change)
            found[ply] = PlyAnalysis(ply=ply, win_rate=rate, lost=lost, budget=nodes, **about)
            yield found[ply].model_dump()
    finally:
        one.close()


def _evened(game: str, player: str, search: SearchResult, by_depth: dict[int, float]) -> float:
    """Return the mover's win rate; for iterative deepening, the mean over the last two depths.

    Values favour the side that makes the last move of a line, so odd and even depths err in opposite directions.
    Without the mean, each move would look like a mistake.
    """
    values = [search.value]
    if PlayerText.parse(player).name not in TREES and abs(search.value) < DECIDED:
        values += [by_depth[depth] for depth in [search.depth - 1] if depth in by_depth]
    rates = [win_rate(game, player, value) for value in values]
    return sum(0.5 if rate is None else rate for rate in rates) / len(rates)


# Openings of Gomoku.


def opened(place: dict[str, Any], stones: int, may_place: bool) -> Iterator[Any]:
    """Yield level stones as texts, or if there are none to place, a choice, which may be two stones to place."""
    from pipeline_src.players.gomoku import choose, first_stones

    rng = np.random.default_rng()
    rules, position = placed(Place.model_validate(place), rng)
    state = position.state
    found = first_stones(state, rng, OPENING_S, stones) if stones else choose(state, rng, OPENING_S, may_place)
    yield found if isinstance(found, str) else [rules.format_move(action, *state.board.shape) for action in found]


# Forced wins as puzzles.


def solved(place: dict[str, Any]) -> Iterator[Any]:
    """Yield the line of a forced win of the side to move (`ForcedLine`)."""
    state = _puzzle(place)
    yield ForcedLine(moves=_texts(state, Solver().solve(state, Limit(nodes=PROOF)).line)).model_dump()


def answered(place: dict[str, Any]) -> Iterator[Any]:
    """Yield the best answer to the last move of a place (`ForcedAnswer`): one that spoils the win, or the longest."""
    state = _puzzle(place)
    if gomoku.winner(state) is not None:
        yield ForcedAnswer(state="won" if gomoku.winner(state) != "draw" else "spoilt").model_dump()
        return
    action, plies = Solver().answer(state, PROOF)
    yield ForcedAnswer(
        state="holds" if plies else "spoilt", answer=_texts(state, (action,))[0], plies=plies
    ).model_dump()


def _puzzle(place: dict[str, Any]) -> Any:
    wanted = Place.model_validate(place)
    if wanted.game != "gomoku" or (not wanted.moves and not wanted.fen):
        raise ZugwerkError("forced wins are proven in positions of Gomoku with stones on the board")
    return placed(wanted, np.random.default_rng(0))[1].state


def _texts(state: Any, actions: tuple[int, ...]) -> tuple[str, ...]:
    return tuple(gomoku.format_move(action, *state.board.shape) for action in actions)


# Policies and values of nets.


def board_of(game: str, path: str) -> Iterator[tuple[int, int, str]]:
    """Yield the height, width and variant of a net's board (`ZugwerkError`: the model is missing or damaged)."""
    written = Path(path).stat().st_mtime_ns
    if game == "amazons":
        size = _nets(path, written).size
        yield size, size, "standard"
    else:
        info = _zero(path, written, 1).info
        yield info.height, info.width, info.variant


def see(game: str, path: str, fen: str, simulations: int, move: Half) -> Iterator[dict[str, Any]]:
    """Yield the view (`NetView`) of an unfinished position; ``move`` (from, to) is the chosen part of an Amazons turn.

    Raises:
        ZugwerkError: the model is missing, damaged or for another board, or the game is over.
    """
    state, written = get_game(game).from_fen(fen), Path(path).stat().st_mtime_ns
    if get_game(game).winner(state) is not None:
        raise ZugwerkError("the game is over")
    nets = _nets(path, written) if game == "amazons" else _zero(path, written, simulations)
    begin = time.perf_counter()
    view = _view_amazons(nets, state, simulations, move) if game == "amazons" else _view_gomoku(nets, state)
    yield NO_TURN | view | {"simulations": simulations, "milliseconds": 1000 * (time.perf_counter() - begin)}


@lru_cache(maxsize=6)
def _nets(path: str, _written: int) -> Any:
    from pipeline_src.systems.amazons_net.player import open_forward

    return open_forward(path, 1)


@lru_cache(maxsize=6)
def _zero(path: str, _written: int, simulations: int) -> Any:
    from pipeline_src.systems.gomoku_zero.player import ZeroView

    return ZeroView(path, simulations)


def _view_gomoku(zero: Any, state: Any) -> dict[str, Any]:
    rules, (height, width) = get_game("gomoku"), state.board.shape
    names = [rules.format_move(cell, height, width) for cell in range(height * width)]
    view = zero.view(state)
    order = np.lexsort((-view.policy, -view.visits))[:LISTED]
    return {
        "win_rate": view.win_rate,
        "win_rate_searched": view.win_rate_searched,
        "policy": _listed(names, view.policy),
        "visits": _listed(names, view.visits),
        "candidates": [
            {"move": names[k], "prior": float(view.policy[k]), "visits": float(view.visits[k]), "value": None}
            for k in order
            if view.policy[k] > 0
        ],
    }


def _view_amazons(nets: Any, state: Any, simulations: int, move: Half) -> dict[str, Any]:
    from pipeline_src.games.amazons import format_square
    from pipeline_src.games.amazons import move as moved

    n, width = state.board.size, state.board.shape[1]
    names = [format_square(square, width) for square in range(n)]
    steps, priors, visits, q, raw, value = _search(nets, state, simulations)
    start, to = steps // n, steps % n
    order = np.lexsort((-priors, -visits))
    of_one = np.ones(len(start), bool) if move[0] is None else start == move[0]
    best = next(int(k) for k in order if of_one[k])
    chosen = int(start[best]), int(to[best]) if move[1] is None else move[1]
    arrows, arrow_priors, arrow_visits, *_ = _search(nets, moved(state, *chosen), simulations)

    def by(squares: Any, shares: Any) -> Cells:
        return _listed(names, np.bincount(squares, shares, n).astype(float))

    return {
        "win_rate": raw,
        "win_rate_searched": value,
        "policy": by(to[of_one], priors[of_one]),
        "visits": by(to[of_one], visits[of_one]),
        "start_policy": by(start, priors),
        "start_visits": by(start, visits),
        "arrow_after": f"{names[chosen[0]]}-{names[chosen[1]]}",
        "arrow_policy": by(arrows, arrow_priors),
        "arrow_visits": by(arrows, arrow_visits),
        "candidates": [
            {"move": f"{names[start[k]]}-{names[to[k]]}", "prior": float(priors[k]), "visits": float(visits[k])}
            | {"value": None if np.isnan(q[k]) else _share(float(q[k]))}
            for k in order[:LISTED]
        ],
    }


def _search(nets: Any, state: Any, simulations: int) -> tuple[Any, Any, Any, Any, float, float]:
    """Return the root's steps with priors, shares of visits and mean values, and the win rates of net and search."""
    from pipeline_src.search.mcts.puct import PuctOptions
    from pipeline_src.search.mcts.puct_trees import PuctTrees
    from pipeline_src.systems.amazons_net.answers import AmazonsNetEvaluator

    trees = PuctTrees(state, 1, AmazonsNetEvaluator(nets), PuctOptions(), simulations + 2)
    trees.plant(0, state)
    trees.simulate(np.array([simulations], np.int32))
    visits = trees.visits(0)
    shares = visits / max(int(visits.sum()), 1)
    return trees.steps(0), trees.priors(0), shares, trees.q(0), _share(trees.raw_value(0)), _share(trees.value(0))


def _share(value: float) -> float:
    """Map -1..1 to 0..1, clipped: rounding in a net's last layer may exceed the ends slightly."""
    return min(max((1 + value) / 2, 0.0), 1.0)


def _listed(names: list[str], shares: Any) -> Cells:
    return {name: round(float(share), 4) for name, share in zip(names, shares, strict=True) if share >= LEAST}


CALLS = {one.__name__: one for one in (analyse, opened, solved, answered, board_of, see)}


def main() -> None:
    """Run the requests from stdin until it ends. The arguments are the games in files of a user's own."""
    end_with_parent()
    with contextlib.suppress(OSError):
        os.nice(NICER)
    sink = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # stray prints go elsewhere
    GAME_FILES.update(sys.argv[1:])
    child = Child(sink)
    for line in sys.stdin:
        child.handle(Request.model_validate_json(line))
    os._exit(0)  # at once, even where a search still runs in its thread


if __name__ == "__main__":
    main()

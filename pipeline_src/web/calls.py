"""Functions that the server calls in a process (`Call`), besides searches of moves: each yields JSON data."""

import math
import time
from collections.abc import Iterator
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import gomoku
from pipeline_src.games.game import Game, get_game
from pipeline_src.games.gomoku import PLY
from pipeline_src.players.player import RATES, Bounds, PlayerText, Position, by_results
from pipeline_src.players.registry import build_player
from pipeline_src.records.record import GameRecord
from pipeline_src.records.sgf_games import start_of
from pipeline_src.search.gomoku.solver import Solver
from pipeline_src.search.limits import Clock, Limit, SearchResult
from pipeline_src.web.engine import Place, Unit
from pipeline_src.web.game import began, played
from pipeline_src.web.messages import Candidate, Cells, ForcedAnswer, ForcedLine, NetView, PlyAnalysis

ODDS: dict[Unit, float] = {"squares": 4.0, "points": 400.0}  # Value in each unit that corresponds to odds of e to 1
PLAIN = 10.0  # Points of Gomoku's engine for one point of the plain evaluation, approximately
TREES = frozenset({*RATES, "uct"})  # Players whose depth is the length of the longest line, not that of an iteration
DECIDED = 5_000.0  # Least absolute value of a proven win or loss
RESULTS = {"first": 1.0, "draw": 0.5, "second": 0.0}
OPENING_S = 2.0  # Seconds of a player for its stones or its choice in the opening of a game
PROOF = Limit(nodes=50_000)  # Limit of a proof; those of the packaged forced wins take less
LEAST, LISTED = 0.0005, 8  # Least share of a cell that is shown, and number of listed moves of a net

Half = tuple[int | None, int | None]


def placed(place: Place, rng: np.random.Generator, clock: Clock | None = None) -> tuple[Game, Position]:
    """Return the position of a place.

    Raises:
        ZugwerkError: the game, size or variant is unknown, the FEN malformed, or a move illegal.
    """
    rules, start = began(place)
    actions, state = played(rules, start, place.moves)
    return rules, Position(state, rng, start, actions, clock)


def win_rate(game: str, player: str, value: float) -> float | None:
    """Return a value of a player as a win rate from 0 to 1; None for NaN."""
    unit = unit_of(game, player)
    plain = unit == "points" and PlayerText.parse(player).name != "engine"
    return chance(PLAIN * value if plain else value, unit)


def unit_of(game: str, player: str) -> Unit:
    """Return the unit of a player's values."""
    if by_results(player):
        return "rate"
    return "squares" if game == "amazons" else "points"


def chance(value: float, unit: Unit) -> float | None:
    """Return a value as a win rate from 0 to 1; None for NaN."""
    if math.isnan(value):
        return None
    if unit == "rate":
        return (1 + max(-1.0, min(1.0, value))) / 2
    return 1 / (1 + math.exp(-max(-500.0, min(500.0, value / ODDS[unit]))))


# The analysis of a game, position by position.


def analyse(game: dict[str, Any], player: str, movetime: float, done: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield an analysis of each position that is not ``done``, in order, after an empty row when the player is ready.

    Args:
        game: a record (`dataclasses.asdict`), as JSON has it.
        player: text of a player that searches.
        movetime: milliseconds per position.
        done: earlier results, `PlyAnalysis` as JSON objects, like the yielded ones.

    Raises:
        ZugwerkError: no such player, or it cannot play this game, or it gives no values.
    """
    record = GameRecord(**{**game, "actions": tuple(game["actions"])})
    rules, start = get_game(record.game), start_of(record)
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
        for ply in [ply for ply in range(len(states)) if ply not in found]:
            state, before = states[ply], found.get(ply - 1)
            first_to_move = rules.to_play(state) == 0
            winner = rules.winner(state)
            line: tuple[str, ...] = ()
            if winner is not None:
                rate, search = RESULTS[winner], None
            else:
                position = Position(state, np.random.default_rng(ply), start, record.actions[:ply])
                by_depth: dict[int, SearchResult] = {}
                search = one.think(position, Bounds(movetime_ms=movetime), partial(_note, by_depth)).found
                if search is None:
                    raise ZugwerkError(f"player {player} gives no value of its positions; take another one")
                rate = _evened(record.game, player, search, by_depth)
                rate = rate if first_to_move else 1 - rate
                line = tuple(rules.format_move(action, record.height, record.width) for action in search.pv)
                if not line:
                    line = (rules.format_move(search.action, record.height, record.width),)
            found[ply] = PlyAnalysis(
                ply=ply,
                win_rate=rate,
                value=search.value if search and math.isfinite(search.value) else None,
                depth=search.depth if search else 0,
                nodes=search.nodes if search else 0,
                line=line,
                lost=_lost(rules, states[ply - 1], before, rate, record.actions[ply - 1], record) if before else None,
            )
            yield found[ply].model_dump()
    finally:
        one.close()


def _note(by_depth: dict[int, SearchResult], info: SearchResult) -> None:
    by_depth[info.depth] = info


def _evened(game: str, player: str, search: SearchResult, by_depth: dict[int, SearchResult]) -> float:
    """Return the mover's win rate; for iterative deepening, the mean over the last two depths.

    Values favour the side that makes the last move of a line, so odd and even depths err in opposite directions.
    Without the mean, each move would look like a mistake.
    """
    rate = _chance(game, player, search.value)
    shallower = by_depth.get(search.depth - 1)
    deepening = PlayerText.parse(player).name not in TREES
    if shallower is None or not deepening or abs(search.value) >= DECIDED:
        return rate
    return (rate + _chance(game, player, shallower.value)) / 2


def _chance(game: str, player: str, value: float) -> float:
    found = win_rate(game, player, value)
    return 0.5 if found is None else found


def _lost(rules: Any, state: Any, before: PlyAnalysis, rate: float, action: int, record: GameRecord) -> float:
    """Return the win rate that an action loses for the mover in ``state``; 0 for the move that the search prefers."""
    if before.line and before.line[0] == rules.format_move(action, record.height, record.width):
        return 0.0
    change = before.win_rate - rate
    return max(0.0, change if rules.to_play(state) == 0 else -change)


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
    yield ForcedLine(moves=_texts(state, Solver().solve(state, PROOF).line)).model_dump()


def answered(place: dict[str, Any]) -> Iterator[Any]:
    """Yield the best answer to the last move of a place (`ForcedAnswer`): one that spoils the win, or the longest."""
    state, solver = _puzzle(place), Solver()
    if gomoku.winner(state) is not None:
        yield ForcedAnswer(state="won" if gomoku.winner(state) != "draw" else "spoilt").model_dump()
        return
    best: tuple[int, ...] = ()
    for answer in _near_first(state, gomoku.legal_actions(state)):
        after = gomoku.play(state, answer)
        found = None if gomoku.winner(after) is not None else solver.solve(after, PROOF)
        if found is None or not found.win:
            yield ForcedAnswer(state="spoilt", answer=_texts(state, (answer,))[0]).model_dump()
            return
        if len(found.line) >= len(best):
            best = (answer, *found.line)
    yield ForcedAnswer(state="holds", answer=_texts(state, best[:1])[0], plies=len(best) - 1).model_dump()


def _puzzle(place: dict[str, Any]) -> Any:
    wanted = Place.model_validate(place)
    if wanted.game != "gomoku" or (not wanted.moves and not wanted.fen):
        raise ZugwerkError("forced wins are proven in positions of Gomoku with stones on the board")
    return placed(wanted, np.random.default_rng(0))[1].state


def _near_first(state: Any, actions: Any) -> list[int]:
    """Return actions, those near the last stone first: most refutations are there."""
    width, last = state.board.shape[1], int(state.moves[int(state.turn[PLY]) - 1])
    away = np.maximum(abs(actions // width - last // width), abs(actions % width - last % width))
    return [int(action) for action in actions[np.argsort(away, kind="stable")]]


def _texts(state: Any, actions: tuple[int, ...]) -> tuple[str, ...]:
    return tuple(gomoku.format_move(action, *state.board.shape) for action in actions)


# Policies and values of nets.


def board_of(game: str, path: str) -> Iterator[tuple[int, int, str]]:
    """Yield the height, width and variant of a net's board.

    Raises:
        ZugwerkError: the model is missing or damaged.
    """
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
    if game == "amazons":
        nets = _nets(path, written)
        begin = time.perf_counter()
        view = _view_amazons(nets, state, simulations, move)
    else:
        zero = _zero(path, written, simulations)
        begin = time.perf_counter()
        view = _view_gomoku(zero, state)
    yield view.model_dump() | {"milliseconds": 1000 * (time.perf_counter() - begin)}


@lru_cache(maxsize=6)
def _nets(path: str, _written: int) -> Any:
    from pipeline_src.systems.amazons_net.player import open_forward

    return open_forward(path, 1)


@lru_cache(maxsize=6)
def _zero(path: str, _written: int, simulations: int) -> Any:
    from pipeline_src.systems.gomoku_zero.player import ZeroView

    return ZeroView(path, simulations)


def _view_gomoku(zero: Any, state: Any) -> NetView:
    rules, (height, width) = get_game("gomoku"), state.board.shape
    names = [rules.format_move(cell, height, width) for cell in range(height * width)]
    view = zero.view(state)
    order = np.lexsort((-view.policy, -view.visits))[:LISTED]
    return NetView(
        model="",
        win_rate=view.win_rate,
        win_rate_searched=view.win_rate_searched,
        simulations=zero.simulations,
        policy=_listed(names, view.policy),
        visits=_listed(names, view.visits),
        start_policy={},
        start_visits={},
        arrow_after="",
        arrow_policy={},
        arrow_visits={},
        candidates=tuple(
            Candidate(move=names[k], prior=float(view.policy[k]), visits=float(view.visits[k]), value=None)
            for k in order
            if view.policy[k] > 0
        ),
        milliseconds=0,
    )


def _view_amazons(nets: Any, state: Any, simulations: int, move: Half) -> NetView:
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
    by_start = [np.bincount(start, shares, n).astype(float) for shares in (priors, visits)]
    by_to = [np.bincount(to[of_one], shares[of_one], n).astype(float) for shares in (priors, visits)]
    return NetView(
        model="",
        win_rate=raw,
        win_rate_searched=value,
        simulations=simulations,
        policy=_listed(names, by_to[0]),
        visits=_listed(names, by_to[1]),
        start_policy=_listed(names, by_start[0]),
        start_visits=_listed(names, by_start[1]),
        arrow_after=f"{names[chosen[0]]}-{names[chosen[1]]}",
        arrow_policy=_listed(names, np.bincount(arrows, arrow_priors, n).astype(float)),
        arrow_visits=_listed(names, np.bincount(arrows, arrow_visits, n).astype(float)),
        candidates=tuple(
            Candidate(
                move=f"{names[start[k]]}-{names[to[k]]}",
                prior=float(priors[k]),
                visits=float(visits[k]),
                value=None if np.isnan(q[k]) else _share(float(q[k])),
            )
            for k in order[:LISTED]
        ),
        milliseconds=0,
    )


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

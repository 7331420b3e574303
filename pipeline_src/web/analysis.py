"""The analysis of a game, position by position, in a process of its own, and the results that are kept."""

import hashlib
import math
import threading
from collections import OrderedDict
from collections.abc import Iterator
from functools import partial
from typing import Any

from pipeline_src.arena.pool import stamps_of
from pipeline_src.errors import ZugwerkError
from pipeline_src.players.player import PlayerText
from pipeline_src.players.values import RATES
from pipeline_src.records.record import GameRecord
from pipeline_src.search.limits import SearchResult
from pipeline_src.web.engine.child import win_rate
from pipeline_src.web.messages.analyse import AnalysisRequest, PlyAnalysis
from pipeline_src.web.record_files import start_of

TASK = f"{__name__}:analyse"
TREES = frozenset({*RATES, "uct"})
"""Players whose depth is the length of the longest line, not that of an iteration."""
DECIDED = 5_000.0
"""Least absolute value of a proven win or loss."""
RESULTS = {"first": 1.0, "draw": 0.5, "second": 0.0}
KEPT = 64
"""Number of analyses whose results stay in memory."""

Row = dict[str, Any]
Found = dict[int, PlyAnalysis]
"""Results by ply."""
_KEPT: "OrderedDict[str, Found]" = OrderedDict()
_LOCK = threading.Lock()


def known(record: GameRecord, request: AnalysisRequest) -> Found:
    """Return the results so far for a line, a player and its time. The caller adds new results to it."""
    place = record.game, record.variant, record.height, record.width, record.actions
    about = (*place, request.player, stamps_of(request.player), request.movetime)
    key = hashlib.sha256(repr(about).encode()).hexdigest()
    with _LOCK:
        found = _KEPT.setdefault(key, {})
        _KEPT.move_to_end(key)
        while len(_KEPT) > KEPT:
            _KEPT.popitem(last=False)
    return found


def analyse(game: Row, player: str, movetime: float, done: list[Row]) -> Iterator[Row]:
    """Yield an analysis of each position that is not ``done``, in order, after an empty row when the player is ready.

    Args:
        game: a record (`dataclasses.asdict`), as JSON has it.
        player: text of a player that searches.
        movetime: milliseconds per position.
        done: earlier results, `PlyAnalysis` as JSON objects, like the yielded ones.

    Raises:
        ZugwerkError: no such player, or it cannot play this game, or it gives no values.
    """
    import numpy as np

    from pipeline_src.games.game import get_game
    from pipeline_src.players.player import Bounds, Position
    from pipeline_src.players.registry import build_player

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

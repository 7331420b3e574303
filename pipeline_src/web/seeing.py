"""Policies and values of nets in positions, computed in a process of its own (`engine.child`)."""

import time
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.game import get_game
from pipeline_src.web.messages.boards import Candidate, Cells, NetView

Half = tuple[int | None, int | None]
LEAST, LISTED = 0.0005, 8


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
        view = _amazons(nets, state, simulations, move)
    else:
        zero = _zero(path, written, simulations)
        begin = time.perf_counter()
        view = _gomoku(zero, state)
    yield view.model_dump() | {"milliseconds": 1000 * (time.perf_counter() - begin)}


@lru_cache(maxsize=6)
def _nets(path: str, _written: int) -> Any:
    from pipeline_src.systems.amazons_net.player import open_forward

    return open_forward(path, 1)


@lru_cache(maxsize=6)
def _zero(path: str, _written: int, simulations: int) -> Any:
    from pipeline_src.systems.gomoku_zero.views import ZeroView

    return ZeroView(path, simulations)


def _gomoku(zero: Any, state: Any) -> NetView:
    rules, (height, width) = get_game("gomoku"), state.board.shape
    names = [rules.format_move(cell, height, width) for cell in range(height * width)]
    view = zero.view(state)
    order = np.lexsort((-view.policy, -view.visits))[:LISTED]
    return NetView(
        model="",
        win_rate=view.win_rate,
        win_rate_searched=view.win_rate_searched,
        simulations=zero.simulations,
        policy=_cells(names, view.policy),
        visits=_cells(names, view.visits),
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


def _amazons(nets: Any, state: Any, simulations: int, move: Half) -> NetView:
    from pipeline_src.games.amazons import format_square
    from pipeline_src.games.amazons import move as moved

    n, width = state.board.size, state.board.shape[1]
    names = [format_square(square, width) for square in range(n)]
    steps, priors, visits, q, raw, value = _searched(nets, state, simulations)
    start, to = steps // n, steps % n
    order = np.lexsort((-priors, -visits))
    of_one = np.ones(len(start), bool) if move[0] is None else start == move[0]
    best = next(int(k) for k in order if of_one[k])
    chosen = int(start[best]), int(to[best]) if move[1] is None else move[1]
    arrows, arrow_priors, arrow_visits, *_ = _searched(nets, moved(state, *chosen), simulations)
    by_start = [np.bincount(start, shares, n).astype(float) for shares in (priors, visits)]
    by_to = [np.bincount(to[of_one], shares[of_one], n).astype(float) for shares in (priors, visits)]
    return NetView(
        model="",
        win_rate=raw,
        win_rate_searched=value,
        simulations=simulations,
        policy=_cells(names, by_to[0]),
        visits=_cells(names, by_to[1]),
        start_policy=_cells(names, by_start[0]),
        start_visits=_cells(names, by_start[1]),
        arrow_after=f"{names[chosen[0]]}-{names[chosen[1]]}",
        arrow_policy=_cells(names, np.bincount(arrows, arrow_priors, n).astype(float)),
        arrow_visits=_cells(names, np.bincount(arrows, arrow_visits, n).astype(float)),
        candidates=tuple(
            Candidate(
                move=f"{names[start[k]]}-{names[to[k]]}",
                prior=float(priors[k]),
                visits=float(visits[k]),
                value=None if np.isnan(q[k]) else _rate(float(q[k])),
            )
            for k in order[:LISTED]
        ),
        milliseconds=0,
    )


def _searched(nets: Any, state: Any, simulations: int) -> tuple[Any, Any, Any, Any, float, float]:
    """Return the root's steps with priors, shares of visits and mean values, and the win rates of net and search."""
    from pipeline_src.search.mcts.puct import PuctOptions
    from pipeline_src.search.mcts.puct_trees import PuctTrees
    from pipeline_src.systems.amazons_net.answers import AmazonsNetEvaluator

    trees = PuctTrees(state, 1, AmazonsNetEvaluator(nets), PuctOptions(), simulations + 2)
    trees.plant(0, state)
    trees.simulate(np.array([simulations], np.int32))
    visits = trees.visits(0)
    shares = visits / max(int(visits.sum()), 1)
    return trees.steps(0), trees.priors(0), shares, trees.q(0), _rate(trees.raw_value(0)), _rate(trees.value(0))


def _rate(value: float) -> float:
    """Map -1..1 to 0..1, clipped: rounding in a net's last layer may exceed the ends slightly."""
    return min(max((1 + value) / 2, 0.0), 1.0)


def _cells(names: list[str], shares: Any) -> Cells:
    return {name: round(float(share), 4) for name, share in zip(names, shares, strict=True) if share >= LEAST}

"""What every search promises (`pipeline_src.search.limits.Searcher`), on small boards of its game."""

import random
import threading
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
import pytest

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import amazons, gomoku
from pipeline_src.games.rules import copy_state
from pipeline_src.jit import ready
from pipeline_src.search import alphabeta
from pipeline_src.search.alphabeta import AlphaBeta
from pipeline_src.search.amazons.evaluation import make_evaluator as amazons_evaluator
from pipeline_src.search.gomoku import engine
from pipeline_src.search.gomoku import playouts as _playouts  # noqa: F401 - makes the search know the game
from pipeline_src.search.gomoku.engine import Engine
from pipeline_src.search.gomoku.evaluation import make_evaluator as gomoku_evaluator
from pipeline_src.search.limits import Limit
from pipeline_src.search.mcts.playouts import PlainUct
from pipeline_src.search.mcts.puct import PuctOptions
from pipeline_src.search.mcts.puct_search import Puct
from pipeline_src.search.mcts.uct import Uct
from pipeline_src.search.minimax import Minimax
from tests.search.mcts.references import hashed
from tests.search.references import least_seconds


class Search(NamedTuple):
    rules: object
    make: object
    few: tuple  # Small limits, none of time
    over: int = 0  # Nodes that a search may count beyond its limit, to the end of a position's actions
    timed: bool = True


SOLVE = PuctOptions(solve=True)
SEARCHES = {
    "alpha-beta of the amazons": Search(
        amazons,
        lambda: AlphaBeta(amazons_evaluator(), alphabeta.Options(table_mb=1)),
        (Limit(depth=2), Limit(nodes=100), Limit(nodes=3_000), Limit(nodes=3_000, lines=3)),
        over=500,
    ),
    "alpha-beta of gomoku": Search(
        gomoku,
        lambda: AlphaBeta(gomoku_evaluator(), alphabeta.Options(widths=(0,), table_mb=1)),
        (Limit(depth=2), Limit(nodes=100), Limit(nodes=3_000)),
        over=500,
    ),
    "minimax": Search(gomoku, lambda: Minimax(gomoku_evaluator()), (Limit(depth=1), Limit(depth=2)), timed=False),
    "engine": Search(
        gomoku, lambda: Engine(engine.Options(table_mb=1)), (Limit(depth=3), Limit(nodes=1_000)), over=100
    ),
    "playouts": Search(gomoku, PlainUct, (Limit(nodes=1), Limit(nodes=2_000))),
    "uct": Search(
        amazons,
        lambda: Uct(amazons_evaluator(), nodes=1 << 12),
        (Limit(nodes=500), Limit(nodes=5_000, depth=1), Limit(nodes=5_000, depth=3)),
    ),
    "puct of the amazons": Search(amazons, lambda: Puct(hashed, nodes=512), (Limit(nodes=1), Limit(nodes=200))),
    "puct of gomoku": Search(
        gomoku, lambda: Puct(hashed, SOLVE, nodes=512), (Limit(nodes=1), Limit(nodes=200, lines=3))
    ),
}


def unfinished(rules, count=4, seed=1):
    """The empty board, and positions of random games."""
    rng, found = np.random.default_rng(seed), [rules.initial_state(6)]
    while len(found) < count:
        state = rules.initial_state(6)
        for _ in range(int(rng.integers(2, 14))):
            state = rules.play(state, int(rng.choice(rules.legal_actions(state))))
            if rules.winner(state) is not None:
                break
        else:
            found.append(state)
    return found


@pytest.fixture(params=SEARCHES)
def search(request):
    return SEARCHES[request.param]


def test_result_does_not_depend_on_earlier_searches(search):
    used = search.make()
    for state in unfinished(search.rules):
        before = copy_state(state)
        for limit in search.few:
            found = used.search(state, limit)
            assert replace(search.make().search(state, limit, 0), seconds=0) == replace(found, seconds=0)
        assert all((one == other).all() for one, other in zip(state, before, strict=True))


def test_reports_grow_and_the_last_is_the_answer(search):
    for state in unfinished(search.rules):
        for limit in search.few:
            reports = []
            found = search.make().search(state, limit, on_info=reports.append)
            assert replace(reports[-1], seconds=0) == replace(found, seconds=0)
            assert [one.nodes for one in reports] == sorted(one.nodes for one in reports)
            for pv in [(found.action,), *(one.pv for one in reports), *(line.pv for line in found.lines)]:
                after = state
                for action in pv:
                    assert search.rules.is_legal(after, action)
                    after = search.rules.play(after, action)
            assert found.pv[0] == found.action
            assert len(found.lines) == (0 if limit.lines == 1 else min(limit.lines, len(found.lines)))


def test_it_stops_at_its_budget(search):
    for limit in search.few:
        found = search.make().search(search.rules.initial_state(6), limit)
        assert limit.nodes is None or found.nodes <= limit.nodes + search.over
        assert limit.depth is None or found.depth <= limit.depth
        assert limit.depth is not None or search.over or found.nodes == limit.nodes
    if search.timed:
        one, state = search.make(), search.rules.initial_state(6)
        ready(one.needs(state))
        for movetime in (0.001, 5, 60):
            answer = one.search(state, Limit(movetime_ms=movetime)).action
            assert search.rules.is_legal(state, answer)
            assert least_seconds(partial(one.search, state, Limit(movetime_ms=movetime)), 0.4) < 0.4


def stop_until(ended, search, seconds):
    """Stop a search after some seconds, until it has ended."""
    while not ended.wait(seconds):
        search.stop()


def test_stopped_search_has_an_answer_and_the_next_is_whole(search):
    """The stop comes from a thread at any time, and again, since one before the search begins is forgotten."""
    one, rng, limit = search.make(), random.Random(1), search.few[-1]
    endless = Limit(movetime_ms=8_000) if search.timed else limit
    for state in unfinished(search.rules, 3):
        ready(one.needs(state))
        ended = threading.Event()
        stopping = threading.Thread(target=stop_until, args=(ended, one, rng.random() * 0.05))
        stopping.start()
        found = one.search(state, endless)
        ended.set()
        stopping.join()
        assert found.seconds < 4
        assert search.rules.is_legal(state, found.action)
        assert replace(one.search(state, limit), seconds=0) == replace(search.make().search(state, limit), seconds=0)


WON = {amazons: ["q3/**2/4/3Q w", "Q3/**2/4/3q b"], gomoku: ["6/6/1xxxx1/6/1ooo2/2o3 b", "4/1xx1/1oo1/4 b freestyle-3"]}
OVER = {amazons: "Q**/***/2q w", gomoku: "xxx/oo1/3 w freestyle-3"}
ONLY = {amazons: "Q1*/***/q1* w", gomoku: "xox/oxo/ox1 b freestyle-3"}


def test_a_win_at_hand_is_played(search):
    limit = search.few[-1] if search.few[-1].nodes is None else replace(search.few[-1], nodes=3_000, depth=None)
    for fen in WON[search.rules]:
        state = search.rules.from_fen(fen)
        found = search.make().search(state, limit)
        assert search.rules.winner(search.rules.play(state, found.action)) is not None
        assert found.value > 0.5


def test_the_only_action_is_played(search):
    state = search.rules.from_fen(ONLY[search.rules])
    (only,) = search.rules.legal_actions(state)
    assert search.make().search(state, search.few[0]).action == only


def test_a_finished_game_is_refused(search):
    with pytest.raises(ZugwerkError, match="over"):
        search.make().search(search.rules.from_fen(OVER[search.rules]), search.few[0])

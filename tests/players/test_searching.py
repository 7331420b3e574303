import numpy as np

from pipeline_src.games import amazons
from pipeline_src.players.player import Bounds, Position
from pipeline_src.players.registry import make_player
from pipeline_src.players.searching import time_on_clock
from pipeline_src.search.limits import Clock, Limit


def test_a_limit_of_depth_or_nodes_leaves_the_clock_on():
    player, start = make_player("amazons", "alphabeta"), amazons.initial_state()
    position = Position(start, np.random.default_rng(0), start, (), Clock(1000.0, 1000.0, 0.0))
    time_ms = time_on_clock(position)
    assert player._limit(position, Bounds(depth=9)) == Limit(depth=9, movetime_ms=time_ms)
    assert player._limit(position, Bounds(nodes=9)) == Limit(nodes=9, movetime_ms=time_ms)
    assert player._limit(position, Bounds(depth=9, movetime_ms=70.0)) == Limit(depth=9, movetime_ms=70.0)
    assert player._limit(position, Bounds(infinite=True)) == Limit()

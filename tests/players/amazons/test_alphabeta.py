import numpy as np
import pytest

from pipeline_src.games import amazons
from pipeline_src.players.player import Position
from pipeline_src.players.registry import make_player
from pipeline_src.search.limits import Clock, Limit
from tests.search.references import least_seconds


def make(text):
    return make_player("amazons", text)


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("alphabeta", Limit(movetime_ms=1000)),
        ("alphabeta:depth=3", Limit(depth=3)),
        ("alphabeta:nodes=5000,depth=4", Limit(nodes=5000, depth=4)),
        ("alphabeta:movetime=12.5", Limit(movetime_ms=12.5)),
    ],
)
def test_limits_are_read(text, limit):
    assert make(text).limit == limit


def test_options_are_read():
    options = make("alphabeta:width=7,width4=3,table_mb=2,futility=1.5").searcher.searcher.options
    assert options.widths == (7, 7, 3)
    assert (options.table_mb, options.futility) == (2.0, 1.5)
    standard = make("alphabeta").searcher.searcher.options.widths
    assert make("alphabeta:width3=9").searcher.searcher.options.widths == (standard[0], 9, 9)


def test_plays_move_of_its_search_without_using_generator():
    state = amazons.initial_state(6)
    player = make("alphabeta:nodes=4000,table_mb=1")
    chosen = player.choose([Position(state, np.random.default_rng(seed)) for seed in range(3)])
    assert set(chosen) == {player.searcher.search(state, Limit(nodes=4000)).action}


def test_on_a_clock_it_uses_its_share_not_its_limit():
    state = amazons.initial_state()
    player = make("alphabeta:movetime=30000")
    position = Position(state, np.random.default_rng(0), clock=Clock(own_ms=1000, other_ms=1000))

    def choose():
        assert amazons.is_legal(state, player.choose([position])[0])

    assert least_seconds(choose, 0.5) < 0.5


def test_full_width_prunes_only_on_request():
    options = make("alphabeta:width=0").searcher.searcher.options
    assert (options.widths, options.breadth, options.inner_breadth) == ((0, 0, 0), 0, 0)
    assert options.futility == float("inf")
    assert make("alphabeta:width=0,breadth=3").searcher.searcher.options.breadth == 3
    assert make("alphabeta").searcher.searcher.options.futility == 3.0

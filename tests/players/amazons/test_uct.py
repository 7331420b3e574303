import numpy as np

from pipeline_src.games import amazons
from pipeline_src.players.player import Position
from pipeline_src.players.registry import make_player
from pipeline_src.search.limits import Limit
from tests.players.positions import random_states


def player(text):
    return make_player("amazons", text)


def chosen(text, states, seed=1):
    return player(text).choose([Position(state, np.random.default_rng(seed)) for state in states])


def test_actions_are_legal_and_the_same_each_time():
    states = random_states(6, 6)
    for text in ("uct:nodes=40", "uct:iterations=60,prior=0"):
        actions = chosen(text, states)
        assert all(amazons.is_legal(state, action) for state, action in zip(states, actions, strict=True))
        assert chosen(text, states) == actions
        assert chosen(text, states[::-1]) == actions[::-1]
    assert amazons.is_legal(states[0], chosen("uct:movetime=20", states[:1])[0])


def test_the_text_sets_limits_and_options():
    found = player("uct:iterations=7,movetime=50,c=0.25,prior=2,tree=100")
    assert found.limit == Limit(nodes=7, movetime_ms=50)
    search = found.searcher.searcher
    assert (search.options.c, search.options.prior, search.nodes) == (0.25, 2.0, 100)
    assert player("uct").limit == Limit(movetime_ms=1000)

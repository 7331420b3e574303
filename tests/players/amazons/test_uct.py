import numpy as np
import pytest

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import amazons
from pipeline_src.players.player import Position
from pipeline_src.players.registry import make_player
from pipeline_src.search.limits import Limit
from tests.players.positions import random_states


def player(text):
    return make_player("amazons", text)


def chosen(text, states, seed=1):
    return player(text).choose([Position(state, np.random.default_rng(seed)) for state in states])


def test_actions_are_legal_and_follow_the_seed_alone():
    states = random_states(6, 6)
    for text in ("uct:nodes=40", "uct:iterations=60,playout=2,expand=4"):
        actions = chosen(text, states)
        assert all(amazons.is_legal(state, action) for state, action in zip(states, actions, strict=True))
        assert chosen(text, states) == actions
        assert chosen(text, states[::-1]) == actions[::-1]
    assert amazons.is_legal(states[0], chosen("uct:movetime=20", states[:1])[0])


def test_the_text_sets_limits_and_options():
    found = player("uct:iterations=7,movetime=50,c=0.25,keep=9,tree=100")
    assert found.limit == Limit(nodes=7, movetime_ms=50)
    search = found.searcher.searcher
    assert (search.options.c, search.options.keep, search.nodes) == (0.25, 9, 100)
    assert player("uct").limit == Limit(movetime_ms=1000)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("uct:fast", "takes no 'fast'"),
        ("uct:nodes=0", "nodes must be at least 1"),
        ("uct:nodes=5,iterations=5", "one option"),
        ("uct:keep=2.5", "keep must be a whole number, not 2.5"),
        ("uct:tree=0", "tree must be at least 1"),
        ("uct:minimax=2", "minimax must be 0 to 1, not 2.0"),
        ("uct:speed=2", "no option 'speed'"),
    ],
)
def test_wrong_texts_are_refused(text, complaint):
    with pytest.raises(ZugwerkError, match=complaint):
        player(text)

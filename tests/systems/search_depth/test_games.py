import numpy as np
import pytest

from pipeline_src.games import amazons
from pipeline_src.players.registry import make_player
from pipeline_src.search.limits import SearchResult
from pipeline_src.systems.search_depth.choices import Choice
from pipeline_src.systems.search_depth.games import play_on_clock, squares_left
from pipeline_src.systems.search_depth.player import DepthPlayer
from tests.systems.search_depth.players import DEEPENING, DEPTH1, GAME

OPENING = [int(amazons.legal_actions(amazons.initial_state())[700])]


def play(first, second, opening=OPENING, clock_ms=GAME.clock_ms, rate=GAME.nodes_per_ms, start=None):
    return play_on_clock((first, second), opening, np.random.default_rng(1), clock_ms, rate, start)


@pytest.fixture(scope="module")
def players():
    return make_player("amazons", DEEPENING), make_player("amazons", DEPTH1)


def test_a_game_is_played_by_the_rules_and_on_the_clock(players):
    game = play(*players)
    state = amazons.initial_state()
    for action in game.actions:
        assert amazons.is_legal(state, action)
        state = amazons.play(state, action)
    assert amazons.winner(state) == game.winner
    assert not game.time_out
    assert game.margin == squares_left(state, ("first", "second").index(game.winner))
    total = GAME.clock_ms * GAME.nodes_per_ms
    for side in (0, 1):
        mine = [move for move in game.moves if move.side == side]
        spent = np.cumsum([0, *(move.nodes + move.choosing for move in mine)])
        np.testing.assert_allclose([move.used for move in mine], spent[:-1] / total, atol=1e-9)
        assert spent[-1] == game.nodes_of(side) < total
    assert {move.asked for move in game.moves if move.side == 0} == {0}
    assert {(move.asked, move.reached) for move in game.moves if move.side == 1} == {(1, 1)}
    assert [move.ply for move in game.moves] == sorted(move.ply for move in game.moves)
    assert play(*players) == game


def test_whose_clock_runs_out_has_lost():
    class Dear:
        """Takes all the time there is to choose, at the third time."""

        def __init__(self):
            self.times = 0

        def choose(self, state, legal, used, seed):
            self.times += 1
            return Choice(1, 70_000 if self.times == 3 else 0)

        def most_nodes(self, state):
            return 0

    cheap = make_player("amazons", DEPTH1)
    dear = DepthPlayer(cheap.searcher, Dear(), GAME.clock_ms, GAME.nodes_per_ms)
    game = play(dear, cheap)
    assert game.time_out
    assert (game.winner, game.margin) == ("second", 0)
    assert [move.choosing for move in game.moves if move.side == 0] == [0, 0, 70_000]
    assert play(cheap, DepthPlayer(cheap.searcher, Dear(), GAME.clock_ms, GAME.nodes_per_ms)).winner == "first"


def test_wall_time_is_charged_where_there_is_no_rate():
    class Slow:
        def search(self, state, limit, seed=0, on_info=None):
            assert limit.nodes is None
            action = int(amazons.legal_actions(state)[0])
            while __import__("time").perf_counter() < self.until:
                pass
            return SearchResult(action, 0.0, 1, 1, (action,), 0.0)

    slow = Slow()
    slow.until = __import__("time").perf_counter() + 0.05
    one = DepthPlayer(slow, None, 20.0, 0.0)
    game = play(one, one, clock_ms=20.0, rate=0.0)
    assert game.time_out
    assert game.winner == "first"  # after an opening of one ply it is the second side that moves


def test_margins_are_squares_that_the_winner_could_walk_to():
    state = amazons.from_fen("Q2*1q/2**2/******/******/******/****** b")
    assert squares_left(state, 0) == 4
    assert squares_left(state, 1) == 3
    assert squares_left(amazons.from_fen("Q*q/***/3 w"), 0) == 0

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pipeline_src.games import amazons
from pipeline_src.games.amazons.board import EMPTY, copy_state
from pipeline_src.players.amazons.evaluator import make_evaluator
from pipeline_src.systems.search_depth.square_layers import SquareSearch
from tests.players.positions import random_states

STATES = random_states(24, size=6)
SEARCH = SquareSearch(make_evaluator("amazons"), simulations=6, plies=100)


@given(st.sampled_from(range(len(STATES))), st.integers(0, 1 << 62))
def test_it_counts_layers_of_empty_squares_and_leaves_the_position(which, seed):
    state = STATES[which]
    before = copy_state(state)
    layers, cost = SEARCH.search(state, seed)
    assert layers.shape == state.board.shape
    assert layers.dtype == np.uint8
    assert (layers[state.board != EMPTY] == 0).all()
    assert layers.max() <= (state.board == EMPTY).sum()  # each ply fills a square
    assert cost >= 2 * SEARCH.simulations  # a turn is two steps
    for now, then in zip(state, before, strict=True):
        assert np.array_equal(now, then)
    again, same = SEARCH.search(state, seed)
    assert np.array_equal(layers, again)
    assert cost == same


def test_the_only_turn_is_one_layer_of_one_square():
    state = amazons.from_fen("***/Q1*/**q w")  # a2-b2 with the arrow back, and Black cannot move
    layers, cost = SEARCH.search(state, 1)
    assert layers.tolist() == [[0, 0, 0], [0, 1, 0], [0, 0, 0]]
    assert cost == 2 * SEARCH.simulations


def test_squares_that_no_amazon_reaches_have_none():
    state = amazons.from_fen("6/6/6/******/Q2*2/1q1*2 w")
    layers, _ = SEARCH.search(state, 3)
    assert (layers[3:] == 0).all()
    assert (layers[:2, 4:] == 0).all()
    assert layers[1, 1] > 0


def test_a_tree_alone_gets_deeper_with_more_simulations():
    state = amazons.initial_state(6)
    deepest = [
        SquareSearch(make_evaluator("amazons"), simulations, 0).search(state, 5)[0].max() for simulations in (2, 1000)
    ]
    assert deepest[0] <= 2 < deepest[1]


def test_random_plies_add_layers_and_cost():
    found = [SquareSearch(make_evaluator("amazons"), 40, plies).search(amazons.initial_state(), 1) for plies in (0, 5)]
    (shallow, cheap), (deep, dear) = found
    assert shallow.max() < deep.max() <= shallow.max() + 6
    assert dear >= cheap + 40 * 5
    assert (deep > 0).sum() > (shallow > 0).sum()

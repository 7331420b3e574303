import numpy as np

from pipeline_src.games import amazons
from pipeline_src.games.amazons import board
from pipeline_src.players.amazons import OnePlyPlayer, RandomPlayer, one_ply_values
from pipeline_src.search.amazons.evaluation import make_evaluator, value_of
from tests.players.positions import positions, random_states


def test_one_ply_plays_turn_with_worst_evaluation_for_opponent():
    states, evaluator = random_states(12, size=6), make_evaluator()
    for state, chosen in zip(states, OnePlyPlayer().choose(positions(states)), strict=True):
        values = {int(a): -value_of(amazons.play(state, int(a)), evaluator) for a in amazons.legal_actions(state)}
        assert np.isclose(values[chosen], max(values.values()))


def test_one_ply_evaluates_all_legal_turns():
    evaluator = make_evaluator()
    for state in random_states(8, size=6):
        turns, values = one_ply_values(state, evaluator)
        assert turns.tolist() == amazons.legal_actions(state).tolist()
        assert np.allclose(values, [-value_of(amazons.play(state, int(a)), evaluator) for a in turns])


def test_noise_uses_the_games_generator():
    states = random_states(6, size=6)
    noisy = OnePlyPlayer(noise=3)
    once = noisy.choose(positions(states))
    assert once == noisy.choose(positions(states))
    assert once[3:] == noisy.choose(positions(states)[3:])
    assert once != noisy.choose(positions(states, seed=1))


def test_random_takes_every_turn_sometimes():
    state = board.from_fen("Q2/3/2q w")
    chosen = RandomPlayer().choose(positions([state] * 600))
    assert set(chosen) == set(amazons.legal_actions(state).tolist())

"""Self-play games of two players who choose at random, with a search's policies made up."""

import numpy as np

from pipeline_src.games import gomoku
from pipeline_src.systems.gomoku_zero.self_play import make_games

WINNERS = {"first": 1, "second": -1, "draw": 0}


def random_game(rng, size, variant):
    """Its actions and 1, -1 or 0."""
    state, actions = gomoku.initial_state(size, variant), []
    while gomoku.winner(state) is None:
        actions.append(int(rng.choice(gomoku.legal_actions(state))))
        state = gomoku.play(state, actions[-1])
    return actions, WINNERS[gomoku.winner(state)]


def random_games(count, *, generation=1, size=5, variant="freestyle-4", opening=2, seed=0):
    """Games whose policies are random over all cells, after ``opening`` stones that no search chose."""
    rng = np.random.default_rng([seed, generation])
    played = [random_game(rng, size, variant) for _ in range(count)]
    policies = [rng.dirichlet(np.full(size * size, 0.3), max(len(a) - opening, 0)) for a, _ in played]
    actions, winners = zip(*played, strict=True)
    return make_games(size, variant, actions, winners, policies, generation=generation, searched_from=opening)

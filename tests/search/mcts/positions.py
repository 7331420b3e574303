"""Positions of random games."""

import numpy as np

from pipeline_src.games import amazons


def random_states(n, size, seed=0, most=None):
    """n unfinished positions after 1 to ``most`` random turns."""
    rng, found = np.random.default_rng(seed), []
    most = size + 4 if most is None else most
    while len(found) < n:
        state = amazons.initial_state(size)
        for _ in range(int(rng.integers(1, most + 1))):
            state = amazons.play(state, int(rng.choice(amazons.legal_actions(state))))
            if amazons.winner(state) is not None:
                break
        else:
            found.append(state)
    return found

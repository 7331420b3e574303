"""Games for tests: by points in a corner's frame, and random ones."""

import random

import numpy as np

from pipeline_src.games.go import initial_state, legal
from pipeline_src.games.kernels import play
from pipeline_src.records.record import GameRecord
from pipeline_src.systems.joseki.corners import square_of

N = 361


def at(r, c, corner=0):
    """Action of the point (r, c) from 1 in a corner's frame."""
    return int(square_of((r - 1) * 10 + c - 1, corner))


def record(actions, gid=1, winner="first", variant="standard"):
    return GameRecord("go", gid, "file", variant, 19, 19, tuple(actions), winner)


def random_record(seed, plies=120):
    """Stones mostly near those that are there, so that patterns recur; sometimes a pass; some results unknown."""
    rng = random.Random(seed)
    state, actions = initial_state(19), []
    while len(actions) < plies:
        corner = rng.randrange(4)
        action = at(min(10, 1 + int(rng.expovariate(0.35))), min(10, 1 + int(rng.expovariate(0.35))), corner)
        if rng.random() < 0.02 and actions and actions[-1] != N:
            action = N
        if legal(state, action):
            play(state, action)
            actions.append(action)
    return record(actions, 100 + seed, rng.choice(["first", "second", "draw", None]))


def symmetric_record(game, symmetry, gid):
    """The game on a turned or mirrored board, with the same colours."""
    turns, mirrored, _ = symmetry
    squares = np.rot90(np.arange(N).reshape(19, 19), turns)
    squares = squares[:, ::-1] if mirrored else squares
    place = np.empty(N + 1, int)
    place[squares.ravel()] = np.arange(N)
    place[N] = N
    return record(place[list(game.actions)].tolist(), gid, game.winner, game.variant)

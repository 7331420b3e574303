"""Games for tests: by points in a corner's frame, and random ones."""

import math
import random

import numpy as np
from hypothesis import strategies as st

from pipeline_src.games.go import initial_state, legal
from pipeline_src.games.kernels import play
from pipeline_src.records.record import GameRecord
from pipeline_src.systems.joseki.patterns import parse_pattern, square_of

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


# Patterns for tests.


def window_of(black, white):
    """Window of stones given as (r, c) from 1."""
    words = zip("XO", (black, white), strict=True)
    return parse_pattern(" ".join(f"{side} " + " ".join(f"{r},{c}" for r, c in stones) for side, stones in words))


O_STONES = [(3, 6), (4, 6), (3, 9)]
X_STONES = [(3, 5), (4, 4), (7, 3)]
GOLDEN = window_of(X_STONES, O_STONES)  # The paper's joseki
TWINS = [
    window_of(black, O_STONES)
    for black in (
        [(3, 4), (4, 5), (7, 3)],
        [(3, 3), (3, 5), (4, 4), (7, 3)],
        [(3, 4), (4, 3), (4, 5), (7, 3)],
        [(3, 3), (3, 5), (4, 4), (7, 4)],
    )
]  # Patterns that have the golden one's code S


def _window(stones):
    window = np.zeros(100, np.int8)
    for point, colour in stones.items():
        window[point] = colour
    return window.reshape(10, 10)


WINDOWS = st.dictionaries(st.integers(0, 99), st.integers(1, 2), max_size=25).map(_window)
SMALL = st.dictionaries(st.sampled_from([0, 1, 10, 11, 22]), st.integers(1, 2), max_size=4).map(_window)
"""So small that two of them are often the same."""


# Slow and obvious: the paper's code, the forms of a pattern and the symmetries of a board, in plain Python.


SYMMETRIES = [
    (turns, mirrored, swapped) for turns in range(4) for mirrored in (False, True) for swapped in (False, True)
]
SWAP = np.array([0, 2, 1], np.int8)


def on_board(board, symmetry):
    """A board int8 [19, 19] turned, mirrored and recoloured."""
    turns, mirrored, swapped = symmetry
    board = np.rot90(board, turns)
    board = board[:, ::-1] if mirrored else board
    return np.ascontiguousarray(SWAP[board] if swapped else board)


def points_of(window, colours):
    return {(r + 1, c + 1) for r in range(10) for c in range(10) if window[r, c] in colours}


def factors(points):
    if not points:
        return 1, 1, 0
    a = 1
    for r, c in points:
        near = sum(p in points for p in ((r - 1, c), (r + 1, c), (r, c - 1), (r, c + 1)))
        a *= 1 + near + (19 if 1 in (r, c) else 0)
    rows, columns = {r for r, _ in points}, {c for _, c in points}
    b = math.prod(19 + max(c for r, c in points if r == row) for row in rows)
    b *= math.prod(19 + max(r for r, c in points if c == column) for column in columns)
    return a, b, (max(rows) - min(rows) + 1) * (max(columns) - min(columns) + 1)


def colour_code(points):
    a, b, c = factors(points)
    return (a * b + c) % 2**64


def pattern_code(window):
    return math.prod(colour_code(points_of(window, colours)) for colours in ((1,), (2,), (1, 2))) % 2**64


def forms(window):
    """The four forms: as it is, reflected, recoloured, both."""
    return [np.ascontiguousarray(w) for w in (window, window.T, SWAP[window], SWAP[window.T])]


def same_pattern(a, b):
    return any((form == b).all() for form in forms(a))

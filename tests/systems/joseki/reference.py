"""Slow and obvious: the paper's code, the forms of a pattern and the symmetries of a board, in plain Python."""

import math

import numpy as np

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

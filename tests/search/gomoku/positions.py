"""Gomoku positions for the tests of searches: ASCII boards, and random games."""

import numpy as np

from pipeline_src.games import gomoku


def position(text, side=None, variant="freestyle"):
    """State of a board of ``. x o``, a row a line, x for Black; without a side, the stones say whose turn it is."""
    rows = [line.split() for line in text.strip().splitlines()]
    codes = np.array([[".xo".index(c) for c in row] for row in rows], np.int8)
    if side is None:
        side = int((codes == 1).sum() > (codes == 2).sum())
    return gomoku.from_board(codes, side, variant)


THREES = position(
    """
    . . . . . . . . .
    . . . . . . . . .
    . . . . . . . . .
    . . . x x . . . .
    . . . . . x . . .
    . . . . . x . . .
    . o . . . . . o .
    . o . . . . . o .
    . . . . . . . . .
    """
)
"""Black wins by threes, not by fours alone."""


def cells(state, marked):
    """Cells of the ``*`` in a board's text."""
    rows = [line.split() for line in marked.strip().splitlines()]
    width = state.board.shape[1]
    return {r * width + c for r, row in enumerate(rows) for c, mark in enumerate(row) if mark == "*"}


def random_states(count, size, variant="freestyle", seed=0, spread=None):
    """Unfinished positions of random games, of which each takes cells within ``spread`` of the middle first."""
    rng, states = np.random.default_rng(seed), []
    rows, columns = np.divmod(np.arange(size * size), size)
    near = np.maximum(abs(rows - size // 2), abs(columns - size // 2)) <= (spread or size)
    while len(states) < count:
        state = gomoku.initial_state(size, variant)
        for _ in range(int(rng.integers(0, size * size - 1))):
            legal = gomoku.legal_actions(state)
            after = gomoku.play(state, int(rng.choice(legal[near[legal]] if near[legal].any() else legal)))
            if gomoku.winner(after) is not None:
                break
            state = after
        states.append(state)
    return states


def mirrored(state, turns, flip):
    """The position turned by quarters, and then perhaps mirrored."""
    cells = np.rot90(state.board, turns)
    return gomoku.from_board(cells[:, ::-1] if flip else cells, gomoku.to_play(state), gomoku.format_variant(state))

"""The evaluation of Gomoku, slow and obvious: every window and span of the board is looked at by itself."""

import numpy as np

from pipeline_src.games import gomoku
from pipeline_src.games.gomoku import EXACT, LINE, RULE
from pipeline_src.search.gomoku.evaluation import LOST, MOST, TWO_CELLS


def lines(state, length):
    """All rows of ``length`` cells, as (row, column) pairs."""
    height, width = state.board.shape
    for r in range(height):
        for c in range(width):
            for dr, dc in ((0, 1), (1, 0), (1, 1), (1, -1)):
                row = [(r + i * dr, c + i * dc) for i in range(length)]
                if all(0 <= a < height and 0 <= b < width for a, b in row):
                    yield row


def at(state, cell):
    """Colour of a cell, 0 where it is empty or off the board."""
    height, width = state.board.shape
    return int(state.board[cell]) if 0 <= cell[0] < height and 0 <= cell[1] < width else 0


def lacking(state, colour):
    """How many stones each window lacks that ``colour`` can still fill, with its cells."""
    line, exact = int(state.turn[LINE]), state.turn[RULE] == EXACT
    for row in lines(state, line):
        colours = [at(state, cell) for cell in row]
        down, right = (row[1][i] - row[0][i] for i in (0, 1)) if line > 1 else (0, 0)
        ends = [(row[0][0] - down, row[0][1] - right), (row[-1][0] + down, row[-1][1] + right)]
        if 3 - colour in colours or (exact and line > 1 and colour in [at(state, end) for end in ends]):
            continue
        yield line - colours.count(colour), row


def spans(state, colour):
    """The same of the cells between the empty ends of a span."""
    line = int(state.turn[LINE])
    for row in lines(state, line + 1) if line > 1 else ():
        colours = [at(state, cell) for cell in row]
        if colours[0] == colours[-1] == 0 and 3 - colour not in colours:
            yield line - 1 - colours.count(colour), row


def value(state, weights):
    """Value of an unfinished position to the side to move."""
    line, mover = int(state.turn[LINE]), int(state.turn[0]) + 1
    other = 3 - mover

    def total(found):
        return sum(weights.windows[n - 1] for n, _ in found if n < line and 1 <= n <= len(weights.windows))

    def winning(colour):
        return {cell for n, row in lacking(state, colour) if n == 1 for cell in row if at(state, cell) == 0}

    def threes(colour):
        return [row for n, row in spans(state, colour) if n == 1]

    if winning(mover):
        return LOST
    if len(winning(other)) >= 2:
        return -TWO_CELLS
    points = total(lacking(state, mover)) - total(lacking(state, other))
    points = min(MOST, max(-MOST, points))
    if winning(other):
        (cell,) = winning(other)
        return points - weights.threats[0] if any(cell not in row for row in threes(other)) else points
    return points + weights.threats[1] if threes(mover) else points


# Gomoku positions for the tests of searches: ASCII boards, and random games.


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

"""The rules of Gomoku as slow, obvious Python that scans the whole board after each stone: the oracle for the kernels.

``python -m tests.games.gomoku_reference > tests/games/perft/gomoku.txt`` writes the perft file again.
"""

import re
import sys

PERFT = [  # position, greatest depth
    ("3/3/3 b freestyle-3", 9),
    ("xo2/4/1x2/3o b freestyle-3", 6),
    ("xo2/4/1x2/3o b exact-3", 6),
    ("4/4/4 b freestyle-4", 5),
    ("x2x/4/1oo1/4 b freestyle-4", 5),
    ("5/1xxo1/1oxo1/1ox2/5 b freestyle-4", 5),
    ("xx1xx/o1oo1/5/o4/5 b exact-3", 4),
    ("xx1xxx/o1oo1o/6/o5/6/6 b exact", 4),
    ("xx1xxx/o1oo1o/6/o5/6/6 b", 4),
    ("9/9/2o1o4/3xxxx2/3oo4/9/9/9/9 b", 3),
    ("9/9/2o1o4/3xxxx2/3oox3/9/9/9/9 w", 3),
    ("15/15/15/15/15/15/15/15/15/15/15/15/15/15/15 b", 2),
    ("15/15/15/15/15/6o1o6/6xo7/5oxxxx5/6oxxo5/15/15/15/15/15/15 w", 2),
]
HEAD = """\
# Gomoku: position; perft 1; perft 2; ... Counted by the slow rules of tests/games/gomoku_reference.py, which share
# nothing with the kernels; those of 3x3 are the known counts of tic-tac-toe. On the small boards games end within the
# depth, so that the win check counts. Format: FEN ;D<depth> <count> ..."""


class SlowGomoku:
    """``cells[(row, column)]`` is one of '.', 'x' (Black), 'o' (White); row 0 is the top."""

    def __init__(self, fen):
        ranks, side, *variant = fen.split()
        name, _, line = (variant or ["freestyle"])[0].partition("-")
        self.line, self.rule = int(line or 5), name
        self.side = "x" if side == "b" else "o"
        rows = [re.sub(r"\d+", lambda run: "." * int(run[0]), rank) for rank in ranks.split("/")]
        self.height, self.width = len(rows), len(rows[0])
        self.cells = {(r, c): letter for r, row in enumerate(rows) for c, letter in enumerate(row)}

    def runs(self, colour):
        """Lengths of all maximal rows of a colour, in all four directions."""
        for r, c in self.cells:
            for dr, dc in ((0, 1), (1, 0), (1, 1), (1, -1)):
                if self.cells[r, c] == colour and self.cells.get((r - dr, c - dc)) != colour:
                    length = 1
                    while self.cells.get((r + length * dr, c + length * dc)) == colour:
                        length += 1
                    yield length

    def has_line(self, colour):
        if self.rule == "caro":
            return any(n > self.line or (n == self.line and not shut) for n, shut in self.shut_runs(colour))
        exact = self.rule == "exact" or (self.rule == "renju" and colour == "x")
        return any(n == self.line or (n > self.line and not exact) for n in self.runs(colour))

    def shut_runs(self, colour):
        """(length, whether the other colour stands at both ends) of the same rows."""
        other = "o" if colour == "x" else "x"
        for r, c in self.cells:
            for dr, dc in ((0, 1), (1, 0), (1, 1), (1, -1)):
                if self.cells[r, c] == colour and self.cells.get((r - dr, c - dc)) != colour:
                    length = 1
                    while self.cells.get((r + length * dr, c + length * dc)) == colour:
                        length += 1
                    ends = (r - dr, c - dc), (r + length * dr, c + length * dc)
                    yield length, all(self.cells.get(end) == other for end in ends)

    def winner(self):
        if self.has_line("x"):
            return "first"
        if self.has_line("o"):
            return "second"
        return None if self.allowed() else "draw"

    def actions(self):
        return [] if self.winner() is not None else self.allowed()

    def allowed(self):
        """Empty cells but those that Renju forbids to Black."""
        black = self.rule == "renju" and self.side == "x"
        return [
            r * self.width + c
            for (r, c), letter in self.cells.items()
            if letter == "." and not (black and forbidden(self.cells, (r, c)))
        ]

    def play(self, action):
        self.cells[divmod(action, self.width)] = self.side
        self.side = "o" if self.side == "x" else "x"

    def take_back(self, action):
        self.cells[divmod(action, self.width)] = "."
        self.side = "o" if self.side == "x" else "x"

    def perft(self, depth):
        actions = self.actions()
        if depth == 1:
            return len(actions)
        total = 0
        for action in actions:
            self.play(action)
            total += self.perft(depth - 1)
            self.take_back(action)
        return total


AXES = ((0, 1), (1, 0), (1, 1), (1, -1))


def forbidden(cells, at):
    """Whether Black may not play at an empty cell in Renju: its fours and threes are sets of stones."""
    cells = {**cells, at: "x"}
    rows = [length(cells, at, axis) for axis in AXES]
    if 5 in rows:
        return False
    return max(rows) > 5 or len(fours(cells, at)) > 1 or len(threes(cells, at)) > 1


def length(cells, at, axis):
    """Of the black row through a stone."""
    return 1 + sum(ray(cells, at, (sign * axis[0], sign * axis[1])) for sign in (1, -1))


def ray(cells, at, step):
    count = 0
    while cells.get((at[0] + (count + 1) * step[0], at[1] + (count + 1) * step[1])) == "x":
        count += 1
    return count


def windows(at, axis, size):
    """All rows of so many cells on a line that have the cell ``at`` among them."""
    for back in range(size):
        yield [(at[0] + (i - back) * axis[0], at[1] + (i - back) * axis[1]) for i in range(size)]


def lacking_one(cells, at, size):
    """(axis, its stones, the empty cell) of rows through a stone that lack one."""
    for axis in AXES:
        for row in windows(at, axis, size):
            letters = [cells.get(cell) for cell in row]
            if letters.count("x") == size - 1 and letters.count(".") == 1:
                yield axis, frozenset(row) - {row[letters.index(".")]}, row[letters.index(".")]


def makes_five(cells, at, axis):
    return cells.get(at) == "." and length({**cells, at: "x"}, at, axis) == 5


def fours(cells, at):
    return {stones for axis, stones, last in lacking_one(cells, at, 5) if makes_five(cells, last, axis)}


def threes(cells, at):
    found = set()
    for axis, stones, last in lacking_one(cells, at, 4):
        after = {**cells, last: "x"}
        ends = [(cell[0] + s * axis[0], cell[1] + s * axis[1]) for cell in stones | {last} for s in (1, -1)]
        straight = [end for end in ends if end not in stones | {last}]
        if not all(makes_five(after, end, axis) for end in straight) or 5 in [length(after, last, a) for a in AXES]:
            continue
        if not forbidden(cells, last):
            found.add(stones)
    return found


if __name__ == "__main__":
    sys.stdout.write(HEAD + "\n")
    for fen, depth in PERFT:
        counts = [f";D{d} {SlowGomoku(fen).perft(d)}" for d in range(1, depth + 1)]
        sys.stdout.write(" ".join([fen, *counts]) + "\n")

"""The rules of Gomoku as slow, obvious Python that scans the whole board after each stone: the oracle for the kernels.

``python -m tests.games.gomoku.reference > tests/games/perft/gomoku.txt`` makes the perft file anew.
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
# Gomoku: position; perft 1; perft 2; ... Counted by the slow rules of tests/games/gomoku/reference.py, which share
# nothing with the kernels; those of 3x3 are the known counts of tic-tac-toe. On the small boards games end within the
# depth, so that the win check counts. Format: FEN ;D<depth> <count> ..."""


class SlowGomoku:
    """``cells[(row, column)]`` is one of '.', 'x' (Black), 'o' (White); row 0 is the top."""

    def __init__(self, fen):
        ranks, side, *variant = fen.split()
        name, _, line = (variant or ["freestyle"])[0].partition("-")
        self.line, self.exact = int(line or 5), name == "exact"
        self.side = "x" if side == "b" else "o"
        rows = [re.sub(r"\d+", lambda run: "." * int(run[0]), rank) for rank in ranks.split("/")]
        self.height, self.width = len(rows), len(rows[0])
        self.cells = {(r, c): letter for r, row in enumerate(rows) for c, letter in enumerate(row)}

    def runs(self, colour):
        """Lengths of all unbroken rows of a colour that nothing of it goes on from, in all four directions."""
        for r, c in self.cells:
            for dr, dc in ((0, 1), (1, 0), (1, 1), (1, -1)):
                if self.cells[r, c] == colour and self.cells.get((r - dr, c - dc)) != colour:
                    length = 1
                    while self.cells.get((r + length * dr, c + length * dc)) == colour:
                        length += 1
                    yield length

    def has_line(self, colour):
        return any(n == self.line or (n > self.line and not self.exact) for n in self.runs(colour))

    def winner(self):
        if self.has_line("x"):
            return "first"
        if self.has_line("o"):
            return "second"
        return None if "." in self.cells.values() else "draw"

    def actions(self):
        if self.winner() is not None:
            return []
        return [r * self.width + c for (r, c), letter in self.cells.items() if letter == "."]

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


if __name__ == "__main__":
    sys.stdout.write(HEAD + "\n")
    for fen, depth in PERFT:
        counts = [f";D{d} {SlowGomoku(fen).perft(d)}" for d in range(1, depth + 1)]
        sys.stdout.write(" ".join([fen, *counts]) + "\n")

"""The rules of Go as slow, obvious Python on sets of points: the oracle for the kernels.

``python -m tests.games.go_reference > tests/games/perft/go.txt`` writes the perft file again.
"""

import sys

FILES = "abcdefghjklmnopqrstuvwxyz"
PERFT = [  # position, greatest depth
    ("3/3/3 b", 5),
    ("1xo/x2/1xo w komi-0", 5),
    ("xx1/xo1/1o1 b", 6),
    ("4/1xo1/xo1o/1xo1 b", 4),
    ("4/1xo1/x1xo/1xo1 w ko-b2 komi-0.5", 4),
    ("3x/1oox/oxx1/1ox1 w pass-1", 4),
    ("5/5/5/5/5 b", 3),
    ("x1xo1/xxxoo/oooxo/1oxx1/o1ox1 b", 4),
    ("7/1ooo3/1oxxo2/1o1xo2/1ooo3/7/7 b", 3),
    ("9/9/9/9/9/9/9/9/9 b", 2),
    ("/".join(["19"] * 19) + " b komi-6.5", 2),
]
HEAD = """\
# Go: position; perft 1; perft 2; ... Counted by the slow rules of tests/games/go_reference.py, which share nothing with
# the kernels. Passes are counted. There are captures of several stones, kos, suicides, and games that end within the
# depth. Format: FEN ;D<depth> <count> ..."""


class SlowGo:
    """A position; points are (row, column), row 0 the top."""

    def __init__(self, height, width, komi=7.5):
        self.height, self.width, self.komi = height, width, komi
        self.stones = {}
        self.side, self.ko, self.passes = "x", None, 0

    @classmethod
    def from_fen(cls, fen):
        ranks, side, *rest = fen.split()
        rows = []
        for text in ranks.split("/"):
            row, number = [], ""
            for letter in text + " ":
                if letter.isdigit():
                    number += letter
                    continue
                row += ["."] * int(number or 0) + ([] if letter == " " else [letter])
                number = ""
            rows.append(row)
        game = cls(len(rows), len(rows[0]))
        game.stones = {(r, c): s for r, row in enumerate(rows) for c, s in enumerate(row) if s != "."}
        game.side = {"b": "x", "w": "o"}[side]
        for word in rest:
            kind, _, value = word.partition("-")
            if kind == "komi":
                game.komi = float(value)
            elif kind == "pass":
                game.passes = int(value)
            else:
                game.ko = game.height - int(value[1:]), FILES.index(value[0])
        return game

    def copy(self):
        other = SlowGo(self.height, self.width, self.komi)
        other.stones = dict(self.stones)
        other.side, other.ko, other.passes = self.side, self.ko, self.passes
        return other

    def around(self, point):
        row, column = point
        near = [(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)]
        return [(r, c) for r, c in near if 0 <= r < self.height and 0 <= c < self.width]

    def group(self, point):
        found, todo = {point}, [point]
        while todo:
            for near in self.around(todo.pop()):
                if near not in found and self.stones.get(near) == self.stones[point]:
                    found.add(near)
                    todo.append(near)
        return found

    def liberties(self, point):
        return {near for stone in self.group(point) for near in self.around(stone) if near not in self.stones}

    def placed(self, point):
        """The position after a stone, or None where that is not legal."""
        if point in self.stones or point == self.ko:
            return None
        after = self.copy()
        after.stones[point] = self.side
        taken = set()
        for near in self.around(point):
            if after.stones.get(near, self.side) != self.side and not after.liberties(near):
                taken |= after.group(near)
        for stone in taken:
            del after.stones[stone]
        if not after.liberties(point):
            return None
        single = len(taken) == 1 and len(after.group(point)) == 1 and after.liberties(point) == taken
        after.ko = taken.pop() if single else None
        after.passes = 0
        after.side = "o" if self.side == "x" else "x"
        return after

    def play(self, action):
        if action == self.height * self.width:
            after = self.copy()
            after.passes, after.ko, after.side = self.passes + 1, None, "o" if self.side == "x" else "x"
            return after
        return self.placed(divmod(action, self.width))

    def actions(self):
        if self.passes == 2:
            return []
        size = self.height * self.width
        return [a for a in range(size) if self.placed(divmod(a, self.width))] + [size]

    def lead(self):
        """Black's area less White's and the komi."""
        total = -self.komi
        for row in range(self.height):
            for column in range(self.width):
                total += {"x": 1, "o": -1}.get(self.owner((row, column)), 0)
        return total

    def owner(self, point):
        if point in self.stones:
            return self.stones[point]
        found, todo, borders = {point}, [point], set()
        while todo:
            for near in self.around(todo.pop()):
                if near in self.stones:
                    borders.add(self.stones[near])
                elif near not in found:
                    found.add(near)
                    todo.append(near)
        return borders.pop() if len(borders) == 1 else None

    def perft(self, depth):
        if depth == 0:
            return 1
        return sum(self.play(action).perft(depth - 1) for action in self.actions())


if __name__ == "__main__":
    sys.stdout.write(HEAD + "\n")
    for fen, depth in PERFT:
        position = SlowGo.from_fen(fen)
        sys.stdout.write(" ".join([fen, *(f";D{d} {position.perft(d)}" for d in range(1, depth + 1))]) + "\n")

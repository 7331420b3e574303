"""Rules of the games in one file as slow, obvious Python that looks at the whole board: the oracle for the kernels.

A board is a dict from (row, column) to '.', 'x' (first) or 'o' (second); a move is text as `format_move` writes it.
``python -m tests.games.learnable_reference`` writes the perft files again.
"""

from pathlib import Path

from pipeline_src.games.game import load_game

AROUND = [(r, c) for r in (-1, 0, 1) for c in (-1, 0, 1) if (r, c) != (0, 0)]
PERFT = {"hex": (7, 3), "breakthrough": (8, 4), "connect6": (15, 2)}  # Connect Four's and Othello's are published


class Slow:
    """What all have: ``moves()``, ``after(move)`` and ``winner()`` of first, second, draw or None."""

    def __init__(self, cells, side="x", stones=0):
        self.cells, self.side, self.stones = cells, side, stones
        self.height, self.width = (1 + max(cell[axis] for cell in cells) for axis in (0, 1))

    @classmethod
    def empty(cls, height, width):
        return cls({(r, c): "." for r in range(height) for c in range(width)})

    def text(self, cell):
        return f"{'abcdefghijklmnopqrstuvwxyz'[cell[1]]}{self.height - cell[0]}"

    def cell(self, text):
        return self.height - int(text[1:]), ord(text[0]) - ord("a")

    def other(self):
        return "o" if self.side == "x" else "x"

    def lines(self, length):
        """The side that has so many in a row."""
        for stone in "xo":
            for (r, c), down, right in ((cell, *step) for cell in self.cells for step in AROUND):
                if all(self.cells.get((r + i * down, c + i * right)) == stone for i in range(length)):
                    return {"x": "first", "o": "second"}[stone]
        return None if "." in self.cells.values() else "draw"

    def moves(self):
        return [] if self.winner() else [self.text(cell) for cell in self.cells if self.cells[cell] == "."]

    def after(self, move):
        return type(self)(self.cells | {self.cell(move): self.side}, self.other(), self.stones + 1)

    def perft(self, depth):
        return 1 if depth == 0 else sum(self.after(move).perft(depth - 1) for move in self.moves())


class ConnectFour(Slow):
    @classmethod
    def start(cls, size):
        return cls.empty(size - 1, size)

    def winner(self):
        return self.lines(4)

    def moves(self):
        return [] if self.winner() else ["abcdefg"[c] for c in range(self.width) if self.cells[0, c] == "."]

    def after(self, move):
        column = "abcdefg".index(move)
        row = max(r for r in range(self.height) if self.cells[r, column] == ".")
        return ConnectFour(self.cells | {(row, column): self.side}, self.other())


class Connect6(Slow):
    @classmethod
    def start(cls, size):
        return cls.empty(size, size)

    def winner(self):
        return self.lines(6)

    def after(self, move):
        sides = "x" + "ooxx" * len(self.cells)
        return Connect6(self.cells | {self.cell(move): self.side}, sides[self.stones + 1], self.stones + 1)


class Hex(Slow):
    @classmethod
    def start(cls, size):
        return cls.empty(size, size)

    def winner(self):
        last = self.height - 1
        for stone, axis, name in (("x", 0, "first"), ("o", 1, "second")):
            reached = {cell for cell in self.cells if cell[axis] == 0 and self.cells[cell] == stone}
            while True:
                near = {(r + d, c + e) for r, c in reached for d, e in AROUND if d != e}
                more = {cell for cell in near if self.cells.get(cell) == stone} - reached
                if not more:
                    break
                reached |= more
            if any(cell[axis] == last for cell in reached):
                return name
        return None


class Othello(Slow):
    @classmethod
    def start(cls, size):
        half = size // 2
        four = {(half - 1, half - 1): "o", (half, half): "o", (half - 1, half): "x", (half, half - 1): "x"}
        return cls(cls.empty(size, size).cells | four)

    def turned(self, cell, side):
        found = []
        for down, right in AROUND if self.cells[cell] == "." else ():
            run, at = [], (cell[0] + down, cell[1] + right)
            while self.cells.get(at) not in (None, ".", side):
                run.append(at)
                at = (at[0] + down, at[1] + right)
            found += run if self.cells.get(at) == side else []
        return found

    def placing(self, side):
        return [self.text(cell) for cell in self.cells if self.turned(cell, side)]

    def moves(self):
        return self.placing(self.side) or (["pass"] if self.placing(self.other()) else [])

    def after(self, move):
        changed = {}
        if move != "pass":
            cell = self.cell(move)
            changed = dict.fromkeys([cell, *self.turned(cell, self.side)], self.side)
        return Othello(self.cells | changed, self.other())

    def winner(self):
        if self.moves():
            return None
        lead = list(self.cells.values()).count("x") - list(self.cells.values()).count("o")
        return "first" if lead > 0 else "second" if lead < 0 else "draw"


class Breakthrough(Slow):
    @classmethod
    def start(cls, size):
        return cls({(r, c): "o" if r < 2 else "x" if r >= size - 2 else "." for r in range(size) for c in range(size)})

    def winner(self):
        there = set(self.cells.values())
        if "x" in [self.cells[0, c] for c in range(self.width)] or "o" not in there:
            return "first"
        last = self.height - 1
        return "second" if "o" in [self.cells[last, c] for c in range(self.width)] or "x" not in there else None

    def moves(self):
        found, ahead = [], -1 if self.side == "x" else 1
        for r, c in self.cells if self.winner() is None else ():
            for right in (-1, 0, 1) if self.cells[r, c] == self.side else ():
                to = (r + ahead, c + right)
                if self.cells.get(to) in ("." if right == 0 else (".", self.other())):
                    found.append(f"{self.text((r, c))}-{self.text(to)}")
        return found

    def after(self, move):
        source, target = map(self.cell, move.split("-"))
        return Breakthrough(self.cells | {source: ".", target: self.side}, self.other())


SLOW = {"connect_four": ConnectFour, "connect6": Connect6, "hex": Hex, "othello": Othello, "breakthrough": Breakthrough}


def main():
    for name, (size, depth) in PERFT.items():
        fen = (rules := load_game(name)).to_fen(rules.initial_state(size))
        counts = " ".join(f";D{ply} {SLOW[name].start(size).perft(ply)}" for ply in range(1, depth + 1))
        head = (
            "# Counted by the slow rules of tests/games/learnable_reference.py, which share nothing with the kernels."
        )
        (Path(__file__).parent / "perft" / f"{name}.txt").write_text(f"{head}\n{fen} {counts}\n")


if __name__ == "__main__":
    main()

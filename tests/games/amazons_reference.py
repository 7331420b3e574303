"""The rules of the Amazons, slow and obvious, with the standard library alone."""

DIRECTIONS = [(dr, dc) for dr in (-1, 0, 1) for dc in (-1, 0, 1) if (dr, dc) != (0, 0)]


class SlowAmazons:
    """``squares[(rank, file)]`` from 0 is one of '.', '*', 'Q' (White), 'q' (Black)."""

    def __init__(self, fen):
        ranks, self.side = fen.split()
        self.squares = {}
        self.height = len(ranks.split("/"))
        for row, text in enumerate(ranks.split("/")):
            file, number = 0, ""
            for letter in text + " ":
                if letter.isdigit():
                    number += letter
                    continue
                for _ in range(int(number or 0)):
                    self.squares[self.height - 1 - row, file] = "."
                    file += 1
                number = ""
                if letter != " ":
                    self.squares[self.height - 1 - row, file] = letter
                    file += 1
        self.width = file

    def reach(self, square):
        found = []
        for dr, dc in DIRECTIONS:
            r, c = square[0] + dr, square[1] + dc
            while self.squares.get((r, c)) == ".":
                found.append((r, c))
                r, c = r + dr, c + dc
        return found

    def turns(self):
        mine = "Q" if self.side == "w" else "q"
        turns = []
        for start in [s for s, piece in self.squares.items() if piece == mine]:
            for to in self.reach(start):
                self.squares[start], self.squares[to] = ".", mine
                turns += [(start, to, arrow) for arrow in self.reach(to)]
                self.squares[start], self.squares[to] = mine, "."
        return turns

    def play(self, start, to, arrow):
        self.squares[start], self.squares[to] = ".", self.squares[start]
        self.squares[arrow] = "*"
        self.side = "b" if self.side == "w" else "w"

    def action(self, turn):
        n = self.height * self.width
        start, to, arrow = (r * self.width + c for r, c in turn)
        return (start * n + to) * n + arrow

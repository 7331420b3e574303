"""Random games of the Amazons, by rules that are written down here once more: no line of the package judges itself."""

import random

STARTS = {
    "Size 10": (("d1", "g1", "a4", "j4"), ("a7", "j7", "d10", "g10")),
    "Cross": (("d1", "g1", "d10", "g10"), ("a4", "j4", "a7", "j7")),
}
"""White's and Black's amazons by the site's words for the variant; White moves first."""
DIRECTIONS = [(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1) if x or y]


def square(text):
    return "abcdefghij".index(text[0]), int(text[1:]) - 1


def text_of(at):
    return f"{'abcdefghij'[at[0]]}{at[1] + 1}"


def reach(taken, start):
    """Squares that a queen on ``start`` can go to."""
    found = []
    for dx, dy in DIRECTIONS:
        x, y = start[0] + dx, start[1] + dy
        while 0 <= x < 10 and 0 <= y < 10 and (x, y) not in taken:
            found.append((x, y))
            x, y = x + dx, y + dy
    return found


def play(seed, plies, variant="Size 10"):
    """Up to ``plies`` random turns as the site writes them, and whether the side to move then cannot."""
    rng = random.Random(seed)
    sides = [[square(text) for text in side] for side in STARTS[variant]]
    taken = {at for side in sides for at in side}
    turns = []
    while True:
        side = sides[len(turns) % 2]
        movable = [number for number in range(4) if reach(taken, side[number])]
        if not movable or len(turns) == plies:
            return turns, not movable
        number = rng.choice(movable)
        start = side[number]
        to = rng.choice(reach(taken, start))
        taken.remove(start)
        arrow = rng.choice(reach(taken | {to}, to))
        taken |= {to, arrow}
        side[number] = to
        turns.append(f"{text_of(start)}-{text_of(to)}/{text_of(arrow)}")


def action(turn):
    """The number of a turn (docs/glossary.md): (from * 100 + to) * 100 + arrow; a square is (rank - 1) * 10 + file."""
    start, _, rest = turn.partition("-")
    to, _, arrow = rest.partition("/")
    numbers = [y * 10 + x for x, y in map(square, (start, to, arrow))]
    return (numbers[0] * 100 + numbers[1]) * 100 + numbers[2]

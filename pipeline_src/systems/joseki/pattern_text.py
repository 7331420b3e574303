"""Corner patterns as text: ``X 3,5 4,4 7,3 O 3,6 4,6 3,9``, points (r, c) from the borders, the first line being 1."""

import re

from pipeline_src.errors import ZugwerkError
from pipeline_src.systems.joseki.corners import BLACK, SIDE, WHITE, Window, window_of

COLOURS = {"X": BLACK, "O": WHITE}


def parse_pattern(text: str) -> Window:
    """Return the window, int8 [10, 10], for a pattern's text: X black, O white, in either case, one of them optional.

    >>> int(parse_pattern("X 3,5 O 3,6")[2, 4])
    1

    Raises:
        ZugwerkError: a word is not a colour or a point, or a point is outside the corner or given twice; the message
            names it.
    """
    stones: dict[int, list[tuple[int, int]]] = {BLACK: [], WHITE: []}
    colour = 0
    for word in text.split():
        if word.upper() in COLOURS:
            colour = COLOURS[word.upper()]
            continue
        match = re.fullmatch(r"([0-9]{1,3}),([0-9]{1,3})", word, re.ASCII)
        if not match:
            raise ZugwerkError(f"bad pattern: {word[:40]!a} is neither X, O nor a point r,c such as 3,4")
        if not colour:
            raise ZugwerkError(f"bad pattern: X or O has to come before {word}")
        stones[colour].append((int(match[1]), int(match[2])))
    return window_of(stones[BLACK], stones[WHITE])


def format_pattern(window: Window) -> str:
    """Return the text of a window's stones."""
    words = []
    for name, colour in COLOURS.items():
        points = [f"{r + 1},{c + 1}" for r in range(SIDE) for c in range(SIDE) if window[r, c] == colour]
        words += [name, *points] if points else []
    return " ".join(words)

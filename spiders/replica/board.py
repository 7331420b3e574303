"""The final position of an Amazons game as the site draws it: a hundred images, row 10 first."""

import re
from collections.abc import Iterator

from spiders.replica.site import SiteGame

FILES = "abcdefghij"
START = {"DEFAULT": ("d1 g1 a4 j4", "d10 g10 a7 j7"), "CROSS": ("d1 g1 d10 g10", "a4 j4 a7 j7")}
"""White's and Black's amazons by variant id."""
_IMAGES = {"": ("0", ""), "arrow": ("bcircle", "S"), "black": ("bq", "B"), "white": ("wq", "W")}
TURN = re.compile(r"([a-j](?:10|[1-9]))-([a-j](?:10|[1-9]))/([a-j](?:10|[1-9]))")
"""A turn as records write it: from, to, arrow."""


def board_images(game: SiteGame) -> Iterator[str]:
    """The ``img`` elements; moves that are none are passed over, as the page has no way to say so."""
    white, black = START.get(game.variant.id, START["DEFAULT"])
    squares = dict.fromkeys(white.split(), "white") | dict.fromkeys(black.split(), "black")
    for node in game.nodes:
        if turn := TURN.fullmatch(node.value):
            start, to, arrow = turn.groups()
            squares[to] = squares.pop(start, "white")
            squares[arrow] = "arrow"
    for rank in range(10, 0, -1):
        for file in FILES:
            image, text = _IMAGES[squares.get(f"{file}{rank}", "")]
            yield f'<img src="/ng/images/source/amazon/{image}.gif" alt="{text}">'

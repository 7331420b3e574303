"""The textbook joseki that made games play: the SGF beside this module, each way from its root to a leaf one sequence.

All are in the upper right corner, Black first; an empty move is one that is played elsewhere (tenuki).
"""

from functools import cache
from pathlib import Path
from typing import Any

from sgfmill import sgf_grammar

SIZE = 19
FILE = Path(__file__).with_suffix(".sgf")
ELSEWHERE = (-1, -1)
"""Point in a sequence for a move in another part of the board."""
Sequence = tuple[tuple[int, int], ...]
"""Points as (r, c), distances from the corner's two borders, the first line 1; Black first, the sides in turn."""


@cache
def textbook() -> tuple[Sequence, ...]:
    """All sequences, in the file's order; sides in turn, so that a side playing twice has `ELSEWHERE` between."""
    found: list[Sequence] = []
    for tree in sgf_grammar.parse_sgf_collection(FILE.read_bytes()):
        todo: list[tuple[Any, Sequence]] = [(tree, ())]
        while todo:
            branch, before = todo.pop()
            moves = before
            for node in branch.sequence:
                for colour in "BW":
                    if colour in node:
                        if "BW"[len(moves) % 2] != colour:
                            moves += (ELSEWHERE,)
                        moves += (_point(node[colour][0].decode()),)
            todo += [(child, moves) for child in reversed(branch.children)]
            if not branch.children:
                found.append(moves)
    return tuple(found)


def _point(text: str) -> tuple[int, int]:
    """SGF's point in the upper right corner: row and column counted from there."""
    if not text:
        return ELSEWHERE
    return ord(text[1]) - ord("a") + 1, SIZE - (ord(text[0]) - ord("a"))

"""What players of search depths did by move number, for plots: `move_rows`."""

from collections.abc import Sequence

import numpy as np

from pipeline_src.files import Row
from pipeline_src.systems.search_depth.games import ClockedMove
from pipeline_src.systems.search_depth.matches import DepthMatch

LEAST = 3
"""Moves of a number that a row must have."""


def move_rows(matches: Sequence[tuple[DepthMatch, str, str]]) -> dict[str, list[Row]]:
    """By player, a row for each number of its moves in a game: mean depths, share of its clock used, nodes.

    Args:
        matches: each with the names of its players, under which their moves count together.
    """
    found: dict[str, list[ClockedMove]] = {}
    for match, a, b in matches:
        for player, name in enumerate((a, b)):
            found.setdefault(name, []).extend(move for _, move in match.moves(player))
    rows: dict[str, list[Row]] = {}
    for name, moves in found.items():
        rows[name] = []
        numbers = np.array([move.ply // 2 + 1 for move in moves])
        for number in np.unique(numbers):
            chosen = [moves[i] for i in np.flatnonzero(numbers == number)]
            if len(chosen) >= LEAST:
                rows[name].append(_row(int(number), chosen))
    return rows


def _row(number: int, moves: list[ClockedMove]) -> Row:
    return {
        "move": number,
        "moves": len(moves),
        "depth": float(np.mean([move.reached for move in moves])),
        "asked": float(np.mean([move.asked for move in moves])),
        "used": float(np.mean([move.used for move in moves])),
        "nodes": float(np.mean([move.nodes + move.choosing for move in moves])),
    }

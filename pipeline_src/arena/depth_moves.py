"""What players of search depths did by move number, for plots: `move_rows`."""

from collections.abc import Sequence

import numpy as np

from pipeline_src.arena.depth_matches import DepthMatch
from pipeline_src.arena.node_games import ClockedMove
from pipeline_src.arena.tables import Row

LEAST = 3
"""Moves of a number that a row must have."""


def move_rows(matches: Sequence[tuple[DepthMatch, str, str]]) -> list[Row]:
    """A row for each player and number of its move in the game: mean depth, and shares of its clock.

    Args:
        matches: each with the names of its players, under which their moves count together.
    """
    found: dict[str, list[ClockedMove]] = {}
    for match, a, b in matches:
        for player, name in enumerate((a, b)):
            found.setdefault(name, []).extend(move for _, move in match.moves(player))
    rows: list[Row] = []
    for name, moves in found.items():
        numbers = np.array([move.ply // 2 + 1 for move in moves])
        for number in np.unique(numbers):
            chosen = [moves[i] for i in np.flatnonzero(numbers == number)]
            if len(chosen) >= LEAST:
                rows.append(_row(name, int(number), chosen))
    return rows


def _row(name: str, number: int, moves: list[ClockedMove]) -> Row:
    return {
        "player": name,
        "move": number,
        "moves": len(moves),
        "depth": float(np.mean([move.reached for move in moves])),
        "asked": float(np.mean([move.asked for move in moves])),
        "used": float(np.mean([move.used for move in moves])),
        "nodes": float(np.mean([move.nodes + move.choosing for move in moves])),
    }

"""Accuracy of the library on moves of unseen games, beside a baseline: the most frequent point at each move number.

Moves that are equal under a symmetry of the pattern count as one: in a corner with a symmetric pattern the two 3-4
points are one move. Only local moves are predicted, in the corner where they were played.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.records.record import GameRecord
from pipeline_src.systems.joseki.canonical import canonical_key, canonical_move
from pipeline_src.systems.joseki.corners import PASS, POINTS, SIDE, Window
from pipeline_src.systems.joseki.library import Library
from pipeline_src.systems.joseki.recommend import rank_moves
from pipeline_src.systems.joseki.sequences import Steps, fingerprint
from pipeline_src.systems.joseki.symmetric_code import mix

TOP = 3


class Named(NamedTuple):
    """M local moves: where each stands in a ranking, 0 the first, -1 not among the first three."""

    game: npt.NDArray[np.int32]
    """[M]."""
    number: npt.NDArray[np.int8]
    """[M]: of the move in its corner, from 1."""
    known: npt.NDArray[np.bool_]
    """[M]: the library has the pattern with a move of this colour."""
    rank: npt.NDArray[np.int8]
    """[M]: by the library."""
    baseline: npt.NDArray[np.int8]
    """[M]: by how often each point was played at this move number, whatever the pattern."""


def is_held_out(record: GameRecord, share: float, seed: int) -> bool:
    """Whether a game is for testing; a game's moves and the seed decide, so equal games fall on one side."""
    return int(mix(np.uint64(fingerprint(record)) ^ mix(np.uint64(seed)))) < share * 2.0**64


def point_counts(steps: Steps, longest: int) -> npt.NDArray[np.int64]:
    """How often each point or its mirror image was played at each move number, int64 [longest + 1, 100]."""
    played = steps.point != PASS
    counts = np.zeros((longest + 1, POINTS), np.int64)
    np.add.at(counts, (steps.number[played], steps.point[played]), 1)
    squares = counts.reshape(-1, SIDE, SIDE)
    return (squares + squares.transpose(0, 2, 1)).reshape(-1, POINTS)


def name_moves(library: Library, counts: npt.NDArray[np.int64], steps: Steps) -> Named:
    """Rank the moves of steps by the library and by `point_counts`."""
    orders = [np.argsort(-row, kind="stable") for row in counts]
    played = np.flatnonzero(steps.point != PASS)
    known, ranks = np.zeros(len(played), bool), [np.full(len(played), -1, np.int8) for _ in range(2)]
    named = Named(steps.game[played], steps.number[played], known, *ranks)
    for i, step in enumerate(played.tolist()):
        window, colour = steps.before[step], int(steps.colour[step])
        forms = canonical_key(window)[1]
        move = canonical_move(steps.point[step], colour, forms)
        ranked = [one.move for one in rank_moves(library, window, colour) if one.points != (PASS,)]
        named.known[i] = bool(ranked)
        if move in ranked[:TOP]:
            named.rank[i] = ranked.index(move)
        order = orders[int(named.number[i])]
        if move in (usual := _usual(window, order, colour, forms)):
            named.baseline[i] = usual.index(move)
    return named


def _usual(window: Window, order: npt.NDArray[np.int64], colour: int, forms: int) -> list[int]:
    """The first three points of ``order`` that are empty, as canonical moves, no two the same."""
    moves: list[int] = []
    for point in order:
        if not window[point // SIDE, point % SIDE]:
            move = canonical_move(point, colour, forms)
            if move not in moves:
                moves.append(move)
                if len(moves) == TOP:
                    break
    return moves

"""Candidate moves on the whole board: moves played in each corner's pattern, by frequency, then by win rate.

The position decides, not its history: different orders of moves lead to one pattern.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from pipeline_src.games.go.board import SIDE as TO_PLAY
from pipeline_src.games.go.board import GoState
from pipeline_src.games.go.turns import is_legal
from pipeline_src.systems.joseki.corners import CORNERS, PASS, Window, corner_window, square_of
from pipeline_src.systems.joseki.library import Library
from pipeline_src.systems.joseki.lookup import look_up


@dataclass(frozen=True)
class Recommendation:
    """A move that games had in this corner's pattern."""

    corner: int
    actions: tuple[int, ...]
    """Legal points of the board, up to two where the pattern is its own mirror image; none: the side to move played
    elsewhere."""
    played: int
    """How often it was played."""
    share: float
    """Share of all moves of this side in the pattern, including moves elsewhere."""
    sure_share: float
    """Lower end of the share's 95 % interval."""
    wins: int
    losses: int
    """Results of who played it, where they are known."""
    samples: tuple[tuple[int, int], ...]
    """(gid, ply) of games that have it."""

    @property
    def win_rate(self) -> float | None:
        """None where no result is known."""
        decided = self.wins + self.losses
        return self.wins / decided if decided else None


class Ranked(NamedTuple):
    """A move of a pattern, all its transitions together: its captures may have differed."""

    move: int
    """In the canonical frame."""
    points: tuple[int, ...]
    """In the window; two where the pattern is its own mirror image; PASS: the side to move played elsewhere."""
    transitions: list[int]
    played: int
    wins: int
    losses: int

    @property
    def win_rate(self) -> float:
        """0 where no result is known."""
        return self.wins / max(self.wins + self.losses, 1)


def rank_moves(library: Library, window: Window, colour: int) -> list[Ranked]:
    """Return the moves of BLACK or WHITE in a window's pattern, ordered by frequency, then by win rate."""
    found = look_up(library, window, colour)
    moves: dict[int, tuple[list[int], list[int]]] = {}
    of = library.move[found.transitions].tolist()
    for move, transition, points in zip(of, found.transitions.tolist(), found.points.tolist(), strict=True):
        moves.setdefault(move, (points, []))[1].append(transition)
    ranked = []
    for move, (points, same) in moves.items():
        counts = (sum(array[same].tolist()) for array in (library.played, library.wins, library.losses))
        ranked.append(Ranked(move, tuple(sorted(set(points))), same, *counts))
    return sorted(ranked, key=lambda one: (-one.played, -one.win_rate, one.move))


def recommend_in_corner(library: Library, state: GoState, corner: int) -> list[Recommendation]:
    """Return the moves of the side to move in a corner's pattern, most frequent first; empty for unknown patterns.

    Of a point and its mirror image only the legal ones are left: stones outside the corner decide, or a ko.
    """
    ranked = rank_moves(library, corner_window(state.board, corner), int(state.turn[TO_PLAY]) + 1)
    total = sum(one.played for one in ranked)
    made = []
    for one in ranked:
        elsewhere = one.points == (PASS,)
        places = () if elsewhere else sorted(int(square_of(point, corner)) for point in one.points)
        actions = tuple(action for action in places if is_legal(state, action))
        if actions or elsewhere:
            samples = _samples(library, one.transitions)
            shares = one.played / total, _low_end(one.played / total, total)
            made.append(Recommendation(corner, actions, one.played, *shares, one.wins, one.losses, samples))
    return made


def _samples(library: Library, transitions: list[int]) -> tuple[tuple[int, int], ...]:
    games, plies = library.samples[transitions].ravel().tolist(), library.plies[transitions].ravel().tolist()
    return tuple((int(library.gids[game]), ply) for game, ply in zip(games, plies, strict=True) if game >= 0)


def _rank(one: Recommendation) -> tuple[float, float, tuple[int, ...]]:
    return -one.sure_share, -(one.win_rate or 0.0), one.actions


def _low_end(share: float, n: int) -> float:
    """Return the lower end of Wilson's interval (1927) for a share of n."""
    z = 1.96
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return (share + z * z / (2 * n) - half) / (1 + z * z / n)


def recommend(library: Library, state: GoState, corners: Sequence[int] = range(CORNERS)) -> list[Recommendation]:
    """Moves of all corners, by their share in their own corner; a point on a middle line is named by the better corner.

    Corners with few games and with many meet here, so the share that counts is the one that is sure; in a corner the
    order stays by frequency, then win rate. Of two corners that name a point of the middle line and are equal in both,
    the rows of both stay: whichever were left out, another turn of the board would leave out the other. Playing
    elsewhere comes last.

    Raises:
        ZugwerkError: not a 19x19 board, or no such corner.
    """
    found = [one for corner in corners for one in recommend_in_corner(library, state, corner)]
    best: list[Recommendation] = []
    named: set[int] = set()
    for _, equal in groupby(sorted(found, key=_rank), key=lambda one: _rank(one)[:2]):
        free = [one for one in equal if one.actions and not named.intersection(one.actions)]
        named.update(action for one in free for action in one.actions)
        best += free
    return best + sorted((one for one in found if not one.actions), key=_rank)

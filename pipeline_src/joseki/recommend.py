"""Candidate moves on the whole board: what was played in each corner's pattern, by how often, then by how well.

The position decides, not how it came about: different orders of moves meet in one pattern.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from pipeline_src.games.go.board import GoState
from pipeline_src.games.go.turns import is_legal
from pipeline_src.joseki.corners import CORNERS, PASS, corner_window, square_of
from pipeline_src.joseki.library import Library
from pipeline_src.joseki.lookup import look_up


@dataclass(frozen=True)
class Recommendation:
    """A move that games had in this corner's pattern."""

    corner: int
    actions: tuple[int, ...]
    """Points of the board, two where the pattern is its own mirror image; none: the side to move played elsewhere."""
    count: int
    """How often it was played."""
    share: float
    """Of all that this side did in the pattern, playing elsewhere included."""
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


def recommend_in_corner(library: Library, state: GoState, corner: int) -> list[Recommendation]:
    """What the side to move played in a corner's pattern, most often first; nothing where the pattern is not known."""
    found = look_up(library, corner_window(state.board, corner), int(state.turn[0]) + 1)
    total = int(library.count[found.transitions].sum())
    moves: dict[tuple[int, ...], list[int]] = {}
    for transition, points in zip(found.transitions.tolist(), found.points.tolist(), strict=True):
        actions = () if points[0] == PASS else tuple(sorted({int(square_of(point, corner)) for point in points}))
        if all(is_legal(state, action) for action in actions):
            moves.setdefault(actions, []).append(transition)
    made = [_recommendation(library, corner, actions, total, same) for actions, same in moves.items()]
    return sorted(made, key=_rank)


def _recommendation(
    library: Library, corner: int, actions: tuple[int, ...], total: int, transitions: list[int]
) -> Recommendation:
    """Of transitions that are one move, with different captures."""
    count, wins, losses = (int(a[transitions].sum()) for a in (library.count, library.wins, library.losses))
    pairs = zip(library.samples[transitions].ravel().tolist(), library.plies[transitions].ravel().tolist(), strict=True)
    samples = tuple((int(library.gids[game]), ply) for game, ply in pairs if game >= 0)
    return Recommendation(corner, actions, count, count / total, wins, losses, samples)


def _rank(one: Recommendation) -> tuple[float, float, int, tuple[int, ...]]:
    return -one.share, -(one.win_rate or 0.0), -one.count, one.actions


def recommend(library: Library, state: GoState, corners: Sequence[int] = range(CORNERS)) -> list[Recommendation]:
    """Moves of all corners, by their share in their own corner; a point on a middle line is named once.

    Raises:
        ZugwerkError: not a 19x19 board, or no such corner.
    """
    found = [one for corner in corners for one in recommend_in_corner(library, state, corner)]
    best: list[Recommendation] = []
    named: set[int] = set()
    for one in sorted(found, key=_rank):
        if one.actions and not named & set(one.actions):
            named |= set(one.actions)
            best.append(one)
    return best + sorted((one for one in found if not one.actions), key=_rank)

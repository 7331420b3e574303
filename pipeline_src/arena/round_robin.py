"""Everybody against everybody, in colour-swapped pairs of games."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from pipeline_src.arena.games import PlayedGame
from pipeline_src.arena.match import POINTS
from pipeline_src.arena.ratings import Result
from pipeline_src.files import Row


@dataclass(frozen=True)
class Standing:
    """Wins, draws and losses of one player against another, or against all."""

    wins: int = 0
    draws: int = 0
    losses: int = 0

    @classmethod
    def of(cls, points: Sequence[float]) -> "Standing":
        """From points of 1, 0.5 and 0 a game."""
        return cls(points.count(1.0), points.count(0.5), points.count(0.0))

    def __add__(self, other: "Standing") -> "Standing":
        return Standing(self.wins + other.wins, self.draws + other.draws, self.losses + other.losses)

    @property
    def swapped(self) -> "Standing":
        """As the other player sees it."""
        return Standing(self.losses, self.draws, self.wins)

    @property
    def games(self) -> int:
        """Played."""
        return self.wins + self.draws + self.losses

    @property
    def points(self) -> float:
        """A win is 1, a draw half."""
        return self.wins + self.draws / 2

    def row(self) -> Row:
        """``wins, draws, losses, points, games``, of a table."""
        return {
            "wins": self.wins,
            "draws": self.draws,
            "losses": self.losses,
            "points": self.points,
            "games": self.games,
        }

    def result(self, a: str, b: str) -> Result:
        """For ratings."""
        return Result(a, b, self.points, self.games)


def pairings(names: Sequence[str]) -> list[tuple[str, str]]:
    """Each two once, those of the first name first."""
    return list(combinations(names, 2))


def pair_points(games: Sequence[PlayedGame]) -> list[float]:
    """Points, game by game, of who moves first in the even games and second in the odd ones."""
    return [POINTS[game.winner][i % 2] for i, game in enumerate(games)]


def cross_table(names: Sequence[str], standings: Mapping[tuple[str, str], Standing]) -> list[tuple[str, str, Standing]]:
    """(player, opponent, standing) of all, both ways round, each player's total last, with the opponent ``all``."""
    rows = []
    for name in names:
        total = Standing()
        for other in names:
            if other == name:
                continue
            found = standings[name, other] if (name, other) in standings else standings[other, name].swapped
            total += found
            rows.append((name, other, found))
        rows.append((name, "all", total))
    return rows

"""Results of a match of two players: `Match`."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Self

from pipeline_src.arena.game import POINTS, PlayedGame
from pipeline_src.arena.ratings import Result
from pipeline_src.arena.score import Score, pair_score
from pipeline_src.arena.sprt import Sprt, Verdict
from pipeline_src.files import Row, finite

Pair = tuple[PlayedGame, PlayedGame]
"""The two games of an opening; ``a`` moves first in the first."""
Status = Literal["finished", "decided", "interrupted", "incomplete"]
"""All pairs played; the sequential test came to an end before; Ctrl-C; pairs left out whose workers died."""


@dataclass(frozen=True)
class Standing:
    """Wins, draws and losses of one player against another, or against all."""

    wins: int = 0
    draws: int = 0
    losses: int = 0

    @classmethod
    def of(cls, points: Sequence[float]) -> "Standing":
        """Counted from points of 1, 0.5 and 0 a game."""
        return cls(points.count(1.0), points.count(0.5), points.count(0.0))

    def __add__(self, other: "Standing") -> "Standing":
        return Standing(self.wins + other.wins, self.draws + other.draws, self.losses + other.losses)

    @property
    def swapped(self) -> "Standing":
        """The standing of the other player."""
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
        return {**vars(self), "points": self.points, "games": self.games}

    def result(self, a: str, b: str) -> Result:
        """For ratings."""
        return Result(a, b, self.points, self.games)


class SideFigures(NamedTuple):
    """About one player's moves; means of nothing are NaN."""

    mean_ms: float
    """A move."""
    max_ms: float
    first_max_ms: float
    """The longest first move of a game, for which an engine is allowed more time."""
    moves_per_game: float
    forfeits: dict[str, int]
    """Games lost off the board, by why: illegal, time, hang, crash, exit."""


class Forfeit(NamedTuple):
    """A game that was lost off the board."""

    game: int
    """Its number, from 1, as in the archive."""
    player: int
    """0 is ``a``."""
    kind: str
    detail: str
    """See `PlayedGame.detail`."""


class SprtFigures(NamedTuple):
    """State of the sequential test, over the pairs in their order."""

    llr: float
    low: float
    high: float
    verdict: Verdict
    pairs: int
    """Looked at: up to the one that decided."""


@dataclass
class Match:
    """A match as far as it was played; scores are those of ``a``."""

    a: str
    b: str
    """Texts or names of the players."""
    pairs: dict[int, Pair]
    """Finished pairs by their numbers."""
    status: Status = "finished"
    sprt: Sprt | None = None
    """Ends the match once it is decided."""

    @classmethod
    def of(cls, a: str, b: str, games: Sequence[PlayedGame]) -> Self:
        """A match from all its games, pair by pair."""
        return cls(a, b, dict(enumerate(zip(games[::2], games[1::2], strict=True))))

    @property
    def games(self) -> list[PlayedGame]:
        """All games in their order; ``a`` moves first in the even ones."""
        return [game for _, pair in sorted(self.pairs.items()) for game in pair]

    @property
    def points(self) -> list[tuple[float, float]]:
        """Points of ``a`` in the two games of each pair, in their order."""
        return [pair_points(pair) for _, pair in sorted(self.pairs.items())]

    @property
    def standing(self) -> Standing:
        """Wins, draws and losses."""
        return Standing.of([point for pair in self.points for point in pair])

    @property
    def score(self) -> Score:
        """Pairs are what is independent."""
        return pair_score(self.points)

    @property
    def pentanomial(self) -> tuple[int, ...]:
        """Pairs that brought ``a`` 0, 0.5, 1, 1.5 and 2 points."""
        counts = Counter(round(2 * sum(pair)) for pair in self.points)
        return tuple(counts[k] for k in range(5))

    def seated(self, player: int) -> list[tuple[PlayedGame, int]]:
        """All games, each with the side that ``a`` (0) or ``b`` (1) had."""
        return [(game, player ^ i % 2) for i, game in enumerate(self.games)]

    @property
    def forfeited(self) -> list[Forfeit]:
        """The games that were lost off the board, in their order."""
        numbered = [(2 * k + i, game) for k, pair in sorted(self.pairs.items()) for i, game in enumerate(pair)]
        return [
            Forfeit(n + 1, (game.winner == "first") ^ n % 2, game.ended, game.detail)
            for n, game in numbered
            if game.ended != "board"
        ]

    def forfeits(self, player: int) -> Counter[str]:
        """Games that ``a`` (0) or ``b`` (1) lost off the board, by why."""
        return Counter(one.kind for one in self.forfeited if one.player == player)

    def side(self, player: int) -> SideFigures:
        """About the moves of ``a`` (0) or ``b`` (1), where they were timed."""
        spent = [game.spent_by(side) for game, side in self.seated(player)]
        times, first = [time for game in spent for time in game], [game[0] for game in spent if game]
        moves = len(times) / len(self.games) if self.pairs else math.nan
        forfeits = dict(sorted(self.forfeits(player).items()))
        most = max(times, default=math.nan), max(first, default=math.nan)
        return SideFigures(_mean(times), *most, moves, forfeits)

    @property
    def test(self) -> SprtFigures | None:
        """The sequential test over the pairs from the first to the first that is missing.

        Taken in their order and not in that in which they finish, it neither favours short games nor depends on
        workers.
        """
        if self.sprt is None:
            return None
        row = list[float]()
        while len(row) in self.pairs:
            row.append(sum(pair_points(self.pairs[len(row)])))
        verdict, llr, number = self.sprt.run(row)
        return SprtFigures(llr, *self.sprt.bounds, verdict, number)

    @property
    def decided(self) -> bool:
        """Whether the sequential test has come to an end."""
        test = self.test
        return test is not None and test.verdict != "undecided"

    @property
    def first_side_score(self) -> float:
        """Points of who moved first, a game."""
        return first_side_share(self.games)

    @property
    def plies_per_game(self) -> float:
        """Those of the openings included."""
        return _mean([len(game.actions) for game in self.games])

    def as_json(self) -> dict[str, Any]:
        """All of it but the games; infinite Elo differences and means of nothing are null."""
        standing, (elo, low, high), test = self.standing, self.score.elo(), self.test
        found = finite(
            {
                "a": self.a,
                "b": self.b,
                "status": self.status,
                "wins": standing.wins,
                "draws": standing.draws,
                "losses": standing.losses,
                "score": self.score.as_metrics(),
                "pentanomial": self.pentanomial,
                "first_side_score": self.first_side_score,
                "plies_per_game": self.plies_per_game,
                "sides": {name: self.side(player)._asdict() for player, name in enumerate("ab")},
                "forfeits": [one._asdict() | {"player": "ab"[one.player]} for one in self.forfeited],
                "sprt": None if test is None else test._asdict(),
                "elo": elo,
                "elo_low": low,
                "elo_high": high,
                "games": standing.games,
            }
        )
        return dict(found)


def pair_points(pair: Pair) -> tuple[float, float]:
    """Points of ``a`` in the two games."""
    return POINTS[pair[0].winner][0], POINTS[pair[1].winner][1]


def first_side_share(games: Sequence[PlayedGame]) -> float:
    """Points of who moved first, a game; NaN of none."""
    return _mean([POINTS[game.winner][0] for game in games])


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else math.nan

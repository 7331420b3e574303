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
"""The two games of an opening. ``a`` has the first side in the first game."""
Status = Literal["finished", "decided", "interrupted", "incomplete"]
"""``finished``: all pairs were played. ``decided``: the sequential test ended the match. ``interrupted``: Ctrl-C.
``incomplete``: workers died, and their pairs are left out."""


@dataclass(frozen=True)
class Standing:
    """Wins, draws and losses of a player against one opponent or against all.

    >>> Standing(3, 2, 1).points
    4.0
    """

    wins: int = 0
    draws: int = 0
    losses: int = 0

    @classmethod
    def of(cls, points: Sequence[float]) -> "Standing":
        """Count the wins, draws and losses in a list of points: 1, 0.5 and 0."""
        return cls(points.count(1.0), points.count(0.5), points.count(0.0))

    def __add__(self, other: "Standing") -> "Standing":
        return Standing(self.wins + other.wins, self.draws + other.draws, self.losses + other.losses)

    @property
    def swapped(self) -> "Standing":
        """The standing of the other player."""
        return Standing(self.losses, self.draws, self.wins)

    @property
    def games(self) -> int:
        """Number of games."""
        return self.wins + self.draws + self.losses

    @property
    def points(self) -> float:
        """Points: 1 for a win, 0.5 for a draw."""
        return self.wins + self.draws / 2

    def row(self) -> Row:
        """Return ``wins, draws, losses, points, games`` for a table."""
        return {**vars(self), "points": self.points, "games": self.games}

    def result(self, a: str, b: str) -> Result:
        """Return the result as `rate_players` takes it."""
        return Result(a, b, self.points, self.games)


class SideFigures(NamedTuple):
    """Statistics of one player's moves. Means without data are NaN."""

    mean_ms: float
    """Mean milliseconds per move."""
    max_ms: float
    first_max_ms: float
    """Milliseconds of the longest first move of a game. Engines have extra time for it."""
    moves_per_game: float
    forfeits: dict[str, int]
    """Number of games lost by forfeit, by reason: illegal, time, hang, crash, exit."""


class Forfeit(NamedTuple):
    """A game lost by forfeit."""

    game: int
    """Number of the game, from 1, as in the archive."""
    player: int
    """The loser: 0 is ``a``, 1 is ``b``."""
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
    """Number of pairs up to the one that decided."""


@dataclass
class Match:
    """A match as far as it was played. Scores are those of ``a``."""

    a: str
    b: str
    """Texts or names of the players."""
    pairs: dict[int, Pair]
    """Finished pairs by number."""
    status: Status = "finished"
    sprt: Sprt | None = None
    """Sequential test that ends the match once it is decided."""
    unwritten: str = ""
    """Why a file of the match could not be written; empty if all were."""

    @classmethod
    def of(cls, a: str, b: str, games: Sequence[PlayedGame]) -> Self:
        """Make a match from all its games, pair by pair."""
        return cls(a, b, dict(enumerate(zip(games[::2], games[1::2], strict=True))))

    @property
    def games(self) -> list[PlayedGame]:
        """All games in order. ``a`` has the first side in those with an even index."""
        return [game for _, pair in sorted(self.pairs.items()) for game in pair]

    @property
    def points(self) -> list[tuple[float, float]]:
        """Points of ``a`` in the two games of each pair, in order."""
        return [pair_points(pair) for _, pair in sorted(self.pairs.items())]

    @property
    def standing(self) -> Standing:
        """Wins, draws and losses."""
        return Standing.of([point for pair in self.points for point in pair])

    @property
    def score(self) -> Score:
        """Score of ``a`` with its 95 % interval. The pairs, not the games, are independent."""
        return pair_score(self.points)

    @property
    def pentanomial(self) -> tuple[int, ...]:
        """Numbers of pairs with 0, 0.5, 1, 1.5 and 2 points for ``a``."""
        counts = Counter(round(2 * sum(pair)) for pair in self.points)
        return tuple(counts[k] for k in range(5))

    def seated(self, player: int) -> list[tuple[PlayedGame, int]]:
        """Yield all games, each with the side of ``a`` (0) or ``b`` (1)."""
        return [(game, player ^ i % 2) for i, game in enumerate(self.games)]

    @property
    def forfeited(self) -> list[Forfeit]:
        """The games that were lost by forfeit, in order."""
        numbered = [(2 * k + i, game) for k, pair in sorted(self.pairs.items()) for i, game in enumerate(pair)]
        return [
            Forfeit(n + 1, (game.winner == "first") ^ n % 2, game.ended, game.detail)
            for n, game in numbered
            if game.ended != "board"
        ]

    def forfeits(self, player: int) -> Counter[str]:
        """Count the games that ``a`` (0) or ``b`` (1) lost by forfeit, by reason."""
        return Counter(one.kind for one in self.forfeited if one.player == player)

    @property
    def mute(self) -> int | None:
        """The player, 0 or 1, who lost by forfeit and made no legal move in time in any game; None if both moved."""
        for player in (0, 1):
            if self.forfeits(player) and not any(game.moves_by(side) for game, side in self.seated(player)):
                return player
        return None

    @property
    def no_result(self) -> str:
        """Reason why the games say nothing about the players; empty if they do."""
        return "" if self.mute is None else f"{(self.a, self.b)[self.mute]} made no legal move in time in any game"

    @property
    def by_forfeit(self) -> str:
        """Words on a match that forfeits decided: without them the loser would not be behind; else empty."""
        standing = self.standing
        loser, margin = int(standing.wins > standing.losses), abs(standing.wins - standing.losses)
        lost = self.forfeits(loser)
        if not lost or lost.total() < margin:
            return ""
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(lost.items()))
        return f"{lost.total()} of {standing.games} games were lost by forfeit by {(self.a, self.b)[loser]} ({kinds})"

    def side(self, player: int) -> SideFigures:
        """Return statistics of the timed moves of ``a`` (0) or ``b`` (1)."""
        spent = [game.spent_by(side) for game, side in self.seated(player)]
        times, first = [time for game in spent for time in game], [game[0] for game in spent if game]
        moves = len(times) / len(self.games) if self.pairs else math.nan
        forfeits = dict(sorted(self.forfeits(player).items()))
        most = max(times, default=math.nan), max(first, default=math.nan)
        return SideFigures(_mean(times), *most, moves, forfeits)

    @property
    def test(self) -> SprtFigures | None:
        """The sequential test over the pairs from the first up to the first missing one.

        The pairs are taken by number and not in the order of finishing, so that the test does not favour short games
        and does not depend on the workers.
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
        """Whether the sequential test has accepted a hypothesis."""
        test = self.test
        return test is not None and test.verdict != "undecided"

    @property
    def first_side_score(self) -> float:
        """Mean points of the side that moved first."""
        return first_side_share(self.games)

    @property
    def plies_per_game(self) -> float:
        """Mean number of plies, including the openings."""
        return _mean([len(game.actions) for game in self.games])

    def as_json(self) -> dict[str, Any]:
        """Return everything but the games as JSON data. Infinite Elo differences and means without data are null."""
        standing, (elo, low, high), test = self.standing, self.score.elo(), self.test
        valid = not self.no_result
        found = finite(
            {
                "a": self.a,
                "b": self.b,
                "status": self.status,
                "wins": standing.wins,
                "draws": standing.draws,
                "losses": standing.losses,
                "no_result": self.no_result or None,
                "by_forfeit": self.by_forfeit or None,
                "score": self.score.as_metrics() if valid else None,
                "pentanomial": self.pentanomial,
                "first_side_score": self.first_side_score,
                "plies_per_game": self.plies_per_game,
                "sides": {name: self.side(player)._asdict() for player, name in enumerate("ab")},
                "forfeits": [one._asdict() | {"player": "ab"[one.player]} for one in self.forfeited],
                "sprt": None if test is None else test._asdict(),
                "elo": elo if valid else None,
                "elo_low": low if valid else None,
                "elo_high": high if valid else None,
                "games": standing.games,
            }
        )
        return dict(found)


def pair_points(pair: Pair) -> tuple[float, float]:
    """Return the points of ``a`` in the two games of a pair."""
    return POINTS[pair[0].winner][0], POINTS[pair[1].winner][1]


def first_side_share(games: Sequence[PlayedGame]) -> float:
    """Return the mean points of the side that moved first; NaN without games."""
    return _mean([POINTS[game.winner][game.began] for game in games])


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else math.nan

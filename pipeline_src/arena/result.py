"""Results of a match of two players: `Match`."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from pipeline_src.arena.game import POINTS, PlayedGame
from pipeline_src.arena.score import Z95, Score, pair_score
from pipeline_src.errors import ZugwerkError
from pipeline_src.files import Row, finite

# Elo ratings from the results of games, by the Bradley-Terry model.
#
# The probability that i beats j is 1 / (1 + 10^((r_j - r_i) / 400)) (Bradley, Terry, Biometrika 39, 1952; Elo). A draw
# counts as half a win and half a loss. Players have one additional virtual draw each on average, so that a player with
# wins only has a finite rating: both players of a pairing give half of theirs, spread over their opponents in
# proportion to their games. 20 wins in 20 games give +645 between two players without other games, and more over one
# that others play too. The ratings are the maximum likelihood estimates, with standard errors from the Fisher
# information.


SCALE = math.log(10) / 400  # Slope of the logistic curve, per Elo point
STEPS = 200
PRECISION = 1e-9  # Largest change in the last iteration, in Elo


class Result(NamedTuple):
    """Result of the games between two players."""

    a: str
    b: str
    points: float  # Points of `a`: 1 for a win, 0.5 for a draw
    games: int


@dataclass(frozen=True)
class Rating:
    """Rating of one player, relative to the anchor."""

    elo: float
    error: float  # Standard error; 0 for the anchor
    games: int

    @property
    def low(self) -> float:
        """Lower end of the 95 % interval."""
        return self.elo - Z95 * self.error

    @property
    def high(self) -> float:
        """Upper end of the 95 % interval."""
        return self.elo + Z95 * self.error

    def as_metrics(self) -> dict[str, float]:
        """Return ``{value, low, high, n}``, as in metrics files."""
        return {"value": self.elo, "low": self.low, "high": self.high, "n": self.games}


def rate_players(results: Iterable[Result], anchor: str, virtual: float = 1.0) -> dict[str, Rating]:
    """Rate all players; return the ratings by name, in the order of first games. The anchor has rating 0.

    >>> rate_players([Result("new", "old", points=7.5, games=10)], anchor="old")["new"].games
    10

    The same two players may occur several times. A player has ``virtual`` virtual draws, on average.

    Raises:
        ZugwerkError: the anchor has no game, or a player is not connected to it by a chain of games.
    """
    played = [result for result in results if result.games]
    names = list(dict.fromkeys(name for result in played for name in (result.a, result.b)))
    if anchor not in names:
        raise ZugwerkError(f"the anchor {anchor!r} has no games; ratings are relative to it")
    points, games = np.zeros((2, len(names), len(names)))  # [N, N], of the row's player against the column's
    for result in played:
        a, b = names.index(result.a), names.index(result.b)
        if a == b:
            raise ZugwerkError(f"{result.a!r} cannot be rated by games against itself")
        points[a, b] += result.points
        points[b, a] += result.games - result.points
        games[a, b] += result.games
        games[b, a] += result.games
    linked = np.linalg.matrix_power((games > 0) | np.eye(len(names), dtype=bool), len(names))[names.index(anchor)]
    if lost := [repr(name) for name, is_linked in zip(names, linked, strict=True) if not is_linked]:
        raise ZugwerkError(f"no chain of games links {', '.join(lost)} to the anchor {anchor!r}")
    own = games.sum(axis=1)
    ghosts = virtual * games * (1 / own[:, None] + 1 / own[None, :]) / 2
    elo, error = _maximise(points + ghosts / 2, games + ghosts, names.index(anchor))
    return {name: Rating(float(elo[i]), float(error[i]), round(own[i])) for i, name in enumerate(names)}


Table = npt.NDArray[np.floating]


def _maximise(points: Table, games: Table, anchor: int) -> tuple[Table, Table]:
    """Return (Elo, standard error) [N] by Newton's method. The likelihood is concave, so it has one maximum."""
    free = np.arange(len(points)) != anchor
    elo, error = np.zeros((2, len(points)))
    total = points.sum(axis=1)
    covariance: Table = np.zeros((0, 0))
    for _ in range(STEPS):
        expected = 1 / (1 + np.exp(-SCALE * (elo[:, None] - elo[None, :])))
        weight = SCALE**2 * games * expected * (1 - expected)
        information = np.diag(weight.sum(axis=1)) - weight
        covariance = np.linalg.inv(information[np.ix_(free, free)])
        step = covariance @ (SCALE * (total - (games * expected).sum(axis=1)))[free]
        elo[free] += np.clip(step, -400, 400)  # a whole step can overshoot where all games were won
        if np.abs(step).max(initial=0.0) < PRECISION:
            break
    error[free] = np.sqrt(np.diag(covariance))
    return elo, error


# Sequential probability ratio test (SPRT) of an Elo difference, from colour-swapped pairs.
#
# The log-likelihood ratio is the generalised one (Li, Liu and Ying, Sequential Analysis 33, 2014), as in Stockfish's
# fishtest (Van den Bergh): each hypothesis fixes the mean score only, and uses the most likely distribution over the
# five results of a pair with that mean. Pairs are independent, games are not. The bounds are Wald's (Sequential
# Analysis, 1947).


PAIR_SCORES = (0.0, 0.25, 0.5, 0.75, 1.0)  # Possible scores of a pair, the mean of its two games
UNSEEN = 1e-3  # Count of a result that has not occurred, so that every mean is possible (as in fishtest)
MOST_ELO = 2_000

Verdict = Literal["H0", "H1", "undecided"]


@dataclass(frozen=True)
class Sprt:
    """A test of H1, an Elo difference of at least ``elo1``, against H0, at most ``elo0``.

    >>> Sprt(0, 10).verdict(3.5)
    'H1'
    """

    elo0: float
    elo1: float
    alpha: float = 0.05  # Probability of accepting H1 if H0 is true
    beta: float = 0.05  # Probability of accepting H0 if H1 is true

    def __post_init__(self) -> None:
        if not -MOST_ELO <= self.elo0 < self.elo1 <= MOST_ELO:
            raise ZugwerkError(f"sprt: elo0 must be below elo1, both within {MOST_ELO}: {self.elo0}, {self.elo1}")
        if not (0 < self.alpha < 0.5 and 0 < self.beta < 0.5):
            raise ZugwerkError("sprt: alpha and beta must lie between 0 and 0.5")

    @classmethod
    def parse(cls, text: str) -> "Sprt":
        """Read a test from the text ``elo0,elo1[,alpha,beta]``.

        Raises:
            ZugwerkError: the text has another form, or a number is out of range.
        """
        try:
            numbers = [float(part) for part in text.split(",")]
        except ValueError:
            numbers = []
        if len(numbers) not in (2, 4):
            raise ZugwerkError(f"sprt {text!r}: expected elo0,elo1[,alpha,beta], e.g. 0,10,0.05,0.05")
        return cls(*numbers)

    @property
    def bounds(self) -> tuple[float, float]:
        """Log-likelihood ratios at which H0 and H1 are accepted."""
        return math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)

    def llr(self, counts: Sequence[int]) -> float:
        """Return the log-likelihood ratio of H1 over H0 for the numbers of pairs with each of `PAIR_SCORES`."""
        return _llr(expected_score(self.elo0), expected_score(self.elo1), tuple(counts))

    def verdict(self, llr: float) -> Verdict:
        """Return the verdict for a log-likelihood ratio."""
        low, high = self.bounds
        return "H0" if llr <= low else "H1" if llr >= high else "undecided"

    def run(self, points: Iterable[float]) -> tuple[Verdict, float, int]:
        """Return (verdict, log-likelihood ratio, number of pairs) at the first pair that decides, or at the last pair.

        ``points`` are those of each pair, 0 to 2, in order.
        """
        counts, number, llr = [0] * len(PAIR_SCORES), 0, 0.0
        for point in points:
            counts[round(2 * point)] += 1
            number += 1
            llr = self.llr(counts)
            if self.verdict(llr) != "undecided":
                break
        return self.verdict(llr), llr, number


def expected_score(elo: float) -> float:
    """Return the expected score for an Elo difference by the logistic model: 1 / (1 + 10^(-elo / 400)).

    >>> round(expected_score(100), 2)
    0.64
    """
    return 1 / (1 + 10 ** (-elo / 400))


@lru_cache(maxsize=1 << 16)  # a resumed match asks again for all of its pairs
def _llr(s0: float, s1: float, counts: tuple[int, ...]) -> float:
    """Return `Sprt.llr` for hypotheses that are given as expected scores."""
    seen = [count or UNSEEN for count in counts]
    if not any(counts):
        return 0.0
    total = sum(seen)
    shares = [count / total for count in seen]
    tilt0, tilt1 = _tilt(shares, s0), _tilt(shares, s1)
    terms = (
        share * math.log((1 + tilt0 * (score - s0)) / (1 + tilt1 * (score - s1)))
        for share, score in zip(shares, PAIR_SCORES, strict=True)
    )
    return total * sum(terms)


def _tilt(shares: Sequence[float], mean: float) -> float:
    """Return the tilt for which ``share / (1 + tilt * (score - mean))`` is the most likely distribution with a mean.

    The mean of that distribution falls as the tilt grows, so bisection finds the tilt.
    """
    low, high = -1 / (PAIR_SCORES[-1] - mean), 1 / (mean - PAIR_SCORES[0])  # bounds at which a weight is infinite
    for _ in range(200):
        middle = (low + high) / 2
        slope = sum(
            share * (score - mean) / (1 + middle * (score - mean))
            for share, score in zip(shares, PAIR_SCORES, strict=True)
        )
        if slope > 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2


Pair = tuple[PlayedGame, PlayedGame]  # The two games of an opening. `a` has the first side in the first game.
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

    mean_ms: float  # Mean milliseconds per move
    max_ms: float
    first_max_ms: float  # Milliseconds of the longest first move of a game. Engines have extra time for it.
    moves_per_game: float
    forfeits: dict[str, int]  # Number of games lost by forfeit, by reason: illegal, time, hang, crash, exit


class Forfeit(NamedTuple):
    """A game lost by forfeit."""

    game: int  # Number of the game, from 1, as in the archive
    player: int  # The loser: 0 is `a`, 1 is `b`
    kind: str
    detail: str  # See `PlayedGame.detail`


class SprtFigures(NamedTuple):
    """State of the sequential test, over the pairs in their order."""

    llr: float
    low: float
    high: float
    verdict: Verdict
    pairs: int  # Number of pairs up to the one that decided


@dataclass
class Match:
    """A match as far as it was played. Scores are those of ``a``."""

    a: str
    b: str  # Texts or names of the players
    pairs: dict[int, Pair]  # Finished pairs by number
    status: Status = "finished"
    sprt: Sprt | None = None  # Sequential test that ends the match once it is decided
    unwritten: str = ""  # Why a file of the match could not be written; empty if all were

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
        """Return all games, each with the side of ``a`` (0) or ``b`` (1)."""
        return [(game, player ^ i % 2) for i, game in enumerate(self.games)]

    @property
    def forfeited(self) -> list[Forfeit]:
        """The games that were lost by forfeit, in order."""
        return [
            Forfeit(2 * k + i + 1, (game.winner == "first") ^ i, game.ended, game.detail)
            for k, pair in sorted(self.pairs.items())
            for i, game in enumerate(pair)
            if game.ended != "board"
        ]

    def forfeits(self, player: int) -> Counter[str]:
        """Count the games that ``a`` (0) or ``b`` (1) lost by forfeit, by reason."""
        return Counter(one.kind for one in self.forfeited if one.player == player)

    @property
    def mute(self) -> int | None:
        """The player, 0 or 1, who lost by forfeit and made no legal move in time in any game; None if both moved."""
        mute = (k for k in (0, 1) if self.forfeits(k) and not any(game.moves_by(s) for game, s in self.seated(k)))
        return next(mute, None)

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
        standing, test, valid = self.standing, self.test, not self.no_result
        found = finite(
            {
                "a": self.a,
                "b": self.b,
                "status": self.status,
                **vars(standing),
                "no_result": self.no_result or None,
                "by_forfeit": self.by_forfeit or None,
                "score": self.score.as_metrics() if valid else None,
                "pentanomial": self.pentanomial,
                "first_side_score": self.first_side_score,
                "plies_per_game": self.plies_per_game,
                "sides": {name: self.side(player)._asdict() for player, name in enumerate("ab")},
                "forfeits": [one._asdict() | {"player": "ab"[one.player]} for one in self.forfeited],
                "sprt": None if test is None else test._asdict(),
                **dict(zip(("elo", "elo_low", "elo_high"), self.score.elo() if valid else (None,) * 3, strict=True)),
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

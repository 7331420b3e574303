"""Elo ratings from the results of games, by the Bradley-Terry model.

The probability that i beats j is 1 / (1 + 10^((r_j - r_i) / 400)) (Bradley, Terry, Biometrika 39, 1952; Elo). A draw
counts as half a win and half a loss. Players have one additional virtual draw each on average, so that a player
with wins only has a finite rating: both players of a pairing give half of theirs, spread over their opponents in
proportion to their games. 20 wins in 20 games give +645 between two players without other games, and more over one that
others play too. The ratings are the maximum likelihood estimates, with standard errors from the Fisher information.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pipeline_src.arena.score import Z95
from pipeline_src.errors import ZugwerkError

SCALE = math.log(10) / 400
"""Slope of the logistic curve, per Elo point."""
STEPS = 200
PRECISION = 1e-9
"""Largest change in the last iteration, in Elo."""


@dataclass(frozen=True)
class Result:
    """Result of the games between two players."""

    a: str
    b: str
    points: float
    """Points of ``a``: 1 for a win, 0.5 for a draw."""
    games: int


@dataclass(frozen=True)
class Rating:
    """Rating of one player, relative to the anchor."""

    elo: float
    error: float
    """Standard error; 0 for the anchor."""
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

    Args:
        results: results in any order; the same two players may occur several times.
        anchor: name of the player with rating 0.
        virtual: number of virtual draws of a player, on average.

    Raises:
        ZugwerkError: the anchor has no game, or a player is not connected to it by a chain of games.
    """
    played = [result for result in results if result.games]
    names = list(dict.fromkeys(name for result in played for name in (result.a, result.b)))
    if anchor not in names:
        raise ZugwerkError(f"the anchor {anchor!r} has no games; ratings are relative to it")
    points, games = _tables(played, names)
    _check_linked(games, names, names.index(anchor))
    own = games.sum(axis=1)
    ghosts = virtual * games * (1 / own[:, None] + 1 / own[None, :]) / 2
    elo, error = _maximise(points + ghosts / 2, games + ghosts, names.index(anchor))
    return {name: Rating(float(elo[i]), float(error[i]), round(own[i])) for i, name in enumerate(names)}


Table = npt.NDArray[np.floating]


def _tables(results: Sequence[Result], names: Sequence[str]) -> tuple[Table, Table]:
    """Return two tables [N, N]: points of the row's player against the column's, and games between them."""
    at = {name: i for i, name in enumerate(names)}
    points, games = np.zeros((2, len(names), len(names)))
    for result in results:
        a, b = at[result.a], at[result.b]
        if a == b:
            raise ZugwerkError(f"{result.a!r} cannot be rated by games against itself")
        points[a, b] += result.points
        points[b, a] += result.games - result.points
        games[a, b] += result.games
        games[b, a] += result.games
    return points, games


def _check_linked(games: Table, names: Sequence[str], anchor: int) -> None:
    reached, todo = {anchor}, [anchor]
    while todo:
        near = set(np.flatnonzero(games[todo.pop()]).tolist()) - reached
        reached |= near
        todo += near
    lost = [name for i, name in enumerate(names) if i not in reached]
    if lost:
        raise ZugwerkError(f"no chain of games links {', '.join(map(repr, lost))} to the anchor {names[anchor]!r}")


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

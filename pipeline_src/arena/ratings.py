"""Ratings from the results of games: the Bradley-Terry model on the Elo scale.

The chance of i to win against j is 1 / (1 + 10^((r_j - r_i) / 400)) (Bradley, Terry, Biometrika 39, 1952; Elo). A drawn
game counts as half a game won and half a game lost. Each player has, beside its games, one drawn game that nobody
played, spread over its opponents as its games are: so who has won all its games is rated finitely, 20 of 20 at +645
over its only opponent. These are the most likely ratings under both; the errors are those of Fisher's information.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pipeline_src.arena.score import Z95
from pipeline_src.errors import ZugwerkError

SCALE = math.log(10) / 400
"""Of the logistic curve, per Elo."""
STEPS = 200
PRECISION = 1e-9
"""In Elo, of the largest change in the last step."""


@dataclass(frozen=True)
class Result:
    """Games between two players."""

    a: str
    b: str
    points: float
    """Of ``a``: a win is 1, a draw half."""
    games: int


@dataclass(frozen=True)
class Rating:
    """Of one player, relative to the anchor."""

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
        """``{value, low, high, n}``, as metrics files hold figures."""
        return {"value": self.elo, "low": self.low, "high": self.high, "n": self.games}


def rate_players(results: Iterable[Result], anchor: str, virtual: float = 1.0) -> dict[str, Rating]:
    """Ratings of all who played, by name in the order of their first game; the anchor's is 0.

    Args:
        results: in any order; the same two may meet again.
        anchor: name of the player whose rating is 0.
        virtual: drawn games that each player is given beside its own.

    Raises:
        ZugwerkError: the anchor played no game, or somebody is not linked to it by any chain of games.
    """
    played = [result for result in results if result.games]
    names = list(dict.fromkeys(name for result in played for name in (result.a, result.b)))
    if anchor not in names:
        raise ZugwerkError(f"no games of {anchor!r}, to whom ratings are relative")
    points, games = _tables(played, names)
    _check_linked(games, names, names.index(anchor))
    own = games.sum(axis=1)
    ghosts = virtual * games * (1 / own[:, None] + 1 / own[None, :]) / 2
    elo, error = _maximise(points + ghosts / 2, games + ghosts, names.index(anchor))
    return {name: Rating(float(elo[i]), float(error[i]), round(own[i])) for i, name in enumerate(names)}


Table = npt.NDArray[np.floating]


def _tables(results: Sequence[Result], names: Sequence[str]) -> tuple[Table, Table]:
    """(points of row against column, games between them) [N, N]."""
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
    """(Elo, standard error) [N] by Newton's method; the likelihood is concave, so there is one maximum."""
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

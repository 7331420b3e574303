"""Many matches on one board and from one set of openings, between players that are known by names."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from pipeline_src.arena.best_of import BestOfMatch, Rules, play_best_of
from pipeline_src.arena.fixtures import Board, Fixture, play_fixtures, swapped_pair
from pipeline_src.arena.games import PlayedGame
from pipeline_src.arena.round_robin import Standing, pair_points
from pipeline_src.arena.score import Score, pair_score
from pipeline_src.parallel import Parallel


@dataclass(frozen=True)
class Pairing:
    """A match of colour-swapped pairs."""

    table: str
    """What the match is for; the same two may meet for more than one thing."""
    a: str
    """Name of the player whose points are told."""
    b: str
    pairs: int


@dataclass(frozen=True)
class Played:
    """A pairing and its games; ``a`` moves first in the even ones."""

    pairing: Pairing
    games: list[PlayedGame]

    @property
    def points(self) -> list[float]:
        """Of ``a``, game by game."""
        return pair_points(self.games)

    @property
    def standing(self) -> Standing:
        """Of ``a``."""
        return Standing.of(self.points)

    @property
    def score(self) -> Score:
        """Of ``a``, pairs being what is independent."""
        points = self.points
        return pair_score(list(zip(points[::2], points[1::2], strict=True)))


@dataclass(frozen=True)
class Event:
    """All that the games depend on beside who meets whom. A match is the same whatever else is played."""

    board: Board
    texts: Mapping[str, str]
    """Players' texts by their names."""
    openings: Sequence[tuple[int, ...]]
    seed: Sequence[int]
    parallel: Parallel = field(default_factory=Parallel)
    group: int = 40
    keep: Path | None = None
    """See `play_fixtures`."""

    def play(self, pairings: Sequence[Pairing]) -> list[Played]:
        """Play them all, each from openings of its own choice, none twice."""
        fixtures = [fixture for pairing in pairings for fixture in self._pairs(pairing)]
        games = iter(self._play(fixtures))
        return [Played(pairing, [next(games) for _ in range(2 * pairing.pairs)]) for pairing in pairings]

    def play_best_of(self, table: str, meetings: Iterable[tuple[str, str]], rules: Rules) -> list[BestOfMatch]:
        """Play best-of matches; who begins is drawn by lot."""
        matches = [BestOfMatch(a, b, bool(self._rng(table, a, b).integers(2))) for a, b in meetings]
        openings = {(one.a, one.b): self._choice(table, one.a, one.b, rules.limit // 2 + 1) for one in matches}

        def fixture(match: BestOfMatch, number: int) -> Fixture:
            names = (match.a, match.b) if match.a_is_first(number) else (match.b, match.a)
            opening = openings[match.a, match.b][number // 2]
            seed = (*self._seed(table, match.a, match.b), 2, number)
            return Fixture(self.texts[names[0]], self.texts[names[1]], opening, seed)

        play_best_of(matches, rules, fixture, self._play)
        return matches

    def _play(self, fixtures: list[Fixture]) -> list[PlayedGame]:
        return play_fixtures(self.board, fixtures, self.parallel, self.group, self.keep)

    def _pairs(self, pairing: Pairing) -> list[Fixture]:
        a, b = self.texts[pairing.a], self.texts[pairing.b]
        seed = (*self._seed(pairing.table, pairing.a, pairing.b), 1)
        openings = self._choice(pairing.table, pairing.a, pairing.b, pairing.pairs)
        return [one for i, opening in enumerate(openings) for one in swapped_pair(a, b, opening, (*seed, i))]

    def _choice(self, table: str, a: str, b: str, count: int) -> list[tuple[int, ...]]:
        order = self._rng(table, a, b).permutation(len(self.openings))
        return [self.openings[i] for i in order[:count]]

    def _seed(self, *words: str) -> tuple[int, ...]:
        return (*self.seed, *"/".join(words).encode())

    def _rng(self, *words: str) -> np.random.Generator:
        return np.random.default_rng([*self._seed(*words), 0])

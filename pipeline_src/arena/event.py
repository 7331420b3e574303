"""Many matches on one board and from one set of openings: colour-swapped pairs, round robins, best-of matches.

A best-of match is won by the first player with more than half of ``best_of`` wins, and ends there. A drawn game is
replayed: the match lasts up to ``replays`` games more than ``best_of``, and one that is still open then has no
winner. The sides are swapped after each game.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import NamedTuple

import numpy as np

from pipeline_src.arena.game import POINTS, Fixture, PlayedGame
from pipeline_src.arena.journal import Journal
from pipeline_src.arena.result import Match, Standing
from pipeline_src.arena.runner import Board, play_fixtures, play_matches, swapped_pair
from pipeline_src.parallel import Parallel
from pipeline_src.records.record import GameRecord


class Pairing(NamedTuple):
    """A match of colour-swapped pairs to be played."""

    table: str
    """Purpose of the match. Two players may meet for several purposes."""
    a: str
    """Name of player A; scores are reported for A."""
    b: str
    pairs: int


@dataclass(frozen=True)
class Rules:
    """Length of a best-of match."""

    best_of: int = 5
    """Length of a match in games, odd."""
    replays: int = 4
    """Largest number of drawn games that are replayed."""

    @property
    def needed(self) -> int:
        """Number of wins needed to win the match."""
        return self.best_of // 2 + 1

    @property
    def limit(self) -> int:
        """Largest number of games."""
        return self.best_of + self.replays

    def certain(self, standing: Standing) -> int:
        """Least number of games still to be played, for any results; 0 if the match is over."""
        ahead = max(standing.wins, standing.losses)
        if ahead >= self.needed:
            return 0
        return min(self.needed - ahead, self.limit - standing.games)


@dataclass
class BestOf:
    """A best-of match, from the point of view of ``a``."""

    a: str
    b: str
    a_begins: bool
    """Whether ``a`` has the first side in the first game."""
    games: list[PlayedGame] = field(default_factory=list)

    def a_is_first(self, number: int) -> bool:
        """Whether ``a`` has the first side in a game, numbered from 0."""
        return self.a_begins == (number % 2 == 0)

    @property
    def standing(self) -> Standing:
        """Wins, draws and losses of ``a``."""
        return Standing.of([POINTS[game.winner][not self.a_is_first(i)] for i, game in enumerate(self.games)])

    def won(self, rules: Rules) -> bool | None:
        """Whether ``a`` has won; None without a winner."""
        standing = self.standing
        if max(standing.wins, standing.losses) < rules.needed:
            return None
        return standing.wins > standing.losses


@dataclass(frozen=True)
class Event:
    """Everything that decides the games except the pairings. A match does not depend on the other matches."""

    board: Board
    texts: Mapping[str, str]
    """Players' texts by their names."""
    openings: Sequence[tuple[int, ...]]
    seed: Sequence[int]
    parallel: Parallel = field(default_factory=Parallel)
    journal: Journal | None = None
    """Keeps finished games."""

    def play(self, pairings: Sequence[Pairing]) -> list[Match]:
        """Play all pairings, each from its own openings, none of them twice."""
        games = play_matches(self.board, [self._pairs(one) for one in pairings], self.parallel, self.journal)
        return [Match.of(one.a, one.b, played) for one, played in zip(pairings, games, strict=True)]

    def play_best_of(self, table: str, meetings: Iterable[tuple[str, str]], rules: Rules) -> list[BestOf]:
        """Play best-of matches to their end, side by side. Each has exactly the games that it would have alone.

        The player who begins is drawn at random.
        """
        matches = [BestOf(a, b, bool(self._rng(table, a, b).integers(2))) for a, b in meetings]
        while due := [(match, len(match.games) + i) for match in matches for i in range(rules.certain(match.standing))]:
            games = self._play([self._game(table, match, number, rules) for match, number in due])
            for (match, _), game in zip(due, games, strict=True):
                match.games.append(game)
        return matches

    def _play(self, fixtures: list[Fixture]) -> list[PlayedGame]:
        return play_fixtures(self.board, fixtures, self.parallel, self.journal)

    def _pairs(self, pairing: Pairing) -> list[Fixture]:
        table, a, b, count = pairing
        seed, openings = (*self._seed(table, a, b), 1), self._choice(table, a, b, count)
        games = [swapped_pair(self.texts[a], self.texts[b], one, (*seed, i)) for i, one in enumerate(openings)]
        return [game for pair in games for game in pair]

    def _game(self, table: str, match: BestOf, number: int, rules: Rules) -> Fixture:
        names = (match.a, match.b) if match.a_is_first(number) else (match.b, match.a)
        opening = self._choice(table, match.a, match.b, rules.limit // 2 + 1)[number // 2]
        seed = (*self._seed(table, match.a, match.b), 2, number)
        return Fixture(self.texts[names[0]], self.texts[names[1]], opening, seed)

    def _choice(self, table: str, a: str, b: str, count: int) -> list[tuple[int, ...]]:
        order = self._rng(table, a, b).permutation(len(self.openings))
        return [self.openings[i] for i in order[:count]]

    def _seed(self, *words: str) -> tuple[int, ...]:
        return (*self.seed, *"/".join(words).encode())

    def _rng(self, *words: str) -> np.random.Generator:
        return np.random.default_rng([*self._seed(*words), 0])


def records(board: Board, games: Iterable[tuple[str, Iterable[PlayedGame]]]) -> Iterator[GameRecord]:
    """Yield the records of the games, numbered from 1, with the purpose of each in ``event``."""
    for gid, (event, game) in enumerate(((event, game) for event, some in games for game in some), 1):
        yield board.record(game, gid, event)


def pairings(names: Sequence[str]) -> list[tuple[str, str]]:
    """Return every pair of names once, those of the first name first."""
    return list(combinations(names, 2))


def cross_table(names: Sequence[str], standings: Mapping[tuple[str, str], Standing]) -> list[tuple[str, str, Standing]]:
    """Return (player, opponent, standing) in both directions; each player's total, against ``all``, comes last."""
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

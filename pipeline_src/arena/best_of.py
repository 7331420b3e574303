"""Best-of matches: whoever first wins more than half of ``best_of`` games wins, and play stops there.

A drawn game wins for nobody and is replayed: the match goes on with the next game, up to ``replays`` games more than
``best_of``. Nobody has won a match that is still open then. The sides are swapped from game to game.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from pipeline_src.arena.fixtures import Fixture
from pipeline_src.arena.games import PlayedGame
from pipeline_src.arena.match import POINTS
from pipeline_src.arena.round_robin import Standing


@dataclass(frozen=True)
class Rules:
    """How long a match goes on."""

    best_of: int = 5
    """Odd."""
    replays: int = 4
    """Drawn games that are played again, at most."""

    @property
    def needed(self) -> int:
        """Wins that take the match."""
        return self.best_of // 2 + 1

    @property
    def limit(self) -> int:
        """Games at the most."""
        return self.best_of + self.replays

    def certain(self, standing: Standing) -> int:
        """Games that will still be played, whatever their results; 0 where the match is over."""
        ahead = max(standing.wins, standing.losses)
        if ahead >= self.needed:
            return 0
        return min(self.needed - ahead, self.limit - standing.games)


@dataclass
class BestOfMatch:
    """One match, seen from ``a``."""

    a: str
    b: str
    a_begins: bool
    """Whether ``a`` moves first in the first game."""
    games: list[PlayedGame] = field(default_factory=list)

    def a_is_first(self, number: int) -> bool:
        """Whether ``a`` moves first in that game, from 0."""
        return self.a_begins == (number % 2 == 0)

    @property
    def standing(self) -> Standing:
        """Of ``a``."""
        return Standing.of([POINTS[game.winner][not self.a_is_first(i)] for i, game in enumerate(self.games)])

    def won(self, rules: Rules) -> bool | None:
        """Whether ``a`` has won; None where nobody has."""
        standing = self.standing
        if max(standing.wins, standing.losses) < rules.needed:
            return None
        return standing.wins > standing.losses


def play_best_of(
    matches: Sequence[BestOfMatch],
    rules: Rules,
    fixture: Callable[[BestOfMatch, int], Fixture],
    play: Callable[[list[Fixture]], list[PlayedGame]],
) -> None:
    """Play all matches to their end, side by side; each gets just the games it would get alone.

    Args:
        matches: what to play; their games are added to them.
        rules: how long.
        fixture: the game of that number, from 0, of a match.
        play: plays games, in their order.
    """
    while True:
        due = [(match, len(match.games) + i) for match in matches for i in range(rules.certain(match.standing))]
        if not due:
            return
        for (match, _), game in zip(due, play([fixture(*one) for one in due]), strict=True):
            match.games.append(game)

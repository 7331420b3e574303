"""All games of an event: what became of them, and their records."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from pipeline_src.arena.best_of import BestOfMatch
from pipeline_src.arena.event import Played
from pipeline_src.arena.games import PlayedGame
from pipeline_src.arena.match import POINTS
from pipeline_src.records.record import GameRecord


@dataclass(frozen=True)
class Outcome:
    """What was played."""

    tables: Mapping[str, list[Played]]
    """Matches of pairs, by what they were for."""
    best_of: list[BestOfMatch]
    best_of_table: str = "table4"

    @property
    def matches(self) -> list[Played]:
        """All matches of pairs."""
        return [played for table in self.tables.values() for played in table]

    @property
    def games(self) -> list[PlayedGame]:
        """All games."""
        return [game for _, _, _, game in self._all()]

    def records(self, texts: Mapping[str, str], size: int, variant: str) -> Iterator[GameRecord]:
        """All games of Gomoku, numbered from 1, with the players' texts; ``event`` says what a game was for."""
        for gid, (event, first, second, game) in enumerate(self._all(), 1):
            yield GameRecord(
                game="gomoku",
                gid=gid,
                source="engine",
                variant=variant,
                height=size,
                width=size,
                actions=game.actions,
                winner=game.winner,
                first_name=texts[first],
                second_name=texts[second],
                event=event,
            )

    def _all(self) -> Iterator[tuple[str, str, str, PlayedGame]]:
        """(what for, name of who moves first, and of who moves second, game)."""
        for played in self.matches:
            a, b, table = played.pairing.a, played.pairing.b, played.pairing.table
            for i, game in enumerate(played.games):
                yield (table, b, a, game) if i % 2 else (table, a, b, game)
        for match in self.best_of:
            for i, game in enumerate(match.games):
                names = (match.a, match.b) if match.a_is_first(i) else (match.b, match.a)
                yield self.best_of_table, *names, game


def first_side_share(games: Iterable[PlayedGame]) -> float:
    """Points of who moved first, a game."""
    points = [POINTS[game.winner][0] for game in games]
    return sum(points) / len(points)

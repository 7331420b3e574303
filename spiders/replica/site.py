"""The site as data: games and players, from which texts and pages are made."""

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

from pipeline_src.records.littlegolem.text import Node, only_text, parse_text
from pipeline_src.records.rejects import RecordError
from spiders.replica.server import Answer

RECORD_TYPE = "application/sgf;charset=ISO-8859-1"
TITLES = {"amzn": "Amazons", "go19": "Go", "gmk": "Gomoku", "connect6": "Connect6", "hex": "Hex", "twixt": "Twixt PP"}


@dataclass(frozen=True)
class Variant:
    """One variant: its id in addresses, and its words on pages."""

    id: str
    words: str


@dataclass(frozen=True)
class SiteGame:
    """One game of the site."""

    gid: int
    variant: Variant
    players: tuple[int, int]  # Plids in the order of moving
    points: tuple[int, int] | None  # 2 won, 1 draw, 0 lost; None for an unfinished game, or an unknown result
    running: bool
    plies: int  # Nodes of the record, a resignation among them; lists show it without reading the record
    answer: Callable[[], Answer]  # Makes the site's answer for the record

    @cached_property
    def record(self) -> Answer:
        """The site's answer for the record."""
        return self.answer()

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """Moves of the record; none without exactly one readable record."""
        try:
            return parse_text(only_text(self.record.body)).nodes
        except RecordError:
            return ()


class Site:
    """All games of one game type, with the indexes that pages need."""

    def __init__(self, gtid: str, games: Iterable[SiteGame], names: dict[int, str]) -> None:
        self.gtid = gtid
        self.title = TITLES.get(gtid, gtid)
        self.names = names  # By plid
        self.games = {game.gid: game for game in sorted(games, key=lambda game: game.gid)}
        self.by_player: dict[int, list[SiteGame]] = {plid: [] for plid in sorted(names)}
        for game in self.games.values():
            for plid in game.players:
                self.by_player[plid].append(game)

    def players_of(self, variant: str) -> list[int]:
        """Plids of those who played a variant, best rated first."""
        found = {plid for game in self.games.values() if game.variant.id == variant for plid in game.players}
        return sorted(found, key=lambda plid: (-rating(plid), plid))

    def finished(self, variant: str) -> list[SiteGame]:
        """Finished games of a variant, newest first."""
        games = (game for game in self.games.values() if game.variant.id == variant and not game.running)
        return sorted(games, key=lambda game: -game.gid)


def always(answer: Answer) -> Callable[[], Answer]:
    """Constructor for a game with a known record."""
    return lambda: answer


def plid_of(name: str) -> int:
    """Number for a player without one; from the name alone, so that it does not change as the archive grows."""
    return 10**9 + int.from_bytes(hashlib.sha256(name.encode()).digest()[:5], "big")


def rating(plid: int) -> float:
    """A player's rating; made up, but always the same."""
    return 1_200 + plid * 7_919 % 12_000 / 10

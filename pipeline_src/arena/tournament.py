"""Tournaments of several players: a round robin or a gauntlet, played in colour-swapped pairs.

The games of two players depend only on the two players, the board, the openings and the seed. A player that is added
to the file changes no game that was played before, and the journal is continued with the new games.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field, field_validator

from pipeline_src.arena.game import Fixture, PlayedGame
from pipeline_src.arena.journal import Journal
from pipeline_src.arena.match import MatchSpec, cross_table, engine_logs_of, journal_of, play_pairs, with_limits
from pipeline_src.arena.person import game_text
from pipeline_src.arena.result import Match, Pair, Rating, Sprt, Standing, Status, rate_players
from pipeline_src.arena.runner import group_keys, swapped_pair
from pipeline_src.errors import ZugwerkError, line_of
from pipeline_src.files import write_json, written_aside
from pipeline_src.games.game import get_game
from pipeline_src.parallel import Parallel
from pipeline_src.parallel.tasks import nothing
from pipeline_src.project.params import Even, Items, Named, NonNegative, Params, Positive, Text, Whole, build, read_tree
from pipeline_src.records.record import write_records

ROUND = 4
"""Pairs of each meeting per round of a sequential test. The number is fixed: workers change no game that is played."""


class Tournament(Params):
    """Contents of a tournament file."""

    game: Text
    """Name of the game."""
    players: Annotated[Named[Text], Field(min_length=2)]
    """Player texts by name. Ratings are relative to the first player."""
    format: Literal["round_robin", "gauntlet"] = "round_robin"
    """Each player meets every other, or the first player meets each of the others."""
    games: Even = 20
    """Number of games of each meeting, even."""
    openings: Text = "random:2"
    """``random:PLIES``, ``none`` or a file. Every meeting has the same openings."""
    size: int | None = None
    """Size of the board; None is the game's standard one."""
    variant: Text | None = None
    """Variant of the rules; None is the game's standard one."""
    movetime: Positive | None = None
    """Milliseconds per move, for players without a limit of their own; not with a clock."""
    clock: Annotated[Items[NonNegative], Field(min_length=2, max_length=2)] | None = None
    """Milliseconds per side and increment per move."""
    margin: NonNegative = 100.0
    """Milliseconds that a move may take beyond its movetime."""
    seed: Whole = 1
    """Seed of openings and players."""
    sprt: Annotated[Items[float], Field(min_length=2, max_length=4)] | None = None
    """elo0, elo1 and optionally alpha and beta: a meeting stops when its test is decided."""

    @field_validator("players")
    @classmethod
    def _told_apart(cls, players: dict[str, str]) -> dict[str, str]:
        if len(set(players.values())) < len(players):
            raise ValueError("must differ; option name=... tells two of the same engine apart")
        if "all" in players:
            raise ValueError("must have another name than 'all', which tables have for everybody together")
        return players

    @field_validator("sprt")
    @classmethod
    def _testable(cls, sprt: tuple[float, ...] | None) -> tuple[float, ...] | None:
        if sprt and len(sprt) == 3:
            raise ValueError("must be elo0, elo1 or elo0, elo1, alpha, beta")
        try:
            Sprt(*(sprt or (0, 1)))
        except ZugwerkError as error:
            raise ValueError(f"is no test: {str(error).removeprefix('sprt: ')}") from None
        return sprt

    @property
    def names(self) -> list[str]:
        """Names of all players."""
        return [*self.players]

    @property
    def meetings(self) -> list[tuple[str, str]]:
        """The pairs of names that meet."""
        pairs = list(combinations(self.names, 2))
        return pairs if self.format == "round_robin" else pairs[: len(self.names) - 1]

    @property
    def test(self) -> Sprt | None:
        """The sequential test of each meeting, if there is one."""
        return None if self.sprt is None else Sprt(*self.sprt)

    def texts(self) -> dict[str, str]:
        """Return the player texts by name, with the movetime of the file for players without a limit of their own.

        Raises:
            ZugwerkError: as `with_limits`; the file has a movetime and a clock, or two players are the same with that
                movetime.
        """
        if self.clock is not None and self.movetime is not None:
            raise ZugwerkError("movetime and clock: each side has one or the other; leave one of them out")
        limits = {"movetime": self.movetime, "nodes": None, "depth": None}
        timed = self.clock is not None
        found = {name: with_limits(self.game, text, limits, timed) for name, text in self.players.items()}
        for one, other in combinations(found, 2):
            if found[one] == found[other]:
                raise ZugwerkError(
                    f"players {one!r} and {other!r} are both {found[one]!r}; option name=... tells apart"
                )
        return found

    def spec(self) -> MatchSpec:
        """Return board, clock and openings as the specification of a match."""
        size = max(get_game(self.game).initial_state().board.shape) if self.size is None else self.size
        clock = None if self.clock is None else (self.clock[0], self.clock[1])
        a, b = self.names[:2]
        return MatchSpec(self.game, a, b, self.games, self.openings, size, self.variant, self.seed, clock, self.margin)


def read_tournament(path: Path) -> Tournament:
    """Return the tournament in a YAML file.

    Raises:
        ZugwerkError: the file is missing or not YAML, or a key is wrong; the message names it.
    """
    return build(Tournament, read_tree(path), "tournament", str(path))


class NamedGame(NamedTuple):
    """A game of a tournament."""

    number: int  # Number of the game, from 1, as in the archive
    first: str  # Name of the player that moved first
    second: str
    played: PlayedGame


@dataclass
class Standings:
    """Results of a tournament, as far as it was played."""

    names: list[str]
    matches: dict[tuple[str, str], Match]
    """Matches by the names of the two players. Scores are those of the first name."""
    planned: int  # Largest number of games that the tournament can have
    status: Status = "finished"
    unwritten: str = ""  # Why a file could not be written; empty if all were

    @property
    def games(self) -> list[NamedGame]:
        """All games that were played, in the order of the meetings."""
        found = [
            (pair[i % 2], pair[1 - i % 2], game)
            for pair, match in self.matches.items()
            for i, game in enumerate(match.games)
        ]
        return [NamedGame(number, *one) for number, one in enumerate(found, 1)]

    @property
    def forfeited(self) -> list[dict[str, Any]]:
        """One row per forfeited game: its number, the loser, the opponent, the kind of forfeit and the reason."""
        rows = []
        for number, first, second, game in self.games:
            if game.ended != "board":
                loser, other = (second, first) if game.winner == "first" else (first, second)
                row = {"game": number, "player": loser, "against": other, "kind": game.ended, "detail": game.detail}
                rows.append(row)
        return rows

    @property
    def rows(self) -> list[tuple[str, str, Standing]]:
        """Cross table: (player, opponent, standing), the total of each player last with the opponent ``all``."""
        found = {pair: Standing() for pair in combinations(self.names, 2)}
        return cross_table(self.names, found | {pair: match.standing for pair, match in self.matches.items()})

    @property
    def totals(self) -> dict[str, Standing]:
        """Standing of each player against all others."""
        return {name: standing for name, other, standing in self.rows if other == "all"}

    @property
    def ratings(self) -> dict[str, Rating]:
        """Ratings of the players relative to the first one; empty before games link all of them.

        Meetings without a result (`Match.no_result`) are left out.
        """
        valid = {pair: match for pair, match in self.matches.items() if match.mute is None}
        try:
            return rate_players((match.standing.result(*pair) for pair, match in valid.items()), self.names[0])
        except ZugwerkError:
            return {}

    @property
    def ranking(self) -> list[str]:
        """Names of the players, the best first."""
        ratings, totals = self.ratings, self.totals
        return sorted(self.names, key=lambda n: (-ratings[n].elo if n in ratings else math.inf, -totals[n].points))

    @property
    def no_results(self) -> list[str]:
        """Reasons of the meetings without a result (`Match.no_result`)."""
        return [f"{match.a} - {match.b}: {match.no_result}" for match in self.matches.values() if match.no_result]

    def forfeits(self, name: str) -> int:
        """Return the number of games that a player lost by forfeit."""
        return sum(match.forfeits(pair.index(name)).total() for pair, match in self.matches.items() if name in pair)

    def as_json(self) -> dict[str, Any]:
        """Return everything but the games."""
        ratings, totals = self.ratings, self.totals
        return {
            "status": self.status,
            "ranking": [
                {
                    "player": name,
                    "elo": ratings[name].as_metrics() if name in ratings else None,
                    **totals[name].row(),
                    "forfeits": self.forfeits(name),
                }
                for name in self.ranking
            ],
            "meetings": [_meeting(match) for match in self.matches.values()],
            "forfeits": self.forfeited,
        }


def _meeting(match: Match) -> dict[str, Any]:
    """Return the results of one meeting. Its forfeits are listed with all others, by their numbers in the archive."""
    return {key: value for key, value in match.as_json().items() if key != "forfeits"}


def run_tournament(
    tournament: Tournament,
    out: Path | None = None,
    parallel: Parallel = Parallel(workers=1),  # noqa: B008 - frozen
    resume: bool = True,
    on_pair: Callable[[Standings], None] = nothing,
) -> Standings:
    """Play a tournament, or the games that are missing in its journal.

    Args:
        tournament: players, board, openings and limits.
        out: folder for ``games.parquet``, ``games.txt``, ``results.json`` and the journal. With None, no file is
            written.
        parallel: setting of the workers that play pairs side by side.
        resume: False replays the games in the journal.
        on_pair: called with the standings at the start and after each pair.

    Raises:
        ZugwerkError: as `run_match`; ``out`` is a file.
        OSError: as `run_match`.
    """
    if out is not None and out.exists() and not out.is_dir():
        raise ZugwerkError(f"{out} is a file; name a folder for the games and the results")
    spec, texts = tournament.spec(), tournament.texts()
    games = None if out is None else out / "games.parquet"
    board = replace(spec.board, logs="" if games is None else str(engine_logs_of(games).resolve()))
    pairs = [
        ((a, b), number, swapped_pair(texts[a], texts[b], opening.actions, seed, opening.start))
        for number, opening in enumerate(spec.read_openings())
        for a, b in tournament.meetings
        for seed in [(spec.seed, 1, *f"{a}/{b}".encode(), number)]
    ]
    board.check(game for _, _, pair in pairs for game in pair)
    matches = {(a, b): Match(a, b, {}, sprt=tournament.test) for a, b in tournament.meetings}
    found = Standings(tournament.names, matches, 2 * len(pairs))
    keys = group_keys(board, [pair for _, _, pair in pairs])
    places = {key: (meeting, number) for key, (meeting, number, _) in zip(keys, pairs, strict=True)}
    identity = {"tournament": tournament.game, "size": spec.size, "variant": spec.variant}
    with Journal(journal_of(games), identity, resume=resume) if games is not None else nullcontext() as journal:
        fixtures = {key: pair for key, (_, _, pair) in zip(keys, pairs, strict=True)}

        def take(key: str, pair: Pair) -> None:
            meeting, number = places[key]
            found.matches[meeting].pairs[number] = pair

        def rounds() -> Iterator[dict[str, tuple[Fixture, Fixture]]]:
            """Yield the pairs that are played side by side: all, or with a test a few of each undecided meeting."""
            step = spec.pairs if tournament.test is None else ROUND
            for begin in range(0, spec.pairs, step):
                due = {meeting for meeting, match in matches.items() if not match.decided}
                of_round = [key for key, (one, n) in places.items() if one in due and begin <= n < begin + step]
                yield {key: fixtures[key] for key in of_round}

        try:
            on_pair(found)
            for some in rounds():
                with closing(play_pairs(board, some, parallel, journal, take)) as played:
                    for _ in played:
                        on_pair(found)
        except KeyboardInterrupt:
            found.status = "interrupted"
        except OSError as error:
            found.status, found.unwritten = "incomplete", line_of(error)
        for match in matches.values():
            if len(match.pairs) < spec.pairs:
                match.status = "decided" if match.decided else found.status
                if match.status == "finished":
                    match.status = found.status = "incomplete"
        if out is not None:
            try:
                _write(found, tournament, out)
            except OSError as error:
                found.unwritten = found.unwritten or line_of(error)
    return found


def _write(found: Standings, tournament: Tournament, out: Path) -> None:
    """Write the games and the results, with the names of the players."""
    board = tournament.spec().board
    records = [
        replace(board.record(one.played, one.number), first_name=one.first, second_name=one.second)
        for one in found.games
    ]
    write_records(records, out / "games.parquet")
    write_json(out / "results.json", found.as_json() | {"players": tournament.texts()})
    with written_aside(out / "games.txt") as aside:
        aside.write_text("".join(map(game_text, records)), encoding="utf-8")

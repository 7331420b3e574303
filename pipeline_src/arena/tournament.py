"""Tournaments: several players, everybody against everybody or one against all, in colour-swapped pairs.

A meeting of two depends on the two, the board, the openings and the seed alone: a player that is added to the file
changes no game that was played, and the journal goes on with the new ones.
"""

import math
from collections.abc import Callable
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from pipeline_src.arena.event import cross_table
from pipeline_src.arena.journal import Journal
from pipeline_src.arena.match import MatchSpec, engine_logs_of, journal_of, play_pairs, with_limits
from pipeline_src.arena.ratings import Rating, rate_players
from pipeline_src.arena.result import Match, Pair, Standing, Status
from pipeline_src.arena.runner import group_keys, swapped_pair
from pipeline_src.errors import ZugwerkError
from pipeline_src.files import finite, write_json, written_aside
from pipeline_src.games.game import get_game
from pipeline_src.parallel import Parallel
from pipeline_src.parallel.tasks import nothing
from pipeline_src.project.params import Even, Items, Named, NonNegative, Params, Positive, Text, Whole, build, read_tree
from pipeline_src.records.parquet import write_records

SCORES = {"first": "1-0", "draw": "1/2-1/2", "second": "0-1"}


class Tournament(Params):
    """A tournament's file."""

    game: Text
    """Name of the game."""
    players: Annotated[Named[Text], Field(min_length=2)]
    """Their texts by name; ratings are relative to the first."""
    format: Literal["round_robin", "gauntlet"] = "round_robin"
    """Everybody against everybody, or the first player against each of the others."""
    games: Even = 20
    """Number of games of each meeting."""
    openings: Text = "random:2"
    """random:PLIES, none, or a file; the same for every meeting."""
    size: int | None = None
    """Size of the board; the default is the game's standard."""
    variant: Text | None = None
    """Variant of the rules."""
    movetime: Positive | None = None
    """Milliseconds a move, for players that set themselves no limit."""
    clock: Annotated[Items[NonNegative], Field(min_length=2, max_length=2)] | None = None
    """Milliseconds a side and increment a move."""
    margin: NonNegative = 100.0
    """Milliseconds that a move may take beyond its movetime."""
    seed: Whole = 1
    """Seed of openings and players."""

    @field_validator("players")
    @classmethod
    def _told_apart(cls, players: dict[str, str]) -> dict[str, str]:
        if len(set(players.values())) < len(players):
            raise ValueError("must differ; option name=... tells two of the same engine apart")
        return players

    @property
    def names(self) -> list[str]:
        """All players."""
        return [*self.players]

    @property
    def meetings(self) -> list[tuple[str, str]]:
        """Who meets whom."""
        pairs = list(combinations(self.names, 2))
        return pairs if self.format == "round_robin" else pairs[: len(self.names) - 1]

    def texts(self) -> dict[str, str]:
        """Players' texts by name, with the limit that the file sets for those that have none."""
        return {name: with_limits(self.game, text, {"movetime": self.movetime}) for name, text in self.players.items()}

    def spec(self) -> MatchSpec:
        """Board, clock and openings, as of a match."""
        size = max(get_game(self.game).initial_state().board.shape) if self.size is None else self.size
        clock = None if self.clock is None else (self.clock[0], self.clock[1])
        a, b = self.names[:2]
        return MatchSpec(self.game, a, b, self.games, self.openings, size, self.variant, self.seed, clock, self.margin)


def read_tournament(path: Path) -> Tournament:
    """The tournament of a YAML file.

    Raises:
        ZugwerkError: no such file, no YAML, or a key that is wrong, which is named.
    """
    return build(Tournament, read_tree(path), "tournament", str(path))


@dataclass
class Standings:
    """A tournament as far as it was played."""

    names: list[str]
    matches: dict[tuple[str, str], Match]
    """By who met; scores are those of the first of the two."""
    status: Status = "finished"

    @property
    def rows(self) -> list[tuple[str, str, Standing]]:
        """The cross table: (player, opponent, standing), each player's total last, with the opponent ``all``."""
        found = {pair: Standing() for pair in combinations(self.names, 2)}
        return cross_table(self.names, found | {pair: match.standing for pair, match in self.matches.items()})

    @property
    def totals(self) -> dict[str, Standing]:
        """Each player's standing against all."""
        return {name: standing for name, other, standing in self.rows if other == "all"}

    @property
    def ratings(self) -> dict[str, Rating]:
        """Elo of those that games link to the first player, whose rating is 0; empty before there are any."""
        try:
            return rate_players((match.standing.result(*pair) for pair, match in self.matches.items()), self.names[0])
        except ZugwerkError:
            return {}

    @property
    def ranking(self) -> list[str]:
        """Names, the best first."""
        ratings, totals = self.ratings, self.totals
        return sorted(self.names, key=lambda n: (-ratings[n].elo if n in ratings else math.inf, -totals[n].points))

    def forfeits(self, name: str) -> int:
        """Games that a player lost off the board."""
        return sum(match.forfeits(pair.index(name)).total() for pair, match in self.matches.items() if name in pair)

    def as_json(self) -> dict[str, Any]:
        """All of it but the games."""
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
            "meetings": [dict(finite(match.as_json())) for match in self.matches.values()],
        }


def run_tournament(
    tournament: Tournament,
    out: Path | None = None,
    parallel: Parallel = Parallel(workers=1),  # noqa: B008 - frozen
    resume: bool = True,
    on_pair: Callable[[Standings], None] = nothing,
) -> Standings:
    """Play a tournament, or what is left of it.

    Args:
        tournament: who plays, and on what.
        out: folder for ``games.parquet``, ``games.txt``, ``results.json`` and the journal. None keeps nothing.
        parallel: where pairs are played side by side.
        resume: False plays anew what the journal has.
        on_pair: called with the standings whenever there is one pair more, and once before.

    Raises:
        ZugwerkError: as `run_match`.
    """
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
    found = Standings(tournament.names, {(a, b): Match(a, b, {}) for a, b in tournament.meetings})
    keys = group_keys(board, [pair for _, _, pair in pairs])
    places = {key: (meeting, number) for key, (meeting, number, _) in zip(keys, pairs, strict=True)}
    identity = {"tournament": tournament.game}
    with Journal(journal_of(games), identity, resume=resume) if games is not None else nullcontext() as journal:
        fixtures = {key: pair for key, (_, _, pair) in zip(keys, pairs, strict=True)}

        def take(key: str, pair: Pair) -> None:
            meeting, number = places[key]
            found.matches[meeting].pairs[number] = pair

        try:
            on_pair(found)
            with closing(play_pairs(board, fixtures, parallel, journal, take)) as played:
                for _ in played:
                    on_pair(found)
            if any(len(match.pairs) < spec.pairs for match in found.matches.values()):
                found.status = "incomplete"
        except KeyboardInterrupt:
            found.status = "interrupted"
        if out is not None:
            _write(found, tournament, out)
    return found


def _write(found: Standings, tournament: Tournament, out: Path) -> None:
    """Games and results; players stand in them by name."""
    board, texts = tournament.spec().board, tournament.texts()
    names = {text: name for name, text in texts.items()}
    games = [game for match in found.matches.values() for game in match.games]
    records = [board.record(game, gid) for gid, game in enumerate(games, 1)]
    named = [replace(one, first_name=names[one.first_name], second_name=names[one.second_name]) for one in records]
    write_records(named, out / "games.parquet")
    write_json(out / "results.json", found.as_json() | {"players": texts})
    rules = get_game(tournament.game)
    with written_aside(out / "games.txt") as aside, open(aside, "w", encoding="utf-8") as file:
        for record, game in zip(named, games, strict=True):
            tags = {
                "Round": record.gid,
                "First": record.first_name,
                "Second": record.second_name,
                "Board": f"{record.width}x{record.height} {record.variant}",
                "Result": SCORES[game.winner],
                **({"Forfeit": game.forfeit.removeprefix("forfeit:")} if game.forfeit else {}),
            }
            moves = [rules.format_move(action, record.height, record.width) for action in record.actions]
            lines = [*(f'[{key} "{value}"]' for key, value in tags.items()), "", *_numbered(moves), SCORES[game.winner]]
            file.write("\n".join(lines) + "\n\n")


def _numbered(moves: list[str], line: int = 10) -> list[str]:
    """Lines of moves, two to a number."""
    words = [f"{i // 2 + 1}. {' '.join(moves[i : i + 2])}" for i in range(0, len(moves), 2)]
    return [" ".join(words[i : i + line]) for i in range(0, len(words), line)]

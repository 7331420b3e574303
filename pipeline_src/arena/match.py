"""Matches and tournaments, in colour-swapped pairs from a set of openings, kept in a journal and resumed from it.

`run_match` is for two players, `run_tournament` for a round robin or a gauntlet of several. The games of two players
depend only on the two players, the board, the openings and the seed. A player that is added to a tournament's file
changes no game that was played before, and the journal is continued with the new games.
"""

import hashlib
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

from pydantic import Field, field_validator

from pipeline_src.arena import runner
from pipeline_src.arena.game import (
    Fixture,
    Opening,
    PlayedGame,
    TimeControl,
    level_openings,
    random_openings,
    read_plies,
)
from pipeline_src.arena.journal import Journal
from pipeline_src.arena.person import game_text
from pipeline_src.arena.result import Match, Pair, Rating, Sprt, Standing, Status, rate_players
from pipeline_src.arena.runner import Board, cross_table, group_keys, play_group, swapped_pair
from pipeline_src.errors import ZugwerkError, line_of
from pipeline_src.files import decoded, write_json, written_aside
from pipeline_src.games.game import Game, load_game
from pipeline_src.parallel import Parallel, run_as_they_come
from pipeline_src.parallel.tasks import nothing
from pipeline_src.players.player import PlayerText
from pipeline_src.players.registry import maker_of, open_maker
from pipeline_src.players.uci import read_move
from pipeline_src.project.params import Even, Items, Named, NonNegative, Params, Positive, Text, Whole, build, read_tree
from pipeline_src.records.record import write_records

ALONE = Parallel(workers=1)


@dataclass(frozen=True)
class MatchSpec:
    """Specification of a match. Equal specifications give the same games, unless a player's limit is time.

    >>> MatchSpec("amazons", "one_ply", "random", games=10, size=6).pairs
    5
    """

    game: str
    a: str  # Text of player A; scores are reported for A
    b: str  # Text of player B
    games: int  # Number of games, even: each opening is played twice with the sides swapped
    openings: str = "random:2"  # `random:PLIES`, `level:PLIES` (`level_openings`), `none` or a file (`read_openings`)
    size: int = 10
    variant: str | None = None  # Variant of the rules or the start position; None is the game's standard one
    seed: int = 1
    clock: tuple[float, float] | None = None
    """Milliseconds per side and increment per move; without a clock, a player's own ``movetime`` is enforced."""
    margin: float = 100.0  # Milliseconds that a move may take beyond its movetime
    cpu_time: bool = False  # Whether all these times are CPU times of the players' processes

    def __post_init__(self) -> None:
        if self.games < 2 or self.games % 2:
            raise ZugwerkError(f"games must be an even number above 0, not {self.games}: openings are played in pairs")
        times = [self.margin, *(self.clock or ())]
        if not all(0 <= time < math.inf for time in times) or (self.clock and not self.clock[0]):
            raise ZugwerkError("the clock must be above 0, its increment and the margin 0 or more")
        if self.seed < 0:
            raise ZugwerkError(f"seed must be 0 or more, not {self.seed}")

    @property
    def pairs(self) -> int:
        """Number of openings."""
        return self.games // 2

    @property
    def board(self) -> Board:
        """The board of the games, with their time control."""
        time, increment = self.clock or (None, 0.0)
        return Board(
            self.game, self.size, self.variant, TimeControl(time, increment, margin_ms=self.margin, cpu=self.cpu_time)
        )

    def read_openings(self) -> list[Opening]:
        """Return one opening for each pair. The first openings do not depend on the number of games.

        Raises:
            ZugwerkError: as `level_openings` or `read_openings`.
        """
        rules, start, seed = load_game(self.game), self.board.start(), [self.seed, 0]
        if self.openings.startswith("level:"):
            drawn = level_openings(self.game, start, self.pairs, read_plies(self.openings), seed)
            return [Opening("", actions) for actions in drawn]
        return read_openings(rules, self.openings, start, self.pairs, seed)

    def identity(self) -> dict[str, Any]:
        """Return everything that decides the games, as JSON data, without their number: a match may be extended."""
        found = {key: value for key, value in asdict(self).items() if key != "games"}
        if not self.cpu_time:
            del found["cpu_time"]  # as in journals that were begun before it was there
        if self.openings != "none" and not self.openings.startswith(("random:", "level:")):
            with open(self.openings, "rb") as file:
                found["openings_sha256"] = hashlib.sha256(file.read()).hexdigest()
        if any(files := [runner.digests_of(self.a), runner.digests_of(self.b)]):
            found["players_sha256"] = files
        return found


def run_match(
    spec: MatchSpec,
    out: Path | None = None,
    parallel: Parallel = ALONE,
    sprt: Sprt | None = None,
    resume: bool = True,
    on_pair: Callable[[Match], None] = nothing,
) -> Match:
    """Play a match, or the rest of an interrupted one, in pairs side by side. Timed games need a core each.

    The games go to the Parquet file ``out`` at the end. Its journal (`journal_of`) stays next to it, so that another
    call with the same match plays only the missing pairs; without ``resume`` all are played again. A folder
    (`engine_logs_of`) keeps the standard error of engines. ``sprt`` ends the match as soon as it is decided;
    ``on_pair`` is called with the match so far at the start and after each pair.

    `Match.status` says whether all was played. Ctrl-C ends the match with the finished pairs, and so does a journal
    that cannot be written any more. `Match.unwritten` says whether a file is missing.

    Raises:
        ZugwerkError: the openings are bad, a player cannot be made, an engine cannot be started, ``out`` is a folder,
            another file than an archive or one without a journal, or the journal belongs to another match.
        OSError: the journal cannot be begun; no game is played.
    """
    if out is not None:
        _check_free(out, resume)
    match = Match(spec.a, spec.b, {}, sprt=sprt)
    slots = {
        str(number): Slot(match, number, swapped_pair(spec.a, spec.b, one.actions, (spec.seed, 1, number), one.start))
        for number, one in enumerate(spec.read_openings())
    }

    def write(path: Path) -> None:
        games = ((2 * k + i + 1, game) for k, pair in sorted(match.pairs.items()) for i, game in enumerate(pair))
        write_records((spec.board.record(game, gid) for gid, game in games), path)

    return _play(match, spec.board, slots, out, spec.identity(), parallel, resume, on_pair, write)


def _check_free(out: Path, resume: bool) -> None:
    if out.is_dir():
        raise ZugwerkError(f"{out} is a folder; name a Parquet file for the games, e.g. {out / 'games.parquet'}")
    if out.exists() and not (out.is_file() and _begins_like_an_archive(out)):
        raise ZugwerkError(f"{out} exists and is no archive of games; name another file, e.g. games.parquet")
    if resume and out.exists() and out.stat().st_size and not journal_of(out).exists():
        raise ZugwerkError(
            f"{out} exists, and no journal ({journal_of(out).name}) says that its games are of this match; "
            "name another file, or use --no-resume to replace it"
        )


def _begins_like_an_archive(path: Path) -> bool:
    with open(path, "rb") as file:
        return file.read(4) in (b"PAR1", b"")


class Slot(NamedTuple):
    """A pair of games to be played."""

    match: Match
    number: int  # Number of the pair in its match
    fixtures: tuple[Fixture, Fixture]


Played = TypeVar("Played", Match, "Standings")


def _play(
    found: Played,
    board: Board,
    slots: Mapping[str, Slot],
    games: Path | None,
    identity: Mapping[str, Any],
    parallel: Parallel,
    resume: bool,
    on_pair: Callable[[Played], None],
    write: Callable[[Path], None],
    step: int | None = None,
) -> Played:
    """Play the pairs of one match or of many, the slots by their keys in the journal, and set their status.

    A pair is in its match before the journal has it, so that an interrupt in between loses nothing. With ``step``, so
    many pairs of each match whose test is undecided are played before the tests are looked at again; else all pairs are
    begun, and a decision ends everything. For the others, and the errors, see `run_match`.
    """
    board = replace(board, logs="" if games is None else str(engine_logs_of(games).resolve()))
    board.check(game for slot in slots.values() for game in slot.fixtures)
    with nullcontext() if games is None else Journal(journal_of(games), identity, resume=resume) as journal:
        known = {} if journal is None else journal.entries
        status: Status | None = None
        planned = Counter(id(slot.match) for slot in slots.values())
        matches = {id(slot.match): slot.match for slot in slots.values()}
        length = max(planned.values())
        try:
            for begin in range(0, length, step or length):
                open_ = {key for key, match in matches.items() if not match.decided}
                due = range(begin, begin + (step or length))
                some = {key: slot for key, slot in slots.items() if slot.number in due and id(slot.match) in open_}
                for key, (match, number, _) in some.items():
                    if key in known:
                        match.pairs[number] = _pair(known[key])
                on_pair(found)
                over = step is None and any(match.decided for match in matches.values())
                missing = [] if over else [key for key in some if key not in known]
                tasks = [(board, some[key].fixtures) for key in missing]
                with closing(run_as_they_come(play_group, tasks, parallel, runner.rest)) as played:
                    for index, rows in played:
                        match, number, _ = some[missing[index]]
                        match.pairs[number] = _pair(rows)
                        if journal is not None:
                            journal.add({missing[index]: rows})
                        on_pair(found)
                        if step is None and match.decided:
                            break
        except KeyboardInterrupt:
            status = "interrupted"
        except OSError as error:
            status, found.unwritten = "incomplete", line_of(error)
        for match in matches.values():
            if len(match.pairs) < planned[id(match)]:
                match.status = "decided" if match.decided else status or "incomplete"
                status = "incomplete" if match.status == "incomplete" else status
        found.status = status or found.status
        if games is not None:
            try:
                write(games)
            except OSError as error:
                found.unwritten = found.unwritten or line_of(error)
    return found


def journal_of(out: Path) -> Path:
    """Return the path of a match's journal."""
    return out.with_suffix(".journal.jsonl")


def engine_logs_of(out: Path) -> Path:
    """Return the path of the folder for the standard error of a match's engines."""
    return out.with_suffix(".engines")


def pairs_of(journal: Journal) -> dict[int, Pair]:
    """Return the pairs in the journal of a match, by number."""
    return {int(key): _pair(rows) for key, rows in journal.entries.items()}


def _pair(rows: Sequence[dict[str, Any]]) -> Pair:
    one, other = map(PlayedGame.from_json, rows)
    return one, other


def with_limits(game: str, text: str, limits: Mapping[str, float | None], on_clock: bool = False) -> str:
    """Add the given limits (movetime, nodes, depth) to a player's text, if the player takes limits and has none.

    Raises:
        ZugwerkError: the text names no player, the player takes other limits than those given, or it has a limit that
            the clock of the games would replace.
    """
    given = {name: value for name, value in limits.items() if value is not None}
    parsed = PlayerText.parse(text)
    _, kind = open_maker(maker_of(game, parsed))
    taken = [name for name in limits if name in kind.model_fields]
    own = [name for name in parsed.options if kind.ALIASES.get(name, name) in limits]
    # A player without movetime, such as minimax, plays to its depth on any clock.
    if on_clock and own and "movetime" in taken:
        raise ZugwerkError(
            f"player {text!r}: on a clock it divides its time itself; leave out {' and '.join(own)}, or the clock"
        )
    if not given or not taken or own:
        return text
    if missing := [name for name in given if name not in taken]:
        raise ZugwerkError(
            f"player {text!r} has no {' or '.join(missing)}; its limits: {', '.join(taken)}. "
            f"Give it one of its own, as in {kind.EXAMPLE or f'{parsed.name}:{taken[0]}=...'}"
        )
    bare = not parsed.value and not parsed.options
    words = ",".join(f"{name}={value:.15g}" for name, value in given.items())
    return f"{text.rstrip(':')}{':' if bare else ','}{words}"


def read_openings(game: Game, text: str, start: Any, pairs: int, seed: Sequence[int]) -> list[Opening]:
    """Return one opening for each pair, by ``random:PLIES``, ``none`` or the path of a file.

    A file has one opening on each line: moves from the position ``start``, separated by spaces, or a position text.
    Comments after # or ; and operations of EPD (``id "two";``) are skipped, and so are lines without more. Pair i gets
    opening i.

    Raises:
        ZugwerkError: the file is missing, has fewer openings than pairs, or has a line that is malformed or ends the
            game.
    """
    if text == "none":
        return [Opening()] * pairs
    if text.startswith("random:"):
        return [Opening("", actions) for actions in random_openings(game, start, pairs, read_plies(text), seed)]
    try:
        lines = decoded(Path(text).read_bytes(), text).splitlines()
    except OSError as error:
        raise ZugwerkError(
            f"openings {text!r}: {error.strerror}; expected random:PLIES, level:PLIES, none, or a file"
        ) from None
    read = (_read_line(game, line, start, f"{text}:{number}") for number, line in enumerate(lines, 1))
    found = [opening for opening in read if opening is not None]
    if len(found) < pairs:
        raise ZugwerkError(f"{text}: {len(found)} openings for {pairs} pairs; play fewer games or give more openings")
    return found[:pairs]


_EPD = re.compile(r'\s(?:(?![a-z]\d+\b)\w+\s*"|(?:ac[dns]|am|bm|ce|d[cm]|eco|fmvn|hmvc|noop|p[mv]|rc|sm)\s).*')
"""An operation of EPD that follows without a semicolon, and what follows it."""


def _read_line(game: Game, line: str, start: Any, where: str) -> Opening | None:
    """Return the opening of a line; None for a line without one."""
    line, *notes = re.sub(r'"[^"]*"', '""', line).partition("#")[0].split(";")
    line = _EPD.sub("", line)
    words = line.split()
    fen = ""
    try:
        if lost := [note for note in notes if _is_moves(game, note, start)]:
            raise ZugwerkError(f"{lost[0].strip()} after a semicolon, where comments are; separate moves by spaces")
        if not words:
            return None
        state = start
        if len(words) > 1 and words[1] in ("w", "b"):
            state, words = game.from_fen(line), []
            fen = game.to_fen(state)
        actions = []
        for text in words:
            actions.append(read_move(game, state, text))
            if not game.is_legal(state, actions[-1]):
                raise ZugwerkError(f"{text} is not legal there")
            state = game.play(state, actions[-1])
        if game.winner(state) is not None:
            raise ZugwerkError("the game is over after it")
    except ZugwerkError as error:
        raise ZugwerkError(f"{where}: {error}") from None
    return Opening(fen, tuple(actions))


def _is_moves(game: Game, text: str, state: Any) -> bool:
    try:
        return bool([read_move(game, state, word) for word in text.split()])
    except ZugwerkError:
        return False


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
    """``random:PLIES``, ``level:PLIES``, ``none`` or a file. Every meeting has the same openings."""
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
    cpu_time: bool = False
    """Whether all these times are CPU times of the players' processes, which a busy machine does not change."""
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
        size = max(load_game(self.game).initial_state().board.shape) if self.size is None else self.size
        clock = None if self.clock is None else (self.clock[0], self.clock[1])
        a, b = self.names[:2]
        limits = clock, self.margin, self.cpu_time
        return MatchSpec(self.game, a, b, self.games, self.openings, size, self.variant, self.seed, *limits)


def read_tournament(path: Path) -> Tournament:
    """Return the tournament in a YAML file.

    Raises:
        ZugwerkError: the file is missing or not YAML, or a key is wrong; the message names it.
    """
    return build(Tournament, read_tree(path), "tournament", str(path))


class NamedGame(NamedTuple):
    """A game of a tournament, numbered from 1 as in the archive, with the names of the first and the second player."""

    number: int
    first: str
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
            "meetings": [  # their forfeits are listed with all others, by their numbers in the archive
                {key: value for key, value in match.as_json().items() if key != "forfeits"}
                for match in self.matches.values()
            ],
            "forfeits": self.forfeited,
        }


def run_tournament(
    tournament: Tournament,
    out: Path | None = None,
    parallel: Parallel = ALONE,
    resume: bool = True,
    on_pair: Callable[[Standings], None] = nothing,
) -> Standings:
    """Play a tournament, or the games that are missing in its journal; see `run_match`.

    The folder ``out`` gets ``games.parquet``, ``games.txt``, ``results.json`` and the journal.
    """
    if out is not None and out.exists() and not out.is_dir():
        raise ZugwerkError(f"{out} is a file; name a folder for the games and the results")
    spec, texts = tournament.spec(), tournament.texts()
    matches = {(a, b): Match(a, b, {}, sprt=tournament.test) for a, b in tournament.meetings}
    slots = [
        Slot(matches[a, b], number, swapped_pair(texts[a], texts[b], one.actions, seed, one.start))
        for number, one in enumerate(spec.read_openings())
        for a, b in tournament.meetings
        for seed in [(spec.seed, 1, *f"{a}/{b}".encode(), number)]
    ]
    keys = group_keys(spec.board, [slot.fixtures for slot in slots])
    return _play(
        found := Standings(tournament.names, matches, 2 * len(slots)),
        spec.board,
        dict(zip(keys, slots, strict=True)),
        None if out is None else out / "games.parquet",
        {"tournament": tournament.game, "size": spec.size, "variant": spec.variant},
        parallel,
        resume,
        on_pair,
        lambda games: _write(found, tournament, games.parent),
        None if tournament.test is None else ROUND,
    )


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

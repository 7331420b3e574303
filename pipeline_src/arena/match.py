"""Matches between any two players, in colour-swapped pairs: `run_match`, for `zugwerk match`, and `play_match`."""

import hashlib
import math
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pipeline_src.arena import runner
from pipeline_src.arena.game import POINTS, Fixture, PlayedGame, TimeControl
from pipeline_src.arena.journal import Journal
from pipeline_src.arena.openings import Opening, level_openings, random_openings, read_openings, read_plies
from pipeline_src.arena.result import Match, Pair, Sprt, Standing
from pipeline_src.arena.runner import Board, play_fixtures, play_group, play_matches, swapped_pair
from pipeline_src.errors import ZugwerkError, line_of
from pipeline_src.games.game import get_game
from pipeline_src.parallel import Parallel, run_as_they_come
from pipeline_src.parallel.tasks import nothing
from pipeline_src.players.player import PlayerText
from pipeline_src.players.registry import maker_of, open_maker
from pipeline_src.records.record import GameRecord, write_records

NUMBERED = 16  # The seeds of `swapped_pairs` number the pairs by sixteens, and the pairs of each sixteen
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
        return Board(self.game, self.size, self.variant, TimeControl(time, increment, margin_ms=self.margin))

    def read_openings(self) -> list[Opening]:
        """Return one opening for each pair. The first openings do not depend on the number of games.

        Raises:
            ZugwerkError: as `level_openings` or `read_openings`.
        """
        rules, start, seed = get_game(self.game), self.board.start(), [self.seed, 0]
        if self.openings.startswith("level:"):
            drawn = level_openings(rules, start, self.pairs, read_plies(self.openings), seed)
            return [Opening("", actions) for actions in drawn]
        return read_openings(rules, self.openings, start, self.pairs, seed)

    def identity(self) -> dict[str, Any]:
        """Return everything that decides the games, as JSON data, without their number: a match may be extended."""
        found = {key: value for key, value in asdict(self).items() if key != "games"}
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
    """Play a match, or the rest of an interrupted one.

    Args:
        spec: the match.
        out: Parquet file of the games, written at the end. Its journal (`journal_of`) stays next to it, so that another
            call with the same match plays only the missing pairs. A folder (`engine_logs_of`) keeps the standard error
            of engines. None keeps nothing.
        parallel: workers that play pairs side by side. Timed games need a core each.
        sprt: ends the match as soon as it is decided.
        resume: False plays all pairs again.
        on_pair: called with the match so far at the start and after each pair.

    Returns:
        The match. `Match.status` says whether all of it was played. Ctrl-C ends it with the finished pairs, and so does
        a journal that cannot be written any more. `Match.unwritten` says whether a file is missing.

    Raises:
        ZugwerkError: the openings are bad, a player cannot be made, an engine cannot be started, ``out`` is a folder,
            another file than an archive or one without a journal, or the journal belongs to another match.
        OSError: the journal cannot be begun; no game is played.
    """
    if out is not None:
        _check_free(out, resume)
    board = replace(spec.board, logs="" if out is None else str(engine_logs_of(out).resolve()))
    match = Match(spec.a, spec.b, {}, sprt=sprt)
    fixtures = [
        swapped_pair(spec.a, spec.b, opening.actions, (spec.seed, 1, number), opening.start)
        for number, opening in enumerate(spec.read_openings())
    ]
    board.check(game for pair in fixtures for game in pair)
    with ExitStack() as stack:
        journal = None
        if out is not None:
            journal = stack.enter_context(Journal(journal_of(out), spec.identity(), resume=resume))
            match.pairs = {number: pair for number, pair in pairs_of(journal).items() if number < spec.pairs}
        missing = [] if match.decided else [number for number in range(spec.pairs) if number not in match.pairs]
        try:
            on_pair(match)
            tasks = {str(number): fixtures[number] for number in missing}

            def take(key: str, pair: Pair) -> None:
                match.pairs[int(key)] = pair

            for _ in stack.enter_context(closing(play_pairs(board, tasks, parallel, journal, take))):
                on_pair(match)
                if match.decided:
                    break
            if len(match.pairs) < spec.pairs:
                match.status = "decided" if match.decided else "incomplete"
        except KeyboardInterrupt:
            match.status = "interrupted"
        except OSError as error:
            match.status, match.unwritten = "incomplete", line_of(error)
        if out is not None:
            games = ((2 * k + i + 1, game) for k, pair in sorted(match.pairs.items()) for i, game in enumerate(pair))
            try:
                write_records((board.record(game, gid) for gid, game in games), out)
            except OSError as error:
                match.unwritten = match.unwritten or line_of(error)
    return match


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


def play_pairs(
    board: Board,
    pairs: Mapping[str, tuple[Fixture, Fixture]],
    parallel: Parallel,
    journal: Journal | None,
    take: Callable[[str, Pair], None],
) -> Generator[None]:
    """Pass each pair to ``take`` by its key: first those in the journal, then the others as they finish.

    ``take`` is called before the journal writes a pair, so that an interrupt in between loses nothing; the generator
    yields after the write.
    """
    known = {} if journal is None else journal.entries
    for key in pairs:
        if key in known:
            take(key, _pair(known[key]))
    missing = [key for key in pairs if key not in known]
    tasks = [(board, pairs[key]) for key in missing]
    with closing(run_as_they_come(play_group, tasks, parallel, runner.rest)) as found:
        for index, rows in found:
            take(missing[index], _pair(rows))
            if journal is not None:
                journal.add(missing[index], rows)
            yield


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


def swapped_pairs(board: Board, a: str, b: str, pairs: int, opening_plies: int, seed: Sequence[int]) -> list[Fixture]:
    """Return the games of a match in colour-swapped pairs, each pair from its own random opening.

    Args:
        board: board and rules.
        a: text of player A, which has the first side in the first game of a pair.
        b: text of player B.
        pairs: number of openings; each gives two games.
        opening_plies: number of random plies of an opening.
        seed: random seed; the match depends on nothing else.
    """
    openings = random_openings(get_game(board.game), board.start(), pairs, opening_plies, [*seed, 0])
    return [
        game
        for number, opening in enumerate(openings)
        for game in swapped_pair(a, b, opening, (*seed, 1, *divmod(number, NUMBERED)))
    ]


def play_match(
    board: Board,
    a: str,
    b: str,
    pairs: int,
    opening_plies: int,
    seed: Sequence[int],
    parallel: Parallel,
    journal: Journal | None = None,
) -> Match:
    """Play the games of `swapped_pairs` as `play_fixtures` does; scores are reported for ``a``."""
    return Match.of(
        a, b, play_fixtures(board, swapped_pairs(board, a, b, pairs, opening_plies, seed), parallel, journal)
    )


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


# Many matches on one board and from one set of openings: colour-swapped pairs, round robins, best-of matches.
#
# A best-of match is won by the first player with more than half of ``best_of`` wins, and ends there. A drawn game is
# replayed: the match lasts up to ``replays`` games more than ``best_of``, and one that is still open then has no
# winner. The sides are swapped after each game.


class Pairing(NamedTuple):
    """A match of colour-swapped pairs to be played."""

    table: str  # Purpose of the match. Two players may meet for several purposes.
    a: str  # Name of player A; scores are reported for A
    b: str
    pairs: int


@dataclass(frozen=True)
class Rules:
    """Length of a best-of match."""

    best_of: int = 5  # Length of a match in games, odd
    replays: int = 4  # Largest number of drawn games that are replayed

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
    a_begins: bool  # Whether `a` has the first side in the first game
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
    texts: Mapping[str, str]  # Players' texts by their names
    openings: Sequence[tuple[int, ...]]
    seed: Sequence[int]
    parallel: Parallel = field(default_factory=Parallel)
    journal: Journal | None = None  # Keeps finished games

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

"""`Board`, the board and rules of games, and `play_fixtures`, which plays many games side by side.

The moves of a game depend only on its fixture and the board (and on the clock, if it measures wall time). The games
with which it is played in lock step and the number of workers change nothing.
"""

import contextlib
import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import combinations, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pipeline_src.arena.game import (
    POINTS,
    Fixture,
    GameClock,
    OpenGame,
    PlayedGame,
    TimeControl,
    level_openings,
    play,
    random_openings,
)
from pipeline_src.arena.journal import Journal, each_kept
from pipeline_src.arena.result import Match, Standing
from pipeline_src.files import stamp
from pipeline_src.games.game import load_game
from pipeline_src.parallel import Parallel
from pipeline_src.players.packaged import FILE
from pipeline_src.players.player import Player, PlayerError, PlayerText
from pipeline_src.players.registry import make_player
from pipeline_src.project.params import PARAMS_FILE
from pipeline_src.records.record import GameRecord

MOST = 16  # Largest number of players that are kept. The least recently used ones are dropped.
_PLAYERS: dict[tuple[Any, ...], Player] = {}  # Those of this process, each made once and reused


def player(game: str, text: str, seat: int = 0) -> Player:
    """Return the player that a text names, as `make_player`. It may have played before, so call `Player.new_game`.

    A player is made again if one of its files has changed. The ``seat`` distinguishes players with the same text, such
    as the two of a game.
    """
    params = PARAMS_FILE.resolve()
    key = (game, text, seat, (params, *stamp(params)), *stamps_of(text))
    found = _PLAYERS.pop(key, None)
    if found is None:
        found = make_player(game, text)
        while len(_PLAYERS) >= MOST:
            _PLAYERS.pop(next(iter(_PLAYERS))).close()
    _PLAYERS[key] = found
    return found


def files_of(text: str) -> list[Path]:
    """Return the files that a player's text names: its model, the program of an engine, or the table of the levels."""
    parsed = PlayerText.parse(text)
    if parsed.name == "level":
        return [FILE]
    words = (parsed.value, *parsed.options.values())
    return [Path(word).resolve() for word in words if os.path.isfile(word)]  # noqa: PTH113 - a command may be long


def digests_of(text: str) -> list[str]:
    """Return the SHA-256 of each of these files."""
    return [hashlib.sha256(path.read_bytes()).hexdigest() for path in files_of(text)]


def stamps_of(text: str) -> tuple[tuple[Path, int, int], ...]:
    """Return each of these files with its stamp: another one once a file has changed."""
    return tuple((path, *stamp(path)) for path in files_of(text))


def rest() -> None:
    """End the outside processes of the players, which start them again for their next game."""
    for one in _PLAYERS.values():
        one.close()


def dismiss() -> None:
    """Drop all players."""
    while _PLAYERS:
        _PLAYERS.popitem()[1].close()


NUMBERED = 16  # The seeds of `swapped_pairs` number the pairs by sixteens, and the pairs of each sixteen
LOCK_STEP = 32  # Largest number of games that are played in lock step. It changes no move.


@dataclass(frozen=True)
class Board:
    """Board, rules and time control of games."""

    game: str
    size: int
    variant: str | None = None  # Variant of the game; None is the standard one
    control: TimeControl | None = None
    """With a time control, games are played one after the other; without, in lock step and untimed."""
    logs: str = ""  # Folder for the standard error of other programs. No game depends on it.

    def start(self, fen: str = "") -> Any:
        """Return the first position of a game: that of a text, or the standard one if the text is empty.

        Raises:
            ZugwerkError: the game has no such size or variant.
        """
        rules = load_game(self.game)
        if fen:
            return rules.from_fen(fen)
        return rules.initial_state(self.size) if self.variant is None else rules.initial_state(self.size, self.variant)

    def check(self, fixtures: Iterable[Fixture]) -> None:
        """Make all players, so that a wrong text or an unsupported board raises its error before any game is played.

        Raises:
            ZugwerkError: as `make_player`, `Player.check` or `Player.ready`.
        """
        starts: dict[str, set[str]] = {}
        for fixture in fixtures:
            for text in (fixture.first, fixture.second):
                starts.setdefault(text, set()).add(fixture.start)
        for text, fens in starts.items():
            one = self._player(text)
            try:
                for fen in fens:
                    one.check(self.start(fen))
                one.ready()
                if self.control is not None and self.control.cpu:
                    one.cpu_seconds()
            finally:
                one.close()

    def begin(self, fixture: Fixture) -> OpenGame:
        """Begin a game, with players that have forgotten earlier games and, on a clock, have loaded all they need.

        An engine that cannot begin does not end the match: it is asked again for its first move, and then forfeits.
        """
        start, texts = self.start(fixture.start), (fixture.first, fixture.second)
        seats = (self._player(texts[0]), self._player(texts[1], seat=int(texts[0] == texts[1])))
        for one in seats:
            with contextlib.suppress(PlayerError):
                one.new_game()
                if self.control is not None:
                    one.ready(start)
        clock = None
        if self.control is not None:
            limits = [movetime(text, one) for text, one in zip(texts, seats, strict=True)]
            clock = GameClock(self.control, limits, [one.first_ms for one in seats])
        return OpenGame(load_game(self.game), start, fixture, seats, clock)

    def _player(self, text: str, seat: int = 0) -> Player:
        one = player(self.game, text, seat)
        one.logs = Path(self.logs) if self.logs else None
        return one

    def record(self, played: PlayedGame, gid: int, event: str | None = None) -> GameRecord:
        """Return the record of a game. A forfeit is the ``event`` if none is given; an unnamed start is the variant."""
        fixture = played.fixture
        variant = fixture.start or self.variant or load_game(self.game).VARIANTS[0]
        height, width = self.start(fixture.start).board.shape
        event = played.forfeit if event is None else event
        made = GameRecord(self.game, gid, "engine", variant, height, width, played.actions, played.winner)
        return replace(made, first_name=fixture.first, second_name=fixture.second, event=event)


def movetime(text: str, player: Player) -> float | None:
    """Return the milliseconds per move of a player's text, or of an engine by default; None if there are none."""
    value = PlayerText.parse(text).options.get("movetime")
    return player.movetime_ms if value is None else float(value)


def swapped_pair(
    a: str, b: str, opening: tuple[int, ...], seed: Sequence[int], start: str = ""
) -> tuple[Fixture, Fixture]:
    """Return the two games of an opening. ``a`` has the first side in the first game."""
    return Fixture(a, b, opening, (*seed, 0), start), Fixture(b, a, opening, (*seed, 1), start)


def play_fixtures(
    board: Board, fixtures: Sequence[Fixture], parallel: Parallel, journal: Journal | None = None
) -> list[PlayedGame]:
    """Play the games and return them in order. Neighbouring games with the same player make its batches large.

    The journal keeps finished games, so that a call after a kill plays only the missing ones. Its keys depend on the
    games and on the bytes of the players' files, not on the code.

    Raises:
        ZugwerkError: a player's text is malformed, or a player does not support this board.
    """
    board.check(fixtures)
    keys = group_keys(board, [[one] for one in fixtures])
    tasks = {key: (one,) for key, one in zip(keys, fixtures, strict=True)}  # a game that is given twice is played once
    together = LOCK_STEP if board.control is None else 1
    some, said = partial(play_some, board), f"{len(tasks)} games"
    rows = each_kept(some, tasks, parallel, said, journal, rest, together=together)
    found = dict(zip(tasks, map(PlayedGame.from_json, rows), strict=True))
    return [found[key] for key in keys]


def play_matches(
    board: Board, matches: Sequence[Sequence[Fixture]], parallel: Parallel, journal: Journal | None = None
) -> list[list[PlayedGame]]:
    """Play the games of several matches side by side, as `play_fixtures` does; return those of each match."""
    games = iter(play_fixtures(board, [one for some in matches for one in some], parallel, journal))
    return [list(islice(games, len(some))) for some in matches]


def play_some(board: Board, tasks: Sequence[tuple[Fixture]]) -> list[dict[str, Any]]:
    """Play the games of some tasks; return them in the form that `PlayedGame.from_json` reads."""
    return play_group(board, [one for (one,) in tasks])


def play_group(board: Board, fixtures: Sequence[Fixture]) -> list[dict[str, Any]]:
    """Play some games, in lock step where there is no clock: a player then gets many positions at once."""
    width = LOCK_STEP if board.control is None else 1
    return [
        asdict(game)
        for at in range(0, len(fixtures), width)
        for game in play([board.begin(fixture) for fixture in fixtures[at : at + width]])
    ]


def group_keys(board: Board, groups: Sequence[Sequence[Fixture]]) -> list[str]:
    """Return, for each group, the digest of everything that decides its games except the code: 32 hex digits."""
    texts = {text for group in groups for fixture in group for text in (fixture.first, fixture.second)}
    files = {text: digests_of(text) for text in texts}
    on, keys = asdict(replace(board, logs="")), []
    if board.control is not None and not board.control.cpu:
        del on["control"]["cpu"]  # keys of games that were played before it was there
    for group in groups:
        rows = [[asdict(one), files[one.first], files[one.second]] for one in group]
        keys.append(hashlib.sha256(json.dumps([on, rows], sort_keys=True).encode()).hexdigest()[:32])
    return keys


def swapped_pairs(
    board: Board, a: str, b: str, pairs: int, opening_plies: int, seed: Sequence[int], *, level: bool = False
) -> list[Fixture]:
    """Return the games of a match in colour-swapped pairs, each from its own random opening of so many plies.

    Player A has the first side in the first game of a pair. The match depends on the seed and on nothing else. With
    ``level``, openings are drawn again until a short search calls them level.
    """
    drawn = board.start(), pairs, opening_plies, [*seed, 0]
    openings = level_openings(board.game, *drawn) if level else random_openings(load_game(board.game), *drawn)
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
    games = swapped_pairs(board, a, b, pairs, opening_plies, seed)
    return Match.of(a, b, play_fixtures(board, games, parallel, journal))


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
        for other in (one for one in names if one != name):
            found = standings[name, other] if (name, other) in standings else standings[other, name].swapped
            total += found
            rows.append((name, other, found))
        rows.append((name, "all", total))
    return rows

"""`Board`, the board and rules of games, and `play_fixtures`, which plays many games side by side.

The moves of a game depend only on its fixture and the board (and on the clock, if it measures wall time). The games
with which it is played in lock step and the number of workers change nothing.
"""

import contextlib
import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from pipeline_src.arena.game import Fixture, GameClock, OpenGame, PlayedGame, TimeControl, play
from pipeline_src.arena.journal import Journal, each_kept
from pipeline_src.files import stamp
from pipeline_src.games.game import get_game
from pipeline_src.parallel import Parallel
from pipeline_src.players.ladders import FILE
from pipeline_src.players.player import Player, PlayerError, PlayerText
from pipeline_src.players.registry import make_player
from pipeline_src.project.params import PARAMS_FILE
from pipeline_src.records.record import GameRecord

# The players of this process. Each is made once and reused.


MOST = 16  # Largest number of players that are kept. The least recently used ones are dropped.
_PLAYERS: dict[tuple[Any, ...], Player] = {}


def player(game: str, text: str, seat: int = 0) -> Player:
    """Return the player that a text names. It may have played before, so call `Player.new_game`.

    A player is made again if one of its files has changed.

    Args:
        game: name of the game.
        text: text of the player.
        seat: number that distinguishes players with the same text, such as the two of a game.

    Raises:
        ZugwerkError: as `make_player`.
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
        rules = get_game(self.game)
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
        return OpenGame(get_game(self.game), start, fixture, seats, clock)

    def _player(self, text: str, seat: int = 0) -> Player:
        one = player(self.game, text, seat)
        one.logs = Path(self.logs) if self.logs else None
        return one

    def record(self, played: PlayedGame, gid: int, event: str | None = None) -> GameRecord:
        """Return the record of a game. A forfeit is the ``event`` if none is given; an unnamed start is the variant."""
        fixture = played.fixture
        height, width = self.start(fixture.start).board.shape
        return GameRecord(
            game=self.game,
            gid=gid,
            source="engine",
            variant=fixture.start or self.variant or get_game(self.game).VARIANTS[0],
            height=height,
            width=width,
            actions=played.actions,
            winner=played.winner,
            first_name=fixture.first,
            second_name=fixture.second,
            event=played.forfeit if event is None else event,
        )


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
    """Play the games and return them in order.

    Args:
        board: board and rules.
        fixtures: the games. Neighbouring games with the same player make its batches large.
        parallel: workers for the games.
        journal: keeps finished games, so that a call after a kill plays only the missing ones. Keys depend on the games
            and on the bytes of the players' files, not on the code.

    Raises:
        ZugwerkError: a player's text is malformed, or a player does not support this board.
    """
    board.check(fixtures)
    keys = group_keys(board, [[one] for one in fixtures])
    tasks = {key: (one,) for key, one in zip(keys, fixtures, strict=True)}  # a game that is given twice is played once
    together = LOCK_STEP if board.control is None else 1
    rows = each_kept(
        partial(play_some, board), tasks, parallel, f"{len(tasks)} games", journal, rest, together=together
    )
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
    for group in groups:
        rows = [[asdict(one), files[one.first], files[one.second]] for one in group]
        keys.append(hashlib.sha256(json.dumps([on, rows], sort_keys=True).encode()).hexdigest()[:32])
    return keys

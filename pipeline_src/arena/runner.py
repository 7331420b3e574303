"""`Board`, on which games are played, and `play_fixtures`, which plays many in groups side by side.

A game's moves depend on its fixture and on the board alone (and on the clock, where that is one of wall time): neither
the size of the groups nor what else is in a group, nor the number of workers, changes one of them.
"""

import contextlib
import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pipeline_src.arena import pool
from pipeline_src.arena.clock import GameClock, TimeControl
from pipeline_src.arena.game import Fixture, OpenGame, PlayedGame, play
from pipeline_src.arena.journal import Journal, run_kept
from pipeline_src.games.game import get_game
from pipeline_src.parallel import Parallel
from pipeline_src.players.errors import PlayerError
from pipeline_src.players.player import PlayerText
from pipeline_src.records.record import GameRecord


@dataclass(frozen=True)
class Board:
    """Board and rules of games, and their time control."""

    game: str
    size: int
    variant: str | None = None
    """None is the game's standard."""
    control: TimeControl | None = None
    """With one, games are played one after the other; without, in lock step, and nobody looks at a clock."""

    def start(self, fen: str = "") -> Any:
        """The position that a game begins with: that of a text, or the standard one where that is empty.

        Raises:
            ZugwerkError: the game has no such size or variant.
        """
        rules = get_game(self.game)
        if fen:
            return rules.from_fen(fen)
        return rules.initial_state(self.size) if self.variant is None else rules.initial_state(self.size, self.variant)

    def check(self, fixtures: Iterable[Fixture]) -> None:
        """Make the players, so that a wrong text, or one that cannot play here, fails before any game is played.

        Raises:
            ZugwerkError: as `make_player`, `Player.check` or `Player.ready`.
        """
        starts: dict[str, set[str]] = {}
        for fixture in fixtures:
            for text in (fixture.first, fixture.second):
                starts.setdefault(text, set()).add(fixture.start)
        for text, fens in starts.items():
            one = pool.player(self.game, text)
            try:
                for fen in fens:
                    one.check(self.start(fen))
                one.ready()
            finally:
                one.close()

    def begin(self, fixture: Fixture) -> OpenGame:
        """A game, with players who know nothing of earlier ones and, on a clock, have loaded all they need.

        An engine that cannot begin does not end the match: its first move is tried again, and forfeits the game.
        """
        start, texts = self.start(fixture.start), (fixture.first, fixture.second)
        seats = (pool.player(self.game, texts[0]), pool.player(self.game, texts[1], seat=int(texts[0] == texts[1])))
        for one in seats:
            with contextlib.suppress(PlayerError):
                one.new_game()
                if self.control is not None:
                    one.ready(start)
        clock = None if self.control is None else GameClock(self.control, [movetime(text) for text in texts])
        return OpenGame(get_game(self.game), start, fixture, seats, clock)

    def record(self, played: PlayedGame, gid: int, event: str | None = None) -> GameRecord:
        """For an archive; without an ``event``, a forfeit stands there. A start that has no name is the variant."""
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
            event=event if event is not None else "" if played.ended == "board" else f"forfeit:{played.ended}",
        )


def movetime(text: str) -> float | None:
    """The milliseconds a move that a player's text sets itself, if any."""
    value = PlayerText.parse(text).options.get("movetime")
    return None if value is None else float(value)


def swapped_pair(
    a: str, b: str, opening: tuple[int, ...], seed: Sequence[int], start: str = ""
) -> tuple[Fixture, Fixture]:
    """The two games of an opening; ``a`` moves first in the first."""
    return Fixture(a, b, opening, (*seed, 0), start), Fixture(b, a, opening, (*seed, 1), start)


def play_fixtures(
    board: Board, fixtures: Sequence[Fixture], parallel: Parallel, group: int, journal: Journal | None = None
) -> list[PlayedGame]:
    """Play the games, in their order.

    Args:
        board: on what.
        fixtures: the games; neighbours that share a player make its batches large.
        parallel: how the groups run.
        group: games of a task.
        journal: keeps the groups that are finished, under keys that tell their games, the bytes of their players'
            files, and nothing of the code; a call after a kill plays the missing ones only.

    Raises:
        ZugwerkError: a player's text cannot be read, or one of them cannot play on this board.
    """
    board.check(fixtures)
    groups = [fixtures[at : at + group] for at in range(0, len(fixtures), group)]
    keys = group_keys(board, groups)
    tasks = {key: (board, some) for key, some in zip(keys, groups, strict=True)}
    found = run_kept(play_group, tasks, parallel, f"{len(fixtures)} games", journal, pool.rest)
    return [PlayedGame.from_json(row) for key in keys for row in found[key]]


def play_group(board: Board, fixtures: Sequence[Fixture]) -> list[dict[str, Any]]:
    """The games of a task, as `PlayedGame.from_json` reads them."""
    if board.control is None:  # so that a player sees as many positions at once as there can be
        played = play([board.begin(fixture) for fixture in fixtures])
    else:
        played = [game for fixture in fixtures for game in play([board.begin(fixture)])]
    return [asdict(game) for game in played]


def group_keys(board: Board, groups: Sequence[Sequence[Fixture]]) -> list[str]:
    """Digest of all that decides the games of each group, but for the code: 32 hex digits."""
    texts = {text for group in groups for fixture in group for text in (fixture.first, fixture.second)}
    files = {text: [hashlib.sha256(path.read_bytes()).hexdigest() for path in pool.files_of(text)] for text in texts}
    keys = []
    for group in groups:
        rows = [[asdict(one), files[one.first], files[one.second]] for one in group]
        keys.append(hashlib.sha256(json.dumps([asdict(board), rows], sort_keys=True).encode()).hexdigest()[:32])
    return keys

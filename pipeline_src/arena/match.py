"""Matches between any two players, in colour-swapped pairs: `run_match`, for `zugwerk match`, and `play_match`."""

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pipeline_src.arena import pool
from pipeline_src.arena.clock import TimeControl
from pipeline_src.arena.game import PlayedGame
from pipeline_src.arena.journal import Journal
from pipeline_src.arena.openings import Opening, random_openings, read_openings
from pipeline_src.arena.result import Match, Pair
from pipeline_src.arena.runner import Board, play_fixtures, play_group, swapped_pair
from pipeline_src.arena.sprt import Sprt
from pipeline_src.errors import ZugwerkError
from pipeline_src.games.game import get_game
from pipeline_src.parallel import Parallel, run_as_they_come
from pipeline_src.parallel.tasks import nothing
from pipeline_src.players.player import PlayerText
from pipeline_src.records.parquet import write_records

GROUP = 16
"""Pairs that a task of `play_match` plays in lock step. Fixed: each game's seed tells its group."""
ALONE = Parallel(workers=1)


@dataclass(frozen=True)
class MatchSpec:
    """A match. Two equal ones give the same games, as far as their players keep no time."""

    game: str
    a: str
    """Text of player A; scores are reported for A."""
    b: str
    """Text of player B."""
    games: int
    """Even: each opening is played twice, with the sides swapped."""
    openings: str = "random:2"
    """``random:PLIES``, ``none`` or a file (`read_openings`)."""
    size: int = 10
    variant: str | None = None
    """Rules or start position; None is the game's standard one."""
    seed: int = 1
    clock: tuple[float, float] | None = None
    """Milliseconds a side and increment a move; without one, a player's own ``movetime`` is watched."""
    margin: float = 100.0
    """Milliseconds that a move may take beyond its movetime."""

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
        """One a pair; the first ones are the same whatever the number of games."""
        return read_openings(get_game(self.game), self.openings, self.board.start(), self.pairs, [self.seed, 0])

    def identity(self) -> dict[str, Any]:
        """All on which the games depend, as JSON. The number of games is not among it: a match may be prolonged."""
        found = {key: value for key, value in asdict(self).items() if key != "games"}
        if self.openings != "none" and not self.openings.startswith("random:"):
            with open(self.openings, "rb") as file:
                found["openings_sha256"] = hashlib.sha256(file.read()).hexdigest()
        return found


def run_match(
    spec: MatchSpec,
    out: Path | None = None,
    parallel: Parallel = ALONE,
    sprt: Sprt | None = None,
    resume: bool = True,
    on_pair: Callable[[Match], None] = nothing,
) -> Match:
    """Play a match, or what is left of it.

    Args:
        spec: the match.
        out: Parquet file of the games, written at the end; the journal lies beside it (`journal_of`) and stays there,
            so that the same match called again plays the missing pairs only. None keeps nothing.
        parallel: where pairs are played side by side. Timed games want a core each.
        sprt: ends the match as soon as it is decided.
        resume: False plays anew what the journal has.
        on_pair: called with the match so far whenever there is one pair more, and once before.

    Returns:
        The match, whose `Match.status` says whether all of it was played. Ctrl-C ends it with the pairs finished by
        then.

    Raises:
        ZugwerkError: bad openings, a player that cannot be made or an engine that cannot be started, or the journal
            of another match.
    """
    board, match = spec.board, Match(spec.a, spec.b, {}, sprt=sprt)
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
            tasks = [(board, fixtures[number]) for number in missing]
            found = stack.enter_context(closing(run_as_they_come(play_group, tasks, parallel, pool.rest)))
            for index, rows in found:
                match.pairs[missing[index]] = _pair(rows)
                if journal is not None:
                    journal.add(str(missing[index]), rows)
                on_pair(match)
                if match.decided:
                    break
            if len(match.pairs) < spec.pairs:
                match.status = "decided" if match.decided else "incomplete"
        except KeyboardInterrupt:
            match.status = "interrupted"
        if out is not None:
            games = ((2 * k + i + 1, game) for k, pair in sorted(match.pairs.items()) for i, game in enumerate(pair))
            write_records((board.record(game, gid) for gid, game in games), out)
    return match


def journal_of(out: Path) -> Path:
    """Path of a match's journal."""
    return out.with_suffix(".journal.jsonl")


def pairs_of(journal: Journal) -> dict[int, Pair]:
    """The pairs that are in the journal of a match, by number."""
    return {int(key): _pair(rows) for key, rows in journal.entries.items()}


def _pair(rows: Sequence[dict[str, Any]]) -> Pair:
    one, other = map(PlayedGame.from_json, rows)
    return one, other


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
    """Play ``pairs`` colour-swapped pairs from as many random openings.

    Args:
        board: on what.
        a: text of one player.
        b: text of the other.
        pairs: number of openings; twice as many games are played.
        opening_plies: random plies of an opening.
        seed: the match depends on nothing else.
        parallel: how the groups of pairs run.
        journal: see `play_fixtures`.

    Raises:
        ZugwerkError: as `play_fixtures`.
    """
    openings = random_openings(get_game(board.game), board.start(), pairs, opening_plies, [*seed, 0])
    fixtures = [
        game
        for number, opening in enumerate(openings)
        for game in swapped_pair(a, b, opening, (*seed, 1, number // GROUP, number % GROUP))
    ]
    return Match.of(a, b, play_fixtures(board, fixtures, parallel, 2 * GROUP, journal))


def with_limits(game: str, text: str, limits: Mapping[str, float | None]) -> str:
    """The text with those limits (movetime, nodes, depth) that are given, if its player takes limits and has none.

    Raises:
        ZugwerkError: the text names no player.
    """
    given = {name: value for name, value in limits.items() if value is not None}
    parsed = PlayerText.parse(text)
    if not given or any(name in parsed.options for name in limits):
        return text
    bare = not parsed.value and not parsed.options
    added = (
        text.rstrip(":") + (":" if bare else ",") + ",".join(f"{name}={value:.15g}" for name, value in given.items())
    )
    try:
        pool.player(game, added)
    except ZugwerkError:
        pool.player(game, text)  # takes no limits; a text that is wrong itself is complained about here
        return text
    return added

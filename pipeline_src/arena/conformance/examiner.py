"""Checks for engines of both protocols: `Examiner`, which `uci` and `brain` complete."""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from pipeline_src.arena.match import MatchSpec, run_match
from pipeline_src.games.game import get_game
from pipeline_src.parallel.tasks import nothing
from pipeline_src.players.engines.engine import EnginePlayer, ProgramOptions
from pipeline_src.players.engines.process import LEAVE_S, EngineProcess
from pipeline_src.players.errors import RefusalError
from pipeline_src.players.options import read_options
from pipeline_src.players.player import PlayerText, Position
from pipeline_src.players.registry import make_player, maker_of, open_maker

PROC = Path("/proc")
"""Where Linux tells of the memory of other processes."""


def is_told() -> bool:
    """Whether this system has ``/proc``, as Linux does."""
    return (PROC / "self" / "statm").exists()


def resident_bytes(root: int) -> int:
    """Return the resident bytes of a process, its group and all their children. Shared pages count for each process."""
    parents, members = dict[int, int](), set[int]()
    for entry in PROC.iterdir():
        if entry.name.isdigit() and (found := _read(entry / "stat")):
            _, parent, group, session, *_ = found.rpartition(")")[2].split()
            parents[int(entry.name)] = int(parent)
            if root in (int(entry.name), int(group), int(session)):
                members.add(int(entry.name))
    while more := {pid for pid, parent in parents.items() if parent in members} - members:
        members |= more
    pages = (_read(PROC / str(pid) / "statm").split() for pid in members)
    return sum(int(words[1]) for words in pages if words) * os.sysconf("SC_PAGE_SIZE")


def _read(path: Path) -> str:
    """Return the text of a file; empty if the process has ended."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


LIMITS_MS = (50.0, 500.0, 5000.0)
MARGIN_MS = 100.0
"""Milliseconds that a move may take beyond its limit, as in matches."""
GAME_MS = 100.0
"""Milliseconds per move of the games that are played to their end."""
BOARD_MS = 300.0
"""Milliseconds of the move that is played on each board and by each rule."""
MEMORY_MS = 500
"""Milliseconds per move of the memory check."""
LOOK_S = 0.05
"""Seconds between two readings of memory."""
ANSWER_S = 3.0
"""Seconds for an answer that needs no search."""
MOVES = 4
"""Moves per limit. The first one may be late, as in matches."""
Verdict = Literal["good", "note", "broken"]
"""``note`` marks an optional feature that is missing."""


class Finding(NamedTuple):
    """Outcome of one check."""

    check: str
    verdict: Verdict
    detail: str


Outcome = tuple[Verdict, str]
Check = tuple[str, Callable[[], Outcome]]


class Examiner:
    """Checks for engines of both protocols. The examiner of a protocol adds its own."""

    game: str
    player: str
    """Name of the player that speaks the protocol."""
    setting: str
    """Option of that player for the settings that the engine gets: ``option`` or ``info``."""
    farewell: str
    pause_ms = 0.0
    """Pause between a line of the engine and the next command, as in matches."""
    boards: Sequence[tuple[int, str | None]]
    """Boards to try, as (size, variant). The engine must play on the first."""

    def __init__(self, command: str, limits_ms: Sequence[float] = LIMITS_MS, start_ms: float = 300_000.0) -> None:
        """Read the program to examine.

        Args:
            command: command line and options, as in a player's text: ``./engine --quiet,option.Threads=1``.
            limits_ms: limits of a move to check, in milliseconds.
            start_ms: milliseconds that the engine has to become ready.

        Raises:
            ZugwerkError: the text has no command, or an option that the player of this protocol does not have.
        """
        self.command, self.limits_ms, self.start_ms = command, limits_ms, start_ms
        self.rules, text = get_game(self.game), PlayerText.parse(f"{self.player}:{command}")
        options = read_options(open_maker(maker_of(self.game, text))[1], text)
        assert isinstance(options, ProgramOptions)
        self.words: tuple[str, ...] = options.command
        self.settings: dict[str, str] = getattr(options, self.setting)

    def checks(self) -> Iterator[Check]:
        """Yield all checks by name."""
        yield "starts", self.starts
        yield "names itself", self.names_itself
        yield from ((f"moves of {ms:g} ms", partial(self.moves, ms)) for ms in self.limits_ms)
        for size, variant in self.boards:
            yield f"{size}x{size} {variant or ''}".strip(), partial(self.plays_on, size, variant)
        yield "odd input", self.odd_input
        yield "memory", self.memory
        yield "a game to its end", self.whole_game
        yield f"leaves after {self.farewell}", partial(self.leaves, self.farewell)
        yield "leaves at the end of its input", partial(self.leaves, "")

    def starts(self) -> Outcome:
        """Check the handshake and the readiness for a game."""
        begin = time.monotonic()
        with closing(self._make(1000)) as one:
            one.ready(self._start())
            return "good", f"ready after {time.monotonic() - begin:.1f} s"

    def moves(self, ms: float) -> Outcome:
        """Check that moves under one limit are legal and in time."""
        with closing(self._make(ms)) as one:
            start, rng, actions, times = self._start(), np.random.default_rng(1), list[int](), list[float]()
            state = start
            one.ready(start)
            while len(times) < MOVES and self.rules.winner(state) is None:
                begin = time.perf_counter()
                actions += one.choose([Position(state, rng, start, tuple(actions))])
                times.append((time.perf_counter() - begin) * 1000 - one.waited_ms)
                state = self.rules.play(state, actions[-1])
                if self.rules.winner(state) is None:
                    actions.append(int(rng.choice(self.rules.legal_actions(state))))
                    state = self.rules.play(state, actions[-1])
        worst = max(times[1:], default=0.0)
        said = f"at most {worst:.0f} ms, the first move {times[0]:.0f} ms"
        return "broken" if worst > ms + MARGIN_MS else "good", said

    def plays_on(self, size: int, variant: str | None) -> Outcome:
        """Check one move on a board. An engine may refuse every board but the first."""
        start = self._start(size, variant)
        needed = (size, variant) == self.boards[0]
        try:
            with closing(self._make(BOARD_MS)) as one:
                one.check(start)
                one.choose([Position(start, np.random.default_rng(0), start)])
        except RefusalError as error:
            return "broken" if needed else "note", str(error)
        return "good", "a legal move"

    def whole_game(self) -> Outcome:
        """Check two games against random moves, one with each colour."""
        size, variant = self.boards[0]
        players = self._text(GAME_MS), "random"
        found = run_match(MatchSpec(self.game, *players, 2, "random:2", size, variant, margin=MARGIN_MS))
        lost = [one for one in found.forfeited if one.player == 0]
        if lost:
            return "broken", lost[0].detail
        return "good", f"2 games against random moves, {found.standing.wins} won"

    def leaves(self, farewell: str) -> Outcome:
        """Check that the engine exits by itself, with status 0."""
        process = EngineProcess(self.words, farewell)
        try:
            self._greet(process)
            process.rest(self.pause_ms / 1000)
        finally:
            process.close(LEAVE_S)
        status = process.status
        if status == 0:
            return "good", "status 0"
        killed = f"not within {LEAVE_S:g} s" if status == -9 else f"status {status}"
        return "broken" if farewell else "note", killed + process.last_words()

    def names_itself(self) -> Outcome:
        """Check that the engine gives its name."""
        raise NotImplementedError

    def odd_input(self) -> Outcome:
        """Check that the engine still moves after malformed lines."""
        raise NotImplementedError

    def memory(self) -> Outcome:
        """Check the resident memory of the engine and its child processes against the limit that it was given."""
        if not is_told():
            return "note", "skipped: this system has no /proc, which tells of other programs' memory"
        with closing(EngineProcess(self.words, self.farewell)) as process:
            return self._memory(process)

    def _memory(self, process: EngineProcess) -> Outcome:
        raise NotImplementedError

    def _greet(self, process: EngineProcess) -> None:
        raise NotImplementedError

    def _start(self, size: int | None = None, variant: str | None = None) -> Any:
        size = self.boards[0][0] if size is None else size
        return self.rules.initial_state(size) if variant is None else self.rules.initial_state(size, variant)

    def _text(self, ms: float) -> str:
        return f"{self.player}:{self.command},movetime={ms:g},start={self.start_ms:g}"

    def _make(self, ms: float) -> EnginePlayer:
        one = make_player(self.game, self._text(ms))
        assert isinstance(one, EnginePlayer)
        return one

    def _tell(self, process: EngineProcess, line: str) -> None:
        """Send a line after the pause."""
        process.rest(self.pause_ms / 1000)
        process.send(line)

    def _ask(self, process: EngineProcess, line: str, wanted: str, seconds: float = ANSWER_S) -> str:
        """Return the first answer that begins with one of the words in ``wanted``, in upper or lower case."""
        return self._await(process, line, lambda answer: begins(answer, wanted), wanted, seconds)

    def _await(
        self,
        process: EngineProcess,
        line: str,
        is_wanted: Callable[[str], bool],
        what: str,
        seconds: float = ANSWER_S,
        meanwhile: Callable[[], None] = nothing,
    ) -> str:
        """Return the first answer that is wanted; ``meanwhile`` is called repeatedly until it comes."""
        self._tell(process, line)
        deadline = time.monotonic() + seconds
        while (now := time.monotonic()) < deadline:
            answer = process.read(min(deadline, now + LOOK_S))
            meanwhile()
            if answer is not None and is_wanted(answer):
                return answer
        raise process.fault(f"does not answer {line!r} within {seconds:g} s (expected {what})")


class Peak:
    """Peak memory of an engine over all readings."""

    def __init__(self, process: EngineProcess) -> None:
        self._pid, self.mib, self._next = process.pid, 0, 0.0
        self.look()

    def look(self) -> None:
        """Read the memory, unless it was read just now: that takes longer than a line of an engine."""
        if time.monotonic() >= self._next:
            self.mib = max(self.mib, resident_bytes(self._pid) >> 20)
            self._next = time.monotonic() + LOOK_S


def begins(answer: str, wanted: str) -> bool:
    """Return whether an answer begins with one of the words in ``wanted``, in upper or lower case."""
    return answer.upper().startswith(tuple(wanted.upper().split()))

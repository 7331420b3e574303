"""A conformance run of another program: what it does well and where it breaks its protocol, UCI or the Gomocup's.

The program is started afresh for each check, so that one fault hides no other.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np

from pipeline_src.arena.match import MatchSpec, run_match
from pipeline_src.errors import ZugwerkError
from pipeline_src.games.game import get_game
from pipeline_src.parallel.tasks import nothing
from pipeline_src.players.engines.engine import EnginePlayer, command_words
from pipeline_src.players.engines.gomocup_text import read_cell
from pipeline_src.players.engines.process import LEAVE_S, EngineProcess
from pipeline_src.players.engines.uci_text import read_move
from pipeline_src.players.errors import RefusalError
from pipeline_src.players.player import Position
from pipeline_src.players.registry import make_player

LIMITS_MS = (50.0, 500.0, 5000.0)
MARGIN_MS = 100.0
"""Milliseconds by which a move may exceed its limit, as in matches."""
GAME_MS = 100.0
"""A move of the game that is played to its end."""
ANSWER_S = 3.0
"""For an answer that needs no search."""
MOVES = 4
"""Number of moves under each limit. The first one is not timed."""
Verdict = Literal["good", "note", "broken"]
"""A note is something that a program may leave out."""


class Finding(NamedTuple):
    """Outcome of one check."""

    check: str
    verdict: Verdict
    detail: str


Outcome = tuple[Verdict, str]
Check = tuple[str, Callable[[], Outcome]]


class Examiner:
    """Checks for programs of both protocols; a game's examiner adds those of its own."""

    game: str
    player: str
    """Name of the player that speaks the protocol."""
    farewell: str
    boards: Sequence[tuple[int, str | None]]
    """(size, variant) to be tried; the program has to play on the first."""

    def __init__(self, command: str, limits_ms: Sequence[float] = LIMITS_MS, start_ms: float = 300_000.0) -> None:
        """``command`` is a command line; ``start_ms`` is how long it is waited for until it is ready."""
        self.command, self.limits_ms, self.start_ms = command, limits_ms, start_ms
        self.words, self.rules = command_words(command), get_game(self.game)

    def checks(self) -> Iterator[Check]:
        """All of them by name."""
        yield "starts", self.starts
        yield "names itself", self.names_itself
        yield from ((f"moves of {ms:g} ms", partial(self.moves, ms)) for ms in self.limits_ms)
        for size, variant in self.boards:
            yield f"{size}x{size} {variant or ''}".strip(), partial(self.plays_on, size, variant)
        yield "odd input", self.odd_input
        yield "a game to its end", self.whole_game
        yield f"leaves after {self.farewell}", partial(self.leaves, self.farewell)
        yield "leaves at the end of its input", partial(self.leaves, "")

    def starts(self) -> Outcome:
        """Handshake, and readiness for a game."""
        begin = time.monotonic()
        with closing(self._make(1000)) as one:
            one.ready(self._start())
            return "good", f"ready after {time.monotonic() - begin:.1f} s"

    def moves(self, ms: float) -> Outcome:
        """Moves in a row under one limit, each legal and in time."""
        with closing(self._make(ms)) as one:
            start, rng, actions, times = self._start(), np.random.default_rng(1), list[int](), list[float]()
            state = start
            one.ready(start)
            while len(times) < MOVES and self.rules.winner(state) is None:
                begin = time.perf_counter()
                actions += one.choose([Position(state, rng, start, tuple(actions))])
                times.append((time.perf_counter() - begin) * 1000)
                state = self.rules.play(state, actions[-1])
                if self.rules.winner(state) is None:
                    actions.append(int(rng.choice(self.rules.legal_actions(state))))
                    state = self.rules.play(state, actions[-1])
        worst = max(times[1:], default=0.0)
        said = f"at most {worst:.0f} ms, the first move {times[0]:.0f} ms"
        return "broken" if worst > ms + MARGIN_MS else "good", said

    def plays_on(self, size: int, variant: str | None) -> Outcome:
        """One move on a board, or a refusal of it; only the first board must be played."""
        start = self._start(size, variant)
        needed = (size, variant) == self.boards[0]
        try:
            with closing(self._make(1000)) as one:
                one.check(start)
                one.choose([Position(start, np.random.default_rng(0), start)])
        except RefusalError as error:
            return "broken" if needed else "note", str(error)
        return "good", "a legal move"

    def whole_game(self) -> Outcome:
        """Two games against random moves, one as either side."""
        size, variant = self.boards[0]
        found = run_match(MatchSpec(self.game, self._text(GAME_MS), "random", 2, "random:2", size, variant))
        lost = [one for one in found.forfeited if one.player == 0]
        if lost:
            return "broken", lost[0].detail
        return "good", f"2 games against random moves, {found.standing.wins} won"

    def leaves(self, farewell: str) -> Outcome:
        """Whether it ends by itself, with status 0."""
        process = EngineProcess(self.words, farewell)
        try:
            self._greet(process)
        finally:
            process.close()
        status = process.status
        if status == 0:
            return "good", "status 0"
        killed = f"not within {LEAVE_S:g} s" if status == -9 else f"status {status}"
        return "broken" if farewell else "note", killed + process.last_words()

    def names_itself(self) -> Outcome:
        """Its name, as the protocol tells it."""
        raise NotImplementedError

    def odd_input(self) -> Outcome:
        """A move after lines that mean nothing."""
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

    def _ask(self, process: EngineProcess, line: str, wanted: str, seconds: float = ANSWER_S) -> str:
        """The answer that holds one of the words in ``wanted``, as its first word or the beginning of a later one."""
        process.send(line)
        deadline = time.monotonic() + seconds
        while (answer := process.read(deadline)) is not None:
            if any(word.upper().startswith(tuple(wanted.upper().split())) for word in answer.split()):
                return answer
        raise process.fault(f"does not answer {line!r} within {seconds:g} s (expected {wanted})")


class UciExaminer(Examiner):
    """Checks for programs that speak UCI for the Amazons."""

    game, player, farewell = "amazons", "uci", "quit"
    boards = ((10, None), (8, None), (6, None))

    def checks(self) -> Iterator[Check]:
        """See `Examiner.checks`."""
        yield from super().checks()
        yield "stops when it is told to", self.stops

    def plays_on(self, size: int, variant: str | None) -> Outcome:
        """See `Examiner.plays_on`; the protocol has no refusal."""
        try:
            return super().plays_on(size, variant)
        except ZugwerkError as error:
            return "broken" if size == self.boards[0][0] else "note", str(error)

    def names_itself(self) -> Outcome:
        """See `Examiner.names_itself`."""
        with closing(EngineProcess(self.words)) as process:
            process.send("uci")
            found = self._ask(process, "", "id uciok", self.start_ms / 1000)  # whichever comes first
            return ("good", found) if found.startswith("id name ") else ("broken", f"begins with {found[:80]!r}")

    def odd_input(self) -> Outcome:
        """See `Examiner.odd_input`."""
        with closing(EngineProcess(self.words)) as process:
            self._greet(process)
            for line in (
                "",
                "xyzzy 1 2 3",
                "setoption name No Such Option value 3",
                "position",
                "position fen x",
                "?" * 9999,
            ):
                process.send(line)
            self._ask(process, "isready", "readyok", self.start_ms / 1000)
            process.send("ucinewgame")
            self._ask(process, "isready", "readyok", self.start_ms / 1000)
            process.send("position startpos")
            answer = self._ask(process, "go movetime 200", "bestmove").split()
        action = read_move(self.rules, self._start(), " ".join(answer[1:2]))
        return ("good" if self.rules.is_legal(self._start(), action) else "broken"), " ".join(answer)

    def stops(self) -> Outcome:
        """An endless search answers `isready`, and its move after `stop`."""
        with closing(EngineProcess(self.words)) as process:
            self._greet(process)
            process.send("position startpos")
            process.send("go infinite")
            self._ask(process, "isready", "readyok")
            begin = time.monotonic()
            self._ask(process, "stop", "bestmove")
            return "good", f"bestmove after {(time.monotonic() - begin) * 1000:.0f} ms; readyok during the search"

    def _greet(self, process: EngineProcess) -> None:
        self._ask(process, "uci", "uciok", self.start_ms / 1000)
        self._ask(process, "isready", "readyok", self.start_ms / 1000)


class BrainExaminer(Examiner):
    """Checks for programs that speak the Gomocup protocol."""

    game, player, farewell = "gomoku", "brain", "END"
    boards = ((15, "freestyle"), (20, "freestyle"), (5, "freestyle"), (15, "exact"))

    def names_itself(self) -> Outcome:
        """See `Examiner.names_itself`."""
        with closing(EngineProcess(self.words, "END")) as process:
            self._greet(process)
            return "good", self._ask(process, "ABOUT", "name=")

    def odd_input(self) -> Outcome:
        """See `Examiner.odd_input`; a cell that is not on the board is an ERROR."""
        with closing(EngineProcess(self.words, "END")) as process:
            self._greet(process)
            unknown = self._ask(process, "XYZZY", "UNKNOWN ERROR")
            error = self._ask(process, "TURN 99,99", "ERROR")
            self._greet(process)
            process.send("INFO timeout_turn 1000")
            process.send("INFO xyzzy 1")
            cell = self._ask(process, "BEGIN", " ".join(map(str, range(10))))
        read_cell(cell, 15, 15)
        return "good", f"{unknown[:60]} | {error[:60]} | {cell}"

    def _greet(self, process: EngineProcess) -> None:
        if self._ask(process, "START 15", "OK ERROR", self.start_ms / 1000).upper() != "OK":
            raise process.fault("does not play on 15x15")


EXAMINERS: dict[str, type[Examiner]] = {"amazons": UciExaminer, "gomoku": BrainExaminer}


def examine(examiner: Examiner, on_finding: Callable[[Finding], None] = nothing) -> list[Finding]:
    """Run all checks, one after the other; ``on_finding`` is called with each outcome as it is known."""
    findings = list[Finding]()
    for name, check in examiner.checks():
        try:
            findings.append(Finding(name, *check()))
        except ZugwerkError as error:
            findings.append(Finding(name, "broken", str(error)))
        on_finding(findings[-1])
    return findings

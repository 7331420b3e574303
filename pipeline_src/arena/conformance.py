"""Conformance checks of engines that speak UCI or the Gomocup protocol: `examine` runs those of an `Examiner`.

The engine is restarted for each check, so that no fault hides another.
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
from pipeline_src.players.gomocup import PAUSE_MS, is_cell, read_cell, write_cell
from pipeline_src.players.player import PlayerError, PlayerText, Position, RefusalError, read_options
from pipeline_src.players.process import LEAVE_S, EnginePlayer, EngineProcess, ProgramOptions
from pipeline_src.players.registry import make_player, maker_of, open_maker
from pipeline_src.players.uci import form_of, read_move, write_move

LIMITS_MS = (50.0, 500.0, 5000.0)
MARGIN_MS = 100.0  # Milliseconds that a move may take beyond its limit, as in matches
GAME_MS = 100.0  # Milliseconds per move of the games that are played to their end
BOARD_MS = 300.0  # Milliseconds of the move that is played on each board and by each rule
ANSWER_S = 3.0  # Seconds for an answer that needs no search
MOVES = 4  # Moves per limit. The first one may be late, as in matches.
Verdict = Literal["good", "note", "broken"]  # `note` marks an optional feature that is missing


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
    player: str  # Name of the player that speaks the protocol
    setting: str  # Option of that player for the settings that the engine gets: `option` or `info`
    farewell: str
    pause_ms = 0.0  # Pause between a line of the engine and the next command, as in matches
    boards: Sequence[tuple[int, str | None]]  # Boards to try, as (size, variant); it must play on the first

    def __init__(self, command: str, limits_ms: Sequence[float] = LIMITS_MS, start_ms: float = 300_000.0) -> None:
        """Read the command line and options of a program, as in a player's text: ``./engine,option.Threads=1``.

        Moves are checked under each limit; to become ready the engine has ``start_ms``.

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
        self, process: EngineProcess, line: str, is_wanted: Callable[[str], bool], what: str, seconds: float = ANSWER_S
    ) -> str:
        """Return the first answer that is wanted."""
        self._tell(process, line)
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            answer = process.read(deadline)
            if answer is not None and is_wanted(answer):
                return answer
        raise process.fault(f"does not answer {line!r} within {seconds:g} s (expected {what})")


def begins(answer: str, wanted: str) -> bool:
    """Return whether an answer begins with one of the words in ``wanted``, in upper or lower case."""
    return answer.upper().startswith(tuple(wanted.upper().split()))


TURN_MS = 100  # Milliseconds of a move in the games of `BrainExaminer.at_once`
PAUSES_MS = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
"""Pauses before a command that are tried with an engine that refuses one without a pause, in milliseconds."""
START_S = 30.0  # Seconds for the answer to a second START


class BrainExaminer(Examiner):
    """Checks for engines of Gomoku that speak the Gomocup protocol."""

    game, player, setting, farewell = "gomoku", "brain", "info", "END"
    boards = ((15, "freestyle"), (15, "exact"), (15, "renju"), (15, "caro"))

    def __init__(self, command: str, limits_ms: Sequence[float] = LIMITS_MS, start_ms: float = 300_000.0) -> None:
        """See `Examiner`. `at_once` may find that the engine needs a longer pause than the text has."""
        super().__init__(command, limits_ms, start_ms)
        text = PlayerText.parse(f"{self.player}:{command}")
        self.pause_ms = float(text.options.pop("pause", PAUSE_MS))
        self.command = str(text).partition(":")[2]

    def checks(self) -> Iterator[Check]:
        """See `Examiner.checks`."""
        start, *others = super().checks()
        yield from (start, ("commands at once", self.at_once), *others)

    def at_once(self) -> Outcome:
        """Check that a command right after an answer is taken; find the pause that an engine needs otherwise.

        The other checks make this pause too, so that they find only their own faults.
        """
        refusal = self._refusal(0.0)
        if not refusal:
            return "good", "a command right after an answer is taken"
        if slow := self._refusal(PAUSES_MS[-1]):
            return "broken", f"also after {PAUSES_MS[-1]:g} ms: {slow}"
        needed = next(pause for pause in PAUSES_MS if not self._refusal(pause) or pause == PAUSES_MS[-1])
        own, self.pause_ms = self.pause_ms, max(self.pause_ms, 2 * needed)
        enough = "is enough" if own == self.pause_ms else f"is too short: add pause={self.pause_ms:g} to its text"
        said = f"refuses a command right after its answer and takes it after {needed:g} ms: {refusal}"
        return "broken", f"{said}; the pause of {own:g} ms in matches {enough}"

    def _refusal(self, pause_ms: float) -> str:
        """Return how a command in two short games is refused after a pause; empty if all commands are taken."""
        before, self.pause_ms = self.pause_ms, pause_ms
        with closing(EngineProcess(self.words, "END")) as process:
            try:
                self._greet(process)
                return self._refusal_in_a_game(process) or self._refusal_in_a_game(process, "START 15")
            finally:
                self.pause_ms = before

    def _refusal_in_a_game(self, process: EngineProcess, start: str = "") -> str:
        state, rng, line = self._start(), np.random.default_rng(1), "BEGIN"
        try:
            if start and begins(answer := self._ask(process, start, "OK ERROR", START_S), "ERROR"):
                return answer
            self._tell(process, f"INFO timeout_turn {TURN_MS}")
            for _ in range(MOVES):
                answer = self._await(process, line, lambda said: is_cell(said) or begins(said, "ERROR"), "x,y")
                if not is_cell(answer):
                    return answer
                state = self.rules.play(state, read_cell(answer, 15, 15))
                action = int(rng.choice(self.rules.legal_actions(state)))
                state, line = self.rules.play(state, action), f"TURN {write_cell(action, 15)}"
        except PlayerError as error:  # no answer in time
            return str(error)
        return ""

    def names_itself(self) -> Outcome:
        """See `Examiner.names_itself`. The protocol recommends ``name="..."``, and allows any text."""
        with closing(EngineProcess(self.words, "END")) as process:
            self._greet(process)
            said = self._await(process, "ABOUT", lambda line: not begins(line, "MESSAGE DEBUG"), "a line about itself")
        if begins(said, "UNKNOWN ERROR"):
            return "broken", f"answers {said[:200]!r} to ABOUT"
        return ("good" if "name=" in said.lower() else "note"), said

    def _text(self, ms: float) -> str:
        return f"{super()._text(ms)},pause={self.pause_ms:g}"

    def _greet(self, process: EngineProcess) -> None:
        if not begins(self._ask(process, "START 15", "OK ERROR", self.start_ms / 1000), "OK"):
            raise process.fault("does not play on 15x15")
        for name, value in self.settings.items():
            self._tell(process, f"INFO {name} {value}")


class Go(NamedTuple):
    """A row of the table of ``go`` commands, each sent in the start position to an engine that has moved once."""

    line: str  # The command; `MOVES` stands for two legal moves, of which one has to be the answer
    then: str = ""  # Command that is sent `SILENT_S` later, after an `isready` that has to be answered
    ms: float = 10_000.0  # Milliseconds from the last command until the move counts as late
    needed: bool = True  # Whether a fault is `broken`; otherwise the feature is optional, and a fault is a `note`

    @property
    def name(self) -> str:
        """Return the commands."""
        return ", ".join(filter(None, [self.line, self.then]))

    @property
    def silent(self) -> bool:
        """Whether no move may come before ``then``."""
        return "infinite" in self.line or "ponder" in self.line


GO = (
    Go("go movetime 200", ms=200),
    Go("go wtime 2000 btime 2000", ms=2000),
    Go("go winc 100 btime 2000 binc 100 wtime 2000", ms=2000),
    Go("go wtime 2000 btime 2000 movestogo 1", ms=2000),
    Go("go infinite", "stop", ms=ANSWER_S * 1000),
    Go("go depth 1", needed=False),
    Go("go nodes 100", needed=False),
    Go("go mate 1", "stop", ms=ANSWER_S * 1000, needed=False),
    Go("go ponder wtime 2000 btime 2000", "ponderhit", ms=2000, needed=False),
    Go("go ponder wtime 2000 btime 2000", "stop", ms=ANSWER_S * 1000, needed=False),
    Go("go movetime 200 searchmoves MOVES", ms=200, needed=False),
    Go("go searchmoves MOVES movetime 200", ms=200, needed=False),
)
SILENT_S = 0.5  # Seconds in which an engine that ponders, or searches without end, may not move


class UciExaminer(Examiner):
    """Checks for engines of the Amazons that speak UCI."""

    game, player, setting, farewell = "amazons", "uci", "option", "quit"
    boards = ((10, None), (8, None), (6, None), (10, "cross"))

    def checks(self) -> Iterator[Check]:
        """See `Examiner.checks`."""
        yield from super().checks()
        yield from ((row.name, partial(self.goes, row)) for row in GO)

    def plays_on(self, size: int, variant: str | None) -> Outcome:
        """See `Examiner.plays_on`. UCI has no refusal, so a fault on an optional board is a note."""
        try:
            return super().plays_on(size, variant)
        except ZugwerkError as error:
            return "broken" if (size, variant) == self.boards[0] else "note", str(error)

    def names_itself(self) -> Outcome:
        """See `Examiner.names_itself`."""
        with closing(EngineProcess(self.words)) as process:
            process.send("uci")
            found = self._ask(process, "", "id uciok", self.start_ms / 1000)  # whichever comes first
            return ("good", found) if found.startswith("id name ") else ("broken", f"begins with {found[:80]!r}")

    def _greet(self, process: EngineProcess) -> None:
        self._ask(process, "uci", "uciok", self.start_ms / 1000)
        for name, value in self.settings.items():
            process.send(f"setoption name {name} value {value}")
        self._ask(process, "isready", "readyok", self.start_ms / 1000)

    def goes(self, row: Go) -> Outcome:
        """Check when a move comes, and which, after the commands of a row of `GO`."""
        with closing(EngineProcess(self.words)) as process:
            self._greet(process)
            process.send("position startpos")
            first = self._ask(process, f"go movetime {TURN_MS}", "bestmove").split()[1:2]
            try:
                verdict, said = self._go(process, row, " ".join(first))
            except PlayerError as error:
                verdict, said = "broken", str(error)
                row = row if process.alive() else row._replace(needed=True)
        return ("note" if verdict == "broken" and not row.needed else verdict), said

    def _go(self, process: EngineProcess, row: Go, first: str) -> Outcome:
        start = self._start()
        legal = self.rules.legal_actions(start).tolist()
        two = [action for action in legal[:: len(legal) // 3] if action != read_move(self.rules, start, first)][:2]
        moves = " ".join(write_move(self.rules, start, action, form_of(first)) for action in two)
        line = row.line.replace("MOVES", moves)
        if row.then:
            process.send(line)
            time.sleep(SILENT_S)
            early = self._ask(process, "isready", "readyok bestmove")
            if begins(early, "bestmove"):
                return ("broken", f"moves before {row.then}") if row.silent else ("good", early)
        begin = time.monotonic()
        answer = self._ask(process, row.then or line, "bestmove", (row.ms + MARGIN_MS) / 1000 + ANSWER_S)
        ms = (time.monotonic() - begin) * 1000
        text = " ".join(answer.split()[1:2])
        if read_move(self.rules, start, text) not in (two if line != row.line else legal):
            return "broken", f"plays {text}, which is not {f'one of {moves}' if line != row.line else 'legal'}"
        return ("broken" if ms > row.ms + MARGIN_MS else "good"), f"{text} {ms:.0f} ms after {row.then or 'go'}"


EXAMINERS: dict[str, type[Examiner]] = {"amazons": UciExaminer, "gomoku": BrainExaminer}


def examine(examiner: Examiner, on_finding: Callable[[Finding], None] = nothing) -> list[Finding]:
    """Run all checks in order; ``on_finding`` is called with each outcome."""
    findings = list[Finding]()
    for name, check in examiner.checks():
        try:
            findings.append(Finding(name, *check()))
        except ZugwerkError as error:
            findings.append(Finding(name, "broken", str(error)))
        on_finding(findings[-1])
    return findings

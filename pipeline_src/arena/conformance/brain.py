"""Checks for engines of Gomoku that speak the Gomocup protocol."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing

import numpy as np

from pipeline_src.arena.conformance.examiner import (
    ANSWER_S,
    LIMITS_MS,
    MEMORY_MS,
    MOVES,
    Check,
    Examiner,
    Outcome,
    Peak,
    begins,
)
from pipeline_src.errors import ZugwerkError
from pipeline_src.parallel.tasks import nothing
from pipeline_src.players.engines.brain import PAUSE_MS
from pipeline_src.players.engines.gomocup_text import is_cell, read_cell, write_cell
from pipeline_src.players.engines.process import EngineProcess
from pipeline_src.players.errors import PlayerError
from pipeline_src.players.player import PlayerText

SIZE_MS = 100
"""Milliseconds of the move on each size of the board."""
PAUSES_MS = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
"""Pauses before a command that are tried with an engine that refuses one without a pause, in milliseconds."""
START_S = 30.0
"""Seconds for the answer to a second START."""
MEMORY_MIB = 350
"""Memory limit of the Gomocup for an engine, in MiB."""


class BrainExaminer(Examiner):
    """Checks for engines of Gomoku that speak the Gomocup protocol."""

    game, player, setting, farewell = "gomoku", "brain", "info", "END"
    boards = ((15, "freestyle"), (15, "exact"), (15, "renju"), (15, "caro"))
    sizes: Sequence[tuple[int, int]] = (*((side, side) for side in range(5, 26)), (20, 15))
    """Boards to try, as (width, height). The engine may refuse all but the first of ``boards``."""

    def __init__(self, command: str, limits_ms: Sequence[float] = LIMITS_MS, start_ms: float = 300_000.0) -> None:
        """See `Examiner`. `at_once` may find that the engine needs a longer pause than the text has."""
        super().__init__(command, limits_ms, start_ms)
        text = PlayerText.parse(f"{self.player}:{command}")
        self.pause_ms = float(text.options.pop("pause", PAUSE_MS))
        self.command = ",".join([text.value, *(f"{key}={value}" for key, value in text.options.items())])

    def checks(self) -> Iterator[Check]:
        """See `Examiner.checks`."""
        start, *others = super().checks()
        yield from (start, ("commands at once", self.at_once), *others)
        yield "boards of all sizes", self.plays_on_all_sizes

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
            self._tell(process, f"INFO timeout_turn {SIZE_MS}")
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

    def plays_on_all_sizes(self) -> Outcome:
        """Check one move on each size of the board that the engine accepts."""
        played, refused = list[str](), list[str]()
        with closing(EngineProcess(self.words, "END")) as process:
            for width, height in self.sizes:
                start = f"START {width}" if width == height else f"RECTSTART {width},{height}"
                if not begins(self._ask(process, start, "OK ERROR UNKNOWN", self.start_ms / 1000), "OK"):
                    refused.append(f"{width}x{height}")
                    continue
                self._inform(process)
                self._tell(process, f"INFO timeout_turn {SIZE_MS}")
                cell = self._cell(process, "BEGIN")
                try:
                    read_cell(cell, height, width)
                except ZugwerkError as error:
                    raise process.fault(f"plays {cell}: {error}") from None
                played.append(f"{width}x{height}")
        return "good", f"a move on {', '.join(played) or 'none'}; refuses {', '.join(refused) or 'none'}"

    def odd_input(self) -> Outcome:
        """See `Examiner.odd_input`. A cell outside the board must be answered by ERROR."""
        with closing(EngineProcess(self.words, "END")) as process:
            self._greet(process)
            unknown = self._ask(process, "XYZZY", "UNKNOWN ERROR")
            error = self._ask(process, "TURN 99,99", "ERROR")
            self._greet(process)
            self._tell(process, "INFO timeout_turn 1000")
            self._tell(process, "INFO xyzzy 1")
            cell = self._cell(process, "BEGIN")
        read_cell(cell, 15, 15)
        return "good", f"{unknown[:60]} | {error[:60]} | {cell}"

    def _memory(self, process: EngineProcess) -> Outcome:
        self._greet(process)
        self._tell(process, f"INFO max_memory {MEMORY_MIB << 20}")
        self._tell(process, f"INFO timeout_turn {MEMORY_MS}")
        peak, state, rng, line = Peak(process), self._start(), np.random.default_rng(1), "BEGIN"
        for _ in range(MOVES):
            cell = self._cell(process, line, peak.look)
            state = self.rules.play(state, read_cell(cell, 15, 15))
            action = int(rng.choice(self.rules.legal_actions(state)))
            state, line = self.rules.play(state, action), f"TURN {write_cell(action, 15)}"
        said = f"at most {peak.mib} MiB of {MEMORY_MIB} (INFO max_memory)"
        return "broken" if peak.mib > MEMORY_MIB else "good", said

    def _cell(self, process: EngineProcess, line: str, meanwhile: Callable[[], None] = nothing) -> str:
        return self._await(process, line, is_cell, "x,y", ANSWER_S, meanwhile)

    def _greet(self, process: EngineProcess) -> None:
        if not begins(self._ask(process, "START 15", "OK ERROR", self.start_ms / 1000), "OK"):
            raise process.fault("does not play on 15x15")
        self._inform(process)

    def _inform(self, process: EngineProcess) -> None:
        for name, value in self.settings.items():
            self._tell(process, f"INFO {name} {value}")

"""Checks for engines of Gomoku that speak the Gomocup protocol."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing

import numpy as np

from pipeline_src.arena.conformance.examiner import ANSWER_S, MEMORY_MS, MOVES, Check, Examiner, Outcome, Peak, begins
from pipeline_src.errors import ZugwerkError
from pipeline_src.parallel.tasks import nothing
from pipeline_src.players.engines.gomocup_text import is_cell, read_cell, write_cell
from pipeline_src.players.engines.process import EngineProcess

SIZE_MS = 100
"""Milliseconds of the move on each size of the board."""
MEMORY_MIB = 350
"""Memory limit of the Gomocup for an engine, in MiB."""


class BrainExaminer(Examiner):
    """Checks for engines of Gomoku that speak the Gomocup protocol."""

    game, player, setting, farewell = "gomoku", "brain", "info", "END"
    boards = ((15, "freestyle"), (15, "exact"), (15, "renju"), (15, "caro"))
    sizes: Sequence[tuple[int, int]] = (*((side, side) for side in range(5, 26)), (20, 15))
    """Boards to try, as (width, height). The engine may refuse all but the first of ``boards``."""

    def checks(self) -> Iterator[Check]:
        """See `Examiner.checks`."""
        yield from super().checks()
        yield "boards of all sizes", self.plays_on_all_sizes

    def names_itself(self) -> Outcome:
        """See `Examiner.names_itself`. The protocol recommends ``name="..."``, and allows any text."""
        with closing(EngineProcess(self.words, "END")) as process:
            self._greet(process)
            said = self._await(process, "ABOUT", lambda line: not begins(line, "MESSAGE DEBUG"), "a line about itself")
        if begins(said, "UNKNOWN ERROR"):
            return "broken", f"answers {said[:200]!r} to ABOUT"
        return ("good" if "name=" in said.lower() else "note"), said

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
                process.send(f"INFO timeout_turn {SIZE_MS}")
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
            process.send("INFO timeout_turn 1000")
            process.send("INFO xyzzy 1")
            cell = self._cell(process, "BEGIN")
        read_cell(cell, 15, 15)
        return "good", f"{unknown[:60]} | {error[:60]} | {cell}"

    def _memory(self, process: EngineProcess) -> Outcome:
        self._greet(process)
        process.send(f"INFO max_memory {MEMORY_MIB << 20}")
        process.send(f"INFO timeout_turn {MEMORY_MS}")
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
            process.send(f"INFO {name} {value}")

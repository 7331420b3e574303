"""Checks for engines of the Amazons that speak UCI."""

import time
from collections.abc import Iterator
from contextlib import closing

from pipeline_src.arena.conformance.examiner import ANSWER_S, MEMORY_MS, MOVES, Check, Examiner, Outcome, Peak, begins
from pipeline_src.errors import ZugwerkError
from pipeline_src.players.engines.process import EngineProcess
from pipeline_src.players.engines.uci_text import read_move

HASH_MIB = 64
"""Value of the option ``Hash`` in the memory check, in MiB."""
BESIDE_HASH_MIB = 32
"""MiB that a UCI engine may grow beyond its table: ``Hash`` is the size of the table, not of the process."""


class UciExaminer(Examiner):
    """Checks for engines of the Amazons that speak UCI."""

    game, player, setting, farewell = "amazons", "uci", "option", "quit"
    boards = ((10, None), (8, None), (6, None), (10, "cross"))

    def checks(self) -> Iterator[Check]:
        """See `Examiner.checks`."""
        yield from super().checks()
        yield "stops when it is told to", self.stops

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
        """Check that an infinite search answers ``isready``, and moves after ``stop``."""
        with closing(EngineProcess(self.words)) as process:
            self._greet(process)
            process.send("position startpos")
            process.send("go infinite")
            self._ask(process, "isready", "readyok")
            begin = time.monotonic()
            self._ask(process, "stop", "bestmove")
            return "good", f"bestmove after {(time.monotonic() - begin) * 1000:.0f} ms; readyok during the search"

    def _memory(self, process: EngineProcess) -> Outcome:
        has_hash = False

        def ends(line: str) -> bool:
            nonlocal has_hash
            has_hash |= line.split()[:3] == ["option", "name", "Hash"]
            return begins(line, "uciok")

        self._await(process, "uci", ends, "uciok", self.start_ms / 1000)
        if not has_hash:
            return "note", "offers no option Hash"
        self._set_options(process)
        self._ask(process, "isready", "readyok", self.start_ms / 1000)
        before = Peak(process).mib
        process.send(f"setoption name Hash value {HASH_MIB}")
        self._ask(process, "isready", "readyok", self.start_ms / 1000)
        peak, played, state = Peak(process), list[str](), self._start()
        for _ in range(MOVES):
            process.send(" ".join(["position startpos", *(["moves", *played] if played else [])]))
            answer = self._await(
                process,
                f"go movetime {MEMORY_MS}",
                lambda line: begins(line, "bestmove"),
                "bestmove",
                MEMORY_MS / 1000 + ANSWER_S,
                peak.look,
            )
            state = self.rules.play(state, read_move(self.rules, state, " ".join(answer.split()[1:2])))
            played.append(answer.split()[1])
        grown = peak.mib - before
        said = f"grows by {grown} MiB with Hash {HASH_MIB}, to {peak.mib} MiB"
        return "broken" if grown > HASH_MIB + BESIDE_HASH_MIB else "good", said

    def _greet(self, process: EngineProcess) -> None:
        self._ask(process, "uci", "uciok", self.start_ms / 1000)
        self._set_options(process)
        self._ask(process, "isready", "readyok", self.start_ms / 1000)

    def _set_options(self, process: EngineProcess) -> None:
        for name, value in self.settings.items():
            process.send(f"setoption name {name} value {value}")

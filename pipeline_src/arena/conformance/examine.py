"""Run the checks of an examiner: `examine`."""

from collections.abc import Callable

from pipeline_src.arena.conformance.brain import BrainExaminer
from pipeline_src.arena.conformance.examiner import Examiner, Finding
from pipeline_src.arena.conformance.uci import UciExaminer
from pipeline_src.errors import ZugwerkError
from pipeline_src.parallel.tasks import nothing

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

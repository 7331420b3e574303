"""Compare both look-ups on the same positions: results and times."""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from pipeline_src.systems.joseki.canonical import canonical_key, canonical_keys, canonical_move
from pipeline_src.systems.joseki.corners import PASS
from pipeline_src.systems.joseki.library import Library
from pipeline_src.systems.joseki.lookup import look_up
from pipeline_src.systems.joseki.lookup_paper import NOT_FOUND, CodeIndex, look_up_paper
from pipeline_src.systems.joseki.pattern_code import pattern_codes
from pipeline_src.systems.joseki.sequences import Steps, select
from pipeline_src.systems.joseki.symmetric_code import symmetric_codes


class Compared(NamedTuple):
    """Comparison on positions of counted games, each with its played move."""

    asked: int
    found: int
    """The played move is among those that the exact key reads off."""
    found_by_paper: int
    """It is among those that the code and its hints find."""
    strangers: int
    """Moves that the code finds, and that nobody played in that pattern."""
    named_by_paper: int
    """All moves that the code finds."""


def compare(library: Library, index: CodeIndex, steps: Steps) -> Compared:
    """Ask both for the moves of each step."""
    found = found_by_paper = strangers = named = 0
    for step in range(len(steps.point)):
        window, colour = steps.before[step], int(steps.colour[step])
        forms = canonical_key(window)[1]
        played = canonical_move(steps.point[step], colour, forms)
        ours = set(library.move[look_up(library, window, colour).transitions].tolist())
        points = look_up_paper(index, window, colour)[1].tolist()
        theirs = {canonical_move(point, colour, forms) for point in points if point not in (NOT_FOUND, PASS)}
        found += played in ours
        found_by_paper += played in theirs
        strangers += len(theirs - ours)
        named += len(theirs)
    return Compared(len(steps.point), found, found_by_paper, strangers, named)


def spread(steps: Steps, count: int) -> Steps:
    """At most ``count`` of the local moves, evenly spaced, passes left out."""
    played = np.flatnonzero(steps.point != PASS)
    chosen = played[np.linspace(0, len(played) - 1, min(count, len(played))).astype(int)] if len(played) else played
    return select(steps, chosen)


def timings(library: Library, index: CodeIndex, steps: Steps) -> dict[str, float]:
    """Microseconds a pattern on one core: codes and keys in a compiled loop, look-ups called from Python."""
    windows, colours = steps.before, steps.colour.tolist()

    def each(look: Callable[[Any, Any, int], Any], where: Any) -> Callable[[], None]:
        def run() -> None:
            for window, colour in zip(windows, colours, strict=True):
                look(where, window, colour)

        return run

    tasks: dict[str, Callable[[], Any]] = {
        "encode_us": lambda: pattern_codes(windows),
        "encode_ours_us": lambda: symmetric_codes(windows),
        "canonical_us": lambda: canonical_keys(windows),
        "lookup_us": each(look_up, library),
        "lookup_paper_us": each(look_up_paper, index),
    }
    return {name: 1e6 * _seconds(task) / max(len(windows), 1) for name, task in tasks.items()}


def _seconds(task: Callable[[], Any]) -> float:
    """Return the CPU seconds of a task, the best of three runs after one that compiles."""
    task()
    best = float("inf")
    for _ in range(3):
        begin = time.process_time()
        task()
        best = min(best, time.process_time() - begin)
    return best

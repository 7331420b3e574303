"""Choose the targets of the graph that may run now: their ancestors are done; the longest path to the end is first.

    target = a stage, or a member of a `foreach` group
    place  = room for one busy process or thread; a run has a fixed number of them

Nothing here runs or reads anything.
"""

import statistics
import time
from collections.abc import Mapping, Set
from graphlib import TopologicalSorter
from typing import NamedTuple

from pipeline_src.project.dvc_run import State


class Places(NamedTuple):
    """Number of places that a target takes."""

    least: int = 1
    """Threads of a training; their number affects its result."""
    most: int = 1
    """Processes that share the tasks, if there is room; results do not depend on them."""


class Outcome(NamedTuple):
    """Result for a target."""

    target: str
    state: State
    seconds: float


class Schedule:
    """The targets of a run by state: done, running, ready, waiting."""

    def __init__(
        self,
        before: Mapping[str, Set[str]],
        jobs: int,
        *,
        changed: Set[str],
        forced: Set[str] = frozenset(),
        places: Mapping[str, Places] | None = None,
        seconds: Mapping[str, float] | None = None,
    ) -> None:
        """Set up a run.

        Args:
            before: dependencies of each target; they are targets of the run too.
            jobs: the number of places, at least 1.
            changed: targets that have to run, as far as known before the run.
            forced: targets that run even if nothing has changed.
            places: places by target or by group; the default is one.
            seconds: durations of targets in an earlier run, as far as known.
        """
        self.before, self.jobs, self.forced = before, jobs, forced
        self.places = {target: (places or {}).get(target.partition("@")[0], Places()) for target in before}
        self.changed = set(changed | forced)
        self.reported = set(changed)
        """Targets that DVC reported changed."""
        self.doubtful: set[str] = set()
        """Targets that DVC reported unchanged before a target that they depend on was made."""
        self.taken: dict[str, int] = {}
        """Places of each running target."""
        self.since: dict[str, float] = {}
        """Start of each running target by the monotonic clock, in seconds."""
        self.outcomes: dict[str, Outcome] = {}
        self.known = {target: value for target, value in (seconds or {}).items() if target in before}
        self.after: dict[str, set[str]] = {target: set() for target in before}
        for target, earlier in before.items():
            for one in earlier:
                self.after[one].add(target)
        self._settle()

    def begin(self) -> dict[str, int]:
        """Assign places to all targets that may begin now; return the places of each.

        Targets get the least that they need, the one with the longest path to the end of the graph first. If there is
        no room for one, the targets after it wait too, or it might wait for ever. Targets that can use more get the
        remaining places.
        """
        free = self.jobs - sum(self.taken.values())
        begun: dict[str, int] = {}
        ways = self._ways({target: self.estimate(target) for target in self.before})
        for target in sorted(self._ready(), key=ways.__getitem__, reverse=True):
            least = min(self.places[target].least, self.jobs)
            if least > free:
                break
            begun[target] = least
            free -= least
        for target, least in begun.items():
            more = min(free, max(self.places[target].most - least, 0))
            begun[target] += more
            free -= more
        self.taken |= begun
        self.doubtful -= begun.keys()
        self.changed |= begun.keys()  # otherwise a failed target could count as unchanged
        self.since |= dict.fromkeys(begun, time.monotonic())
        return begun

    def end(self, target: str, state: State | None) -> Outcome | None:
        """Free the places of a target that ran; return its outcome, or None for a failed one (``state`` None)."""
        del self.taken[target]
        seconds = time.monotonic() - self.since.pop(target)
        if state is None:
            return None
        self.outcomes[target] = Outcome(target, state, seconds)
        if state != "up to date" or target in self.reported:  # in the latter case another process has made it
            self.doubtful |= self.after[target] - self.changed
        self._settle()
        return self.outcomes[target]

    def answer(self, changed: Set[str]) -> None:
        """Settle all doubtful targets by DVC's answer, which was given while nothing ran."""
        self.changed |= self.doubtful & changed
        self.reported |= self.doubtful & changed
        self.doubtful.clear()
        self._settle()

    def estimate(self, target: str) -> float:
        """Estimate the seconds of a target: as last time, else as members of its group, else the median of all."""
        if target in self.known:
            return self.known[target]
        group = [s for other, s in self.known.items() if other.partition("@")[0] == target.partition("@")[0]]
        return statistics.median(group or self.known.values() or [1.0])

    def left(self) -> list[str]:
        """Return the targets that are not done, including running ones."""
        return [target for target in self.before if target not in self.outcomes]

    def seconds_left(self) -> float | None:
        """Estimate the remaining seconds: the longest path, or all work divided by the places, whichever is more.

        None if no earlier run is known.
        """
        if not self.known:
            return None
        now = time.monotonic()
        rest = {target: max(self.estimate(target) - (now - self.since.get(target, now)), 0.0) for target in self.left()}
        return max([*self._ways(rest).values(), sum(rest.values()) / self.jobs])

    def _ready(self) -> list[str]:
        return [
            target
            for target in self.before
            if target not in self.outcomes and target not in self.taken and self.before[target] <= self.outcomes.keys()
        ]

    def _settle(self) -> None:
        """Mark ready targets that are neither changed nor doubtful as done, then their successors."""
        while settled := [one for one in self._ready() if one not in self.changed and one not in self.doubtful]:
            self.outcomes |= {one: Outcome(one, "up to date", 0.0) for one in settled}

    def _ways(self, seconds: Mapping[str, float]) -> dict[str, float]:
        """Return the longest path in seconds from the start of each target to the end of the graph."""
        ways: dict[str, float] = {}
        after = {target: self.after[target] & seconds.keys() for target in seconds}
        for target in TopologicalSorter(after).static_order():
            ways[target] = seconds[target] + max((ways[one] for one in after[target]), default=0.0)
        return ways

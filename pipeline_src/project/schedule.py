"""Choose the targets of the graph that may run now: their ancestors are done, the longest way to the end goes first.

    target = a stage, or a member of a `foreach` group
    place  = room for one busy process or thread; a run has so many of them

Nothing here runs or reads anything.
"""

import statistics
import time
from collections.abc import Mapping, Set
from typing import NamedTuple

from pipeline_src.project.dvc_run import State


class Places(NamedTuple):
    """How many places a target takes."""

    least: int = 1
    """Threads of a training, whose number is part of its result."""
    most: int = 1
    """Processes that share its tasks, if there is room; a result does not depend on them."""


class Outcome(NamedTuple):
    """Result for a target."""

    target: str
    state: State
    seconds: float


class Schedule:
    """The targets of a run: what is done, what runs, what may begin."""

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
        """Args: what the run is about.

        Args:
            before: per target, those that make what it reads; closed: they are targets too.
            jobs: the number of places, at least 1.
            changed: targets that have to run, as far as can be told before the run.
            forced: targets that run even if nothing has changed.
            places: of each target, by itself or by its group; else one.
            seconds: that targets took in an earlier run, as far as known.
        """
        self.before, self.jobs, self.forced = before, jobs, forced
        self.places = {target: (places or {}).get(target.partition("@")[0], Places()) for target in before}
        self.changed = set(changed | forced)
        self.doubtful: set[str] = set()
        """Targets that were unchanged when asked about, and that read what a target has made since then."""
        self.taken: dict[str, int] = {}
        """Places of each target that runs."""
        self.since: dict[str, float] = {}
        """When each target that runs began, by the monotonic clock, in seconds."""
        self.outcomes: dict[str, Outcome] = {}
        self.known = {target: value for target, value in (seconds or {}).items() if target in before}
        self.after: dict[str, set[str]] = {target: set() for target in before}
        for target, earlier in before.items():
            for one in earlier:
                self.after[one].add(target)
        self._settle()

    def stale(self) -> set[str]:
        """The targets that have changed, and all that follow from them."""
        found, more = set[str](), set(self.changed)
        while more:
            found |= more
            more = {one for target in more for one in self.after[target]} - found
        return found

    def begin(self) -> dict[str, int]:
        """Take places for all that may begin now; how many each of them has.

        Each gets the least that it needs, in the order of its way to the end of the graph; where one finds no room,
        those behind it wait too, or it might wait for ever. Room that is left then goes to those that can use more.
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
        """Free the places of a target that ran; None as its state says that it failed, and None is returned."""
        del self.taken[target]
        seconds = time.monotonic() - self.since.pop(target)
        if state is None:
            return None
        self.outcomes[target] = Outcome(target, state, seconds)
        if state != "up to date":
            self.doubtful |= self.after[target] - self.changed
        self._settle()
        return self.outcomes[target]

    def answer(self, changed: Set[str]) -> None:
        """Take DVC's word, given while nothing runs, for all that was doubtful."""
        self.changed |= self.doubtful & changed
        self.doubtful.clear()
        self._settle()

    def estimate(self, target: str) -> float:
        """Seconds that a target may take: as long as last time, else as members of its group, else as most do."""
        if target in self.known:
            return self.known[target]
        group = [s for other, s in self.known.items() if other.partition("@")[0] == target.partition("@")[0]]
        return statistics.median(group or self.known.values() or [1.0])

    def left(self) -> list[str]:
        """Targets that are not done, those that run among them."""
        return [target for target in self.before if target not in self.outcomes]

    def seconds_left(self) -> float | None:
        """Estimate for all that is left: its longest way, or its work spread over all places, whichever is more.

        None where no earlier run is known.
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
        """Mark ready targets that are neither changed nor doubtful as done, and then their successors."""
        while settled := [one for one in self._ready() if one not in self.changed and one not in self.doubtful]:
            self.outcomes |= {one: Outcome(one, "up to date", 0.0) for one in settled}

    def _ways(self, seconds: Mapping[str, float]) -> dict[str, float]:
        """Per target with a number of seconds: the longest way from its begin to the end of the graph, in seconds."""
        ways: dict[str, float] = {}
        todo = list(seconds)
        while todo:
            target = todo[-1]
            after = self.after[target] & seconds.keys()
            if missing := after - ways.keys():
                todo += missing
            else:
                ways[target] = seconds[target] + max((ways[one] for one in after), default=0.0)
                todo.pop()
        return ways

"""Choose the targets of the graph that may run now: their ancestors are done; the longest path to the end is first.

    target = a stage, or a member of a `foreach` group
    place  = room for one busy process or thread; a run has a fixed number of them

Nothing here runs or reads anything.
"""

import json
import math
import os
import queue
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import AbstractContextManager, contextmanager, suppress
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from pipeline_src.errors import ZugwerkError, line_of
from pipeline_src.files import read_json, write_json
from pipeline_src.project import dvc_run
from pipeline_src.project.code import reach
from pipeline_src.project.dvc_run import Children, State, run_dvc
from pipeline_src.project.graph import GRAPH
from pipeline_src.project.params import CODE_FILE, PARAMS_FILE, at, read_tree


class Places(NamedTuple):
    """Number of places that a target takes."""

    least: int = 1  # Threads of a training; their number affects its result
    most: int = 1  # Processes that share the tasks, if there is room; results do not depend on them


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
        """Set up a run with so many places (``jobs``).

        ``before`` has the dependencies of each target, which are targets too. Targets that are ``changed``, as far as
        known before the run, or ``forced``, have to run. Places are by target or by group, one by default; ``seconds``
        are those of an earlier run, as far as known.
        """
        self.before, self.jobs, self.forced = before, jobs, forced
        self.places = {target: (places or {}).get(target.partition("@")[0], Places()) for target in before}
        self.changed = set(changed | forced)
        self.reported = set(changed)  # Targets that DVC reported changed
        self.doubtful: set[str] = set()  # Targets reported unchanged before one that they depend on was made
        self.taken: dict[str, int] = {}  # Places of each running target
        self.since: dict[str, float] = {}  # Start of each running target by the monotonic clock, in seconds
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
        """Estimate the remaining seconds: the longest path, or all work by the places; None without an earlier run."""
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


# The targets of the graph as DVC reports them: dependencies, which have changed, and the places that each takes.
#
# The number of places of a stage is set in dvc.yaml by its ``meta``, which DVC itself ignores. There
#
#     meta: {threads: torch_threads, workers: parallel.workers}
#
# names keys of params.yaml: the number of places that the stage needs, and the number that it can use.


def read_targets(
    checkout: Path, children: Children, targets: Sequence[str] = ()
) -> tuple[dict[str, set[str]], set[str]]:
    """Return the dependencies of each target, in dvc.yaml's order, and those that `dvc repro --single-item` would run.

    Only ``targets``, or without any all, are looked at for the latter. Raises ZugwerkError: no stage, or unreadable.
    """
    lines: list[str] = []
    run_dvc(["graph", *targets], checkout, lines.append, children, module="pipeline_src.project.dvc_graph")
    found = json.loads(next(line for line in lines if line.startswith("{")))
    if not found["before"]:
        raise ZugwerkError(f"{checkout / GRAPH}: no stage")
    return {target: set(before) for target, before in found["before"].items()}, set(found["changed"])


def require_recorded(checkout: Path, children: Children) -> None:
    """Run `zugwerk code --check` with the checkout's own sources. Raises ZugwerkError: its words."""
    if CODE_FILE.as_posix() not in (checkout / GRAPH).read_text(encoding="utf-8"):
        return
    command, own = ["pipeline_src.cli", "code", "--check"], {"PYTHONPATH": str(checkout.resolve())}
    status, tail = dvc_run.attempt(command, checkout, bool, children, math.inf, own)
    if status:
        children.check()
        raise ZugwerkError("\n".join(tail).removeprefix("error: "))


def select(graph: Mapping[str, Set[str]], targets: Sequence[str], system: str = "") -> dict[str, Set[str]]:
    """Return the part of a graph with some targets and all their dependencies, in the graph's order.

    Targets are stages, members ``stage@item`` or groups; without any, those whose names begin with the word of a
    ``system``; empty means all.

    Raises:
        ZugwerkError: a target is unknown; the message lists the known ones.
    """
    groups = defaultdict(list)
    for name in graph:
        groups[name.partition("@")[0]].append(name)
    todo = [name for name in graph if name.startswith(f"{system}_" if system else "")] if not targets else []
    if not targets and not todo:
        raise ZugwerkError(f"{GRAPH}: no stage whose name starts with '{system}_'")
    for target in targets:
        if target not in graph and target not in groups:
            raise ZugwerkError(f"{GRAPH}: no target {target!r}; there are: {', '.join(map(_listed, groups.values()))}")
        todo += groups.get(target, [target])
    found = reach(todo, graph.__getitem__)
    return {name: before for name, before in graph.items() if name in found}


def read_places(checkout: Path, params: Mapping[str, Any]) -> dict[str, Places]:
    """Return the places of each stage or group. Raises ZugwerkError: ``meta`` names no whole number above 0."""
    found = {}
    for name, definition in read_tree(checkout / GRAPH).get("stages", {}).items():
        meta, numbers = definition.get("do", definition).get("meta", {}), [1, 1]
        for place, kind in enumerate(("threads", "workers")):
            if key := meta.get(kind):
                numbers[place] = value = at(params, key)
                if not isinstance(value, int) or value < 1:
                    what = f"{PARAMS_FILE} has no whole number above 0 at {key}"
                    raise ZugwerkError(f"{GRAPH}: {name}: meta.{kind}: {what}")
        found[name] = Places(*numbers)
    return found


def _listed(group: list[str]) -> str:
    """Return a group as one word, which a shell expands to all members."""
    name, _, first = group[0].partition("@")
    members = ",".join(member.partition("@")[2] for member in group)
    return f"{name}@{{{members}}}" if first else name


# Run independent targets of the graph at the same time in one checkout, each by `dvc repro --single-item`.
#
# DVC is asked once for the graph and once for the changed targets; an unchanged target needs no process. The caller
# decides how a target runs: `zugwerk repro` uses threads, a flow uses Prefect's tasks.

WORK = Path("work/repro")
SECONDS = WORK / "seconds.json"  # Durations of targets in the last run by profile; they affect no result


class Future(Protocol):
    """A future of `concurrent.futures` or of Prefect."""

    def add_done_callback(self, fn: Callable[[Any], None], /) -> object:
        """Call ``fn`` when the target is done."""

    def result(self) -> State:
        """Return the result for the target, or raise its error."""


class Watch(Protocol):
    """Observer of a run."""

    def began(self, target: str) -> None:
        """A target has started."""

    def ended(self, target: str, outcome: Outcome | None) -> None:
        """A target has ended; without an outcome it failed."""


class Scheduler:
    """One run of the graph, or of a part of it, in a checkout."""

    def __init__(
        self,
        checkout: Path,
        children: Children,
        jobs: int,
        *,
        targets: Sequence[str] = (),
        system: str = "",
        force: bool = False,
        refresh_crawl: bool = False,
    ) -> None:
        """Ask DVC for the graph and the changed targets; for ``targets`` and ``system`` see `select`.

        ``force`` runs all targets even if nothing has changed; ``refresh_crawl`` runs crawls too, since DVC does not
        notice that a site has changed.

        Raises:
            ZugwerkError: a target is unknown, dvc.yaml or params.yaml cannot be read, artifacts/code.json has the
                digests of other code.
        """
        self.checkout, self.children = checkout, children
        self.beside: list[str] = []  # Targets that were running when the first one failed, and finished
        recorded = children.submit(require_recorded, checkout, children)
        before, changed = read_targets(checkout, children)
        params = read_tree(checkout / PARAMS_FILE)
        chosen = select(before, targets, system)
        recorded.result()
        self._profile = str(params.get("profile", ""))
        self._seconds = _read_seconds(checkout / SECONDS)
        self.schedule = Schedule(
            chosen,
            jobs,
            changed=set() if force else changed & chosen.keys(),
            forced={target for target in chosen if force or (refresh_crawl and target.endswith("_crawl"))},
            places=read_places(checkout, params),
            seconds=self._seconds.setdefault(self._profile, {}),
        )

    def run(self, submit: Callable[[str, int], Future], watch: Watch | None = None) -> dict[str, Exception]:
        """Run the changed targets. After a failure running targets finish and no other one starts.

        ``submit`` starts a target with at most the given number of workers. Returns the error of each one that failed.
        """
        schedule = self.schedule
        ended: queue.SimpleQueue[str] = queue.SimpleQueue()
        running: dict[str, Future] = {}
        failed: dict[str, Exception] = {}

        def tell(target: str) -> Callable[[Any], None]:
            return lambda _: ended.put(target)

        while True:
            if not failed:
                if not running and len(schedule.doubtful) > 1:
                    schedule.answer(read_targets(self.checkout, self.children, sorted(schedule.doubtful))[1])
                for target, places in schedule.begin().items():
                    running[target] = submit(target, places)
                    running[target].add_done_callback(tell(target))
                    if watch:
                        watch.began(target)
            if not running:
                return failed
            target = ended.get()
            state: State | None = None
            try:
                state = running.pop(target).result()
            except Exception as error:  # after any error, wait for the other targets
                self.beside = self.beside if failed else list(running)
                failed[target] = error
            outcome = schedule.end(target, state)
            if outcome and outcome.state == "ran":
                self._seconds[self._profile][target] = round(outcome.seconds, 1)
                with suppress(OSError):  # the stages report a full disk
                    write_json(self.checkout / SECONDS, self._seconds)
            if watch:
                watch.ended(target, outcome)


def _read_seconds(path: Path) -> dict[str, dict[str, float]]:
    """Return durations by profile and target; empty without a readable file."""
    with suppress(ZugwerkError, OSError, AttributeError, TypeError, ValueError):
        return {profile: {name: float(s) for name, s in rows.items()} for profile, rows in read_json(path).items()}
    return {}


# Bring the graph up to date on this machine: the scheduler, with a thread and a log file for each running target.


class TargetsFailedError(ZugwerkError):
    """Targets failed; the text has the last lines of each, and the names of the logs of all targets that ran then."""


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def repro(
    checkout: Path,
    jobs: int,
    show: Callable[[Schedule], AbstractContextManager[Watch]],
    *,
    targets: Sequence[str] = (),
    force: bool = False,
) -> list[Outcome]:
    """Bring targets and their dependencies up to date, as many at a time as there are places (``jobs``) for.

    The output of a target goes to `log_file`. No process that this function started outlives it. ``show`` returns the
    display of the progress, which lasts as long as the targets run. For the rest see `Scheduler`. Returns all targets
    in the order in which they finished.

    Raises:
        TargetsFailedError: at least one failed.
        ZugwerkError: see `Scheduler`.
    """
    with Children() as children:
        scheduler = Scheduler(checkout, children, jobs, targets=targets, force=force)
        schedule = scheduler.schedule

        def bring(target: str, workers: int) -> dvc_run.State:
            with _log(checkout / log_file(target)) as say:
                forced = target in schedule.forced
                return dvc_run.repro(target, checkout, say, children, force=forced, workers=workers)

        def submit(target: str, workers: int) -> Future:
            return children.submit(bring, target, workers)

        with show(schedule) as watch:
            failed = scheduler.run(submit, watch)
    if failed:
        raise TargetsFailedError("\n".join(_told(failed, scheduler.beside)))
    return list(schedule.outcomes.values())


def log_file(target: str) -> Path:
    """Return the file below the checkout for a target's output."""
    return WORK / f"{target.replace('/', '_')}.log"


@contextmanager
def _log(path: Path) -> Iterator[Callable[[str], object]]:
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "wb", buffering=0) as file:

        def say(line: str) -> None:
            with suppress(OSError):  # the stage reports a full disk
                file.write(f"{line}\n".encode(errors="replace"))

        yield say


def _told(failed: dict[str, Exception], beside: Sequence[str]) -> Iterator[str]:
    for target, error in failed.items():
        yield f"{target}: {line_of(error) if isinstance(error, OSError) else error}\n  log: {log_file(target)}"
    for target in beside:
        if target not in failed:
            yield f"{target}, which ran at the same time, has finished\n  log: {log_file(target)}"
    yield "no other target was started; run the same command again to continue"

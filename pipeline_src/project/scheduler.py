"""Run independent targets of the graph at the same time in one checkout, each by `dvc repro --single-item`.

DVC is asked once for the graph and once for the changed targets; an unchanged target needs no process. The caller
decides how a target runs: `zugwerk repro` uses threads, a flow uses Prefect's tasks.
"""

import queue
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from pipeline_src.errors import ZugwerkError
from pipeline_src.files import read_json, write_json
from pipeline_src.project.children import Children
from pipeline_src.project.dvc_run import State
from pipeline_src.project.params import PARAMS_FILE, read_tree
from pipeline_src.project.schedule import Outcome, Schedule
from pipeline_src.project.targets import changed_targets, read_places, read_targets, select

WORK = Path("work/repro")
SECONDS = WORK / "seconds.json"
"""Durations of targets in the last run by profile, for estimates and the order of targets. They affect no result."""


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
        """Ask DVC for the graph and the changed targets.

        Args:
            checkout: the folder that holds dvc.yaml and params.yaml.
            children: the running commands, to which DVC's are added.
            jobs: number of places, at least 1.
            targets: stages, members ``stage@item`` or groups, together with their dependencies. Empty means all.
            system: without targets, only those of this system, see `select`.
            force: run all targets even if nothing has changed.
            refresh_crawl: run crawls too, since DVC does not notice that a site has changed.

        Raises:
            ZugwerkError: a target is unknown, dvc.yaml or params.yaml cannot be read.
        """
        self.checkout, self.children = checkout, children
        self.beside: list[str] = []
        """Targets that were running when the first one failed, and finished."""
        graph = children.submit(read_targets, checkout, children)
        status = None if force else children.submit(changed_targets, (), checkout, children)
        params = read_tree(checkout / PARAMS_FILE)
        chosen = select(graph.result(), targets, system)
        self._profile = str(params.get("profile", ""))
        self._seconds = _read_seconds(checkout / SECONDS)
        self.schedule = Schedule(
            chosen,
            jobs,
            changed=status.result() & chosen.keys() if status else set(),
            forced={target for target in chosen if force or (refresh_crawl and target.endswith("_crawl"))},
            places=read_places(checkout, params),
            seconds=self._seconds.setdefault(self._profile, {}),
        )

    def run(self, submit: Callable[[str, int], Future], watch: Watch | None = None) -> dict[str, Exception]:
        """Run the changed targets. After a failure running targets finish and no other one starts.

        Args:
            submit: starts a target with at most the given number of workers.
            watch: observer of the run.

        Returns:
            The error of each target that failed.
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
                    schedule.answer(changed_targets(sorted(schedule.doubtful), self.checkout, self.children))
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

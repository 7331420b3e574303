"""Tasks on the workers of a Dask cluster.

Dask itself tries a task again whose worker died, ``distributed.scheduler.allowed-failures`` times. It suspects all
tasks that the worker had been given, so no worker is given a second one; and a task that Dask gave up is tried once
more, when no other is under way.
"""

import contextlib
import hashlib
import logging
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from pipeline_src.errors import ZugwerkError
from pipeline_src.parallel.admission import Ticket, issue, perform, withdraw
from pipeline_src.parallel.crew import ATTEMPTS, Results, Tasks

CONNECT_S = 60
"""To find the scheduler, and then a worker."""
EMPTY_S = 180
"""How long a cluster may be without a worker."""
LOOK_S = 5
"""How often it is looked at while no task finishes."""
log = logging.getLogger(__name__)


class DaskCrew:
    """All workers of a cluster; each has to run one task at a time."""

    def __init__(self, address: str, workers: int) -> None:
        """Connect to the scheduler at ``address``; where that is empty, start one with so many ``workers`` here.

        Raises:
            ZugwerkError: dask is not installed, or there is no scheduler or no worker.
        """
        try:
            import dask
            import distributed
        except ImportError:
            raise ZugwerkError("parallel.backend dask: not installed; pip install 'zugwerk[cluster]'") from None
        self._cluster: Any = None
        if not address:
            dask.config.set({"distributed.scheduler.allowed-failures": ATTEMPTS - 1})
            dask.config.set({"distributed.deploy.lost-worker-timeout": "1h"})  # a busy machine restarts them slowly
            dask.config.set({"distributed.scheduler.worker-ttl": None})  # a long search blocks the heartbeat
            self._cluster = distributed.LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                host="127.0.0.1",
                dashboard_address="127.0.0.1:0",
                memory_limit=0,
                silence_logs=logging.ERROR,
            )
        self.address = address or self._cluster.scheduler_address
        try:
            self.client = distributed.Client(self.address, timeout=CONNECT_S, set_as_default=False)
        except (OSError, ValueError) as error:
            raise ZugwerkError(
                f"parallel.address {address}: no Dask scheduler answers there ({error}); start one with: dask scheduler"
            ) from None
        self.ticket = issue()
        self.prefix = "zugwerk-" + hashlib.sha256(self.ticket.folder.encode()).hexdigest()[:12]
        try:
            self.client.wait_for_workers(1, timeout=CONNECT_S)
            self._wait_for_leftovers()
        except TimeoutError:
            self.close()
            raise self._no_worker() from None

    def run(self, function: Callable[..., Any], tasks: Tasks, at_end: Callable[[], None]) -> Results:
        """See `Crew.run`."""
        from distributed import KilledWorker, wait

        waiting, suspects, alone = deque(range(len(tasks))), deque[int](), set[int]()
        futures: dict[Any, int] = {}

        def submit(index: int) -> None:
            key = f"{self.prefix}-{time.time_ns()}-{index}"
            futures[self.client.submit(_perform, self.ticket, function, tasks[index], pure=False, key=key)] = index

        try:
            seen = time.monotonic()
            while waiting or suspects or futures:
                room = sum(self.client.nthreads().values())
                while waiting and len(futures) < room:
                    submit(waiting.popleft())
                if suspects and room and not (waiting or futures):
                    alone.add(suspects[0])
                    submit(suspects.popleft())
                if futures:
                    with contextlib.suppress(TimeoutError), self.client.as_current():
                        wait(list(futures), timeout=LOOK_S, return_when="FIRST_COMPLETED")
                else:
                    time.sleep(0.1)
                if self.client.status != "running":
                    raise ZugwerkError(
                        f"{self.address}: the Dask scheduler went away; start it and its workers, and run this again"
                    )
                if room:
                    seen = time.monotonic()
                elif time.monotonic() - seen > EMPTY_S:
                    raise self._no_worker()
                for future in [future for future in futures if future.done()]:
                    index = futures.pop(future)
                    try:
                        result = future.result()
                    except KilledWorker:
                        log.warning("task %d ended its workers%s", index + 1, "; given up" if index in alone else "")
                        if index not in alone:
                            suspects.append(index)
                        continue
                    except ModuleNotFoundError as error:
                        raise _strange(error) from None
                    yield index, result
        finally:
            for future in futures:
                with contextlib.suppress(Exception):
                    future.cancel()
            with contextlib.suppress(Exception):
                self.client.run(at_end, on_error="ignore")

    def close(self) -> None:
        """See `Crew.close`."""
        withdraw(self.ticket)
        for one in (self.client, self._cluster):
            if one is not None:
                with contextlib.suppress(Exception):
                    one.close(timeout=CONNECT_S)

    def _wait_for_leftovers(self) -> None:
        """Until the tasks have ended that a killed run of this folder began: they write the same files."""
        before = None
        while True:
            found = {key for keys in self.client.run(_executing, self.prefix).values() for key in keys}
            before = found if before is None else before & found
            if not before:
                return
            log.warning("waiting for %d tasks of an earlier run on the cluster", len(before))
            time.sleep(1)

    def _no_worker(self) -> ZugwerkError:
        return ZugwerkError(
            f"{self.address}: no Dask worker; start some: dask worker {self.address} --nthreads 1 --nworkers 2"
        )


def _perform(ticket: Ticket, function: Callable[..., Any], task: tuple[Any, ...]) -> Any:
    from distributed import get_worker

    worker = get_worker()
    if worker.state.nthreads != 1:
        raise ZugwerkError(
            f"worker {worker.address} runs {worker.state.nthreads} tasks at a time in threads, but players and nets "
            "are not thread-safe; start it with --nthreads 1, and --nworkers for more"
        )
    return perform(ticket, function, task)


def _executing(prefix: str, dask_worker: Any = None) -> list[str]:
    return [task.key for task in list(dask_worker.state.executing) if str(task.key).startswith(prefix)]


def _strange(error: ModuleNotFoundError) -> Exception:
    """What to raise for a worker that has not the package, or an old one."""
    if (error.name or "").split(".")[0] != "pipeline_src":
        return error
    return ZugwerkError(
        f"a worker of the cluster cannot import {error.name}; install this very version of zugwerk in its environment, "
        "then start it anew"
    )

"""Tasks sent a second to 2 to 1,000 workers of a Dask cluster, compared with plain Dask.

The workers are threads of this process, so that a thousand of them fit on one machine, and a second is one of the
process's CPU time, so that other work on the machine does not count. With ``--sleep`` a task sleeps, and the figures
are the share of the workers' time in which they slept, in percent of wall time. Prints a table. Needs the extra
``cluster``.

Example:
    python -m bench.dispatch --workers 2 64 1000 --tasks 1000
    python -m bench.dispatch --workers 2 64 --tasks 640 --sleep 1
"""

import argparse
import logging
import time
from collections.abc import Callable
from functools import partial

from pipeline_src.errors import run_main
from pipeline_src.parallel import Parallel, each, run_as_they_come, run_tasks
from pipeline_src.parallel.tasks import dismiss

WORKERS = (2, 16, 64, 256, 1000)
QUIET = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.system-monitor.interval": "1h",
    "distributed.admin.tick.interval": "1h",
    "distributed.comm.timeouts.connect": "1h",
    "distributed.comm.timeouts.tcp": "1h",
}
"""Without it a thousand workers take a hundred thousand samples of stacks a second in this process."""
HEARTBEAT_S = 60.0  # Seconds between two heartbeats of a worker; Dask takes 200 a second of all


def main() -> None:
    """Measure and print."""
    import dask
    from distributed import Client, LocalCluster, as_completed, scheduler

    dask.config.set(QUIET)
    scheduler.heartbeat_interval = lambda _: HEARTBEAT_S
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, nargs="*", default=WORKERS)
    parser.add_argument("--tasks", type=int, default=2000)
    parser.add_argument("--sleep", type=float, default=0.0, help="seconds of a task")
    options = parser.parse_args()
    tasks, task = [(options.sleep,)] * options.tasks, time.sleep if options.sleep else same
    print("| workers | plain Dask | one by one | in batches |\n| ---: | ---: | ---: | ---: |", flush=True)
    for workers in options.workers:
        with (
            LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                processes=False,
                protocol="inproc://",
                dashboard_address="127.0.0.1:0",
                memory_limit=0,
                silence_logs=logging.ERROR,
            ) as cluster,
            Client(cluster.scheduler_address, set_as_default=False) as client,
        ):
            parallel = Parallel(address=cluster.scheduler_address)

            def plain(client: Client = client) -> None:
                for future in as_completed(client.map(task, *zip(*tasks, strict=True), pure=False), loop=client.loop):
                    future.result()

            def alone(parallel: Parallel = parallel) -> None:
                assert len(list(run_as_they_come(task, tasks, parallel))) == len(tasks)

            def batched(parallel: Parallel = parallel) -> None:
                run_tasks(partial(each, task), tasks, parallel, "tasks")

            plain()  # so that all are warm, and then admitted
            run_tasks(partial(each, task), tasks[:1], parallel, "tasks")
            times = [seconds(run) for run in (plain, alone, batched)]
            dismiss()
        least = 100 * options.sleep * len(tasks) / workers
        found = [least / wall if options.sleep else len(tasks) / cpu for cpu, wall in times]
        print(f"| {workers:,} | {' | '.join(f'{one:,.0f}' for one in found)} |", flush=True)


def same(number: float) -> float:
    """The task: no work at all."""
    return number


def seconds(run: Callable[[], None]) -> tuple[float, float]:
    """Return the seconds that ``run()`` takes: of this process's CPU time, and on the wall."""
    cpu, wall = time.process_time(), time.monotonic()
    run()
    return time.process_time() - cpu, time.monotonic() - wall


if __name__ == "__main__":
    run_main(main)

"""Tasks sent a second to 2 to 1,000 workers of a Dask cluster, compared with plain Dask.

The workers are threads of this process, so that a thousand of them fit on one machine, and a second is one of the
process's CPU time, so that other work on the machine does not count. Prints a table. Needs the extra ``cluster``.

Example:
    python -m bench.dispatch --workers 2 64 --tasks 1000
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


def main() -> None:
    """Measure and print."""
    from distributed import Client, LocalCluster, as_completed

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, nargs="*", default=WORKERS)
    parser.add_argument("--tasks", type=int, default=2000)
    options = parser.parse_args()
    tasks = [(number,) for number in range(options.tasks)]
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
                for future in as_completed(client.map(same, tasks, pure=False), loop=client.loop):
                    future.result()

            def alone(parallel: Parallel = parallel) -> None:
                assert len(list(run_as_they_come(same, tasks, parallel))) == len(tasks)

            def batched(parallel: Parallel = parallel) -> None:
                run_tasks(partial(each, same), tasks, parallel, "tasks")

            plain()  # so that all are warm
            speeds = [len(tasks) / seconds(run) for run in (plain, alone, batched)]
            dismiss()
        print(f"| {workers:,} | {' | '.join(f'{speed:,.0f}' for speed in speeds)} |", flush=True)


def same(number: int) -> int:
    """The task: no work at all."""
    return number


def seconds(run: Callable[[], None]) -> float:
    """Return the seconds of CPU time that this process takes for ``run()``."""
    begin = time.process_time()
    run()
    return time.process_time() - begin


if __name__ == "__main__":
    run_main(main)

"""Compare the files of self-play, a match and depth labelling on a Dask cluster with those of one process.

The cluster is started as a user would start it, with two workers on loopback. The three jobs run once undisturbed and
once with a worker killed (kill -9) in the middle, and every file is compared. Writes ``dask_same_bytes`` into
docs/measured/reliability.json. Needs the extra ``cluster``. Example:

    python -m bench.strength.cluster
"""

import argparse
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import yaml

from bench.measured import publish
from pipeline_src.errors import ZugwerkError, run_main
from pipeline_src.project.profile import merge, merged_text

ROOT = Path(__file__).parents[2]
WORK = ROOT / "work/cluster"
MATCH = ["alphabeta:nodes=300000", "alphabeta:nodes=100000", "--games", "24", "--size", "6", "--out", "games.parquet"]
JOBS = {
    "self_play": (
        ["pipeline_src.stages.gomoku_generation", "--number", "2"],
        "work/gomoku/02-*/round_001/games.journal.jsonl",
    ),
    "match": (["pipeline_src.cli", "match", "amazons", *MATCH], "games.journal.jsonl"),
    "labels": (["pipeline_src.stages.depth_label"], "work/depth_label/journal.jsonl"),
}
"""Module with arguments, and its journal, which shows its first finished task."""
SMALL: dict[str, Any] = {
    "gomoku_self_play": {"games": 160, "simulations": 48},
    "depth_label": {"games": 32},
}
"""Differences from the profile smoke: enough tasks that one can be lost in the middle."""
READY_S, JOB_S = 120, 1200
Pids = Callable[[], list[int]]


def main() -> None:
    """Run, compare, write."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    shutil.rmtree(WORK, ignore_errors=True)
    alone, same, files = run_jobs(WORK / "alone", {"workers": 1}), 1, 0
    with dask() as (address, workers):
        for how, kill in (("whole", None), ("killed", workers)):
            found = run_jobs(WORK / how, {"workers": 2, "address": address}, kill)
            for name in sorted(alone.keys() | found.keys()):
                if alone.get(name) != found.get(name):
                    same = 0
                    print(f"{how}: {name} differs")
            files += len(found)
    print(f"{files} files, same bytes: {same}")
    data = "self-play, a match and labels, whole and with a worker killed; n counts files compared"
    publish({"dask_same_bytes": same}, files, "python -m bench.strength.cluster", data)


def run_jobs(folder: Path, parallel: dict[str, Any], workers: Pids | None = None) -> dict[str, str]:
    """Run the jobs in ``folder``; return the hash of each file that they leave there.

    With ``workers``, one of these processes is killed in each job after its first finished task.

    Raises:
        ZugwerkError: a job failed, or it ended before a worker could be killed.
    """
    folder.mkdir(parents=True)
    params = yaml.safe_load(merged_text("smoke", ROOT))
    merge(params, SMALL | {"parallel": parallel}, __name__)
    (folder / "params.yaml").write_text(yaml.safe_dump(params))
    run(folder, ["pipeline_src.stages.gomoku_generation", "--number", "1"])
    for name, (job, begun) in JOBS.items():
        if name == "match":
            job = [*job, *(word for key, value in parallel.items() for word in (f"--{key}", str(value)))]
        run(folder, job, begun, workers)
    paths = [path for path in (folder / "artifacts").rglob("*") if path.is_file()]
    files = [folder / "games.parquet", *(path for path in paths if not path.name.endswith(".timings.json"))]
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def run(folder: Path, job: list[str], begun: str = "", workers: Pids | None = None) -> None:
    """Run one job as a process of its own; see `run_jobs`."""
    log, killed, end = folder / "log.txt", workers is None, time.monotonic() + JOB_S
    command = [sys.executable, "-m", *job]
    with (
        open(log, "ab") as file,
        subprocess.Popen(command, cwd=folder, env=environment(), stdout=file, stderr=file) as process,
    ):
        while process.poll() is None:
            if not killed and workers and _finished_one(folder, begun):
                pid = workers()[0]
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                    killed = True
                    print(f"{folder.name}: killed worker {pid} during {job[0]}")
            if time.monotonic() > end:
                process.kill()
            time.sleep(0.02)
    if process.returncode:
        raise ZugwerkError(f"{' '.join(job)} ended with {process.returncode}; see {log}")
    if not killed:
        raise ZugwerkError(f"{' '.join(job)} was over before a worker could be killed; give it more tasks")


def _finished_one(folder: Path, begun: str) -> bool:
    return any(path.read_bytes().count(b"\n") > 1 for path in folder.glob(begun))


def environment() -> dict[str, str]:
    """Return the environment of all processes: this code, and no telemetry."""
    return os.environ | {"PYTHONPATH": str(ROOT), "DO_NOT_TRACK": "1"}


@contextmanager
def dask() -> Iterator[tuple[str, Pids]]:
    """Start a scheduler and two workers; yield the address, and a function that lists the workers' pids."""
    file = WORK / "scheduler.json"
    local = ["--host", "127.0.0.1"]
    with started() as start:
        start("dask", "scheduler", *local, "--port", "0", "--dashboard-address", "127.0.0.1:0",
              "--scheduler-file", str(file))  # fmt: skip
        wait_for(file.exists, "the Dask scheduler")
        address, scratch = str(json.loads(file.read_text())["address"]), str(WORK / "dask")
        worker = ["dask", "worker", address, *local, "--nthreads", "1", "--no-dashboard", "--local-directory", scratch]
        nannies = [start(*worker) for _ in range(2)]

        def workers() -> list[int]:
            found = [child for one in nannies for child in psutil.Process(one.pid).children()]
            return [child.pid for child in found if "spawn_main" in " ".join(child.cmdline())]

        wait_for(lambda: len(workers()) == 2, "Dask's workers")
        yield address, workers


@contextmanager
def started() -> Iterator[Callable[..., "subprocess.Popen[bytes]"]]:
    """Yield a function that starts a process; all of them and their children end with the block."""
    running: list[subprocess.Popen[bytes]] = []
    WORK.mkdir(parents=True, exist_ok=True)

    def start(*command: str) -> "subprocess.Popen[bytes]":
        program = Path(sys.executable).with_name(command[0])
        with open(WORK / f"{command[0]}-{len(running)}.log", "wb") as log:
            process = subprocess.Popen([program, *command[1:]], env=environment(), stdout=log, stderr=log)
        running.append(process)
        return process

    try:
        yield start
    finally:
        tree: list[psutil.Process] = []
        for one in running:
            with suppress(psutil.NoSuchProcess):
                tree += [psutil.Process(one.pid), *psutil.Process(one.pid).children(recursive=True)]
        for one in reversed(running):
            one.terminate()
        for left in psutil.wait_procs(tree, timeout=15)[1]:
            with suppress(psutil.NoSuchProcess):
                left.kill()
        for one in running:
            one.wait()


def wait_for(ready: Callable[[], bool], what: str) -> None:
    """Wait until ``ready`` returns true.

    Raises:
        ZugwerkError: it did not within `READY_S` seconds.
    """
    end = time.monotonic() + READY_S
    while not ready():
        if time.monotonic() > end:
            raise ZugwerkError(f"{what} did not start; see the logs in {WORK}")
        time.sleep(0.1)


if __name__ == "__main__":
    run_main(main)

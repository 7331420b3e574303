"""Self-play, a match and depth labelling on Dask and Ray clusters: are their files those of one process?

Starts each cluster as a user would, two workers on loopback, runs the three once undisturbed and once with a worker
killed (kill -9) in the middle, and compares all files with those that one process wrote. Puts ``dask_same_bytes`` and
``ray_same_bytes`` into docs/measured/reliability.json, beside what is there. Needs the extra ``cluster``. Example:

    python -m bench.strength.cluster
"""

import argparse
import hashlib
import json
import os
import secrets
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

from bench.reliability.measured import publish
from pipeline_src.errors import ZugwerkError, run_main
from pipeline_src.project.profile import merge, merged_text

ROOT = Path(__file__).parents[2]
WORK = ROOT / "work/cluster"
MATCH = ["alphabeta:nodes=300000", "alphabeta:nodes=100000", "--games", "24", "--size", "6", "--out", "games.parquet"]
JOBS = {
    "self_play": ["pipeline_src.stages.gomoku_generation", "--number", "2"],
    "match": ["pipeline_src.cli", "match", "amazons", *MATCH],
    "labels": ["pipeline_src.stages.depth_label"],
}
"""Module and arguments."""
BEGUN = {
    "self_play": "work/gomoku/02-*/group_*",
    "match": "games.journal.jsonl",
    "labels": "work/depth_label/*/*.npz",
}
"""What is there as soon as a job has finished its first task."""
SMALL: dict[str, Any] = {
    "gomoku_self_play": {"games": 16, "group": 2, "simulations": 48},
    "depth_label": {"games": 16, "group": 2},
}
"""Beside the profile smoke: enough tasks to lose one in the middle."""
READY_S, JOB_S = 120, 1200
TOKEN = secrets.token_hex(32)
"""That Ray's processes show each other."""


def main() -> None:
    """Run, compare, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=["loky", "dask", "ray"], nargs="*", default=["loky", "dask", "ray"])
    options = parser.parse_args()
    shutil.rmtree(WORK, ignore_errors=True)
    alone, alone_s = run_jobs(WORK / "alone", {"workers": 1})
    for backend in options.only:
        same, files, seconds = 1, 0, {}
        with CLUSTERS[backend]() as (address, workers):
            parallel = {"backend": backend, "workers": 2, "address": address}
            for how in ("whole", "killed"):
                kill = workers if how == "killed" else None
                found, seconds[how] = run_jobs(WORK / f"{backend}-{how}", parallel, kill)
                for name in sorted(alone.keys() | found.keys()):
                    if alone.get(name) != found.get(name):
                        same = 0
                        print(f"{backend}, {how}: {name} differs")
                files += len(found)
        for job, one in alone_s.items():
            print(f"{backend}: {job} {one:.1f} s alone, {seconds['whole'][job]:.1f} s on two workers, start included")
        print(f"{backend}: {files} files, same bytes: {same}")
        if backend != "loky":
            data = "self-play, a match and labels, whole and with a worker killed; n counts files compared"
            publish({f"{backend}_same_bytes": same}, files, "python -m bench.strength.cluster", data)


def run_jobs(
    folder: Path, parallel: dict[str, Any], workers: Callable[[], list[int]] | None = None
) -> tuple[dict[str, str], dict[str, float]]:
    """Hashes of all files that the jobs leave in ``folder``, and each job's seconds.

    With ``workers`` one of those processes is killed in each job, once it has finished a task.

    Raises:
        ZugwerkError: a job failed, or it ended before a worker could be killed.
    """
    folder.mkdir(parents=True)
    params = yaml.safe_load(merged_text("smoke", ROOT))
    merge(params, SMALL | {"parallel": parallel}, __name__)
    (folder / "params.yaml").write_text(yaml.safe_dump(params))
    run(folder, ["pipeline_src.stages.gomoku_generation", "--number", "1"])
    seconds = {}
    for name, job in JOBS.items():
        if name == "match":
            job = [*job, *(word for key, value in parallel.items() for word in (f"--{key}", str(value)))]
        start = time.monotonic()
        run(folder, job, BEGUN[name] if workers else "", workers)
        seconds[name] = time.monotonic() - start
    paths = [path for path in (folder / "artifacts").rglob("*") if path.is_file()]
    files = [folder / "games.parquet", *(path for path in paths if not path.name.endswith(".timings.json"))]
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}, seconds


def run(folder: Path, job: list[str], begun: str = "", workers: Callable[[], list[int]] | None = None) -> None:
    """One job as a process of its own."""
    log = folder / "log.txt"
    with (
        open(log, "ab") as file,
        subprocess.Popen(
            [sys.executable, "-m", *job], cwd=folder, env=environment(), stdout=file, stderr=file
        ) as process,
    ):
        killed = not begun
        end = time.monotonic() + JOB_S
        while process.poll() is None:
            if not killed and _finished_one(folder, begun):
                pids = workers() if workers else []
                pids = pids or _loky(process.pid)
                with suppress(ProcessLookupError):
                    os.kill(pids[0], signal.SIGKILL)
                    killed = True
                    print(f"{folder.name}: killed worker {pids[0]} during {job[0]}")
            if time.monotonic() > end:
                process.kill()
            time.sleep(0.02)
    if process.returncode:
        raise ZugwerkError(f"{' '.join(job)} ended with {process.returncode}; see {log}")
    if not killed:
        raise ZugwerkError(f"{' '.join(job)} was over before a worker could be killed; give it more tasks")


def _finished_one(folder: Path, begun: str) -> bool:
    found = list(folder.glob(begun))
    if begun.endswith(".jsonl"):
        return bool(found) and found[0].read_bytes().count(b"\n") > 1
    return bool(found)


def environment() -> dict[str, str]:
    """Of all processes: this code, and nothing that calls home."""
    ray = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": TOKEN}
    return os.environ | ray | {"PYTHONPATH": str(ROOT), "DO_NOT_TRACK": "1"}


def _loky(pid: int) -> list[int]:
    return [child.pid for child in psutil.Process(pid).children() if "--process-name" in " ".join(child.cmdline())]


Running = Iterator[tuple[str, Callable[[], list[int]] | None]]
"""Address and the pids of the workers at a moment."""


@contextmanager
def loky() -> Running:
    """Nothing to start; the workers are the job's own."""
    yield "", list


@contextmanager
def dask() -> Running:
    """A scheduler and two workers."""
    scheduler = WORK / "scheduler.json"
    with ended() as start:
        start("dask", "scheduler", "--host", "127.0.0.1", "--port", "0", "--dashboard-address", "127.0.0.1:0",
              "--scheduler-file", str(scheduler))  # fmt: skip
        wait_for(scheduler.exists, "the Dask scheduler")
        address = str(json.loads(scheduler.read_text())["address"])
        nannies = [
            start("dask", "worker", address, "--host", "127.0.0.1", "--nthreads", "1", "--no-dashboard",
                  "--local-directory", str(WORK / "dask"))
            for _ in range(2)
        ]  # fmt: skip

        def workers() -> list[int]:
            found = [child for one in nannies for child in psutil.Process(one.pid).children()]
            return [child.pid for child in found if "spawn_main" in " ".join(child.cmdline())]

        wait_for(lambda: len(workers()) == 2, "Dask's workers")
        yield address, workers


@contextmanager
def ray() -> Running:
    """Two nodes of one processor each."""
    address = "127.0.0.1:6399"
    with ended() as start:
        small = ["--num-cpus", "1", "--object-store-memory", str(100 << 20), "--disable-usage-stats", "--block"]
        here = ["--node-ip-address", "127.0.0.1"]
        nodes = [start("ray", "start", "--head", "--port", address.split(":")[1], "--include-dashboard", "false",
                       *here, *small)]  # fmt: skip
        wait_for(lambda: answers(address), "Ray's head")
        nodes.append(start("ray", "start", "--address", address, *here, *small))

        def workers() -> list[int]:
            found = [child for node in nodes for child in psutil.Process(node.pid).children(recursive=True)]
            return [child.pid for child in found if " ".join(child.cmdline()).startswith("ray::perform")]

        time.sleep(READY_S / 12)
        yield address, workers


CLUSTERS = {"loky": loky, "dask": dask, "ray": ray}


@contextmanager
def ended() -> Iterator[Callable[..., "subprocess.Popen[bytes]"]]:
    """What starts processes; all of them, and what they started, end with the block."""
    started: list[subprocess.Popen[bytes]] = []
    WORK.mkdir(parents=True, exist_ok=True)

    def start(*command: str) -> "subprocess.Popen[bytes]":
        program = Path(sys.executable).with_name(command[0])
        with open(WORK / f"{command[0]}-{len(started)}.log", "wb") as log:
            process = subprocess.Popen([program, *command[1:]], env=environment(), stdout=log, stderr=log)
        started.append(process)
        return process

    try:
        yield start
    finally:
        tree = [child for one in started for child in _tree(one.pid)]
        for one in reversed(started):
            one.terminate()
        _, alive = psutil.wait_procs(tree, timeout=15)
        for one_left in alive:
            with suppress(psutil.NoSuchProcess):
                one_left.kill()
        for one in started:
            one.wait()


def _tree(pid: int) -> list[psutil.Process]:
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        return [process, *process.children(recursive=True)]
    return []


def answers(address: str) -> bool:
    """Whether something listens there."""
    import socket

    host, port = address.split(":")
    with suppress(OSError), socket.create_connection((host, int(port)), 1):
        return True
    return False


def wait_for(true: Callable[[], bool], what: str) -> None:
    """Until it is there.

    Raises:
        ZugwerkError: it did not come.
    """
    end = time.monotonic() + READY_S
    while not true():
        if time.monotonic() > end:
            raise ZugwerkError(f"{what} did not start; see the logs in {WORK}")
        time.sleep(0.1)


if __name__ == "__main__":
    run_main(main)

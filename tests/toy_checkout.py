"""A throw-away checkout with a small graph: stages that count, fail, and hang with a family of processes."""

import contextlib
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from pipeline_src.project import supervise
from tests.starts import Start

DVC_YAML = """
stages:
  toy_crawl:
    cmd: echo page >> pages.txt && echo crawled
    outs:
      - pages.txt: {persist: true, cache: false}
  toy_count:
    cmd: python count.py
    deps: [pages.txt, count.py]
    metrics:
      - reports/count.json: {cache: false}
  toy_train:
    foreach: [a, b]
    do:
      cmd: mkdir -p models && echo ${item} > models/${item}.txt
      deps: [reports/count.json]
      outs:
        - models/${item}.txt: {cache: false}
"""

COUNT = """
import json, os
os.makedirs("reports", exist_ok=True)
pages = len(open("pages.txt").readlines())
json.dump({"pages": pages, "share": {"read": 0.25}}, open("reports/count.json", "w"))
"""

# A stage as bad as they come: workers of joblib, a child in a session of its own; deaf to SIGTERM, it and all its
# children, when it is called with `stubborn`.
FAMILY = """
import os, signal, subprocess, sys, time
from joblib import Parallel, delayed

def work(number):
    if number < 2:
        write(os.getpid())
        time.sleep(600)

def write(pid):
    with open("pids.txt", "a") as file:
        file.write(f"{pid}\\n")

if __name__ == "__main__":
    write(os.getpid())
    write(subprocess.Popen(["sleep", "600"], start_new_session=True).pid)
    if "stubborn" in sys.argv:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    write(subprocess.Popen(["sh", "-c", "sleep 600 & sleep 600"]).pid)
    print("family is up", flush=True)
    Parallel(n_jobs=2)(delayed(work)(n) for n in range(2))
"""
FAMILY_SIZE = 5


@pytest.fixture(scope="session")
def empty_checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("empty")
    dvc(folder, "init", "--quiet", "--no-scm")
    return folder


@pytest.fixture
def checkout(empty_checkout: Path, tmp_path: Path) -> Iterator[Path]:
    """The graph above in a folder of its own; whatever a test left running there is killed."""
    folder = tmp_path / "checkout"
    shutil.copytree(empty_checkout, folder)
    (folder / "dvc.yaml").write_text(DVC_YAML)
    (folder / "params.yaml").write_text("profile: toy\n")
    (folder / "count.py").write_text(COUNT)
    (folder / "family.py").write_text(FAMILY)
    yield folder
    kill_all(folder)


@pytest.fixture
def forked_dvc(monkeypatch: pytest.MonkeyPatch) -> None:
    """DVC and its supervisors are forked from a process that has imported them, which takes a third of the time.

    `tests.project.test_dvc_run` and all that runs a command of ours in a process of its own have them as they are.
    """
    begin = partial(Start, modules=("psutil", "tests.dvc_forks"))
    others = {name: getattr(subprocess, name) for name in ("PIPE", "STDOUT", "TimeoutExpired")}
    monkeypatch.setattr(supervise, "subprocess", SimpleNamespace(Popen=begin, **others))


def dvc(folder: Path, *arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "dvc", *arguments], cwd=folder, check=True, stdout=subprocess.DEVNULL)


def add_stage(checkout: Path, name: str, command: str) -> None:
    with open(checkout / "dvc.yaml", "a") as file:
        file.write(f"  {name}:\n    cmd: {command}\n    deps: [family.py]\n    always_changed: true\n")


def add_remote(checkout: Path) -> Path:
    """A folder next to the checkout as its default remote, and a stage `toy_save` with an output for it."""
    with open(checkout / "dvc.yaml", "a") as file:
        file.write("  toy_save:\n    cmd: echo saved > saved.txt\n    outs: [saved.txt]\n")
    folder = checkout.parent / "remote"
    dvc(checkout, "remote", "add", "--quiet", "--default", "beside", str(folder))
    return folder


def family(checkout: Path) -> list[int]:
    """The pids that a `family.py` stage has written so far."""
    path = checkout / "pids.txt"
    return [int(line) for line in path.read_text().split()] if path.exists() else []


def wait_for(condition: Callable[[], bool], limit_s: float = 120.0) -> None:
    deadline = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < deadline, "took too long"
        time.sleep(0.05)


def is_up(checkout: Path) -> bool:
    return len(family(checkout)) == FAMILY_SIZE


def is_gone(checkout: Path) -> bool:
    """Whether no process of the stage, and none that runs in the checkout, is alive."""
    alive = [pid for pid in family(checkout) if psutil.pid_exists(pid)]
    return not alive and not processes_in(checkout)


def holds_lock(checkout: Path, target: str) -> bool:
    """Whether DVC's file of locks names a process that runs the target."""
    return target in (checkout / ".dvc" / "tmp" / "rwlock").read_text()


@contextlib.contextmanager
def all_end(checkout: Path, limit_s: float = 120.0) -> Iterator[None]:
    """Around what ends all processes of the checkout: those left after the limit are killed, and the test fails.

    Who reads their output would wait for them until then.
    """
    left: list[int] = []
    timer = threading.Timer(limit_s, lambda: left.extend(kill_all(checkout)))
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
    assert not left, f"still there after {limit_s:g} s: {left}"


def kill_all(checkout: Path) -> list[int]:
    """Kill what runs in the checkout; the pids. Those that its stages wrote down may be other processes' by now."""
    left = processes_in(checkout)
    for process in left:
        with contextlib.suppress(psutil.Error):
            process.kill()
    return sorted(process.pid for process in left)


def processes_in(folder: Path) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        try:
            if process.status() != psutil.STATUS_ZOMBIE and Path(process.cwd()) == folder:
                found.append(process)
        except psutil.Error:
            continue
    return found

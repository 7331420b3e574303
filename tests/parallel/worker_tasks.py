"""Tasks for worker processes, in a module that is quick to import."""

import os
import signal
import time
from pathlib import Path

import numpy as np

from pipeline_src.errors import ZugwerkError


def draw(seed, group):
    return np.random.default_rng([seed, group]).integers(0, 2**32, 4).tolist()


def die_once(folder, number):
    """A task that costs its first worker; number 2 costs each."""
    mark = Path(folder) / str(number)
    with mark.open("a") as file:
        file.write("begun\n")
    if number == 2 or (number == 1 and mark.read_text().count("begun") == 1):
        os.kill(os.getpid(), signal.SIGKILL)
    return number * 10


def fail(number):
    raise (ZugwerkError if number else KeyError)(f"task {number}")


def where(name):
    return os.getpid(), str(Path.cwd()), Path(name).exists()


def leave_mark():
    Path(f"left-{os.getpid()}").touch()


def wait_long(folder, number):
    (Path(folder) / f"{number}-{os.getpid()}").touch()
    time.sleep(600)


def process(_number):
    return os.getpid()


def leave_and_wait(folder, number, seconds):
    (Path(folder) / str(number)).touch()
    time.sleep(seconds)

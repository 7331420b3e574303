"""Processes that do what would hold up the server: searches and nets. Each runs one task at a time.

A task is a generator function of this package, named ``module:function``, of values that JSON has; what it yields comes
back as it is made, a line of JSON each on the process's standard output. The process ends with the server.
"""

import contextlib
import importlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

from pipeline_src.errors import ZugwerkError

NICER = 5
"""So that the server answers first where cores are few."""


class Worker:
    """A process, started when it is made."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "pipeline_src.web.worker"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: S603
        self.task = ""
        """The last one."""
        self._resting = True

    @property
    def free(self) -> bool:
        """Whether it runs, and has come to the end of its task."""
        return self._resting and self._process.poll() is None

    def run(self, task: str, *arguments: Any) -> Iterator[Any]:
        """What a task yields, as it comes.

        Raises:
            ZugwerkError: as the task raises; or the process ended meanwhile.
        """
        self.task, self._resting, failed = task, False, None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps([task, arguments]).encode() + b"\n")
            self._process.stdin.flush()
            while True:
                kind, value = json.loads(self._process.stdout.readline())
                if kind != "value":
                    self._resting, failed = True, value
                    break
                yield value
        except (OSError, ValueError):  # what is not JSON is the end of its output
            raise ZugwerkError("the process that was thinking has ended; try again") from None
        if failed is not None:
            raise ZugwerkError(failed)

    def kill(self) -> None:
        """End it now, whatever it does; `run` finds that out, in whatever thread it is."""
        with contextlib.suppress(OSError):
            self._process.kill()

    def close(self) -> None:
        """`kill`, and let go of it."""
        self.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                assert pipe is not None
                pipe.close()


class Workers:
    """At most ``limit`` workers at a time; one that did such a task before is taken first, with what it loaded."""

    def __init__(self, limit: int) -> None:
        self._limit, self._busy = limit, 0
        self._idle: list[Worker] = []
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def one(self, task: str) -> Iterator[Worker]:
        """A worker for a while. One whose task did not come to its end is not used again.

        Raises:
            ZugwerkError: all are busy.
        """
        with self._lock:
            if self._busy >= self._limit:
                busy = f"all {self._limit} processes of this server are thinking"
                raise ZugwerkError(f"{busy}; stop one, or start the server with more (--engines)")
            self._busy += 1
            self._idle = [one for one in self._idle if one.free]
            worker = next((one for one in self._idle if one.task == task), None)
            if worker is not None:
                self._idle.remove(worker)
            spare = [] if worker or len(self._idle) + self._busy <= self._limit else [self._idle.pop(0)]
        for other in spare:
            other.close()
        try:
            worker = worker or Worker()
            yield worker
        finally:
            free = worker is not None and worker.free
            with self._lock:
                self._busy -= 1
                if worker is not None and free:
                    self._idle.append(worker)
            if worker is not None and not free:
                worker.close()

    def close(self) -> None:
        """End all that are idle; those that are busy end with the server."""
        with self._lock:
            idle, self._idle = self._idle, []
        for one in idle:
            one.close()


def main() -> None:
    """Do tasks until the input ends."""
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    with contextlib.suppress(OSError):
        os.nice(NICER)
    answers, questions = os.fdopen(os.dup(1), "wb"), sys.stdin.buffer
    os.dup2(2, 1)  # what a library prints is no answer
    for line in questions:
        task, arguments = json.loads(line)
        try:
            module, _, name = task.partition(":")
            for value in getattr(importlib.import_module(module), name)(*arguments):
                _answer(answers, "value", value)
            _answer(answers, "end", None)
        except ZugwerkError as error:
            _answer(answers, "error", str(error))
        except BrokenPipeError:
            return
        except Exception as error:
            _answer(answers, "error", f"{type(error).__name__}: {error}")


def _answer(answers: Any, kind: str, value: Any) -> None:
    answers.write(json.dumps([kind, value]).encode() + b"\n")
    answers.flush()


def _end_with(parent: int) -> None:
    """End this process soon after its parent. The kernel's own way would end it with the thread that started it."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


if __name__ == "__main__":
    main()

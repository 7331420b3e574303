"""Running commands and the threads that wait for them: all of them end with the block in which they were started."""

import contextlib
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import ParamSpec, Self, TypeVar

from pipeline_src.errors import ZugwerkError
from pipeline_src.project import supervise

P = ParamSpec("P")
R = TypeVar("R")


class EndedError(ZugwerkError):
    """The command was ended together with all others, or not started any more."""


class Children:
    """Supervised commands of several threads; use it as a context manager."""

    def __init__(self) -> None:
        self.ended = threading.Event()
        self._running: set[subprocess.Popen[str]] = set()
        self._lock = threading.Lock()
        self._threads = ThreadPoolExecutor(sys.maxsize)  # starts a thread only if none is idle

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.end()
        self._threads.shutdown()

    def submit(self, function: Callable[P, R], *args: P.args, **options: P.kwargs) -> Future[R]:
        """Call a function, which may run commands, in a separate thread."""
        return self._threads.submit(function, *args, **options)

    @contextlib.contextmanager
    def running(self, command: list[str], cwd: Path, env: Mapping[str, str]) -> Iterator[subprocess.Popen[str]]:
        """Run a command for as long as the block lasts, see `supervise.running`.

        Raises:
            EndedError: the end of all commands has come.
        """
        with supervise.running(command, cwd, env) as process:
            with self._lock:
                self._running.add(process)
            try:
                self.check()  # after the registration: either `end` sees this command, or this line sees the end
                yield process
            finally:
                with self._lock:
                    self._running.remove(process)

    def check(self) -> None:
        """Raise an `EndedError` if all commands have been ended."""
        if self.ended.is_set():
            raise EndedError("ended with all others")

    def end(self) -> None:
        """End all commands at the same time and wait for their processes; no other command can be started."""
        self.ended.set()
        with self._lock:
            left = list(self._running)
        for process in left:
            assert process.stdin is not None
            process.stdin.close()
        for process in left:
            supervise.end(process)

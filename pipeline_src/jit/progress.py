"""Report the compilation of kernels on stderr if it takes more than a second."""

import multiprocessing
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

QUIET_S = 1.0


class Progress:
    """Counts compiled kernels. On a terminal one transient line shows the progress; elsewhere two lines are written."""

    def __init__(self, stream: TextIO | None) -> None:
        """``stream`` None prints nothing."""
        self.stream, self.name = stream, ""
        self.functions, self.kernels, self.seconds = 0, 0, 0.0
        self._expected, self._began, self._told = 0, 0.0, False

    def speak_as(self, name: str) -> None:
        """Report on stderr, in permanent lines that begin with a name, since several processes share one terminal."""
        self.stream, self.name = sys.stderr, f"{name}: "

    @contextmanager
    def expecting(self, kernels: int) -> Iterator[None]:
        """Around the compilation of so many kernels; kernels that they compile are counted too."""
        self._expected, self.kernels = kernels, 0
        try:
            yield
        finally:
            if self._told and not self._moves():
                text = f"{self.name}compiled {self.kernels} kernels in {self.seconds:.1f} s"
                print(text, file=self.stream, flush=True)
            self._expected, self._told, self.functions, self.kernels, self.seconds = 0, False, 0, 0, 0.0

    @contextmanager
    def kernel(self) -> Iterator[None]:
        """Around the compilation of one."""
        self._began = time.perf_counter()
        try:
            yield
        finally:
            self.seconds += time.perf_counter() - self._began
            self.kernels += 1
            if self._told and self._moves():
                print("\r\033[K", end="", file=self.stream, flush=True)

    def function(self) -> None:
        """One of the functions of a kernel comes next."""
        self.functions += 1
        if self.stream is None or self.seconds + time.perf_counter() - self._began < QUIET_S:
            return
        of = f" of {self._expected}" if self._expected else ""
        text = f"{self.name}compiling kernels, once: {self.kernels + 1}{of}, {self.functions} functions"
        if self._moves():
            print(f"\r{text}\033[K", end="", file=self.stream, flush=True)
        elif not self._told:
            print(text, file=self.stream, flush=True)
        self._told = True

    def _moves(self) -> bool:
        return self.stream is not None and self.stream.isatty() and not self.name


PROGRESS = Progress(sys.stderr if multiprocessing.current_process().name == "MainProcess" else None)
"""The progress of this process. Workers are quiet unless they call `speak_as`."""

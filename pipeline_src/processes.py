"""How processes end: on signals while compiled code runs, and children with their parent.

Python looks at a signal between two bytecodes, and so not before a kernel has returned. A command that calls `watch`
ends in time all the same: a thread, which a kernel without the interpreter's lock (``nogil=True``) does not hold up,
stops the searches, so that their caller gets its KeyboardInterrupt, and ends the process if none comes.
"""

import atexit
import contextlib
import ctypes
import os
import signal
import socket
import sys
import threading
import weakref
from functools import cache
from typing import Any, NoReturn, Protocol

from pipeline_src.errors import INTERRUPTED

PR_SET_PDEATHSIG = 1  # linux/prctl.h
PATIENCE_S = 0.7  # Seconds from Ctrl-C until the process is ended from outside, unless it handles the interrupt itself


class Stoppable(Protocol):
    """Something that runs in compiled code and can be stopped from another thread."""

    def set(self) -> None:
        """Ask it to end."""


STOPPABLE: "weakref.WeakSet[Stoppable]" = weakref.WeakSet()  # Running computations that Ctrl-C stops
ENDS = (signal.SIGTERM, signal.SIGHUP)  # Signals after which a command that watches for them says what it keeps
HAPPENED = threading.Event()  # Whether a watched signal has been handled in this process
_HANDLED = threading.Event()  # Whether the last one has been
_CAME = [signal.SIGINT]  # The last one


def watch(*numbers: signal.Signals) -> None:
    """Watch for signals from now on, by default for Ctrl-C; each raises KeyboardInterrupt, with its number.

    One that this process ignores, as by nohup, or handles in its own way stays as it is.
    """
    for number in numbers or (signal.SIGINT,):
        if signal.getsignal(number) is (signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL):
            _listen()
            signal.signal(number, _handle)


def _handle(number: int, _: Any) -> NoReturn:
    _CAME.append(signal.Signals(number))
    _HANDLED.set()
    HAPPENED.set()
    raise KeyboardInterrupt(number)


@cache
def _listen() -> None:
    """Start the thread that does not wait for compiled code."""

    def listen() -> None:
        while numbers := ear.recv(64):
            watched = [number for number in numbers if signal.getsignal(number) is _handle]
            if not watched:
                continue
            for one in tuple(STOPPABLE):
                one.set()
            if not _HANDLED.wait(PATIENCE_S):
                os._exit(128 + watched[-1])
            _HANDLED.clear()

    ear, mouth = socket.socketpair()
    mouth.setblocking(False)
    signal.set_wakeup_fd(mouth.detach(), warn_on_full_buffer=False)
    threading.Thread(target=listen, daemon=True).start()


def status() -> int:
    """Return the exit status of a command that the last watched signal ended."""
    return 128 + _CAME[-1]


def by() -> str:
    """Return by which signal a command was interrupted, in words after a verb; empty for Ctrl-C."""
    return "" if _CAME[-1] == signal.SIGINT else f" by {_CAME[-1].name}"


def leave_after(error: BaseException) -> None:
    """End the process as an interrupted one, if an error stands for that; numba has errors of its own in its place.

    Exit handlers run, but memory is left to the system: after an interrupted compilation the interpreter needs two
    seconds to free it.
    """
    code = getattr(error, "code", INTERRUPTED)
    if not HAPPENED.is_set() or code not in (INTERRUPTED, status()):
        return
    with contextlib.suppress(OSError):  # the terminal is gone
        if code != status():
            sys.stderr.write(f"ended{by()}; run the same command again to go on\n")
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):  # the reader is gone, or it is closed
            stream.flush()
    os._exit(status())


def end_with_parent(parent: int | None = None) -> None:
    """From now on, kill -9 this process when the thread that started it ends, however that one ended.

    After a kill -9 of DVC its stage would run on, and after one of a stage its workers: the same command, given again,
    would then write the same files at the same time. On Linux the kernel kills a child at its parent's death, if the
    child has asked for it; elsewhere nothing happens here.

    Args:
        parent: pid that should be the parent's; where it is not, that one is dead already, and this process ends.
    """
    if sys.platform != "linux":
        return
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if parent is not None and os.getppid() != parent:
        os._exit(1)

"""How processes end: Ctrl-C while compiled code runs, and children with their parent.

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
from typing import Any, NoReturn, Protocol

PR_SET_PDEATHSIG = 1  # linux/prctl.h
PATIENCE_S = 0.7  # Seconds from Ctrl-C until the process is ended from outside, unless it handles the interrupt itself


class Stoppable(Protocol):
    """Something that runs in compiled code and can be stopped from another thread."""

    def set(self) -> None:
        """Ask it to end."""


STOPPABLE: "weakref.WeakSet[Stoppable]" = weakref.WeakSet()  # Running computations that Ctrl-C stops
HAPPENED = threading.Event()  # Whether Ctrl-C has been handled in this process since `watch`
STATUS = 128 + signal.SIGINT  # Exit status of an interrupted command


def watch() -> None:
    """Watch for Ctrl-C from now on. Nothing is changed if this process ignores it or handles it in its own way."""
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return
    handled = threading.Event()

    def handle(number: int, frame: Any) -> None:
        handled.set()
        HAPPENED.set()
        signal.default_int_handler(number, frame)

    def listen() -> None:
        while numbers := ear.recv(64):
            if signal.SIGINT not in numbers or signal.getsignal(signal.SIGINT) is not handle:
                continue
            for one in tuple(STOPPABLE):
                one.set()
            if not handled.wait(PATIENCE_S):
                os._exit(STATUS)
            handled.clear()

    ear, mouth = socket.socketpair()
    mouth.setblocking(False)
    signal.signal(signal.SIGINT, handle)
    signal.set_wakeup_fd(mouth.detach(), warn_on_full_buffer=False)
    threading.Thread(target=listen, daemon=True).start()


def leave() -> NoReturn:
    """End the process as an interrupted one: exit handlers run, but memory is left to the system.

    After an interrupted compilation the interpreter needs two seconds to free it.
    """
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):  # the reader is gone, or it is closed
            stream.flush()
    os._exit(STATUS)


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

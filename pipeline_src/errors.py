"""Errors a user can act on, and the one place where they become a message and an exit status."""

import errno
import logging
import re
import signal
import sys
from collections.abc import Callable
from typing import Any

INTERRUPTED = 128 + signal.SIGINT  # Exit status of what Ctrl-C has ended, as shells have it
REPRODUCE = frozenset(
    (*("dvc", "dvclive", "imblearn", "lightning", "onnx", "prefect", "psutil"), *("ruamel", "scipy", "scrapy", "torch"))
)
"""Packages that come with the extra ``reproduce``, by the names under which they are imported."""
_NO_ROOM = re.compile(rf"\[errno {errno.ENOSPC}\]|\d+ requested and \d+ written", re.IGNORECASE)


class ZugwerkError(ValueError):
    """Bad input or state of the world; its text names the file, line or key and what to do."""


def end_on_interrupt(at_once: bool) -> None:
    """Let Ctrl-C end this process at once and silently, as is best while it imports; or raise KeyboardInterrupt again.

    Within imports the exception is printed with a traceback, or lost in a callback, and the process continues.
    """
    now = signal.getsignal(signal.SIGINT)
    if at_once and callable(now):  # it may be ignored, as by nohup
        _RAISING.append(now)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    elif not at_once and now is signal.SIG_DFL:
        signal.signal(signal.SIGINT, _RAISING.pop() if _RAISING else signal.default_int_handler)


_RAISING: list[Any] = []  # The handler in whose place the process ends at once


def run_main(main: Callable[[], None]) -> None:
    """Run the ``main`` of a stage or command; an expected failure ends in one line on stderr and status 1.

    Expected are `ZugwerkError`, `OSError` (a full disk, a folder that cannot be written), too little memory and a
    package that is not installed. Ctrl-C ends it with status 130. Anything else is a defect and keeps its traceback.
    """
    end_on_interrupt(False)
    logging.raiseExceptions = False  # of a log on a full disk; the write that matters reports it
    try:
        main()
    except ZugwerkError as error:
        sys.exit(f"error: {error}")
    except OSError as error:
        sys.exit(f"error: {line_of(error)}")
    except MemoryError as error:
        sys.exit(f"error: too little memory: {str(error) or 'free some of it'}; ask for a smaller tree, table or batch")
    except ModuleNotFoundError as error:
        if not (words := missing_extra(error)):
            raise
        sys.exit(f"error: {words}")
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def missing_extra(error: BaseException) -> str:
    """Return what to install where an import of a package of the extra ``reproduce`` failed; empty for other errors."""
    name = (error.name or "").partition(".")[0] if isinstance(error, ModuleNotFoundError) else ""
    if name not in REPRODUCE:
        return ""
    return f"the package {name} is missing; reproducing needs more than playing: pip install 'zugwerk[reproduce]'"


def line_of(error: OSError) -> str:
    """Message of the system about a file or folder, in one line."""
    names = [str(name) for name in (error.filename, error.filename2) if name is not None]  # two: moved or copied
    where = f"{' -> '.join(names)}: " if names else ""
    if _is_full(error):
        return f"{where}the disk is full; free some of it and run the same command again"
    return f"{where}{error.strerror or error}"


def _is_full(error: OSError) -> bool:
    """Whether a write failed for want of room; pyarrow and shutil say so in words alone, numpy counts bytes."""
    text = error.strerror or str(error)
    return error.errno in (errno.ENOSPC, errno.EDQUOT) or bool(_NO_ROOM.search(text))

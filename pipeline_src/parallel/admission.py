"""Admission of workers: the same code, the same libraries, and the same files in the same place as the sender.

Each batch carries a `Ticket`, which its worker checks before it begins, so workers that join late are checked too.
"""

import importlib.metadata
import os
import platform
import secrets
import socket
import time
from pathlib import Path
from typing import NamedTuple

from pipeline_src.errors import ZugwerkError
from pipeline_src.project.code import Code

LIBRARIES = ("numpy", "numba", "torch", "onnxruntime", "pyarrow", "dask", "distributed")
"""Libraries with versions that results may depend on, and libraries that carry tasks and results."""
VISIBLE_S = 5.0
"""Seconds that a network file system may take to show a new file."""
SOURCES = Code().digest_of_all()
"""Digest of all first-party code as this process loaded it."""

_ADMITTED: set[str] = set()


class Ticket(NamedTuple):
    """Requirements for a worker."""

    folder: str
    """Base folder of the tasks' paths: the working folder of the sender."""
    token: str
    """Name of a file in `token_folder`."""
    versions: dict[str, str]


def issue() -> Ticket:
    """Return a ticket of this process, and write its file, which `withdraw` removes."""
    ticket = Ticket(str(Path.cwd()), secrets.token_hex(8), versions())
    path = _token_file(ticket)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(ticket.token)
    return ticket


def withdraw(ticket: Ticket) -> None:
    """Remove the file of a ticket."""
    _token_file(ticket).unlink(missing_ok=True)


def admit(ticket: Ticket) -> None:
    """Check this worker on its first sight of the ticket, and change to the ticket's folder.

    Raises:
        ZugwerkError: this worker differs from the sender of the tasks; the message names the difference.
    """
    if ticket.token not in _ADMITTED:
        _look(ticket)
        _ADMITTED.add(ticket.token)
    os.chdir(ticket.folder)


def versions() -> dict[str, str]:
    """Return the versions of Python, of this package's sources and of `LIBRARIES`."""
    found = {"Python": platform.python_version(), "zugwerk": SOURCES[:12]}
    for name in LIBRARIES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "none"
    return found


def _look(ticket: Ticket) -> None:
    here = f"worker {os.getpid()} on {socket.gethostname()}"
    if Code().digest_of_all() != SOURCES:
        raise ZugwerkError(f"{here}: its sources of zugwerk were changed after it started; restart it")
    own = versions()
    for name, version in ticket.versions.items():
        if own[name] != version:
            what = "the sources of zugwerk are" if name == "zugwerk" else f"{name} is"
            raise ZugwerkError(
                f"{here}: {what} {own[name]} there and {version} here; bring its checkout and its packages to the same "
                "commit and requirements.lock, then restart it"
            )
    end = time.monotonic() + VISIBLE_S
    while not _token_file(ticket).exists():
        if time.monotonic() > end:
            raise ZugwerkError(
                f"{here}: it does not see the files in {ticket.folder}; workers need this folder, under the same path, "
                "from a file system that all machines share"
            )
        time.sleep(0.1)


def _token_file(ticket: Ticket) -> Path:
    return Path(ticket.folder) / "work" / f".cluster-{ticket.token}"

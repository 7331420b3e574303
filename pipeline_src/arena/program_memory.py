"""Memory of another program and its child processes, read from ``/proc``."""

import os
from pathlib import Path

PROC = Path("/proc")


def is_told() -> bool:
    """Whether this system has ``/proc``, as Linux does."""
    return (PROC / "self" / "statm").exists()


def resident_bytes(root: int) -> int:
    """Return the resident bytes of a process, its group and all their children. Shared pages count for each process."""
    parents, members = dict[int, int](), set[int]()
    for entry in PROC.iterdir():
        if entry.name.isdigit() and (found := _read(entry / "stat")):
            _, parent, group, session, *_ = found.rpartition(")")[2].split()
            parents[int(entry.name)] = int(parent)
            if root in (int(entry.name), int(group), int(session)):
                members.add(int(entry.name))
    while more := {pid for pid, parent in parents.items() if parent in members} - members:
        members |= more
    pages = (_read(PROC / str(pid) / "statm").split() for pid in members)
    return sum(int(words[1]) for words in pages if words) * os.sysconf("SC_PAGE_SIZE")


def _read(path: Path) -> str:
    """Return the text of a file; empty if the process has ended."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""

"""Memory of another program and of all that it has started, where the system tells of other processes."""

import os
from pathlib import Path

PROC = Path("/proc")


def is_told() -> bool:
    """Whether this system tells of other processes' memory, by the files of Linux."""
    return (PROC / "self" / "statm").exists()


def resident_bytes(root: int) -> int:
    """Bytes that a process, its group and all their children have in memory now; what they share counts for each."""
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
    """A file's text; empty where the process has ended meanwhile."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""

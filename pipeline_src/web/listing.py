"""Lists of the files below a folder. A repeated listing reads only folders that have changed."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

RECENT_NS = 2_000_000_000  # Nanoseconds after a change within which a folder may change again without a new time stamp
_READ: dict[Path, tuple[int, list[Path], list[Path]]] = {}
"""For each folder: the time of its last change, its folders and its files."""


def files(folder: Path) -> Iterator[Path]:
    """Yield all files below a folder by name, a folder's files before those of its folders. Links are not followed.

    A folder is read again only if it has changed. A file that is overwritten in place does not change its folder, nor
    the list.
    """
    try:
        changed = folder.stat().st_mtime_ns
        known = _READ.get(folder)
        if known is None or known[0] != changed:
            known = (changed, *_entries(folder))
            if time.time_ns() - changed > RECENT_NS:
                _READ[folder] = known
    except OSError:  # not there, any more
        _READ.pop(folder, None)
        return
    _, folders, found = known
    yield from found
    for one in folders:
        yield from files(one)


def _entries(folder: Path) -> tuple[list[Path], list[Path]]:
    folders, found = [], []
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda one: one.name):
            if entry.is_dir(follow_symlinks=False):
                folders.append(folder / entry.name)
            elif entry.is_file():
                found.append(folder / entry.name)
    return folders, found

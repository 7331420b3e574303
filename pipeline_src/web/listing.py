"""Files below a folder, found anew in no more time than a look at each folder takes."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

RECENT_NS = 2_000_000_000
"""A folder that was changed this shortly before it was read may be changed again within the same tick of its clock."""
_READ: dict[Path, tuple[int, list[Path], list[Path]]] = {}
"""By folder: when it was changed last, the folders in it, and the files."""


def files(folder: Path) -> Iterator[Path]:
    """All files below a folder, by name, each folder's own before those of the folders in it; no links to folders.

    A folder is read anew only where it was changed since: that a file in it was written anew in place is not seen, nor
    does it change the list.
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

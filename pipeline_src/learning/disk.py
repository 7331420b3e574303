"""Arrays on disk while a stage works, so that its memory does not grow with the games.

The files have no names and go when the arrays are no longer in use, or the process ends, however it ends.
"""

import tempfile
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

PARTS = 64


def room(folder: Path | None, dtype: npt.DTypeLike, shape: tuple[int, ...]) -> npt.NDArray[Any]:
    """An array of zeros in a folder that exists; None is the system's for temporary files."""
    if 0 in shape:
        return np.zeros(shape, dtype)
    with tempfile.TemporaryFile(dir=folder) as file:
        return np.asarray(np.memmap(file, dtype, "w+", shape=shape))


class DiskRows:
    """Rows that are appended, and then read as one array."""

    def __init__(self, folder: Path | None, dtype: npt.DTypeLike, shape: tuple[int, ...] = ()) -> None:
        """``shape`` is that of one row; ``folder`` as for `room`."""
        self.dtype, self.shape, self.count = np.dtype(dtype), shape, 0
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - open as long as rows come
        weakref.finalize(self, self._file.close)

    def append(self, rows: npt.NDArray[Any]) -> None:
        """Write the next rows."""
        self._file.write(np.ascontiguousarray(rows, self.dtype).data)
        self.count += len(rows)

    def array(self) -> npt.NDArray[Any]:
        """All rows; none can follow."""
        self._file.flush()
        with self._file:
            if not self.count:
                return np.empty((0, *self.shape), self.dtype)
            return np.asarray(np.memmap(self._file, self.dtype, "r+", shape=(self.count, *self.shape)))


class ByHash:
    """Rows with a hash, in parts by its first bits: equal hashes meet in one part, which fits in memory."""

    def __init__(self, folder: Path | None, **fields: npt.DTypeLike) -> None:
        """``fields`` are the types of a row's entries after the uint64 ``hash``."""
        self.dtype = np.dtype([("hash", "u8"), *fields.items()])
        self._parts = [DiskRows(folder, self.dtype) for _ in range(PARTS)]

    def append(self, hashes: npt.NDArray[np.uint64], **fields: npt.NDArray[Any]) -> None:
        """Write the next rows."""
        rows = np.empty(len(hashes), self.dtype)
        for name, values in {"hash": hashes, **fields}.items():
            rows[name] = values
        part = (hashes // np.uint64((1 << 64) // PARTS)).astype(np.uint8)
        ends = np.cumsum(np.bincount(part, minlength=PARTS))
        for one, some in zip(self._parts, np.split(rows[np.argsort(part, kind="stable")], ends[:-1]), strict=True):
            one.append(some)

    def parts(self) -> Iterator[npt.NDArray[Any]]:
        """The rows of each part, in the order in which they came; none can follow."""
        for part in self._parts:
            yield np.array(part.array())


def count_different(rows: ByHash) -> int:
    """Number of different hashes among rows."""
    return sum(len(np.unique(part["hash"])) for part in rows.parts())

"""Write a data set front to back, whatever its size, into .npy files that a reader maps into memory.

The files are written as streams, not through memory maps: pages do not pile up in memory, a full disk is an error and
not a crash, and each file's hash is known when its last row is.
"""

import hashlib
import io
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pipeline_src.samples.schema import FIELDS, Samples


class ArrayStream:
    """A .npy file whose length is known before its rows are."""

    def __init__(self, file: io.FileIO, path: Path, dtype: type[np.generic], shape: tuple[int, ...]) -> None:
        """Write the header to a file opened for writing; ``shape`` counts all rows to come."""
        self.path, self.dtype, self.rows_left = path, np.dtype(dtype).newbyteorder("<"), shape[0]
        self._file, self._digest = file, hashlib.sha256()
        header = io.BytesIO()
        descr = np.lib.format.dtype_to_descr(self.dtype)
        np.lib.format.write_array_header_1_0(header, {"descr": descr, "fortran_order": False, "shape": shape})
        self._write(header.getvalue())

    @property
    def sha256(self) -> str:
        """Hash of the file so far, in hex."""
        return self._digest.hexdigest()

    def append(self, rows: npt.NDArray[np.generic]) -> None:
        """Write the next rows."""
        self._write(np.ascontiguousarray(rows, self.dtype).tobytes())
        self.rows_left -= len(rows)

    def _write(self, data: bytes) -> None:
        self._digest.update(data)
        view = memoryview(data)
        try:
            while view:
                view = view[self._file.write(view) :]
        except OSError as error:  # the operating system does not say which file
            raise OSError(error.errno, error.strerror, str(self.path)) from None


class SamplesWriter:
    """The arrays of a data set, written together; `open_writer` makes one."""

    def __init__(self, streams: list[ArrayStream]) -> None:
        """One stream for each of `FIELDS`."""
        self.streams = streams

    def append(self, samples: Samples, rows: npt.NDArray[np.bool_]) -> None:
        """Write those of some samples that the mask ``rows`` [n] marks."""
        arrays: tuple[npt.NDArray[Any], ...] = samples
        for stream, values in zip(self.streams, arrays, strict=True):
            stream.append(values[rows])

    def sha256(self) -> dict[str, str]:
        """Hash of each complete file by its name."""
        assert not any(stream.rows_left for stream in self.streams), "rows are missing"
        return {stream.path.name: stream.sha256 for stream in self.streams}


@contextmanager
def open_writer(folder: Path, count: int, size: int) -> Iterator[SamplesWriter]:
    """Open a file for each field in a folder that exists, for ``count`` samples on boards of size x size."""
    with ExitStack() as stack:
        streams = []
        for field in FIELDS:
            path = folder / f"{field.name}.npy"
            file = stack.enter_context(open(path, "wb", buffering=0))
            streams.append(ArrayStream(file, path, field.dtype, (count, *field.shape(size))))
        yield SamplesWriter(streams)

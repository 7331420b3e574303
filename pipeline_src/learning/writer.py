"""Write an array of any size, front to back, into a .npy file that a reader maps into memory.

The file is written as a stream, not through a memory map: pages do not pile up in memory, a full disk is an error and
not a crash, and the file's hash is known when its last row is.
"""

import hashlib
import io
from pathlib import Path

import numpy as np
import numpy.typing as npt


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

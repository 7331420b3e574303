"""A data set as a folder of memory-mapped arrays, ``<field>.npy`` each, with a manifest."""

import hashlib
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.files import read_json

MANIFEST = "manifest.json"


def sha256_of(path: Path) -> str:
    """Hash of a file, in hex."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@dataclass(frozen=True)
class ArrayFolder:
    """A kind of data set; errors name the file and the stage that makes it."""

    format: str
    """Its name in manifests, behind ``zugwerk``."""
    version: int
    keys: tuple[str, ...]
    """Keys of a manifest, besides ``format``, ``version`` and ``sha256``."""
    stage: str

    def read_manifest(self, folder: Path) -> dict[str, Any]:
        """Read the manifest of a data set.

        Raises:
            ZugwerkError: no data set there, or one that is damaged or of another kind or version.
        """
        if not folder.is_dir():
            raise ZugwerkError(f"{folder}: no such data set; `dvc repro {self.stage}` makes it")
        path = folder / MANIFEST
        manifest = read_json(path)
        needed = ("format", "version", "sha256", *self.keys)
        if not isinstance(manifest, dict) or any(k not in manifest for k in needed) or manifest["format"] != self.name:
            raise self.damaged(path, f"it is not a manifest of {self.format}")
        if manifest["version"] != self.version:
            raise self.damaged(path, f"it is of version {manifest['version']}, not {self.version}")
        return manifest

    def map_array(self, path: Path, dtype: type[np.generic], shape: tuple[int, ...]) -> Any:
        """Map an array of the data set into memory, read-only.

        Raises:
            ZugwerkError: no such file, or one that holds something else.
        """
        try:
            array = np.load(path, mmap_mode="r" if shape[0] else None, allow_pickle=False)
        except FileNotFoundError:
            raise self.damaged(path, "no such file") from None
        except (ValueError, EOFError) as error:
            raise self.damaged(path, str(error).split("\n", maxsplit=1)[0]) from None
        if array.dtype != dtype or array.shape != shape:
            found, expected = f"{array.dtype} {array.shape}", f"{np.dtype(dtype)} {shape}"
            raise self.damaged(path, f"it holds {found}, the manifest says {expected}")
        return array

    @property
    def name(self) -> str:
        """The format, as manifests have it."""
        return f"zugwerk {self.format}"

    def damaged(self, path: Path, reason: str) -> ZugwerkError:
        """The complaint about a file of the data set."""
        return ZugwerkError(f"{path}: {reason}; make the data set again with `dvc repro -f {self.stage}`")


class ArrayStream:
    """A .npy file whose length is known before its rows are, written front to back.

    It is written as a stream, not through a memory map: pages do not pile up in memory, a full disk is an error and not
    a crash, and the file's hash is known when its last row is.
    """

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

"""A data set as a folder of memory-mapped arrays, ``<field>.npy`` each, with a manifest."""

import hashlib
import io
import tempfile
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pipeline_src import streams
from pipeline_src.errors import ZugwerkError
from pipeline_src.files import read_json
from pipeline_src.project.params import Params, Positive

MANIFEST = "manifest.json"


def sha256_of(path: Path) -> str:
    """Hash of a file, in hex."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@dataclass(frozen=True)
class ArrayFolder:
    """A kind of data set; errors name the file and the stage that makes it."""

    format: str  # Its name in manifests, behind `zugwerk`
    version: int
    keys: tuple[str, ...]  # Keys of a manifest, besides `format`, `version` and `sha256`
    stage: str

    def read_manifest(self, folder: Path) -> dict[str, Any]:
        """Read the manifest of a data set. Raises ZugwerkError: none there, damaged, or of another kind or version."""
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
        """Map an array of the data set into memory, read-only. Raises ZugwerkError: no such file, or another array."""
        try:
            array = np.load(path, mmap_mode="r" if shape[0] else None, allow_pickle=False)
        except FileNotFoundError:
            raise self.damaged(path, "no such file") from None
        except OSError:
            raise
        except Exception as error:  # a damaged header makes NumPy raise anything
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


# Splits of games, and the samples that stay in each split.

SPLITS = ("train", "validation", "test")
TRAIN, VALIDATION, TEST = range(3)


class SplitShares(Params):
    """Shares of the games, in any unit."""

    train: Positive
    """Share for training."""
    validation: Positive
    """Share for learning curves, early stopping and the choice of a model."""
    test: Positive
    """Share for the reported figures."""

    @property
    def shares(self) -> tuple[float, float, float]:
        """In the order of `SPLITS`."""
        return self.train, self.validation, self.test


def assign_games(gids: npt.NDArray[np.int64], shares: tuple[float, float, float], seed: int) -> npt.NDArray[np.int8]:
    """Split (0 train, 1 validation, 2 test) of each game, int8 [G]; ``gids`` [G] are unique, ``shares`` in any unit.

    Each game draws a number from the seed and its gid alone; the games in the order of these numbers are cut at the
    shares. So the shares are met to a game, and when games are added, only a few of the old ones change sides.

    Raises:
        ZugwerkError: too few games to put at least one into each split.
    """
    numbers = (np.random.SeedSequence([seed, streams.SPLIT, int(gid)]).generate_state(1, np.uint64)[0] for gid in gids)
    order = np.lexsort((gids, np.fromiter(numbers, np.uint64, len(gids))))
    ends = np.rint(np.cumsum(shares) / np.sum(shares) * len(gids)).astype(np.int64)
    sizes = np.diff(ends, prepend=0)
    if not sizes.all():
        share = ":".join(f"{s:g}" for s in shares)
        raise ZugwerkError(f"{len(gids)} games are too few to split {share}: {SPLITS[sizes.argmin()]} would get none")
    splits = np.empty(len(gids), np.int8)
    splits[order] = np.repeat(np.arange(len(SPLITS), dtype=np.int8), sizes)
    return splits


def choose_samples(hashes: npt.NDArray[np.uint64], splits: npt.NDArray[np.int8]) -> npt.NDArray[np.bool_]:
    """Return the samples to keep, bool [n], so that no position is in two splits, from its hash [n] and split [n].

    A position found in several splits stays in test, else in validation, and is dropped elsewhere. Within its split
    each of its occurrences stays: they carry the games' own choices.
    """
    stays = np.ones(len(hashes), np.bool_)
    taken = np.unique(hashes[splits == TEST])
    for split in (VALIDATION, TRAIN):
        rows = np.flatnonzero(splits == split)
        stays[rows] = ~np.isin(hashes[rows], taken)
        taken = np.union1d(taken, hashes[rows])
    return stays


# Arrays on disk while a stage works, so that its memory does not grow with the games.
#
# The files have no names and go when the arrays are no longer in use, or the process ends, however it ends.

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

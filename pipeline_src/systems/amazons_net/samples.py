"""Samples of the Amazons: table 5 of patent CN 111330255 B with our additions, and data sets of them.

Each turn of a game gives two samples, one of type Amazon (the position before the turn; from, to) and one of type Arrow
(the amazon has moved, the arrow is not shot yet; arrow). The table and the examples of the patent disagree on From, To
and Arrow; these are the examples' [x, y] pairs, x = file - 1, y = H - rank, so that ``board[y, x]`` is the square.

A data set is a folder of memory-mapped arrays, one a field, and their manifest.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.learning.arrays import MANIFEST, SPLITS, ArrayFolder

AMAZON, ARROW = 0, 1  # Types of sample


class Samples(NamedTuple):
    """n samples as arrays: row i of each array is sample i. `FIELDS` describes the arrays."""

    board: npt.NDArray[np.int8]
    type: npt.NDArray[np.int8]
    from_: npt.NDArray[np.int8]
    to: npt.NDArray[np.int8]
    arrow: npt.NDArray[np.int8]
    moved: npt.NDArray[np.int8]
    mover: npt.NDArray[np.int8]
    result: npt.NDArray[np.int8]
    gid: npt.NDArray[np.int64]
    ply: npt.NDArray[np.int16]
    teacher: npt.NDArray[np.int8]


@dataclass(frozen=True)
class Field:
    """One array of the data set."""

    name: str  # Name of the file and of the attribute of `Samples` (`from_` there, since `from` is a keyword)
    patent: str | None  # The patent's name of the field; None for our additions
    dtype: type[np.generic]
    ndim: int  # Axes of one sample: 0 a number, 1 an [x, y] pair, 2 a board
    meaning: str

    def shape(self, size: int) -> tuple[int, ...]:
        """Shape of one sample on a board of size x size."""
        return ((), (2,), (size, size))[self.ndim]


FIELDS = (
    Field("board", "Board", np.int8, 2, "row 0 = top rank; 0 arrow, 1 empty, 2 Black, 3 White (the patent's M / 100)"),
    Field("type", "Type", np.int8, 0, "0 = Amazon (before the turn), 1 = Arrow (amazon moved, arrow not yet shot)"),
    Field("from", "From", np.int8, 1, "Amazon: [x, y] of the amazon that moves; Arrow: -1"),
    Field("to", "To", np.int8, 1, "Amazon: [x, y] where she goes; Arrow: -1"),
    Field("arrow", "Arrow", np.int8, 1, "Arrow: [x, y] of the arrow; Amazon: -1"),
    Field("moved", None, np.int8, 1, "Arrow: [x, y] where the amazon that moved now stands; Amazon: -1"),
    Field("mover", None, np.int8, 0, "whose turn it is: 2 Black, 3 White"),
    Field("result", "Result", np.int8, 0, "1 = the mover won the game, 0 = lost it"),
    Field("gid", None, np.int64, 0, "number of the game in the archive"),
    Field("ply", None, np.int16, 0, "turns played before this one"),
    Field("teacher", None, np.int8, 0, "1 = the mover is one of the players to learn from, amazons_samples.teachers"),
)


def empty_samples(count: int, size: int) -> Samples:
    """Return uninitialised arrays for ``count`` samples."""
    return Samples(*(np.empty((count, *field.shape(size)), field.dtype) for field in FIELDS))


FOLDER = ArrayFolder("amazons samples", 2, ("size", "samples", "splits"), "amazons_samples")


@dataclass(frozen=True)
class Dataset:
    """Samples on disk, read as they are asked for."""

    samples: Samples  # Read-only memory maps of n rows: train, then validation, then test
    manifest: dict[str, Any]

    @property
    def size(self) -> int:
        """Side of the boards."""
        return int(self.manifest["size"])

    def __len__(self) -> int:
        return len(self.samples.board)

    def split(self, name: str) -> slice:
        """Rows of a split.

        Raises:
            ZugwerkError: no such split.
        """
        if name not in SPLITS:
            raise ZugwerkError(f"no split '{name}'; there are: {', '.join(SPLITS)}")
        place = self.manifest["splits"][name]
        return slice(place["start"], place["stop"])


def open_dataset(folder: Path | str) -> Dataset:
    """Map what `build_dataset` wrote into memory.

    Raises:
        ZugwerkError: no data set there, or one that is damaged or of another version; says which file and what to do.
    """
    folder = Path(folder)
    manifest = FOLDER.read_manifest(folder)
    try:
        ends = [int(manifest["splits"][name][end]) for name in SPLITS for end in ("start", "stop")]
    except (KeyError, TypeError, ValueError):
        raise FOLDER.damaged(folder / MANIFEST, "its splits cannot be read") from None
    count, size = manifest["samples"], manifest["size"]
    if ends != sorted(ends) or ends[0] != 0 or ends[-1] != count:
        raise FOLDER.damaged(folder / MANIFEST, f"its splits {ends} do not cover its {count} samples")
    shapes = {field.name: (count, *field.shape(size)) for field in FIELDS}
    arrays = [FOLDER.map_array(folder / f"{f.name}.npy", f.dtype, shapes[f.name]) for f in FIELDS]
    return Dataset(Samples(*arrays), manifest)

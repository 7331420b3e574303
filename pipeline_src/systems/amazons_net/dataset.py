"""Open a data set that `build_dataset` wrote: memory-mapped arrays and their manifest."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.files import read_json
from pipeline_src.learning.split import SPLITS
from pipeline_src.systems.amazons_net.schema import FIELDS, Field, Samples

MANIFEST = "manifest.json"
FORMAT, VERSION = "zugwerk amazons samples", 2


@dataclass(frozen=True)
class Dataset:
    """Samples on disk, read as they are asked for.

    Each array is a read-only memory map of n rows: train, then validation, then test. The fields are described in
    `pipeline_src.systems.amazons_net.schema`.
    """

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
    manifest: dict[str, Any]

    @property
    def size(self) -> int:
        """Side of the boards."""
        return int(self.manifest["size"])

    def __len__(self) -> int:
        return len(self.board)

    def split(self, name: str) -> slice:
        """Rows of a split.

        Raises:
            ZugwerkError: no such split.
        """
        if name not in SPLITS:
            raise ZugwerkError(f"no split '{name}'; there are: {', '.join(SPLITS)}")
        place = self.manifest["splits"][name]
        return slice(place["start"], place["stop"])


def open_dataset(folder: Path | str, *, check_hashes: bool = False) -> Dataset:
    """Map a data set into memory.

    Args:
        folder: what `build_dataset` wrote.
        check_hashes: read all files through and compare their sha256 with the manifest's (about a second a GB).

    Raises:
        ZugwerkError: no data set there, or one that is damaged or of another version; says which file and what to do.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise ZugwerkError(f"{folder}: no such data set; `dvc repro amazons_samples` makes it")
    manifest = _read_manifest(folder / MANIFEST)
    arrays = [_map_array(folder, field, manifest) for field in FIELDS]
    if check_hashes:
        for name, expected in manifest["sha256"].items():
            with open(folder / name, "rb") as file:
                if hashlib.file_digest(file, "sha256").hexdigest() != expected:
                    raise ZugwerkError(_damaged(folder / name, "its sha256 is not the manifest's"))
    return Dataset(**dict(zip(Samples._fields, arrays, strict=True)), manifest=manifest)


def _read_manifest(path: Path) -> dict[str, Any]:
    manifest = read_json(path)
    needed = ("format", "version", "size", "samples", "splits", "sha256")
    if not isinstance(manifest, dict) or any(key not in manifest for key in needed) or manifest["format"] != FORMAT:
        raise ZugwerkError(_damaged(path, "it is not a manifest of Amazons samples"))
    if manifest["version"] != VERSION:
        raise ZugwerkError(_damaged(path, f"it is of version {manifest['version']}, not {VERSION}"))
    try:
        ends = [int(manifest["splits"][name][end]) for name in SPLITS for end in ("start", "stop")]
    except (KeyError, TypeError, ValueError):
        raise ZugwerkError(_damaged(path, "its splits cannot be read")) from None
    if ends != sorted(ends) or ends[0] != 0 or ends[-1] != manifest["samples"]:
        raise ZugwerkError(_damaged(path, f"its splits {ends} do not cover its {manifest['samples']} samples"))
    return manifest


def _map_array(folder: Path, field: Field, manifest: dict[str, Any]) -> Any:
    path = folder / f"{field.name}.npy"
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except FileNotFoundError:
        raise ZugwerkError(_damaged(path, "no such file")) from None
    except (ValueError, EOFError) as error:
        raise ZugwerkError(_damaged(path, str(error).split("\n", maxsplit=1)[0])) from None
    shape = (manifest["samples"], *field.shape(manifest["size"]))
    if array.dtype != field.dtype or array.shape != shape:
        found, expected = f"{array.dtype} {array.shape}", f"{np.dtype(field.dtype)} {shape}"
        raise ZugwerkError(_damaged(path, f"it holds {found}, the manifest says {expected}"))
    return array


def _damaged(path: Path, reason: str) -> str:
    return f"{path}: {reason}; make the data set again with `dvc repro -f amazons_samples`"

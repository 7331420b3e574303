"""A data set as a folder of memory-mapped arrays, ``<field>.npy`` each, with a manifest."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

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

    def check_hashes(self, folder: Path, manifest: dict[str, Any]) -> None:
        """Read all files through, about a second a GB.

        Raises:
            ZugwerkError: a file's hash is not the manifest's.
        """
        for name, expected in manifest["sha256"].items():
            if sha256_of(folder / name) != expected:
                raise self.damaged(folder / name, "its sha256 is not the manifest's")

    @property
    def name(self) -> str:
        """The format, as manifests have it."""
        return f"zugwerk {self.format}"

    def damaged(self, path: Path, reason: str) -> ZugwerkError:
        """The complaint about a file of the data set."""
        return ZugwerkError(f"{path}: {reason}; make the data set again with `dvc repro -f {self.stage}`")

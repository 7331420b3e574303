"""The SGF files of a folder, in the order of their names, or of a tar file, in its own order and without unpacking."""

import lzma
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from pipeline_src.errors import ZugwerkError

MAX_BYTES = 16 << 20
"""Largest size of a file. A longer file is cut, and therefore rejected."""
SUFFIX = ".sgf"


def read_files(path: Path | str) -> Iterator[tuple[str, bytes]]:
    """Yield (name, bytes) of each ``.sgf`` file in a folder and below it, or in a tar file (plain, gz, bz2, xz).

    Names are labels for messages only: members of a tar file are read in memory, so their paths do no harm.

    Raises:
        ZugwerkError: the path is missing, is not a tar file, is damaged, or contains no ``.sgf`` file.
    """
    path = Path(path)
    if not path.exists():
        raise ZugwerkError(f"{path}: no such folder or tar of SGF files{_untracked(path)}")
    found = False
    for name, data in _of_folder(path) if path.is_dir() else _of_tar(path):
        found = True
        yield name, data
    if not found:
        raise ZugwerkError(f"{path}: no {SUFFIX} file there")


def _untracked(path: Path) -> str:
    """Return what to do in the folder of an experiment, below .dvc, to which DVC copies tracked files alone."""
    if path.is_absolute() or ".dvc" not in Path.cwd().parts:
        return ""
    return (
        f"; `dvc exp run --temp` and the queue see only what git or DVC tracks: name it by its absolute path, or run "
        f"`dvc add {path}` and commit {path}.dvc"
    )


def _of_folder(folder: Path) -> Iterator[tuple[str, bytes]]:
    for file in sorted(folder.rglob("*")):
        if file.suffix.lower() == SUFFIX and file.is_file():
            with open(file, "rb") as stream:
                yield file.relative_to(folder).as_posix(), stream.read(MAX_BYTES)


def _of_tar(path: Path) -> Iterator[tuple[str, bytes]]:
    try:
        with tarfile.open(path, "r:*") as tar:
            for member in tar:  # in the tar's own order, so that a compressed file is read once
                stream = tar.extractfile(member) if member.isreg() else None
                if stream and member.name.lower().endswith(SUFFIX):
                    yield member.name, stream.read(MAX_BYTES)
            _check_end(tar)
    except (tarfile.TarError, EOFError, OSError, zlib.error, lzma.LZMAError) as error:
        raise ZugwerkError(f"{path}: not a tar of SGF files, or a damaged one ({error})") from None


def _check_end(tar: tarfile.TarFile) -> None:
    """Check for the zeros at the end: without them tarfile does not notice a file cut off between two members."""
    file = tar.fileobj
    assert file is not None
    file.seek(tar.offset)
    if file.read(tarfile.BLOCKSIZE) != bytes(tarfile.BLOCKSIZE):
        raise tarfile.ReadError("its end is missing")
    while file.read(1 << 20):  # to the end, where compressed files have their checksum
        pass

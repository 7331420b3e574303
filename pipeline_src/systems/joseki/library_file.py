"""A library as one file: a line that names format and version, a checksum, the arrays.

``zugwerk joseki library 2``, a line feed, the SHA-256 of all that follows (32 bytes), then compressed (zlib): the
length of a header (uint32), the header (JSON: each array's name, type and shape), the arrays, little-endian.
"""

import hashlib
import json
import math
import struct
import zlib
from pathlib import Path

import numpy as np

from pipeline_src.errors import ZugwerkError
from pipeline_src.files import written_aside
from pipeline_src.systems.joseki.library import SHAPES, Library, check

VERSION = 2
_NAME = b"zugwerk joseki library "


def save(library: Library, path: Path | str) -> None:
    """Write aside and rename; equal libraries give equal bytes."""
    arrays = {name: array.astype(array.dtype.newbyteorder("<")) for name, array in library.arrays().items()}
    about = {
        "fewest_games": library.fewest_games,
        "arrays": [[name, array.dtype.str, list(array.shape)] for name, array in arrays.items()],
    }
    header = json.dumps(about).encode()
    parts = [struct.pack("<I", len(header)), header, *(np.ascontiguousarray(a).tobytes() for a in arrays.values())]
    packed = zlib.compress(b"".join(parts), 6)
    with written_aside(path) as aside:
        aside.write_bytes(_NAME + b"%d\n" % VERSION + hashlib.sha256(packed).digest() + packed)


def load(path: Path | str) -> Library:
    """Read a library.

    Raises:
        ZugwerkError: no such file, no library, one of another version, a damaged one, or one that cannot be sound.
    """
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError:
        raise ZugwerkError(f"{path}: no such file; `dvc repro joseki_build` makes the project's library") from None
    name, newline, rest = data.partition(b"\n")
    if not newline or not name.startswith(_NAME):
        raise ZugwerkError(f"{path}: not a joseki library")
    if name != _NAME + b"%d" % VERSION:
        version = ascii(name[len(_NAME) :][:20].decode("latin-1"))
        raise ZugwerkError(f"{path}: a library of version {version}, this program reads {VERSION}; build it again")
    if hashlib.sha256(rest[32:]).digest() != rest[:32]:
        raise ZugwerkError(f"{path}: damaged, its checksum does not fit; build it again or take another copy")
    try:
        library = _unpacked(zlib.decompress(rest[32:]))
        check(library)
    except (zlib.error, struct.error, ValueError, KeyError, TypeError, IndexError) as error:
        raise ZugwerkError(f"{path}: an inconsistent library ({error}); build it again") from None
    return library


def _unpacked(data: bytes) -> Library:
    (length,) = struct.unpack_from("<I", data)
    at = 4 + length
    about = json.loads(data[4:at])
    arrays = {}
    for name, kind, shape in about["arrays"]:
        wanted, _, _ = SHAPES[name]
        if np.dtype(kind) != np.dtype(wanted).newbyteorder("<"):
            raise ValueError(f"array {name!r} is of type {kind}")
        count = math.prod(shape)
        values = np.frombuffer(data, kind, count, at).reshape(shape)
        arrays[name] = values.astype(np.dtype(wanted))
        at += values.nbytes
    if at != len(data):
        raise ValueError(f"{len(data) - at} bytes too many")
    return Library(**arrays, fewest_games=int(about["fewest_games"]))

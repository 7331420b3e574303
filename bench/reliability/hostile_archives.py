"""Hostile archives: paths out of the folder, links, devices, bombs, truncated files."""

import gzip
import io
import random
import tarfile
from collections.abc import Iterator

from bench.reliability.hostile_texts import NASTY, SGF, encoded, hostile

BOMB = 64 << 20


def tars(rng: random.Random) -> Iterator[tuple[str, bytes]]:
    """Yield a description and the bytes of each archive."""
    for number, name in enumerate((*NASTY, "a" * 300, "x/" * 2000)):
        member = f"{name}.sgf"
        yield f"member {number}", _tar([(member, tarfile.REGTYPE, hostile(SGF, rng))])
    for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE):
        yield f"type {kind!r}", _tar([("../../pwned.sgf", kind, b"")])
    bomb = _tar([("bomb.sgf", tarfile.REGTYPE, b"(" * BOMB)])
    yield "bomb", gzip.compress(bomb)
    yield "bomb in a bomb", gzip.compress(gzip.compress(bytes(BOMB)))
    yield "many", _tar([(f"{i}.sgf", tarfile.REGTYPE, b"") for i in range(5000)])
    good = _tar([("a.sgf", tarfile.REGTYPE, encoded(SGF))])
    for number in range(60):
        damaged = bytearray(good if number % 2 else gzip.compress(good))
        for _ in range(rng.randrange(1, 8)):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        yield f"damaged {number}", bytes(damaged[: rng.randrange(1, len(damaged))] if number % 3 == 0 else damaged)


def _tar(members: list[tuple[str, bytes, bytes]]) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", errors="surrogateescape", encoding="utf-8") as tar:
        for name, kind, data in members:
            member = tarfile.TarInfo(name.encode("utf-8", "replace").decode())
            member.type, member.size, member.linkname = kind, len(data), "/etc/passwd"
            tar.addfile(member, io.BytesIO(data))
    return file.getvalue()

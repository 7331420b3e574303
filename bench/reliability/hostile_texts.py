"""Hostile texts, a valid one of each kind with something hostile in it, and hostile archives."""

import gzip
import io
import random
import tarfile
from collections.abc import Callable, Iterator

NASTY = (
    "../../pwned",
    "../pwned",
    "/etc/passwd",
    "..\\..\\pwned.bat",
    "C:\\pwned",
    "file:///etc/passwd",
    "$(touch pwned)",
    "`touch pwned`",
    "; touch pwned #",
    "| touch pwned",
    "${HOME}",
    "${jndi:ldap://127.0.0.1/x}",
    "%s%n%x",
    "{0.__class__}",
    "{{7*7}}",
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "'--",
    "</title><svg/onload=alert(1)>",
    "]]>",
    "&#0;&lt;",
    "\x00",
    "\x00\x01\x02\x1b[31m\x07",
    "\u202egnp.exe",
    "\u200f\u200b\ufeff",
    "\N{COMBINING ACUTE ACCENT}" * 300,
    "\ud800",
    "\U0010ffff",
    "İıß",
    "\r\n\r\nHTTP/1.1 200 OK",
    "\u2028\x85\x1c",
    "cposix\nsystem\n(S'touch pwned'\ntR.",
    "\x80\x04\x95pwned",
    "!!python/object/apply:os.system ['touch pwned']",
    "__proto__",
    "nan",
    "-inf",
    "1e999",
    "9" * 5000,
    "-" + "9" * 400,
    str(2**31),
    str(2**63),
    str(-(2**63) - 1),
    "0x7f",
    "٣٤",
    "²",
    "\\]",
    "\\",
    "]",
    "];",
    "];W[resign])",
    "(;",
    ")",
    "[" * 500,
    "A" * 70_000,
    "",
    "null",
    "CON",
    "+2AA-",
    "\\ud800",
)
"""Texts in place of a name, a number or a move."""
CHARSETS = ("utf-7", "utf-16", "unicode_escape", "raw_unicode_escape", "zip", "rot13", "idna", "punycode", "undefined")
LONG = 10 << 20
DEEP = 100_000
BOMB = 64 << 20

AMAZONS = "(;FF[4]EV[null]PB[NAME]PW[OTHER]SO[http://www.littlegolem.com];W[d1-d7/g7];B[d10-d8/a8];W[resign])"
GO = "(;FF[4]EV[null]PB[NAME]PW[OTHER]KM[0.5]SZ[19]SO[http://www.littlegolem.com]HA[2]AB[pd]AB[dp];W[fq];B[fp];W[tt];B[tt])"
SGF = "(;GM[1]FF[4]CA[UTF-8]SZ[19]KM[6.5]PB[NAME]PW[OTHER]EV[cup]RE[B+R]HA[2]AB[pd][dp];W[qp](;B[dd];W[cc])(;B[dc]))"
SGF_GOMOKU = (
    "(;GM[4]FF[4]CA[UTF-8]SZ[15]PB[NAME]PW[OTHER]EV[cup]RE[B+R]RU[Renju]AB[hh]AW[ii]PL[B];B[hg](;W[gg])(;W[gh]))"
)
PSQ = "Piskvorky 20x20, 7:7, 0\n10,10,456\n11,12,4500\n12,12,99\nNAME\nOTHER\n0\n"
PLAYERS = (
    '<table><tr><td><a href="player.jsp?plid=2674">NAME</a></td><td><a href="player.jsp?plid=17">OTHER</a></td></table>'
)
LIST = (
    "<h2>List of games</h2><div>List of games [NAME] [Amazons]</div><table><tr><td><a href='/jsp/game/game.jsp?gid=77'>"
    "#77</a></td><td>OTHER</td><td></td><td>Amazons <span>Size 10</span></td><td>9</td><td>won</td></tr></table>"
)
API = (
    '{"games": [{"gid": 77, "status": 1, "results": [2, 0], "variant": "DEFAULT", "players": [{"player": {"plid": 1, '
    '"real_name": "NAME"}}, {"player": {"plid": 2, "real_name": "OTHER"}}]}]}'
)
SAID = "NAME|OTHER|Size 10"
UCI = (
    "position startpos moves d1d7g7 d10d8a8\ngo nodes 1\nsetoption name Move Overhead value 10\nisready\n"
    "position fen 3q2q3/10/10/q8q/10/10/Q8Q/10/10/3Q2Q3 w moves d1d7g7\ngo depth 1 wtime 100 btime 100\nNAME\nOTHER\n"
)
GOMOCUP = (
    "START 15\nINFO timeout_turn 50\nINFO rule 1\nTURN 7,7\nBOARD\n7,7,1\n8,8,2\nNAME\nDONE\nTAKEBACK 7,7\n"
    "RECTSTART 20,15\nINFO folder NAME\nABOUT\nOTHER\nBEGIN\n"
)
FEN = "3q2q3/10/10/q8q/10/10/Q8Q/10/10/3Q2Q3 w"
GOMOKU_FEN = "15/15/15/15/15/15/15/7x7/6o8/15/15/15/15/15/15 b freestyle-4"
GO_FEN = "9/9/9/3x5/9/4o4/9/9/9 b pass-1 komi-6.5"


def encoded(text: str) -> bytes:
    """Return UTF-8 that keeps lone surrogates."""
    return text.encode("utf-8", "surrogatepass")


def hostile(good: str, rng: random.Random) -> bytes:
    """Return the valid text with one or a few hostile changes."""
    data = encoded(good.replace("NAME", rng.choice(NASTY)).replace("OTHER", rng.choice(("ann", *NASTY))))
    for _ in range(rng.choice((0, 1, 1, 1, 2, 4))):
        data = rng.choice(_MUTATIONS)(data, rng)
    return data


def oversized(good: str, rng: random.Random) -> list[bytes]:
    """Return the large texts: a name of 10 MB, 10 MB of one letter, and repetitions of a part of the text."""
    data = encoded(good)
    at = rng.randrange(len(data))
    part = data[at : at + rng.randrange(1, 20)]
    return [
        encoded(good.replace("NAME", "A" * LONG)),
        bytes([rng.choice(b"(;[]A<{9 \n\x00")]) * LONG,
        data[:at] + part * DEEP + data[at:],
        b"(;" * DEEP + b")" * DEEP,
        b"[" * DEEP + b"]" * DEEP,
        b"<div>" * DEEP,
        b'{"games":' * DEEP,
    ]


def _flip(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.randrange(1, 6)):
        if changed:
            changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def _cut(data: bytes, rng: random.Random) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _insert(data: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + encoded(rng.choice(NASTY)) + data[at:]


def _number(data: bytes, rng: random.Random) -> bytes:
    digits = [i for i, byte in enumerate(data) if 48 <= byte < 58]
    if not digits:
        return data
    at = rng.choice(digits)
    number = rng.choice(
        (b"9" * 5000, b"-1", b"0", b"1e999", b"nan", str(2**63).encode(), "٣".encode(), b"", b"00000001")
    )
    return data[:at] + number + data[at + 1 :]


def _repeat(data: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(data) + 1)
    part = data[at : at + rng.randrange(1, 40)]
    return data[:at] + part * rng.choice((2, 3, 50, 400)) + data[at:]


def _charset(data: bytes, rng: random.Random) -> bytes:
    return data.replace(b"UTF-8", rng.choice(CHARSETS).encode())


def _recode(data: bytes, rng: random.Random) -> bytes:
    text = data.decode("utf-8", "replace")
    return text.encode(rng.choice(("utf-16", "utf-32", "utf-7", "latin-1", "cp037")), "replace")


_MUTATIONS: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    _flip,
    _cut,
    _insert,
    _insert,
    _number,
    _number,
    _repeat,
    _charset,
    _recode,
)


def tars(rng: random.Random) -> Iterator[tuple[str, bytes]]:
    """Yield hostile archives with a description each: paths out of the folder, links, devices, bombs, damage."""
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

"""Feed every parser of external input with hostile texts, for docs/measured/reliability.json.

A reader has to accept a text, reject it with a reason, or raise one of our errors. Accepted texts are written in every
format and read again. Any other exception, an answer that takes longer than `LIMIT_S`, and a file outside the output
folder count as crashes.

    python -m bench.hostile --records 12000 --seed 1
"""

import argparse
import contextlib
import gzip
import io
import random
import re
import signal
import tarfile
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from bench.measured import about, count, known
from pipeline_src.errors import ZugwerkError, run_main
from pipeline_src.files import write_json
from pipeline_src.games.game import get_game
from pipeline_src.players.gomocup import Session as GomocupSession
from pipeline_src.players.session import converse
from pipeline_src.players.uci import Session as UciSession
from pipeline_src.records.go_games import parse_sgf, read_go, write_sgf
from pipeline_src.records.littlegolem.amazons import Kept, Usable, read_game, write_record
from pipeline_src.records.psq import parse_psq, write_psq
from pipeline_src.records.raw import RawGame, Seat, read_raw, write_raw
from pipeline_src.records.record import GameRecord, Reject, open_rejects, read_records, write_records
from pipeline_src.records.sgf import SgfGame, read_files
from pipeline_src.records.sgf_games import parse_games
from pipeline_src.report.figures import hardware
from spiders.pages import PageError, check_record, games_of, read_api_games, read_game_list, read_players

# The texts: a valid one of each kind with something hostile in it, and hostile archives.

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


_MUTATIONS = (_flip, _cut, _insert, _insert, _number, _number, _repeat, _charset, _recode)


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


# All readers of external input, each as a function of bytes that has to answer or to refuse.


Found = list[GameRecord | Reject | RawGame]
Read = Callable[[bytes], Found]
USABLE = Usable(1, ("standard", "cross"))
_DEFECT = re.compile(r"(?:info string|ERROR) (?!Zugwerk)[A-Z]\w*(?:Error|Exception|Warning|Interrupt)\b:?")
"""Message of an engine about an unexpected exception."""


class Reader(NamedTuple):
    """A reader with a valid text for it."""

    name: str
    good: str
    read: Read
    share: int  # Share of all hostile texts, relative to the other readers


class DefectError(Exception):
    """An engine answered hostile lines with the text of an exception."""


def _raw(body: bytes) -> RawGame:
    return RawGame(7, "/servlet/sgf/7/game7.txt", 200, body)


def _said(body: bytes) -> Found:
    """Read a valid record with hostile entries in the site's lists."""
    first, second, variant = [*body.decode("utf-8", "replace").split("|", 2), "", ""][:3]
    seats = (Seat(1, first, "lost"), Seat(2, second, "won"))
    result = read_game(RawGame(7, first, 200, AMAZONS.encode(), variant, len(body) % 2 == 0, seats), USABLE)
    return [result.record if isinstance(result, Kept) else result]


def _amazons(body: bytes) -> Found:
    result = read_game(_raw(body), USABLE)
    return [result.record if isinstance(result, Kept) else result]


def _of_go(result: SgfGame | Reject) -> GameRecord | Reject:
    return result.record if isinstance(result, SgfGame) else result


def _players(body: bytes) -> Found:
    names = read_players(body)
    return [RawGame(1, "", 200, b"", seats=tuple(Seat(plid, name, "") for plid, name in names.items()))]


def _record_page(body: bytes) -> Found:
    check_record(body)
    return []


def _uci(body: bytes) -> Found:
    return _talk(lambda write: UciSession("amazons", "random", write), body)


def _gomocup(body: bytes) -> Found:
    return _talk(lambda write: GomocupSession("random", write), body)


def _talk(begin: Callable[[Callable[[str], None]], Any], body: bytes) -> Found:
    answers = io.BytesIO()
    # By protocol an engine may be made to run another program, which is no external input.
    body = re.sub(rb"(?i)player", b"player_", body)
    converse(begin, io.BytesIO(body), answers)
    text = answers.getvalue().decode("utf-8", "replace")
    if defect := _DEFECT.search(text):
        raise DefectError(text[defect.start() : defect.start() + 200])
    return []


def _fen(game: str) -> Read:
    rules = get_game(game)

    def read(body: bytes) -> Found:
        rules.to_fen(rules.from_fen(body.decode("utf-8", "replace")))
        return []

    return read


READERS = (
    Reader("Amazons records", AMAZONS, _amazons, 8),
    Reader("what lists say of a game", SAID, _said, 2),
    Reader("Go records of the site", GO, lambda body: [_of_go(read_go(_raw(body)))], 6),
    Reader("SGF", SGF, lambda body: [_of_go(one) for one in parse_sgf(body, name="hostile.sgf")], 8),
    Reader("SGF of all games", SGF_GOMOKU, lambda body: [_of_go(one) for one in parse_games(body, name="a.sgf")], 4),
    Reader("Piskvorky records", PSQ, lambda body: [parse_psq(body).record], 6),
    Reader("player lists", PLAYERS, _players, 3),
    Reader("lists of games", LIST, lambda body: list(games_of(read_game_list(body, 5))), 4),
    Reader("the JSON interface", API, lambda body: list(read_api_games(body)), 6),
    Reader("pages of records", AMAZONS, _record_page, 1),
    Reader("UCI", UCI, _uci, 3),
    Reader("Gomocup", GOMOCUP, _gomocup, 3),
    Reader("FEN of Amazons", FEN, _fen("amazons"), 2),
    Reader("FEN of Gomoku", GOMOKU_FEN, _fen("gomoku"), 2),
    Reader("FEN of Go", GO_FEN, _fen("go"), 2),
)


OUT = Path("docs/measured/reliability.json")
LIMIT_S = 20
COMMAND = "make measure-reliability"


class Attack:
    """Counts of the outcomes of hostile input. All files go into one output folder; none may appear outside of it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.out = folder, folder / "deep" / "down" / "out"
        self.out.mkdir(parents=True)
        self.outcomes: Counter[str] = Counter()
        self.crashes: list[str] = []

    def feed(self, name: str, read: Read, data: bytes) -> None:
        """Give one input to one reader, and its result to every writer."""
        try:
            with _limit(LIMIT_S):
                found = read(data)
                self._write(found)
        except (ZugwerkError, PageError):
            self.outcomes[f"{name}: refused"] += 1
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            at = f"{Path(where.filename).name}:{where.lineno}"
            self.crashes.append(f"{name}: {type(error).__name__} at {at}: {str(error)[:200]!r} of {data[:300]!r}")
            self.outcomes[f"{name}: crashed"] += 1
        else:
            rejected = bool(found) and all(isinstance(one, Reject) for one in found)
            self.outcomes[f"{name}: {'rejected' if rejected else 'read'}"] += 1

    def strays(self) -> list[str]:
        """Return the files outside the output folder."""
        return sorted(str(p) for p in self.folder.rglob("*") if p.is_file() and self.out not in p.parents)

    def _write(self, found: Found) -> None:
        if not found:
            return
        _written([one for one in found if isinstance(one, GameRecord)], self.out)
        if rejects := [one for one in found if isinstance(one, Reject)]:
            with open_rejects(self.out / "rejects.parquet") as rows:
                for one in rejects:
                    rows.add(one)
        if raw := list({one.gid: one for one in found if isinstance(one, RawGame)}.values()):
            write_raw(self.out / "raw", raw)
            assert len(list(read_raw(self.out / "raw"))) == len(raw)


def _written(records: list[GameRecord], out: Path) -> None:
    if not records:
        return
    write_records({record.gid: record for record in records}.values(), out / "games.parquet")
    read_records(out / "games.parquet")
    for record in records:
        if record.game == "amazons":
            write_record(record)
        elif record.game == "gomoku":
            if " " not in record.variant:  # a position to begin with cannot be written
                write_psq(record)
        else:
            again = parse_sgf(write_sgf(record))[0]
            assert not isinstance(again, Reject), f"what was written cannot be read: {again.detail}"


@contextlib.contextmanager
def _limit(seconds: int) -> Iterator[None]:
    def late(*_: Any) -> None:
        raise TimeoutError(f"no answer within {seconds} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def attack(folder: Path, records: int, seed: int, large: bool = True) -> Attack:
    """Feed all readers with texts and archives.

    Args:
        folder: an empty folder.
        records: number of texts for all readers together.
        seed: seed of the texts.
        large: whether to use texts of 10 MB and archives too.
    """
    attacked = Attack(folder)
    # Thousands of small files need no fsync.
    with contextlib.chdir(attacked.out.parent), mock.patch("os.fsync", return_value=None):
        _feed_all(attacked, records, random.Random(seed), large)
    return attacked


def _feed_all(attacked: Attack, records: int, rng: random.Random, large: bool) -> None:
    whole = sum(reader.share for reader in READERS)
    for reader in READERS:
        for _ in range(-(-records * reader.share // whole)):
            attacked.feed(reader.name, reader.read, hostile(reader.good, rng))
        if large:
            for text in oversized(reader.good, rng):
                attacked.feed(reader.name, reader.read, text)
    if large:
        for what, data in tars(rng):
            attacked.feed("archives", _archive(attacked.out / "archive.tar", what), data)


def _archive(path: Path, what: str) -> Read:
    def read(data: bytes) -> Found:
        path.write_bytes(data)
        results = [result for name, text in read_files(path) for result in parse_sgf(text, name=f"{what} {name}")]
        return [result if isinstance(result, Reject) else result.record for result in results]

    return read


def main() -> None:
    """Attack, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=12_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        attacked = attack(Path(name), options.records, options.seed)
        strays = attacked.strays()
    for what, times in sorted(attacked.outcomes.items()):
        print(f"{what}: {times}")
    for crash in attacked.crashes:
        print(f"CRASH {crash}")
    for stray in strays:
        print(f"STRAY {stray}")
    total = sum(attacked.outcomes.values())
    figures = {"hostile_records": total, "hostile_crashes": len(attacked.crashes) + len(strays)}
    data = f"made: {len(READERS)} parsers and the reader of archives, seed {options.seed}"
    origin = about(COMMAND, data, hardware(), "smoke")
    write_json(OUT, known(OUT) | {name: count(value, total) | origin for name, value in figures.items()})


if __name__ == "__main__":
    run_main(main)

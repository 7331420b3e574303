"""Go records in SGF, through sgfmill: reader and writer.

The main line of a record is read; variations are counted. Handicap stones are those set up before the first move (AB);
the number in HA is ignored. Komi (KM) is in points: 650, as some servers write it, is read as 6.5, and 3.75, the count
of one side's stones in Chinese records, as 7.5. A komi that is missing, or that no rule set has, is unknown. If the
result (RE) is missing, void or unknown, the winner is left open; `read_result` also reads Chinese, Japanese and Korean.
`sgf_text` decodes and parses the file. A text that is not a game on a board of the wanted size raises a `RecordError`,
or gives a `Reject` that names its file.
"""

import codecs
import lzma
import re
import tarfile
import unicodedata
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sgfmill import sgf, sgf_grammar
from sgfmill.sgf_properties import interpret_go_point

from pipeline_src.errors import ZugwerkError
from pipeline_src.files import MARKS, read_bytes
from pipeline_src.games.go import (
    FIRST,
    LETTERS,
    MAX_SIDE,
    MIN_SIDE,
    SECOND,
    UNKNOWN_KOMI,
    format_variant,
    parse_variant,
)
from pipeline_src.records.go_moves import SgfGame, half_points, read_moves
from pipeline_src.records.littlegolem.go import read_file
from pipeline_src.records.littlegolem.text import of_site, whole_text
from pipeline_src.records.record import GameRecord, RecordError, Reject, Source, Winner, shown

# The text of SGF files: bytes are decoded first and then parsed into the trees of their games, of any kind.
#
# In Shift_JIS, Big5 and GBK the second byte of a character can be a backslash or a bracket, so bytes cannot be parsed.
# The charset is the one that a byte order mark or CA names; a name stands for the charset's superset, as in browsers
# (GBK for gb2312). Without CA it follows from the bytes: ASCII, ISO-2022-JP by its escapes, UTF-8, or Latin-1 if each
# character beyond ASCII is a letter within a Western word. Anything else is ambiguous, and so is a text in a declared
# charset that is also valid UTF-8.


_CA = re.compile(rb"(?<=[(;\]\s])CA\s{0,9}\[([^\]\\]{0,40})\]")
"""The property, not a text that mentions it: in there, the closing bracket has a backslash before it."""
_WIDER = {
    "ascii": "utf-8",
    "big5": "big5hkscs",
    "cp950": "big5hkscs",
    "euc_kr": "cp949",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "iso8859-1": "cp1252",
    "shift_jis": "cp932",
}
"""Supersets of charsets, by Python's names of both."""
_EAST_ASIAN = ("big5hkscs", "cp932", "cp949", "euc_jp", "gb18030", "johab")
_NO_CHARSETS = ("idna", "punycode", "unicode-escape", "raw-unicode-escape", "undefined")
"""Encodings of Python that no program uses for records. Decoding a megabyte of punycode takes hours."""
_SYMBOL = re.compile(rb"(?<![\x80-\xff])[\xa0-\xff](?=[\x00-\x3f]|\Z)")
"""A byte that begins no character of two bytes: no second byte is that small."""
_WORD = re.compile(rb"[A-Za-z\x80-\xff]+")
_WESTERN = re.compile(rb"(?=[^A-Za-z]*[A-Za-z][^A-Za-z]*[A-Za-z])[\xc0-\xff]?(?:[A-Za-z]+[\xc0-\xff])*[A-Za-z]*")
"""A Latin-1 word with two ASCII letters or more, and no two adjacent other letters."""
_NO_FIRST_NODE = re.compile(r"\s*\(\s*(?=[A-Z]+\s*\[)")
_FIRST_NODES = re.compile(r"((?:\A|\))\s*\()(?=\s*[A-Z]+\s*\[)")
_START = re.compile(rb"\(\s*;")
_PROPERTY = re.compile(rb"[A-Z]\[")
_VALUE = re.compile(rb"\[[^\\\]]*(?:\\.[^\\\]]*)*\]", re.DOTALL)
_NAME = re.compile(rb"[A-Za-z]+")
_READ = {*b"B W AA AB AE AW C CA EV GM HA KM N PB PL PW RE RU SZ".split()}  # Properties that our readers look at
_NOTHING = re.compile(rb"(?:\s|\(\s*;\s*\))*")


def decode(data: bytes) -> str:
    """Return the text of an SGF file.

    Raises:
        RecordError: ``ambiguous``, or ``bad_text`` if a charset is unknown or the text is not in it.
    """
    for mark, name in MARKS.items():
        if data.startswith(mark):
            return _declared(data, name)
    codes = {_codec(name) for name in set(map(bytes.strip, _CA.findall(data))) if name}
    if not codes:
        return _undeclared(data)
    if len(codes) == 1:
        return _declared(data, codes.pop())
    if data.isascii():
        return data.decode("ascii")
    names = ", ".join(sorted(codes))
    raise RecordError("ambiguous", f"its games declare several charsets ({names}); put them into files of their own")


def _codec(name: bytes) -> str:
    """Return Python's name of the superset of a declared charset, which has to agree with ASCII where SGF needs it."""
    text = name.decode("latin-1")
    try:
        code = codecs.lookup(text.removeprefix("x-")).name
        if text.lower().replace("_", "-") in _NO_CHARSETS or (name + b"[\\]").decode(code) != text + "[\\]":
            raise LookupError
    except (LookupError, ValueError):
        raise RecordError("bad_text", f"no such charset as {shown(text)}") from None
    return _WIDER.get(code, code)


def _declared(data: bytes, code: str) -> str:
    text, also = _strict(data, code), None if code.startswith("utf") or data.isascii() else _strict(data, "utf-8")
    if text and also and (code not in _EAST_ASIAN or max(also) >= "\u0800"):
        raise RecordError("ambiguous", f"it declares the charset {code}, but is also valid UTF-8; correct CA")
    if text is None and also is None:
        raise RecordError("bad_text", f"a text is not in the charset {code!r}")
    return text or also or ""


def _undeclared(data: bytes) -> str:
    if b"\x1b$" in data:
        return _declared(data, "iso2022_jp_2")
    text = _strict(data, "utf-8")
    if text is not None:
        return text
    if any(not word.isascii() and not _WESTERN.fullmatch(word) for word in _WORD.findall(_SYMBOL.sub(b"", data))):
        raise RecordError("ambiguous", "no charset (CA), and the text is not UTF-8; convert it to UTF-8, or add CA")
    return data.decode("latin-1")


def _strict(data: bytes, code: str) -> str | None:
    try:
        return data.decode(code)
    except ValueError:
        return None


def trees(data: bytes) -> Iterator[Any | RecordError]:
    """Yield the tree of each game of a file, a sgfmill ``Coarse_game_tree`` in UTF-8, or why there is none.

    A first node without its ``;`` is read as one. An empty game, ``(;)``, among others is left out. Old versions of SGF
    have small letters in names, which are left out: ``GaMe``, ``White``. After a game that cannot be parsed, nothing is
    read.
    """
    try:
        text = whole_text(decode(data))
    except RecordError as error:
        yield error
        return
    if _NO_FIRST_NODE.match(text):
        text = _FIRST_NODES.sub(r"\1;", text)
    data, games = text.encode(), 0
    start = _START.search(data)
    if start is None or _PROPERTY.search(data, 0, start.start()):
        yield _bad("no SGF data found" if start is None else f"it begins with {shown(text.lstrip())}")
        return
    while start is not None:
        begin, end = start.start(), sgf_grammar.tokenise(data, start.start())[1]
        start = _START.search(data, end)
        try:
            tree = sgf_grammar.parse_sgf_game(data[begin:end])
            if _PROPERTY.search(data, end, start.start() if start else len(data)):
                raise ValueError(f"cannot read on at {shown(data[end : end + 100].decode(errors='replace').strip())}")
        except ValueError as error:
            yield _bad(str(error))
            return
        if tree.sequence != [{}] or tree.children or not (games or start):
            games += 1
            why = "" if _NOTHING.fullmatch(data) else _why_no_game(tree, data[begin:end])
            tree.sequence[0]["CA"] = [b"UTF-8"]
            yield RecordError("bad_text", why) if why else tree


def _why_no_game(tree: Any, data: bytes) -> str:
    """Return why a tree is none of a game; empty if it is one.

    sgfmill leaves out the small letters of a property's name, so ``b[dd]`` is a property without a name and no move.
    """
    keys, todo = set[str](), [tree]
    while todo:
        one = todo.pop()
        keys.update(*one.sequence)
        todo += one.children
    for name in _NAME.findall(_VALUE.sub(b" ", data)) if "" in keys else ():
        if name.islower() and (name.upper() in _READ or keys == {""}):
            return f"the name of a property in small letters, {shown(name.decode())}, where SGF has capitals"
    return "" if keys else "not SGF: it has no property"


def text_of(node: Mapping[str, list[bytes]], key: str) -> str:
    """Return the first value of a property of a node as a line of text, empty if the node lacks the property."""
    return _value(node, key, sgf_grammar.simpletext_value)


def paragraphs_of(node: Mapping[str, list[bytes]], key: str) -> str:
    """`text_of` with line breaks."""
    return _value(node, key, sgf_grammar.text_value)


def _value(node: Mapping[str, list[bytes]], key: str, read: Callable[[bytes], bytes]) -> str:
    values = node.get(key)
    return read(values[0]).decode() if values else ""


def _bad(why: str) -> RecordError:
    return RecordError("bad_text", f"not SGF, or cut off ({why})")


# The SGF files of a folder, in the order of their names, or of a tar file, in its own order and without unpacking.


MAX_BYTES = 16 << 20  # Largest size of a file. A longer file is cut, and therefore rejected.
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
        why = str(error).partition("\n")[0]  # tarfile adds a line for each compression
        raise ZugwerkError(f"{path}: not a tar of SGF files, or a damaged one ({why})") from None


def _check_end(tar: tarfile.TarFile) -> None:
    """Check for the zeros at the end: without them tarfile does not notice a file cut off between two members."""
    file = tar.fileobj
    assert file is not None
    file.seek(tar.offset)
    if file.read(tarfile.BLOCKSIZE) != bytes(tarfile.BLOCKSIZE):
        raise tarfile.ReadError("its end is missing")
    while file.read(1 << 20):  # to the end, where compressed files have their checksum
        pass


SIZE = 19
LISTED = 50  # Largest number of games in a list to choose from
_RESULT = re.compile(r"(?:(b|[黑黒흑])|w|[白백])\+\s*(r|中|불계)?")
_RESIGNED = r"中[盘盤押]し?|不[计計][点點目]|[认認]|불계"
_COUNTED = r"[\d./\u2044\u3007又零一二三四五六七八九十百半반目子点點집]|分之"
_HOW = rf"(?:[\s,:()+。]|{_RESIGNED}|{_COUNTED}|超?[时時][间間]?|切れ|시간)*"
"""Words about a victory; an unknown word leaves the result unknown."""
_WORDS = re.compile(rf"(?:([黑黒흑])|[白백])[方棋番]?{_HOW}(?:[胜勝赢贏승]|([负負败敗输輸패]))[ちりけ]?{_HOW}")
_DRAWN = {*("0", "draw", "jigo", "和", "和棋", "和局", "持棋", "持碁", "平局", "ジゴ", "引き分け", "무승부", "빅")}


def read_sgf(path: Path | str, gid: int = 0, size: int | None = SIZE, number: int | None = None) -> SgfGame:
    """Read a game of Go from a file: the only one, or the one with a ``number`` from 1 on.

    Raises:
        ZugwerkError: the file is missing; as `choose`.
    """
    return choose(parse_sgf(read_bytes(path), gid, name=str(path), size=size), path, number)


def choose(found: Sequence[SgfGame | Reject], path: Path | str, number: int | None) -> SgfGame:
    """Return the only game of a file, or the one with a ``number`` from 1 on.

    Raises:
        ZugwerkError: the file has several games and no number is given, or has no game of this number; the game is not
            usable (`RecordError`; its message begins with the path).
    """
    if number is None and len(found) > 1:
        raise ZugwerkError(f"{path}: {len(found)} games; choose one by its number (--game):\n{listed(found)}")
    number = 1 if number is None else number
    if not 1 <= number <= len(found):
        raise ZugwerkError(f"{path}: no game {number}; it has {len(found)}")
    game = found[number - 1]
    if isinstance(game, Reject):
        raise RecordError(game.reason, game.detail, game.ply)
    return game


def listed(found: Sequence[SgfGame | Reject]) -> str:
    """Return the games of a file as a list to choose from, a line a game, cut after the first `LISTED`."""
    lines = []
    for number, game in enumerate(found[:LISTED], 1):
        if isinstance(game, Reject):
            lines.append(f"{number:>4}  {game.reason}")
        else:
            names = (game.record.first_name, game.record.second_name)
            players = " - ".join(one[:40] if one.isprintable() else shown(one) for one in names)
            lines.append(f"{number:>4}  {players}, {len(game.record.actions)} moves")
    return "\n".join([*lines, "   ..."] if len(found) > LISTED else lines)


def parse_sgf(
    data: bytes, gid: int = 0, *, name: str = "record", size: int | None = SIZE, source: Source = "file"
) -> list[SgfGame | Reject]:
    """Read the games of a file's bytes, numbered from ``gid`` on. The list has at least one entry.

    Args:
        data: one game or a collection, in any charset that it declares (CA); see `sgf_text`. LittleGolem's text, in
            which names are not escaped, is read as such.
        gid: number of the first game.
        name: name of the file, with which the details of rejects begin.
        size: size of the board; games of other sizes are rejected. None accepts any size.
        source: source of the games, for the records.
    """
    if of_site(data):
        return read_file(data, gid, name, size)
    return read_trees(data, gid, name, lambda tree, number: read_tree(tree, number, size, source, name))


def read_trees(data: bytes, gid: int, name: str, read: Callable[[Any, int], SgfGame]) -> list[SgfGame | Reject]:
    """Read the games of a file's bytes with ``read``, a function of a game's tree and number; see `parse_sgf`."""
    if not data.strip():
        return [Reject(gid, -1, "empty", f"{name}: nothing in the file")]
    results: list[SgfGame | Reject] = []
    found = list(trees(data))
    for number, tree in enumerate(found):
        try:
            if isinstance(tree, RecordError):
                raise tree
            results.append(read(tree, gid + number))
        except RecordError as error:
            which = f" (game {number + 1} of {len(found)})" if len(found) > 1 else ""
            results.append(Reject(gid + number, error.ply, error.reason, f"{name}{which}: {error.detail}"))
    return results


@contextmanager
def bad_text(what: str, ply: int = -1) -> Iterator[None]:
    """Turn sgfmill's errors about bad values into a `RecordError`."""
    try:
        yield
    except RecordError:
        raise
    except (ValueError, LookupError) as error:
        raise RecordError("bad_text", f"{what} ({error})", ply) from None


def read_tree(tree: Any, gid: int, size: int | None, source: Source, name: str) -> SgfGame:
    """Read one game of Go.

    Args:
        tree: from `sgf_text.trees`.
        gid: number of the game.
        size: as for `parse_sgf`.
        source: source of the game, for the record.
        name: name of the file.

    Raises:
        RecordError: the game is not usable.
    """
    first = tree.sequence[0]
    size = _check_game(first, size)
    stones, moves = _read_nodes(sgf.Sgf_game.from_coarse_game_tree(tree), size)
    handicap = text_of(first, "HA").strip()
    if not stones and handicap.strip("0").isdecimal() and moves and moves[0][0] == SECOND:
        raise RecordError("contradiction", f"a handicap of {shown(handicap)}, but no stones are set up", 0)
    variant = format_variant(half_points(text_of(first, "KM")), stones)
    with bad_text("the handicap stones"):
        plies = read_moves(moves, size, variant)
    winner, resigned = read_result(text_of(first, "RE"))
    record = GameRecord(
        game="go",
        gid=gid,
        source=source,
        variant=variant,
        height=size,
        width=size,
        actions=plies.actions,
        winner=winner,
        resigned=resigned,
        first_name=text_of(first, "PB"),
        second_name=text_of(first, "PW"),
        event=text_of(first, "EV"),
    )
    return SgfGame(record, name, count_variations(tree), plies.passes_added, plies.cut)


def _check_game(first: dict[str, list[bytes]], wanted: int | None) -> int:
    """Return the size of a board, which becomes one number in ``first``, as sgfmill needs it."""
    kind = text_of(first, "GM").strip() or "1"
    if kind != "1":
        raise RecordError("other_game", f"GM[{shown(kind)}]; Go is GM[1]")
    side = text_of(first, "SZ").strip() or "19"
    numbers = {number.lstrip("0") for number in side.split(":")}
    sizes = [size for size in range(MIN_SIDE, MAX_SIDE + 1) if numbers == {str(size)} and wanted in (None, size)]
    if not sizes:
        size = wanted or f"one from {MIN_SIDE} to {MAX_SIDE}"
        raise RecordError("other_variant", f"a board of size {shown(side)}; wanted: {size}")
    first["SZ"] = [str(sizes[0]).encode()]
    return sizes[0]


def _read_nodes(game: Any, size: int) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Return the handicap stones (row, column) and the moves (side, action) of the main line."""
    stones: set[tuple[int, int]] = set()
    moves: list[tuple[int, int]] = []
    for node in game.main_sequence_iter():
        ply = len(moves)
        if node.has_setup_stones():
            with bad_text("points that are set up", ply):
                black, white, empty = node.get_setup_stones()
            if moves or white or empty:
                raise RecordError("other_variant", "stones are set up, beyond a handicap before the first move", ply)
            stones |= {(size - 1 - row, column) for row, column in black}
        if sum(len(node.get_raw_list(letter)) for letter in "BW" if node.has_property(letter)) > 1:
            raise RecordError("bad_text", "two moves in one node", ply)
        colour, raw = node.get_raw_move()
        if colour is not None:
            with bad_text(f"no point: {shown(raw.decode('latin-1'))}", ply):
                point = interpret_go_point(raw, size)
            action = size * size if point is None else (size - 1 - point[0]) * size + point[1]
            moves.append((FIRST if colour == "b" else SECOND, action))
    return sorted(stones), moves


def read_result(text: str) -> tuple[Winner | None, bool]:
    """Return the winner that RE names, where Black is the first side, and whether the other side has resigned.

    >>> read_result("W+2.5"), read_result("黑中盘胜"), read_result("白3目半勝ち")
    (('second', False), ('first', True), ('second', False))
    """
    text = unicodedata.normalize("NFKC", text).strip().lower()  # of full width, as are digits there
    if match := _WORDS.fullmatch(text):
        return ("first" if bool(match[1]) != bool(match[2]) else "second"), re.search(_RESIGNED, text) is not None
    if match := _RESULT.match(text):
        return ("first" if match[1] else "second"), match[2] is not None
    return ("draw" if text in _DRAWN else None), False


def count_variations(tree: Any) -> int:
    """Return the number of a tree's variations, without its main line."""
    leaves, todo = 0, [tree]
    while todo:
        children = todo.pop().children
        leaves += not children
        todo += children
    return leaves - 1


def write_sgf(record: GameRecord) -> bytes:
    """Write a record as SGF (FF 4, UTF-8), the main line only.

    Raises:
        ZugwerkError: the record is of another game, or the board is not square.
    """
    if record.game != "go" or record.height != record.width:
        raise ZugwerkError(
            f"game {record.gid}: {record.game}, {record.height}x{record.width}, cannot be written as SGF"
        )
    size = record.width
    komi, stones = parse_variant(record.variant)
    game = sgf.Sgf_game(size, encoding="UTF-8")
    root = game.get_root()
    if not record.variant.startswith(UNKNOWN_KOMI):
        root.set("KM", komi / 2)
    if stones:
        root.set_setup_stones({(size - 1 - row, column) for row, column in stones}, set())
        if len(stones) > 1:
            root.set("HA", len(stones))
    for key, text in (("PB", record.first_name), ("PW", record.second_name), ("EV", record.event)):
        if text:
            root.set(key, text.encode("utf-8", "replace").decode())
    result = {"first": "B+", "second": "W+", "draw": "0", None: ""}[record.winner]
    if result:
        root.set("RE", result + ("R" if record.resigned else ""))
    side = SECOND if stones else FIRST
    for action in record.actions:
        row, column = divmod(action, size)
        point = LETTERS[column] + LETTERS[row] if action < size * size else ""
        game.extend_main_sequence().set_raw("BW"[side], point.encode())
        side = 1 - side
    data: bytes = game.serialise()
    return data

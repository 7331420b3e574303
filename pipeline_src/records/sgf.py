"""SGF of any game, through sgfmill: its text, the files of a folder or a tar, the games of a file, and results.

`trees` decodes and parses a file, `read_trees` reads its games, and `read_files` yields the files. A text that is not a
game raises a `RecordError`, or gives a `Reject` that names its file.
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
from typing import Any, NamedTuple

from sgfmill import sgf_grammar

from pipeline_src.errors import ZugwerkError
from pipeline_src.files import MARKS
from pipeline_src.records.record import GameRecord, RecordError, Reject, Winner, shown, whole_text

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


class SgfGame(NamedTuple):
    """The contents of one record."""

    record: GameRecord
    name: str  # Name of its file or page, for messages
    variations: int  # Number of variations, without the main line
    passes_added: int
    cut: int  # See `go_games.GoMoves`


LISTED = 50  # Largest number of games in a list to choose from
_RESULT = re.compile(r"(?:(b|[黑黒흑])|w|[白백])\+\s*(r|中|불계)?")
_RESIGNED = r"中[盘盤押]し?|不[计計][点點目]|[认認]|불계"
_COUNTED = r"[\d./\u2044\u3007又零一二三四五六七八九十百半반目子点點집]|分之"
_HOW = rf"(?:[\s,:()+。]|{_RESIGNED}|{_COUNTED}|超?[时時][间間]?|切れ|시간)*"
"""Words about a victory; an unknown word leaves the result unknown."""
_WORDS = re.compile(rf"(?:([黑黒흑])|[白백])[方棋番]?{_HOW}(?:[胜勝赢贏승]|([负負败敗输輸패]))[ちりけ]?{_HOW}")
_DRAWN = {*("0", "draw", "jigo", "和", "和棋", "和局", "持棋", "持碁", "平局", "ジゴ", "引き分け", "무승부", "빅")}


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

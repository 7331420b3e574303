"""The text of SGF files: bytes are decoded first and then parsed into the trees of their games, of any kind.

In Shift_JIS, Big5 and GBK the second byte of a character can be a backslash or a bracket, so bytes cannot be parsed.
The charset is the one that a byte order mark or CA names; a name stands for the charset's superset, as in browsers (GBK
for gb2312). Without CA it follows from the bytes: ASCII, ISO-2022-JP by its escapes, UTF-8, or Latin-1 if each
character beyond ASCII is a letter within a Western word. Anything else is ambiguous, and so is a text in a declared
charset that is also valid UTF-8.
"""

import codecs
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from sgfmill import sgf_grammar

from pipeline_src.files import MARKS
from pipeline_src.records.littlegolem.text import whole_text
from pipeline_src.records.rejects import RecordError, shown

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
_READ = {*b"B W AA AB AE AW C CA EV GM HA KM N PB PL PW RE RU SZ".split()}
"""Properties that our readers look at."""
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

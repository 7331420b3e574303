r"""The text of a LittleGolem record: its header, names and nodes, for any of the site's SGF-like games.

    (;FF[4]EV[null]PB[first player]PW[second player]SO[http://www.littlegolem.com];W[j4-g7/d7];B[g10-h9/g8])

Values are not escaped, so it is not SGF: ``PB[lazy\player]PW[Shumacher;]]`` holds the names ``lazy\player`` and
``Shumacher;]``. A value of the header ends at the first ``]`` after which the record goes on as a record does: with
another property (two or more capitals and ``[``) or with a node. Every scan moves forward only, so reading takes
time linear in the body's length, whatever the body is.
"""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from pipeline_src.records.rejects import RecordError, shown

_START = re.compile(r"\(\s*(?=;)")
_PROPERTY = re.compile(r"\s*;?\s*([A-Z]{2,8})\[")
_VALUE_END = re.compile(r"\](?=\s*(?:[A-Z]{2,8}\[|;\s*[A-Za-z]\[))")
_VALUE_END_NO_NODES = re.compile(r"\](?=\s*\))")
_NODE = re.compile(r"\s*;\s*([A-Za-z])\[([^\]]*)\]")
_END = re.compile(r"\s*\)")
_GGF = re.compile(r"\(\s*;\s*GM\[\w*\]\s*PC\[GGS")
_NUMBERED_MOVE = re.compile(r"\d+\s*\.")
_HTML = ("<!doctype", "<html", "<head", "<body")


class Node(NamedTuple):
    """One node of a record: a move, or what else the site writes in a move's place."""

    colour: str
    """``W`` or ``B``; some games have letters of their own."""
    value: str


class ParsedRecord(NamedTuple):
    """A record taken apart; nothing in it is interpreted yet."""

    header: dict[str, str]
    """Values by property (EV, PB, PW, SO, ...), in the record's order."""
    nodes: tuple[Node, ...]
    trailing: str
    """What follows the closing parenthesis."""


def decode(body: bytes) -> str:
    """Text of a body: UTF-8 where it is valid, else Latin-1, which takes any bytes."""
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError:
        return body.decode("latin-1")


def whole_text(text: str) -> str:
    """A text that UTF-8 can write: half characters (JSON escapes can hold them, and some charsets) become ``?``."""
    return text.encode("utf-8", "replace").decode()


def split_records(body: bytes) -> list[bytes]:
    """The records of a page that holds many, in its order; blank lines, CRLF or LF, stand between them.

    A blank line within a record of another format (PGN has them) does not split it: a new record starts with ``(;``.
    """
    records: list[list[bytes]] = []
    blank = True
    for line in body.split(b"\n"):
        if blank and (not records or line.lstrip().startswith(b"(;")):
            records.append([])
        records[-1].append(line)
        blank = not line.strip()
    joined = (b"\n".join(lines).strip() for lines in records)
    return [record for record in joined if record]


def parse_text(body: bytes) -> ParsedRecord:
    """Take one record apart.

    Raises:
        RecordError: ``empty``; ``other_game`` for the notations of the site's other games that are not SGF-like;
            ``bad_text`` for anything else that is not a whole record, with the number of nodes read as its ply.
    """
    text = decode(body)
    start = _START.match(text, len(text) - len(text.lstrip()))
    if not start:
        raise _foreign(text.strip())
    if _GGF.match(text, start.start()):
        raise RecordError("bad_text", "a record in GGF, as the GGS server writes it; only LittleGolem's own are read")
    header, at = _read_header(text, start.end())
    nodes: list[Node] = []
    while match := _NODE.match(text, at):
        nodes.append(Node(*match.groups()))
        at = match.end()
    end = _END.match(text, at)
    if not end:
        left = text[at : at + 100].strip()
        what = f"cannot read on at {shown(left)}" if left else "cut off: the closing parenthesis is missing"
        raise RecordError("bad_text", what, len(nodes))
    return ParsedRecord(header, tuple(nodes), text[end.end() :])


def join_text(header: Mapping[str, str], nodes: Iterable[Node]) -> str:
    """The record of a header and nodes: `parse_text`'s inverse."""
    head = ";" + "".join(f"{name}[{value}]" for name, value in header.items()) if header else ""
    return f"({head}{''.join(f';{colour}[{value}]' for colour, value in nodes)})"


def _read_header(text: str, at: int) -> tuple[dict[str, str], int]:
    header: dict[str, str] = {}
    while match := _PROPERTY.match(text, at):
        name, begin = match[1], match.end()
        end = _VALUE_END.search(text, begin) or _VALUE_END_NO_NODES.search(text, begin)
        if not end:
            raise RecordError("bad_text", f"cut off in the header: the value of {name} does not end")
        if name in header:
            raise RecordError("bad_text", f"{name} stands twice in the header")
        header[name] = text[begin : end.start()]
        at = end.end()
    return header, at


def _foreign(text: str) -> RecordError:
    """The error for a text that does not begin as a record does."""
    if not text:
        return RecordError("empty", "nothing in the body")
    if text[:10].lower().startswith(_HTML):
        return RecordError("bad_text", "an HTML page in the record's place")
    if text.startswith("[") or _NUMBERED_MOVE.match(text):
        return RecordError("other_game", f"a record in PGN: {shown(text)}")
    return RecordError("bad_text", f"not a record: {shown(text)}")

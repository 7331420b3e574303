r"""Parser for the text of LittleGolem records: header, names and nodes, for any of the site's SGF-like games.

    (;FF[4]EV[null]PB[first player]PW[second player]SO[http://www.littlegolem.com];W[j4-g7/d7];B[g10-h9/g8])

Values are not escaped, so this is not SGF: ``PB[lazy\player]PW[Shumacher;]]`` contains the names ``lazy\player`` and
``Shumacher;]``. A text is parsed in up to two ways:

- from the left: a value of the header ends at the first ``]`` that is followed by another property (two or more
  capitals and ``[``) or by a node;
- from the right, if the first way does not reach the end of the text, as for the name ``x];W[a4-a5/a6``: players
  choose only their names, so the last ``]SO[`` and everything after it was written by the site.

An empty record, ``(;)``, counts as nothing, and text after a record that is not another record is left out.

Each scan moves in one direction, so parsing takes time linear in the length of any body.
"""

import contextlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from pipeline_src.records.raw import RawGame, Seat
from pipeline_src.records.record import RecordError, Source, Winner, shown

_START = re.compile(r"\(\s*(?=;)")
_BOUNDARY = re.compile(rb"(?<=\))\s*(?=\(\s*;)")  # Between two records
_PROPERTY = re.compile(r"\s*;?\s*([A-Z]{2,8})\[")
_VALUE_END = re.compile(r"\](?=\s*(?:[A-Z]{2,8}\[|;\s*[A-Za-z]\[))")
_VALUE_END_NO_NODES = re.compile(r"\](?=\s*\))")
_NODE = re.compile(r"\s*;\s*([A-Za-z])\[([^\]]*)\]")
_END = re.compile(r"\s*\)")
_LAST_SITE = re.compile(r"\]\s*SO\[")
_LAST_PROPERTY = re.compile(r"\]\s*([A-Z]{2})\[([^\[\]]*)$")
_BETWEEN = ("KM", "SZ", "HA", "AB", "VA", "GC", "RE")
"""Properties that the site may write between the players' names and ``SO``."""
_GGF = re.compile(r"\(\s*;\s*GM\[\w*\]\s*PC\[GGS")
_NUMBERED_MOVE = re.compile(r"\d+\s*\.")
_SITE = re.compile(rb"\bSO\[[^\]]{0,20}littlegolem")
_GAME = re.compile(rb"\bGM\[")
_STONES = re.compile(rb"AB\[[a-y]{2}\](?:\s*AB\[[a-y]{2}\])+")
"""A run of handicap stones in a record of Go. In the site's other records, a property occurs only once."""
_HTML = ("<!doctype", "<html", "<head", "<body")


class Node(NamedTuple):
    """One node of a record: a move, or another word that the site writes in place of a move."""

    colour: str  # `W` or `B`; some games use other letters
    value: str


class ParsedRecord(NamedTuple):
    """A parsed record. Its values are not interpreted yet."""

    header: dict[str, str]  # Values by property (EV, PB, PW, SO, ...), in the record's order
    nodes: tuple[Node, ...]
    trailing: str  # Text after the closing parenthesis


def decode(body: bytes) -> str:
    """Decode a body as UTF-8 if it is valid, and otherwise as Latin-1, which accepts any bytes."""
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError:
        return body.decode("latin-1")


def split_records(body: bytes) -> list[bytes]:
    """Split a page into its records, which are separated by blank lines (CRLF or LF).

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


def split_file(body: bytes) -> list[bytes]:
    """Split a user's file into its records, which may also follow each other without a blank line.

    Such a part of a file is split only if each piece of it is a whole record, since names can imitate the format.
    """
    texts: list[bytes] = []
    for text in split_records(body):
        pieces = [piece for piece in _BOUNDARY.split(text) if piece.strip()]
        texts += pieces if all(map(_is_whole, pieces)) else [text]
    return [text for text in texts if not is_empty(text)]


def only_text(body: bytes) -> bytes:
    """Return the only record of a page, which may occur in it more than once.

    Raises:
        RecordError: ``several_records``; as `readings` if the page does not begin with a record.
    """
    texts = [text for text in split_records(body) if not is_empty(text)] or [b""]
    if len(set(texts)) > 1:
        readings(texts[0])
        raise RecordError("several_records", f"{len(texts)} records, not the same, under one gid")
    return texts[0]


def of_site(data: bytes) -> bool:
    """Whether a file of SGF-like text is the site's: it names the site, and no kind of game (GM)."""
    return _SITE.search(data, 0, 4096) is not None and _GAME.search(data, 0, 4096) is None


def join_stones(text: bytes) -> bytes:
    """Return a record of Go with its handicap stones as one property: ``AB[pddp]`` for ``AB[pd]AB[dp]``."""
    return _STONES.sub(lambda run: b"AB[" + b"".join(re.findall(rb"\[([a-y]{2})\]", run[0])) + b"]", text)


def is_empty(text: bytes) -> bool:
    """Whether a text is an empty record, ``(;)``."""
    return b"".join(text.split()) == b"(;)"


def parse_text(body: bytes) -> ParsedRecord:
    """Parse one record; of two readings, return the one that covers the whole text.

    Raises:
        RecordError: as `readings`.
    """
    return readings(body)[0]


def readings(body: bytes) -> tuple[ParsedRecord, ...]:
    """Return all readings of a record: one, or two if a name imitates the format.

    Raises:
        RecordError: ``empty``; ``other_game`` for the site's games with a notation that is not SGF-like;
            ``bad_text`` for anything else that is not a whole record, with the number of nodes read as its ply.
    """
    text = decode(body)
    text = text[: _end(text)]
    start = _START.match(text, len(text) - len(text.lstrip()))
    if not start:
        raise _foreign(text.strip())
    if _GGF.match(text, start.start()):
        raise RecordError("bad_text", "a record in GGF, as the GGS server writes it; only LittleGolem's own are read")
    try:
        of_left = _read_nodes(text, *_read_header(text, start.end()))
    except RecordError as error:
        found = _from_right(text, start.end())
        if not found:
            raise error from None
        return (found,)
    if not of_left.trailing.strip() or follows(of_left):
        return (of_left,)
    found = _from_right(text, start.end())
    return (found, of_left) if found not in (None, of_left) else (of_left,)


def follows(record: ParsedRecord) -> bool:
    """Whether another record follows a record in its text."""
    return _START.match(record.trailing.lstrip()) is not None


def _end(text: str) -> int:
    """Return the end of a text without the empty records, ``(;)``, after the first record."""
    end = len(text)
    while True:
        begin = text.rfind("(", 1, end)
        if begin < 0 or "".join(text[begin:end].split()) != "(;)":
            return end
        end = begin


def _is_whole(text: bytes) -> bool:
    """Whether a text is one record of the site and nothing else."""
    if is_empty(text):
        return True
    try:
        found = readings(join_stones(text))
    except RecordError:
        return False
    return found[0].header.keys() >= {"PB", "PW", "SO"} and not found[0].trailing.strip()


def pick_legal(found: Sequence[ParsedRecord], replay: Callable[[ParsedRecord], Any]) -> ParsedRecord:
    """Return the only reading with legal moves. ``replay`` raises a `RecordError` for illegal ones.

    Raises:
        RecordError: ``ambiguous``: several readings, and none or more than one of them has legal moves.
    """
    if len(found) == 1:
        return found[0]
    legal = []
    for record in found:
        with contextlib.suppress(RecordError):
            replay(record)
            legal.append(record)
    if len(legal) != 1:
        which = "each" if legal else "none"
        raise RecordError("ambiguous", f"can be read in {len(found)} ways, and the moves of {which} are legal")
    return legal[0]


def join_text(header: Mapping[str, str], nodes: Iterable[Node]) -> str:
    """Return the text of a record with this header and these nodes: the inverse of `parse_text`."""
    head = ";" + "".join(f"{name}[{value}]" for name, value in header.items()) if header else ""
    return f"({head}{''.join(f';{colour}[{value}]' for colour, value in nodes)})"


def _read_header(text: str, at: int, before: str = "") -> tuple[dict[str, str], int]:
    """Return the properties from ``at`` up to the one called ``before``, and their end."""
    header: dict[str, str] = {}
    while (match := _PROPERTY.match(text, at)) and match[1] != before:
        name, begin = match[1], match.end()
        end = _VALUE_END.search(text, begin) or _VALUE_END_NO_NODES.search(text, begin)
        if not end:
            raise RecordError("bad_text", f"cut off in the header: the value of {name} does not end")
        if name in header:
            raise RecordError("bad_text", f"{name} stands twice in the header")
        header[name] = text[begin : end.start()]
        at = end.end()
    return header, at


def _read_nodes(text: str, header: dict[str, str], at: int) -> ParsedRecord:
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


def _from_right(text: str, at: int) -> ParsedRecord | None:
    """Return the reading that takes the last ``SO`` as the site's; None if it fails or another record follows it."""
    last = max((found.start() for found in _LAST_SITE.finditer(text, at)), default=-1)
    try:
        header, begin = _read_header(text, at, before="PB")
        of_site, nodes = _read_header(text, last + 1)
        match = _PROPERTY.match(text, begin)
        names = text[match.end() : last] if match else ""
        record = _read_nodes(text, header, nodes)
    except RecordError:
        return None
    between: dict[str, str] = {}
    while (found := _LAST_PROPERTY.search(names)) and found[1] in _BETWEEN and found[1] not in between:
        between = {found[1]: found[2]} | between
        names = names[: found.start()]
    first, both, second = names.partition("]PW[")
    if last < 0 or not both or follows(record):
        return None
    header |= {"PB": first, "PW": second} | between | of_site
    return record


def _foreign(text: str) -> RecordError:
    """Return the error for a text that does not begin like a record."""
    if not text:
        return RecordError("empty", "nothing in the body")
    if text[:10].lower().startswith(_HTML):
        return RecordError("bad_text", "an HTML page in the record's place")
    if text.startswith("[") or _NUMBERED_MOVE.match(text):
        return RecordError("other_game", f"a record in PGN: {shown(text)}")
    return RecordError("bad_text", f"not a record: {shown(text)}")


# The record of a game's answer, and the winner from the players' results in the lists and from the record.
#
# Lists name players; records have a first and a second player. They are matched by the API's order where it is known,
# and otherwise by name. A name with characters outside Latin-1 has question marks in the record and is matched in that
# form. If no name matches (players rename themselves) but the lists say that the game was decided, the side that moved
# last is the winner: this holds for 99.96 % of 19,269 decided games of another game of the site, whose records do not
# mention resignations and losses on time.

Evidence = Literal["resignation", "position", "order", "names", "last_mover"]
EVIDENCE: tuple[Evidence, ...] = ("resignation", "position", "order", "names", "last_mover")


READABLE_STATUS = (0, 200)  # HTTP statuses of records that are read; 0 is a record from a file


class Players(NamedTuple):
    """The site's seats of the first and the second player; None where unknown."""

    first: Seat | None
    second: Seat | None
    evidence: Evidence  # Basis of the match: `order` or `names`


class Outcome(NamedTuple):
    """The winner and the strongest evidence for it."""

    winner: Winner
    evidence: Evidence


def source_of(raw: RawGame) -> Source:
    """Return the source of a game: our engine, people on the site, or a user's file."""
    if raw.engine:
        return "engine"
    return "file" if raw.status == 0 else "littlegolem"


def the_record(raw: RawGame, text_of: Callable[[bytes], bytes], replay: Callable[[ParsedRecord], Any]) -> ParsedRecord:
    """Return the single record of a game's answer: of its readings, the one with legal moves, as `pick_legal`.

    Raises:
        RecordError: the server did not send it, it cannot be read in one way, or another record follows.
    """
    if raw.status not in READABLE_STATUS:
        raise RecordError("http_status", f"the server answered {raw.status}")
    record = pick_legal(readings(text_of(raw.body)), replay)
    if follows(record):
        raise RecordError("several_records", "another record follows the first")
    return record


def match_players(raw: RawGame, record: ParsedRecord) -> Players:
    """Match the seats of the lists with the players of the record.

    Raises:
        RecordError: ``contradiction``: more than two players, or the API's order is the reverse of the record's.
    """
    if len(raw.seats) > 2:
        raise RecordError("contradiction", f"the lists name {len(raw.seats)} players of this game")
    names = [_comparable(record.header.get(key, "")) for key in ("PB", "PW")]
    if raw.order_known and raw.seats:
        shown = [_comparable(seat.name) for seat in raw.seats]
        if names[0] != names[1] and any(name == other for name, other in zip(shown, names[::-1], strict=False)):
            raise RecordError("contradiction", "the API has the players in one order, the record in the other")
        return Players(raw.seats[0], raw.seats[1] if len(raw.seats) == 2 else None, "order")
    if names[0] == names[1]:
        return Players(None, None, "names")
    found = [[seat for seat in raw.seats if _comparable(seat.name) == name] for name in names]
    first, second = (seats[0] if len(seats) == 1 else None for seats in found)
    if len(raw.seats) == 2 and any(len(seats) == 1 for seats in found):  # the other player has the other seat
        first = first or next(seat for seat in raw.seats if seat is not second)
        second = second or next(seat for seat in raw.seats if seat is not first)
    return Players(first, second, "names")


def find_winner(raw: RawGame, players: Players, plies: int, resigned: bool, of_record: Winner | None) -> Outcome:
    """Return the winner if all the evidence agrees: the players' results in the lists, and what the record itself says.

    Raises:
        RecordError: ``contradiction``; ``unfinished`` if nothing names a winner.
    """
    results = [seat.result for seat in raw.seats if seat.result]
    if "draw" in results:
        raise RecordError("contradiction", "the lists call it a draw, which this game does not have")
    if len(results) != len(set(results)):
        raise RecordError("contradiction", f"the lists say that both players {results[0]}")
    of_lists = said_of(players.first, "first", "second") or said_of(players.second, "second", "first")
    if of_record and of_lists and of_record != of_lists:
        how = "the resignation" if resigned else "the final position"
        raise RecordError("contradiction", f"{of_lists} won by the lists, {of_record} by {how}", plies)
    if of_record:
        return Outcome(of_record, "resignation" if resigned else "position")
    if of_lists:
        return Outcome(of_lists, players.evidence)
    if results:
        return Outcome("first" if plies % 2 else "second", "last_mover")
    raise RecordError("unfinished", "no result in the lists, no resignation, and the side to move can move", plies)


def said_of(seat: Seat | None, player: Winner, opponent: Winner) -> Winner | None:
    """Return the winner by a player's result in the lists, None if they have none."""
    if seat is None or not seat.result:
        return None
    return {"won": player, "lost": opponent, "draw": "draw"}[seat.result]


def _comparable(name: str) -> str:
    """Return a name as a Latin-1 record shows it, with blanks normalised."""
    return re.sub(r"\s+", " ", name.encode("latin-1", errors="replace").decode("latin-1")).strip()

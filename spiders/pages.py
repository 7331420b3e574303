"""The site's pages: bytes in, rows out, without network access; and what several of them say of one game, merged.

Pages are read as UTF-8, else as Latin-1. A game on a list is a `RawGame` that was not fetched yet.
"""

import asyncio
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from parsel import Selector

from pipeline_src.records.littlegolem.text import decode, parse_text
from pipeline_src.records.raw import RawGame, Result, Seat
from pipeline_src.records.record import RecordError, shown, whole_text

NO_ANSWER = -1
STATUS_GOOD = (0, 200)  # 0: from a user's file, 200: from a server
MAX_ID = 10**18
RECORDS_AT_ONCE = 100  # Number of records read before the event loop runs again
_GID = re.compile(r"\bgame\.jsp\?gid=(\d{1,18})(?!\d)")
_PLID = re.compile(r"\bplayer\.jsp\?plid=(\d{1,18})(?!\d)")
_COUNT = re.compile(r"[0-9]{1,9}")
_CAPTION = re.compile(r"List of games\s*\[(.*)\]\s*\[[^\[\]]*\]")
_WORDS: dict[str, Result] = {"win": "won", "won": "won", "lost": "lost", "loss": "lost", "draw": "draw"}
_HEADINGS = [f"h{level}" for level in range(1, 7)]
_POINTS: dict[Any, Result] = {2: "won", 1: "draw", 0: "lost"}


class PageError(ValueError):
    """An answer that is not the requested page; the message describes it."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a player's list of games."""

    gid: int
    opponent: str  # Name of the opponent; the list has no number
    variant: str  # Variant in the site's words, e.g. `Size 10`; empty if not shown.
    plies: int  # Number of moves, -1 if not shown
    result: Result


@dataclass(frozen=True, slots=True)
class GameList:
    """Key of a player's list of games."""

    plid: int
    name: str  # Name of the player, from the caption; empty without one
    rows: tuple[Row, ...]


def read_players(body: bytes) -> dict[int, str]:
    """Names by plid on a page of the player list, in the page's order.

    Raises:
        PageError: the page is no player list.
    """
    page = _html(body)
    table = False
    players: dict[int, str] = {}
    for cell in page.iter("td", "th"):
        table = True
        for link in cell.iter("a"):
            if found := _PLID.search(link.get("href", "")):
                players.setdefault(int(found[1]), _text(link))
    if not table:
        raise PageError("not a player list")
    return players


def headings_of(body: bytes) -> list[str]:
    """The title and the headings of a page and of its tables, without numbers.

    Raises:
        PageError: the page is empty.
    """
    return [re.sub(r"[0-9]+", "", _text(element)) for element in _html(body).iter("title", "th", *_HEADINGS)]


def read_game_list(body: bytes, plid: int) -> GameList:
    """The list of games of player ``plid``, finished ones and others.

    Raises:
        PageError: the page is no list of games.
    """
    page = _html(body)
    rows = tuple(row for line in page.iter("tr") if (row := _row(line)))
    headings = [_text(element) for element in page.xpath("//*[contains(text(), 'List of games')]")]
    if not rows and not headings:
        raise PageError("not a list of games")
    captions = [found[1].strip() for heading in headings if (found := _CAPTION.search(heading))]
    return GameList(plid, captions[0] if captions else "", rows)


def games_of(listed: GameList) -> Iterator[RawGame]:
    """The games of a player's list, with the facts on this list."""
    for row in listed.rows:
        seat = Seat(listed.plid, listed.name, row.result)
        yield RawGame(row.gid, "", NO_ANSWER, b"", row.variant, seats=(seat,))


def read_api_games(body: bytes) -> list[RawGame]:
    """The games in an answer of the JSON interface, which lists the player who moves first first.

    Raises:
        PageError: not JSON, or not a list of games.
    """
    answer = first_json(body)
    games = answer.get("games") if isinstance(answer, dict) else answer
    if not isinstance(games, list):
        raise PageError("JSON without a list of games")
    return [_api_game(game) for game in games]


def first_json(body: bytes) -> Any:
    """The first JSON value of an answer; the site sometimes sends the same object twice in a row.

    Raises:
        PageError: not JSON.
    """
    try:
        return json.JSONDecoder().raw_decode(decode(body).lstrip())[0]
    except (ValueError, RecursionError) as error:
        raise PageError(f"not JSON ({error})") from None


def check_record(body: bytes) -> bytes:
    """Check that ``body`` is a game's record, in any notation.

    Raises:
        PageError: empty, an HTML page, or a JSON object.
    """
    text = body.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not text:
        raise PageError("an empty answer")
    if text[:1] == b"<":
        raise PageError("an HTML page in the record's place")
    if text[:1] == b"{":
        raise PageError(f"no record, but {shown(decode(text[:200]))}")
    return body


def _html(body: bytes) -> Any:
    text = decode(body).replace("\0", "")
    if not text.strip():
        raise PageError("an empty answer")
    return Selector(text=text, type="html").root


def _text(element: Any) -> str:
    """All text of an element, blanks and no-break spaces normalised."""
    return " ".join(element.text_content().split())


def _row(line: Any) -> Row | None:
    cells = line.findall("td")
    link = cells[0].find(".//a") if len(cells) >= 6 else None
    gid = _GID.search(link.get("href", "")) if link is not None else None
    if not gid:
        return None
    plies, result = _text(cells[4]), _text(cells[5]).lower()
    return Row(
        gid=int(gid[1]),
        opponent=_text(cells[1]),
        variant=" ".join(_text(span) for span in cells[3].iter("span")),
        plies=int(plies) if _COUNT.fullmatch(plies) else -1,
        result=_WORDS.get(result, ""),
    )


def _api_game(game: Any) -> RawGame:
    try:
        gid, finished = int(game["gid"]), game.get("status") == 1
        points = list(game.get("results") or []) if finished else []
        decided = any(points)
        seats = []
        for i, entry in enumerate(game.get("players") or []):
            player = entry["player"]
            result = _POINTS.get(points[i], "") if decided and i < len(points) else ""
            seats.append(Seat(int(player["plid"]), whole_text(str(player.get("real_name") or "")), result))
        variant = whole_text(str(game.get("variant") or ""))
        if not all(0 <= number < MAX_ID for number in (gid, *(seat.plid for seat in seats))):
            raise ValueError("a number out of range")
    except (TypeError, KeyError, ValueError, AttributeError, OverflowError) as error:
        raise PageError(f"a game without its fields ({type(error).__name__}: {error})") from None
    return RawGame(gid, "", NO_ANSWER, b"", variant, order_known=len(seats) == 2, seats=tuple(seats))


def has_record(game: RawGame) -> bool:
    """Whether a record came, also of an unfinished game or of another kind of game."""
    return not lacks(game)


def lacks(game: RawGame) -> str:
    """Describe the answer in place of a game's record; empty if the record came."""
    if game.status not in STATUS_GOOD:
        return f"status {game.status}" if game.status != NO_ANSWER else "no answer"
    try:
        check_record(game.body)
    except PageError as error:
        return str(error)
    return ""


def without_results(game: RawGame) -> RawGame:
    """A game as it was before its end."""
    return replace(game, seats=tuple(replace(seat, result="") for seat in game.seats))


def merge(old: RawGame, new: RawGame) -> RawGame:
    """``old`` with its record, completed by ``new``: variant, players, results, who moves first.

    A later result replaces an earlier one; the first name stays, so that a renamed player changes nothing.
    """
    seats: dict[int, Seat] = {}
    for seat in (*old.seats, *new.seats):
        before = seats.get(seat.plid, seat)
        seats[seat.plid] = Seat(seat.plid, before.name or seat.name, seat.result or before.result)
    ordered = next((game for game in (new, old) if game.order_known), None)
    plids = [seat.plid for seat in ordered.seats] if ordered else sorted(seats)
    return replace(
        old,
        variant=old.variant or new.variant,
        order_known=ordered is not None,
        seats=tuple(seats[plid] for plid in plids),
    )


# Match records to games, for a page with all records of a player but without their numbers.
#
# A record is matched to a line of the player's game list by opponent and number of plies, and only if that is certain:
# for an opponent against whom list and page have the same numbers of plies, each as often, and there only for a number
# that occurs once. All other games are fetched one by one.


class _Record(NamedTuple):
    body: bytes
    nodes: int
    moves: int  # Nodes without a resignation: it is unknown which of the two the list counts


async def match_records(listed: GameList, bodies: Sequence[bytes]) -> dict[int, bytes]:
    """Records by gid of a player's page of records, for the games on the player's list whose record is certain."""
    rows: dict[str, list[Row]] = defaultdict(list)
    for row in listed.rows:
        rows[_comparable(row.opponent)].append(row)
    records: dict[str, list[_Record]] = defaultdict(list)
    for number, body in enumerate(bodies):
        if number % RECORDS_AT_ONCE == 0:
            await asyncio.sleep(0)
        try:
            opponent, record = _read(body, _comparable(listed.name))
        except RecordError:
            continue
        records[opponent].append(record)
    matched: dict[int, bytes] = {}
    for opponent, of_list in rows.items():
        matched |= _match(of_list, records[opponent])
    return dict(sorted(matched.items()))


def _match(rows: list[Row], records: list[_Record]) -> dict[int, bytes]:
    """Match the games against one opponent; none while one is in progress, which may have grown since."""
    if any(not row.result for row in rows):
        return {}
    listed = Counter(row.plies for row in rows)
    for plies in ([record.nodes for record in records], [record.moves for record in records]):
        if Counter(plies) == listed:
            body = {count: record.body for count, record in zip(plies, records, strict=True)}
            return {row.gid: body[row.plies] for row in rows if listed[row.plies] == 1 and row.plies >= 0}
    return {}


def _read(body: bytes, player: str) -> tuple[str, _Record]:
    """The opponent of ``player`` in a record, with the record."""
    text = parse_text(body)
    names = [_comparable(text.header.get(key, "")) for key in ("PB", "PW")]
    if player not in names:
        raise RecordError("bad_text", f"{player} did not play it")
    resigned = bool(text.nodes) and text.nodes[-1].value.strip().lower() == "resign"
    return names[names.index(player) - 1], _Record(body, len(text.nodes), len(text.nodes) - resigned)


def _comparable(name: str) -> str:
    """A name as in a Latin-1 record: question marks for other characters, blanks normalised."""
    return " ".join(name.encode("latin-1", errors="replace").decode("latin-1").split())

"""Parsers for the site's list pages: bytes in, rows out, without network access.

Pages are read as UTF-8, else as Latin-1. A game on a list is a `RawGame` that was not fetched yet.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from parsel import Selector

from pipeline_src.records.littlegolem.text import decode, whole_text
from pipeline_src.records.raw import RawGame, Result, Seat
from pipeline_src.records.rejects import shown

NO_ANSWER = -1
MAX_ID = 10**18
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
    """Root element (lxml) of a page."""
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

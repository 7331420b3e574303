"""The site: its HTTP server, games and players as data, quirks, pages and paths."""

import contextlib
import hashlib
import json
import re
import socket
import socketserver
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from typing import Any, NamedTuple, TypeVar
from urllib.parse import parse_qs

from pipeline_src.records.crawl_params import QuirkParams
from pipeline_src.records.littlegolem.text import Node, only_text, parse_text
from pipeline_src.records.record import RecordError

IDLE_S = 60.0


class Answer(NamedTuple):
    """Answer for a path."""

    status: int
    content_type: str
    body: bytes
    headers: tuple[str, ...] = ()  # Further lines of the head, such as `Retry-After: 1`
    part: float = 1.0
    """Share of the body that is sent before the connection is closed; below 0 not even the head is sent."""
    sent: Callable[[], None] | None = None  # Callback after that part, before the connection is closed

    def head(self) -> bytes:
        """Return status line and headers, with the blank line after them."""
        lines = (
            f"HTTP/1.1 {self.status} {HTTPStatus(self.status).phrase}",
            f"Content-Type: {self.content_type}",
            f"Content-Length: {len(self.body)}",
            *self.headers,
        )
        return "\r\n".join(lines).encode("ascii") + b"\r\n\r\n"


class Server(socketserver.ThreadingTCPServer):
    """Serves ``answer(target)``, where ``target`` is the path with the query, e.g. ``/jsp/game/game.jsp?gid=7``.

    If it raises ConnectionError, the connection is closed without an answer.
    """

    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], answer: Callable[[str], Answer]) -> None:
        """Bind; port 0 picks a free one.

        Raises:
            OSError: the port is taken, or the host is not this machine's.
        """
        if ":" in address[0]:
            self.address_family = socket.AF_INET6
        self.answer = answer
        super().__init__(address, _Connection)

    @property
    def url(self) -> str:
        """Base URL under which the server answers."""
        name, port = str(self.server_address[0]), self.server_address[1]
        return f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"


class _Connection(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = IDLE_S

    def handle(self) -> None:
        with contextlib.suppress(ConnectionError, TimeoutError):
            super().handle()

    def do_GET(self) -> None:
        answer = self.server.answer(self.path)
        body = answer.body[: int(len(answer.body) * answer.part)] if answer.part < 1 else answer.body
        if answer.part >= 0:
            self.wfile.write(answer.head() + (b"" if self.command == "HEAD" else body))
        if answer.sent:
            answer.sent()
        if answer.part < 1:
            raise ConnectionResetError

    do_HEAD = do_GET  # noqa: N815

    def log_message(self, *_: object) -> None:
        """Log no request."""


RECORD_TYPE = "application/sgf;charset=ISO-8859-1"
TITLES = {"amzn": "Amazons", "go19": "Go", "gmk": "Gomoku", "connect6": "Connect6", "hex": "Hex", "twixt": "Twixt PP"}


@dataclass(frozen=True)
class Variant:
    """One variant: its id in addresses, and its words on pages."""

    id: str
    words: str


@dataclass(frozen=True)
class SiteGame:
    """One game of the site."""

    gid: int
    variant: Variant
    players: tuple[int, int]  # Plids in the order of moving
    points: tuple[int, int] | None  # 2 won, 1 draw, 0 lost; None for an unfinished game, or an unknown result
    running: bool
    plies: int  # Nodes of the record, a resignation among them; lists show it without reading the record
    answer: Callable[[], Answer]  # Makes the site's answer for the record

    @cached_property
    def record(self) -> Answer:
        """The site's answer for the record."""
        return self.answer()

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """Moves of the record; none without exactly one readable record."""
        try:
            return parse_text(only_text(self.record.body)).nodes
        except RecordError:
            return ()


class Site:
    """All games of one game type, with the indexes that pages need."""

    def __init__(self, gtid: str, games: Iterable[SiteGame], names: dict[int, str]) -> None:
        self.gtid = gtid
        self.title = TITLES.get(gtid, gtid)
        self.names = names  # By plid
        self.games = {game.gid: game for game in sorted(games, key=lambda game: game.gid)}
        self.by_player: dict[int, list[SiteGame]] = {plid: [] for plid in sorted(names)}
        for game in self.games.values():
            for plid in game.players:
                self.by_player[plid].append(game)

    def players_of(self, variant: str) -> list[int]:
        """Plids of those who played a variant, best rated first."""
        found = {plid for game in self.games.values() if game.variant.id == variant for plid in game.players}
        return sorted(found, key=lambda plid: (-rating(plid), plid))

    def finished(self, variant: str) -> list[SiteGame]:
        """Finished games of a variant, newest first."""
        games = (game for game in self.games.values() if game.variant.id == variant and not game.running)
        return sorted(games, key=lambda game: -game.gid)


def always(answer: Answer) -> Callable[[], Answer]:
    """Constructor for a game with a known record."""
    return lambda: answer


def plid_of(name: str) -> int:
    """Number for a player without one; from the name alone, so that it does not change as the archive grows."""
    return 10**9 + int.from_bytes(hashlib.sha256(name.encode()).digest()[:5], "big")


def rating(plid: int) -> float:
    """A player's rating; made up, but always the same."""
    return 1_200 + plid * 7_919 % 12_000 / 10


# Choose the games, players and pages with quirks: the same for the same archive and seed.

K = TypeVar("K", int, str)

NO_QUIRKS = QuirkParams(**dict.fromkeys(QuirkParams.model_fields, 0.0))
HTML = "text/html;charset=UTF-8"
ERROR_PAGE = b"<!DOCTYPE html><html><head><title>Error</title></head><body><h1>An error occurred</h1></body></html>"
BROKEN = Answer(500, HTML, ERROR_PAGE)

MISSING = (BROKEN, Answer(200, HTML, b""), Answer(404, HTML, ERROR_PAGE), Answer(200, HTML, ERROR_PAGE))
"""Answers for the record of a missing game."""

FOREIGN = (
    "(;FF[4]EV[hex.mc.2011.jan.1.4]PB[{0}]PW[{1}]SZ[11]GC[ game #{2}]SO[http://www.littlegolem.com]"
    ";W[ba];B[swap];W[fg];B[ed];W[hc];B[resign])",
    "(;FF[4]EV[null]PB[{0}]PW[{1}]SO[http://www.littlegolem.com];B[j10];W[k11k9];B[h9i12];W[i11l8])",
    '[Event "null"]\r\n[Site "http://www.littlegolem.com"]\r\n[White "{0}"]\r\n[Black "{1}"]\r\n[Result "1-0"]\r\n\r\n'
    "1. b2-b3 g7-g6 2. a2-a3 h7-h6 3. b3-b4 resign 1-0\r\n",
)
"""Records of other games: first and second player, gid."""

NAMES = (r"lazy\{}", "{};]", "Jürgen {}", "{} \N{BLACK STAR}", "Ã¥Â¦ {}", "[{}")
"""Patterns of players' names: records do not escape anything and hold only Latin-1."""


def fraction(seed: int, quirk: str, key: int | str) -> float:
    """A number in [0, 1) that depends only on the arguments."""
    digest = hashlib.sha256(f"{seed}:{quirk}:{key}".encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def choose(keys: Iterable[K], share: float, seed: int, quirk: str) -> list[K]:
    """The keys that have a quirk: ``share`` of them, rounded."""
    ordered = sorted(keys, key=lambda key: (fraction(seed, quirk, key), key))
    return ordered[: round(share * len(ordered))]


class Moods:
    """Wrap the answers of a site: some come late, some fail the first time, some always fail."""

    def __init__(self, answer: Callable[[str], Answer], quirks: QuirkParams, seed: int, broken: Sequence[str]) -> None:
        self._answer = answer
        self._quirks = quirks
        self._seed = seed
        self._broken = tuple(broken)
        self._asked: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._moody = bool(quirks.slow or quirks.failing or broken)

    def __call__(self, target: str) -> Answer:
        """The answer for a path with its query, with quirks."""
        if not self._moody or target == "/robots.txt":
            return self._answer(target)
        if self._broken and target.startswith(self._broken):
            return BROKEN
        if fraction(self._seed, "slow", target) < self._quirks.slow:
            time.sleep(self._quirks.slow_s)
        failing = fraction(self._seed, "failing", target)
        if failing < self._quirks.failing:
            with self._lock:
                self._asked[target] += 1
                first = self._asked[target] == 1
            if first:
                return Answer(503 if failing < self._quirks.failing / 2 else 500, HTML, ERROR_PAGE)
        return self._answer(target)


# The site's pages as far as a crawler reads them: lists in HTML, finished games in JSON.

PLAYERS_PER_PAGE = 50
_CELL = "bgcolor='#E9D101'"


def player_list(site: Site, variant: str, number: int) -> Answer:
    """Page ``number`` (from 1) of those who played a variant, best rated first; past the last page it is empty."""
    lines = ["<tr><th>Player</th><th>Country</th><th>Rating</th></tr>"]
    for plid in site.players_of(variant)[(number - 1) * PLAYERS_PER_PAGE : number * PLAYERS_PER_PAGE]:
        name = f'<a href="player.jsp?plid={plid}">{escape(site.names[plid])}</a>'
        lines.append(f"<tr><td>{name}</td><td>Nowhere</td><td>{_grade(plid)}</td></tr>")
    return _page("Player list", "", f"{site.title} players", lines)


def player_game_list(site: Site, gtid: str, plid: int) -> Answer:
    """All games of a player, newest first, unfinished ones without a result; none for another game type."""
    games, title = (site.by_player.get(plid, []), site.title) if gtid == site.gtid else ([], "")
    caption = f"List of games [{escape(site.names.get(plid, ''))}] [{title}]"
    lines = [_game_line(site, game, plid) for game in reversed(games)]
    return _page("List of games", "<h2>List of games</h2>", caption, lines)


def variant_games(site: Site, variant: str, offset: int, limit: int) -> dict[str, Any]:
    """Return finished games of a variant, newest first."""
    games = []
    for one in site.finished(variant)[offset : offset + limit]:
        players = [{"player": {"plid": plid, "real_name": site.names[plid]}} for plid in one.players]
        about = {"gid": one.gid, "variant": one.variant.id, "players": players, "status": 1}
        games.append(about | {"results": list(one.points or (0, 0))})
    return {"games": games}


def _game_line(site: Site, one: SiteGame, plid: int) -> str:
    seat = one.players.index(plid)
    opponent = one.players[1 - seat]
    result = "" if one.points is None else ("lost", "draw", "win")[one.points[seat]]
    variant = f" <span class='variant'>{one.variant.words}</span>" if one.variant.words else ""
    cells = (
        f"<td align='left' {_CELL}><b><a href='/jsp/game/game.jsp?gid={one.gid}'>#{one.gid}</a></b>&nbsp;</td>",
        f"<td {_CELL}>{escape(site.names[opponent])}&nbsp;</td>",
        f"<td align='middle' nowrap=''>&nbsp;{_grade(opponent)}&nbsp;</td>",
        f"<td align='left' {_CELL}>{site.title}{variant}&nbsp;</td>",
        f"<td align='right'>{one.plies}&nbsp;</td>",
        f"<td align=center>{result}&nbsp;</td>",
    )
    return f"<tr>{''.join(cells)}</tr>"


def _page(title: str, above: str, caption: str, lines: Iterable[str]) -> Answer:
    text = (
        f"<!DOCTYPE html>\r\n<html><head><title>{title}</title></head>\r\n<body>{above}"
        f"<div class='portlet'><div class='portlet-title'>{caption}</div>\r\n<div class='portlet-body'><table>"
    )
    return Answer(200, HTML, (text + "\r\n".join(lines) + "</table></div></div>\r\n</body></html>\r\n").encode())


def _grade(plid: int) -> str:
    grade = int(rating(plid) - 1_200) // 100
    words = f"{12 - grade}. kyu" if grade < 12 else f"{grade - 11}. dan"
    return f'<span title="{rating(plid):.1f}">{words}</span>'


# Paths of the site to their pages. The site does not change while it is served, so each page is made once.

API_PREFIX = "/api"  # The site has its JSON interface on a host of its own; here it is below this path
ROBOTS = b"User-agent: *\nDisallow: /jsp/login/\n"
NOT_FOUND = Answer(404, HTML, b"<!DOCTYPE html><html><body><h1>404 Not Found</h1></body></html>")
EMPTY = Answer(200, HTML, b"")

Query = dict[str, list[str]]


class Routes:
    """Answer requests of one site by target (path and query)."""

    def __init__(self, site: Site, double_json: float = 0.0, seed: int = 0) -> None:
        """``double_json`` of the API's answers are sent as the same object twice; ``seed`` picks them."""
        self._site = site
        self._double_json = double_json
        self._seed = seed
        self._made: dict[str, Answer] = {}
        self._routes: dict[str, Callable[..., Answer]] = {
            r"/servlet/sgf/(\d{1,18})/game\d*\.(?:txt|sgf|hsgf|tsgf)": self._record,
            r"/jsp/info/player_list\.jsp": self._player_list,
            r"/jsp/info/player_game_list\.jsp": self._player_game_list,
            r"/jsp/info/player_game_list_txt\.jsp": self._player_records,
            rf"{API_PREFIX}/games/variant/(\w+)/(\w+)": self._api_variant,
        }

    def __call__(self, target: str) -> Answer:
        """The answer for a path with its query."""
        if target not in self._made:
            self._made[target] = self._make(target)
        return self._made[target]

    def _make(self, target: str) -> Answer:
        path, _, query = target.partition("?")
        if path == "/robots.txt":
            return Answer(200, "text/plain", ROBOTS)
        for pattern, handler in self._routes.items():
            if match := re.fullmatch(pattern, path):
                return handler(parse_qs(query), *match.groups())
        return NOT_FOUND

    def _record(self, _query: Query, gid: str) -> Answer:
        game = self._site.games.get(int(gid))
        return game.record if game else BROKEN

    def _player_records(self, query: Query) -> Answer:
        if _text(query, "gtid") != self._site.gtid:
            return EMPTY
        games = self._site.by_player.get(_number(query, "plid"), [])
        records = [game.record.body for game in reversed(games) if game.nodes]
        return Answer(200, RECORD_TYPE, b"\r\n\r\n".join(records))

    def _player_list(self, query: Query) -> Answer:
        gtid, _, variant = _text(query, "gtvar").partition("_")
        known = variant if gtid == self._site.gtid else ""
        return player_list(self._site, known, _number(query, "page", 1))

    def _player_game_list(self, query: Query) -> Answer:
        return player_game_list(self._site, _text(query, "gtid"), _number(query, "plid"))

    def _api_variant(self, query: Query, gtid: str, variant: str) -> Answer:
        if gtid != self._site.gtid or _text(query, "state") != "finished":
            return Answer(404, HTML, b"")
        page = _number(query, "offset"), _number(query, "limit", 10)
        body = json.dumps(variant_games(self._site, variant, *page), ensure_ascii=False).encode()
        twice = fraction(self._seed, "double_json", f"variant {variant} {page}") < self._double_json
        return Answer(200, "application/json", body * 2 if twice else body)


def _text(query: Query, key: str) -> str:
    return query.get(key, [""])[0]


def _number(query: Query, key: str, default: int = 0) -> int:
    text = _text(query, key)
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else default

"""Paths of the site to their pages. The site does not change while it is served, so each page is made once."""

import json
import re
from collections.abc import Callable
from urllib.parse import parse_qs

from spiders.replica import pages
from spiders.replica.quirks import BROKEN, HTML, fraction
from spiders.replica.server import Answer
from spiders.replica.site import RECORD_TYPE, Site

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
        self._routes: list[tuple[re.Pattern[str], Callable[..., Answer]]] = [
            (re.compile(pattern), handler)
            for pattern, handler in (
                (r"/servlet/sgf/(\d{1,18})/game\d*\.(?:txt|sgf|hsgf|tsgf)", self._record),
                (r"/jsp/info/player_list\.jsp", self._player_list),
                (r"/jsp/info/player_game_list\.jsp", self._player_game_list),
                (r"/jsp/info/player_game_list_txt\.jsp", self._player_records),
                (rf"{API_PREFIX}/games/variant/(\w+)/(\w+)", self._api_variant),
            )
        ]

    def __call__(self, target: str) -> Answer:
        """The answer for a path with its query."""
        made = self._made.get(target)
        if made is None:
            made = self._made[target] = self._make(target)
        return made

    def _make(self, target: str) -> Answer:
        path, _, query = target.partition("?")
        if path == "/robots.txt":
            return Answer(200, "text/plain", ROBOTS)
        for pattern, handler in self._routes:
            if match := pattern.fullmatch(path):
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
        return _html(pages.player_list(self._site, known, _number(query, "page", 1)))

    def _player_game_list(self, query: Query) -> Answer:
        return _html(pages.player_game_list(self._site, _text(query, "gtid"), _number(query, "plid")))

    def _api_variant(self, query: Query, gtid: str, variant: str) -> Answer:
        if gtid != self._site.gtid or _text(query, "state") != "finished":
            return Answer(404, HTML, b"")
        page = _number(query, "offset"), _number(query, "limit", 10)
        body = json.dumps(pages.variant_games(self._site, variant, *page), ensure_ascii=False).encode()
        twice = fraction(self._seed, "double_json", f"variant {variant} {page}") < self._double_json
        return Answer(200, "application/json", body * 2 if twice else body)


def _html(text: str) -> Answer:
    return Answer(200, HTML, text.encode())


def _text(query: Query, key: str) -> str:
    return query.get(key, [""])[0]


def _number(query: Query, key: str, default: int = 0) -> int:
    text = _text(query, key)
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else default

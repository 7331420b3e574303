"""The replica's server for a `Site`: it notes every request, fails now and then, and can stop amid an answer."""

import hashlib
import threading
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial

from spiders.replica import site as server
from spiders.replica.site import BROKEN, HTML
from tests.rehearsal.site import Game

HOLD_S = 60.0
KINDS = {
    "/robots.txt": "robots.txt",
    "/jsp/info/player_list.jsp": "player list",
    "/jsp/info/player_game_list.jsp": "list of games",
    "/jsp/info/player_game_list_txt.jsp": "page of records",
    "/servlet/sgf": "record",
    "/api/games": "API",
}
"""Kind of a page by the beginning of its path."""
MOODS = {
    "503": BROKEN._replace(status=503, headers=("Retry-After: 1",)),
    "500": BROKEN,
    "nothing": server.Answer(200, HTML, b""),
    "page": server.Answer(200, HTML, b"<html><body>just a moment</body></html>"),
    "closed": None,
}
"""Answers in place of a page; the connection is closed for None. The third and the fourth come for records alone."""

RIGHT = {
    "relative": (301, "{name}{more}"),
    "absolute": (302, "http://{host}{path}{more}"),
    "no scheme": (307, "//{host}{path}{more}"),
    "www": (308, "http://www.{host}{path}{more}"),
    "session": (302, "{path};jsessionid=0A1B{query}"),
    "chain": (303, "{path}{more}"),
    "itself": (302, "{path}{query}"),
}
"""Status and address of a redirect to the same page, which comes there; after three redirects by a chain."""
WRONG = {
    "login": (302, "/jsp/login/index.jsp?then={path}"),
    "forbidden": (302, "{path}{more}&forbidden"),
    "loop": (301, "{path}{query}"),
    "other host": (302, "http://elsewhere.example{path}{query}"),
    "other page": (301, "{path}/../../1/game1.txt"),
    "endless": (303, "{path}{more}"),
    "no address": (302, None),
    "bad address": (307, "http://["),
    "no TLS": (308, "https://{host}{path}{more}"),
}
"""The same for those by which the page does not come."""
FORBIDDEN = b"Disallow: /*&forbidden\n"


@dataclass
class Asked:
    """A request and what was sent."""

    at: float
    kind: str
    target: str
    status: int
    """0: the connection was closed before a whole answer."""
    sent: int
    """Bytes of the body."""
    games: list[Game] = field(default_factory=list)
    """Valid games that are over and whose record was sent."""


@dataclass
class Trap:
    """Waits for a request, lets part of its answer pass, and holds the rest until it is released."""

    kind: str
    part: float
    """Share of the body that is sent at once; below 0 nothing, not even a header."""
    after: int = 0
    """Requests of the kind that pass before."""
    sprung: threading.Event = field(default_factory=threading.Event)
    release: threading.Event = field(default_factory=threading.Event)


class Server(server.Server):
    """Serves a site on loopback."""

    def __init__(self, site, port=0, failing=0.0, moved=0.0, host=""):
        """``moved`` of the pages are redirected by a server named ``host``, half of them wrongly."""
        super().__init__(("127.0.0.1", port), self.reply)
        self.site = site
        self.port = self.server_address[1]
        self.failing = failing
        self.moved = moved
        self.host = f"{host}:{self.port}"
        self.mended = False
        """Whether there are no wrong redirects any more."""
        self.asked = []
        self.times = Counter()
        self.trap = None
        self.lock = threading.Lock()
        self.watched = None
        """Called with each `Asked`."""
        self.dropped = False

    def drop(self):
        """Take no connection any more, and answer on none."""
        self.dropped = True
        self.shutdown()
        self.socket.close()

    def mood(self, target, kind):
        """Return what goes wrong the first time that a page is asked for, if anything."""
        number = int(hashlib.sha256(target.encode()).hexdigest()[:8], 16) / 2**32
        if kind == "robots.txt" or self.times[target] > 1 or number >= self.failing:
            return ""
        return list(MOODS)[int(number / self.failing * len(MOODS))]

    def way_of(self, target):
        """Name how a page is redirected, in `RIGHT` or `WRONG`; empty if it is not."""
        number = int(hashlib.sha256(f"moved {target}".encode()).hexdigest()[:8], 16) / 2**32
        if number >= self.moved or target.startswith(("/robots.txt", "/api")):
            return ""
        group = RIGHT if number < self.moved / 2 else () if self.mended else WRONG
        return list(group)[int(2 * number / self.moved % 1 * len(group))] if group else ""

    def redirect(self, target):
        """Return the redirect in place of a page, or the page's own target."""
        asked, _, hops = target.replace(";jsessionid=0A1B", "").replace("&forbidden", "").partition("hop=")
        own, hops = asked.rstrip("?&"), int(hops or (";" in target))
        way = self.way_of(own)
        once = way in RIGHT and hops >= (3 if way == "chain" else 1)
        if not way or once or (way == "itself" and self.times[target] > 1):
            return own
        status, to = (RIGHT | WRONG)[way]
        path, _, query = own.partition("?")
        words = {
            "path": path,
            "name": path.rpartition("/")[2],
            "query": query and f"?{query}",
            "more": f"?{query}{query and '&'}hop={hops + 1}",
            "host": self.host,
        }
        headers = () if to is None else (f"Location: {to.format(**words)}",)
        return server.Answer(status, HTML, b"<html><body>moved</body></html>", headers)

    def reply(self, target):
        """Return the answer for a target."""
        if self.dropped:
            raise ConnectionResetError
        with self.lock:
            at = time.monotonic()
            kind = next((kind for path, kind in KINDS.items() if target.partition("?")[0].startswith(path)), "else")
            self.times[target] += 1
            answer = self.redirect(target)
            if isinstance(answer, str):
                answer = self.site.answer(answer)
            if kind == "robots.txt":
                answer = answer._replace(body=answer.body + FORBIDDEN)
            mood = self.mood(target, kind)
            if mood and (mood not in ("nothing", "page") or kind in ("record", "page of records")):
                answer = MOODS[mood]
            asked = Asked(at, kind, target, answer.status if answer else 0, len(answer.body) if answer else 0)
            self.asked.append(asked)
            trap = self._trap(kind) if answer else None
        if answer is None:
            raise ConnectionResetError
        if kind in ("record", "page of records") and answer.status == 200:
            asked.games = self.site.games_in(answer.body)
        if self.watched:
            self.watched(asked)
        return answer._replace(part=trap.part, sent=partial(self._hold, trap, asked)) if trap else answer

    def _trap(self, kind):
        trap = self.trap
        if not trap or trap.kind != kind:
            return None
        trap.after -= 1
        if trap.after >= 0:
            return None
        self.trap = None
        return trap

    def _hold(self, trap, asked):
        if trap.part < 1:
            asked.games, asked.status = [], 0
        trap.sprung.set()
        if trap.part < 1:
            trap.release.wait(HOLD_S)


@contextmanager
def serving(site, **options):
    """Run a server in threads of this process during the block."""
    with Server(site, **options) as running:
        threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        try:
            yield running
        finally:
            if running.trap:
                running.trap.release.set()
            if not running.dropped:
                running.shutdown()

"""A server for a `Site`: it notes every request, fails now and then, and can stop in the middle of an answer."""

import hashlib
import threading
import time
from collections import Counter
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HOLD_S = 60.0


@dataclass
class Asked:
    """One request and what was sent."""

    at: float
    kind: str
    target: str
    status: int
    """0: the connection was closed without an answer."""
    sent: int
    """Bytes of the body."""
    games: list = field(default_factory=list)
    """Games that are over whose record was sent as it is."""


@dataclass
class Trap:
    """Lies in wait for a request, lets part of its answer pass, and says so."""

    kind: str
    part: float
    """Of the answer to send at once; below 0 nothing, not even a header."""
    after: int = 0
    """Requests of the kind to let pass before."""
    sprung: threading.Event = field(default_factory=threading.Event)
    release: threading.Event = field(default_factory=threading.Event)


class Server(ThreadingHTTPServer):
    """Serves a site on loopback."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, site, port=0, failing=0.0):
        super().__init__(("127.0.0.1", port), Handler)
        self.site = site
        self.port = self.server_address[1]
        self.failing = failing
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
        """What goes wrong the first time that a page is asked for, if anything."""
        number = int(hashlib.sha256(target.encode()).hexdigest()[:8], 16) / 2**32
        if kind == "robots.txt" or self.times[target] > 1 or number >= self.failing:
            return ""
        return ("500", "503", "closed", "nothing", "page")[int(number / self.failing * 5)]

    def handle_error(self, request, client_address):
        """A crawler that is killed closes its connection; that is no error."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        server = self.server
        if server.dropped:
            self.close_connection = True
            return
        with server.lock:
            at = time.monotonic()
            kind, status, body, games = server.site.answer(self.path)
            server.times[self.path] += 1
            mood = server.mood(self.path, kind)
            asked = Asked(at, kind, self.path, status, len(body))
            server.asked.append(asked)
            trap = self._trap(kind)
        headers = {}
        if mood in ("500", "503"):
            status, body = int(mood), b"<html><h1>An error occurred</h1></html>"
            headers = {"Retry-After": "1"} if mood == "503" else {}
        elif mood == "closed":
            asked.status = 0
            self.close_connection = True
            return
        elif mood and kind in ("record", "page of records"):
            body = b"" if mood == "nothing" else b"<html><body>just a moment</body></html>"
        elif status == 200:
            asked.games = [game for game in games if game.ending != "running" and not game.bad]
        asked.status, asked.sent = status, len(body)
        if server.watched:
            server.watched(asked)
        with suppress(OSError):
            if trap and trap.part < 0:
                self._wait(trap, asked)
                return
            self._send(status, body, headers, trap, asked)

    def _trap(self, kind):
        trap = self.server.trap
        if not trap or trap.kind != kind:
            return None
        trap.after -= 1
        if trap.after >= 0:
            return None
        self.server.trap = None
        return trap

    def _send(self, status, body, headers, trap, asked):
        self.send_response(status)
        self.send_header("Content-Type", "text/html;charset=UTF-8")
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        part = len(body) if trap is None else int(len(body) * trap.part)
        self.wfile.write(body[:part])
        self.wfile.flush()
        if trap:
            if part < len(body):
                self._wait(trap, asked)
            else:
                trap.sprung.set()

    def _wait(self, trap, asked):
        asked.games = []
        asked.status = 0
        trap.sprung.set()
        trap.release.wait(HOLD_S)
        self.close_connection = True

    def log_message(self, *_):
        pass


@contextmanager
def serving(site, **options):
    """A server in threads of this process."""
    with Server(site, **options) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        try:
            yield server
        finally:
            if server.trap:
                server.trap.release.set()
            if not server.dropped:
                server.shutdown()

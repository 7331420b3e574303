"""A small, quick HTTP/1.1 server: GET and HEAD, keep-alive, one thread a connection.

The standard library's handler reads headers with the parser for mail, which costs more than everything else; this one
reads only the headers that it needs.
"""

import contextlib
import socket
import socketserver
from collections.abc import Callable
from http import HTTPStatus
from typing import NamedTuple

IDLE_S = 60.0
LONGEST_LINE = 16_384
MOST_HEADERS = 200


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
        host, port = self.server_address[:2]
        name = str(host)
        return f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"


class _Connection(socketserver.StreamRequestHandler):
    server: Server
    disable_nagle_algorithm = True
    timeout = IDLE_S
    rbufsize = 65_536

    def handle(self) -> None:
        with contextlib.suppress(ConnectionError, TimeoutError):
            while self._one_request():
                pass

    def _one_request(self) -> bool:
        """Answer one request; return whether to wait for another."""
        parts = self.rfile.readline(LONGEST_LINE).split()
        if not parts:
            return False
        if len(parts) != 3 or not parts[2].startswith(b"HTTP/1."):
            self._send(Answer(400, "text/plain", b"bad request\n"))
            return False
        method, target, version = parts
        keep = version != b"HTTP/1.0"
        for _ in range(MOST_HEADERS):
            line = self.rfile.readline(LONGEST_LINE)
            if line in (b"\r\n", b"\n", b""):
                break
            name, _, value = line.partition(b":")
            if name.lower() == b"connection":
                keep = value.strip().lower() != b"close" and (keep or value.strip().lower() == b"keep-alive")
        if method not in (b"GET", b"HEAD"):
            self._send(Answer(405, "text/plain", b"only GET and HEAD\n"))
            return False
        self._send(self.server.answer(target.decode("latin-1")), with_body=method == b"GET")
        return keep

    def _send(self, answer: Answer, *, with_body: bool = True) -> None:
        body = answer.body[: int(len(answer.body) * answer.part)] if answer.part < 1 else answer.body
        if answer.part >= 0:
            self.request.sendall(answer.head() + body if with_body else answer.head())
        if answer.sent:
            answer.sent()
        if answer.part < 1:
            raise ConnectionResetError

"""`Guard`: only pages of this server may send requests to it, and they load nothing from other hosts.

A browser sends requests to loopback for any page of the web. Three headers reveal such a page: ``Host`` is the page's
own domain if DNS points it to this machine (rebinding), ``Origin`` is the origin of a script, and ``Sec-Fetch-Site``
shows another site even without an origin. Programs other than browsers do not send the last two.
"""

import ipaddress
import json
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from fastapi import WebSocket

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Asgi = Callable[[Scope, Receive, Send], Awaitable[None]]

MOST_BODY = 8 << 20  # Largest number of bytes of a request's body
READS = ("GET", "HEAD")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-cache"),
)


class Guard:
    """ASGI middleware that refuses requests of other sites and large bodies."""

    def __init__(self, app: Asgi, host: str, most_body: int = MOST_BODY) -> None:
        """Guard an application; ``host`` is the address at which the server listens."""
        self.app, self._host, self._most_body = app, host.strip("[]").lower(), most_body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        why = self.refusal(scope["type"], scope.get("method", "GET"), headers)
        if scope["type"] == "websocket":
            if why:
                await send({"type": "websocket.close", "code": 1008, "reason": why})
            else:
                await self.app(scope, receive, send)
        elif why:
            await _refuse(send, 403, why)
        elif _length(headers) > self._most_body:
            await _refuse(send, 413, self._too_large())
        else:
            await self._pass_on(scope, receive, send)

    def refusal(self, kind: str, method: str, headers: MutableMapping[str, str]) -> str:
        """Return the reason why a request is refused; empty if it is allowed.

        Args:
            kind: http or websocket.
            method: of an HTTP request.
            headers: by name in lower case.
        """
        host, origin = headers.get("host", ""), headers.get("origin")
        if not self._is_own(_name(host)):
            return f"this server does not answer to the name {host[:100]!r}; open it as http://{self._host}"
        if origin is not None and origin.lower() not in (f"http://{host.lower()}", f"https://{host.lower()}"):
            return f"a page of {origin[:100]!r} may not use this server"
        site, mode = headers.get("sec-fetch-site", "none"), headers.get("sec-fetch-mode", "")
        is_link = kind == "http" and method in READS and mode == "navigate"
        if site not in ("same-origin", "none") and not is_link:
            return "a page of another site may not use this server"
        return ""

    def _is_own(self, name: str) -> bool:
        """Whether a name belongs to this server. An IP address cannot be a rebound name."""
        if name in ("localhost", self._host):
            return True
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return False
        return address.is_loopback or not _is_loopback(self._host)

    def _too_large(self) -> str:
        return f"the request is larger than {self._most_body >> 20} MiB"

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on and add the common headers to the answer, unless the body exceeds its limit."""
        taken, begun, refused = 0, False, False

        async def counted() -> Message:
            nonlocal taken, refused
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > self._most_body:
                refused = True
                return {"type": "http.disconnect"}
            return message

        async def answer(message: Message) -> None:
            nonlocal begun
            if refused:
                return
            if message["type"] == "http.response.start":
                begun = True
                given = {name for name, _ in message["headers"]}
                message["headers"] = [*message["headers"], *(h for h in HEADERS if h[0] not in given)]
            await send(message)

        try:
            await self.app(scope, counted, answer)
        finally:
            if refused and not begun:
                await _refuse(send, 413, self._too_large())


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _name(host: str) -> str:
    """Return ``Host`` without its port."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.partition(":")[0].lower()


def _length(headers: MutableMapping[str, str]) -> int:
    text = headers.get("content-length", "0")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else 0


async def _refuse(send: Send, status: int, why: str) -> None:
    body = json.dumps({"error": why}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()), *HEADERS]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


# Messages of a page on its WebSocket: `text`, the next one, and `Rate`, how many it may send.


BURST, A_SECOND = 40, 20  # Largest number of messages that a tab may send at once, and per second on average
FLOOD = 4008  # Code that closes the WebSocket of a page that sends more


async def text(socket: WebSocket) -> str:
    """The next message; empty of one of bytes, which no page sends.

    Raises:
        WebSocketDisconnect: the page is gone.
        RuntimeError: the socket was closed from here.
    """
    try:
        return await socket.receive_text() or ""
    except KeyError:  # Starlette takes it for granted that there is text
        return ""


class Rate:
    """Rate limit of a tab: `BURST` messages at once, `A_SECOND` per second on average."""

    def __init__(self) -> None:
        self._left, self._at = float(BURST), time.monotonic()

    def allows_one(self) -> bool:
        """Whether another message is allowed."""
        now = time.monotonic()
        self._left = min(BURST, self._left + A_SECOND * (now - self._at)) - 1
        self._at = now
        return self._left >= 0

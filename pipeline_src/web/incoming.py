"""Messages of a page on its WebSocket: `text`, the next one, and `Rate`, how many it may send."""

import time

from fastapi import WebSocket

BURST, A_SECOND = 40, 20
"""Largest number of messages that a tab may send at once, and per second on average."""
FLOOD = 4008
"""Code that closes the WebSocket of a page that sends more."""


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

"""`text`: the next message of a page on its WebSocket."""

from fastapi import WebSocket


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

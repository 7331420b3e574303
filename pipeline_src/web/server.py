"""`serve` runs the server until it is interrupted."""

import asyncio
import contextlib
import logging
import socket
import threading
import webbrowser

import uvicorn

from pipeline_src.errors import ZugwerkError
from pipeline_src.web.settings import Settings

MOST_MESSAGE, MOST_WAITING = 1 << 16, 32
"""Largest number of bytes of a WebSocket message, and of received messages before the sender has to wait."""
LAST_ANSWERS_S = 2  # Seconds that open connections have when the server ends


def serve(settings: Settings, browser: bool) -> None:
    """Serve until Ctrl-C or SIGTERM; print the address, and perhaps open it (`ZugwerkError`: see `listening`)."""
    with listening(settings.host, settings.port) as listener:
        host, port = listener.getsockname()[:2]
        shown = f"[{host}]" if ":" in host else host
        address = f"http://{'127.0.0.1' if host in ('0.0.0.0', '::') else shown}:{port}/"  # noqa: S104 - compared, not bound
        logging.getLogger("uvicorn.error").addFilter(_matters)
        print(f"ready: {address} in the browser; Ctrl-C ends it", flush=True)  # noqa: T201
        if browser:
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
        with contextlib.suppress(KeyboardInterrupt):
            from pipeline_src.web.app import Guard, create_app  # a second, in which the browser opens

            config = uvicorn.Config(
                Guard(create_app(settings), settings.host),
                log_level="warning",
                access_log=False,
                ws="websockets-sansio",
                ws_max_size=MOST_MESSAGE,
                ws_max_queue=MOST_WAITING,
                timeout_graceful_shutdown=LAST_ANSWERS_S,
                server_header=False,
            )
            uvicorn.Server(config).run(sockets=[listener])


def _matters(record: logging.LogRecord) -> bool:
    """Whether a log record is printed. Answers that Ctrl-C cut off are not."""
    cut = record.exc_info is not None and isinstance(record.exc_info[1], asyncio.CancelledError)
    return not cut and not record.getMessage().startswith("Cancel ")


def listening(host: str, port: int) -> socket.socket:
    """Return a socket at which browsers can wait (`ZugwerkError`: an unknown host, or a port in use or not allowed)."""
    try:
        family, kind, protocol, _, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(where)
            listener.listen(128)
        except OSError:
            listener.close()
            raise
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ZugwerkError(f"cannot listen at {host}, port {port}: {reason}; give others with --port, --host") from None
    return listener

"""A session on two byte streams, such as stdin and stdout."""

import threading
from typing import BinaryIO

from pipeline_src.arena.uci.session import Session

LONGEST = 1 << 16
"""Bytes of a line; a game of a hundred moves takes a thousand."""
LAST_ANSWER_S = 10.0


def serve(game: str, player: str, source: BinaryIO, sink: BinaryIO) -> None:
    """Answer the lines of ``source`` until ``quit`` or its end.

    At the end of the input a running search is stopped and still answers; ``quit`` waits for nothing. The thread of
    a search may still run when this returns: the process is to end.
    """
    lock = threading.Lock()

    def write(line: str) -> None:
        with lock:
            sink.write(line.encode() + b"\n")
            sink.flush()

    session = Session(game, player, write)
    while line := source.readline(LONGEST):
        if len(line) == LONGEST and not line.endswith(b"\n"):
            while line and not line.endswith(b"\n"):
                line = source.readline(LONGEST)
            write("info string line too long")
        elif not session.handle(line.decode("utf-8", "replace")):
            return
    session.finish(LAST_ANSWER_S)

"""A conversation on two byte streams, such as stdin and stdout: lines in, lines out, each answer flushed."""

import threading
from collections.abc import Callable
from typing import BinaryIO, Protocol

LONGEST = 1 << 16
"""Bytes of a line; a game of a hundred moves takes a thousand."""
LAST_ANSWER_S = 10.0
Write = Callable[[str], None]


class Conversation(Protocol):
    """One side of it."""

    def handle(self, line: str) -> bool:
        """Act on one line; False once the conversation is over."""

    def finish(self, seconds: float) -> None:
        """Stop what is searched and wait so long at most for the answers."""


def nobody() -> None:
    """Do nothing."""


def converse(
    begin: Callable[[Write], Conversation],
    source: BinaryIO,
    sink: BinaryIO,
    complaint: str,
    deaf: Callable[[], None] = nobody,
) -> None:
    """Answer the lines of ``source`` until the conversation or the input is over.

    At the end of the input a running search is stopped and still answers. The thread of a search may still run when
    this returns: the process is to end.

    Args:
        begin: makes the conversation from what writes a line; it may be called from any thread.
        source: where lines come from.
        sink: where answers go.
        complaint: the answer to a line that is too long.
        deaf: called where nobody reads the answers any more; from any thread, whose write then fails.
    """
    lock = threading.Lock()

    def write(line: str) -> None:
        with lock:
            try:
                sink.write(line.encode() + b"\n")
                sink.flush()
            except OSError:
                deaf()
                raise

    conversation = begin(write)
    while line := source.readline(LONGEST):
        if len(line) == LONGEST and not line.endswith(b"\n"):
            while line and not line.endswith(b"\n"):
                line = source.readline(LONGEST)
            write(complaint)
        elif not conversation.handle(line.decode("utf-8", "replace")):
            return
    conversation.finish(LAST_ANSWER_S)

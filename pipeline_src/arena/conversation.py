"""A conversation on two byte streams, such as stdin and stdout: lines in, lines out, with each answer flushed."""

import threading
from collections.abc import Callable
from typing import BinaryIO, Protocol

LONGEST = 1 << 16
"""Longest line in bytes; a game of a hundred moves takes a thousand."""
LAST_ANSWER_S = 10.0
Write = Callable[[str], None]


class Conversation(Protocol):
    """The side that answers."""

    def handle(self, line: str) -> bool:
        """Handle one line; return False once the conversation is over."""

    def finish(self, seconds: float) -> None:
        """Stop the searches and wait ``seconds`` at most for their answers."""


def nobody() -> None:
    """Do nothing."""


def converse(
    begin: Callable[[Write], Conversation],
    source: BinaryIO,
    sink: BinaryIO,
    complaint: str,
    deaf: Callable[[], None] = nobody,
) -> None:
    """Answer the lines of ``source`` until the conversation or the input ends.

    At the end of the input, a running search is stopped and still answers. The thread of a search may still run when
    this function returns, so the process should end.

    Args:
        begin: makes the conversation from a function that writes a line, which may be called from any thread.
        source: input stream.
        sink: output stream.
        complaint: answer to a line that is too long.
        deaf: called, from any thread, when the reader of the answers is gone; the write then fails.
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
        elif not conversation.handle(line.decode("utf-8-sig", "replace")):
            return
    conversation.finish(LAST_ANSWER_S)

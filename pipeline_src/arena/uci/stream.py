"""A session on two byte streams, such as stdin and stdout."""

from typing import BinaryIO

from pipeline_src.arena.stream import converse
from pipeline_src.arena.uci.session import Session


def serve(game: str, player: str, source: BinaryIO, sink: BinaryIO) -> None:
    """Answer the lines of ``source`` until ``quit`` or its end; see `converse`. ``quit`` waits for nothing."""
    converse(lambda write: Session(game, player, write), source, sink, "info string line too long")

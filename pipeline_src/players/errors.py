"""Errors of players: one for which a game is lost, `PlayerError`, and a game that is not played, `RefusalError`."""

from typing import Literal

from pipeline_src.errors import ZugwerkError

ErrorKind = Literal["illegal", "time", "hang", "crash", "exit"]
"""An illegal move, or what is none; too late; no answer at all; a program that crashed; one that left with status 0."""


class RefusalError(ZugwerkError):
    """Another program does not play on this board or by this rule. No game is lost by it: there is none to play."""


class PlayerError(ZugwerkError):
    """A player gave no legal move in time. An arena turns it into a forfeit of the game and goes on."""

    def __init__(self, kind: ErrorKind, text: str) -> None:
        super().__init__(text)
        self.kind = kind

    def __reduce__(self) -> tuple[type["PlayerError"], tuple[ErrorKind, str]]:
        return PlayerError, (self.kind, str(self))

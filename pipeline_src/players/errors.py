"""Errors of players: `PlayerError` forfeits a game, `RefusalError` means that no game is played."""

from typing import Literal

from pipeline_src.errors import ZugwerkError

ErrorKind = Literal["illegal", "time", "hang", "crash", "exit"]
"""``illegal``: an illegal move or none. ``time``: too late. ``hang``: no answer at all. ``crash``: the engine crashed.
``exit``: the engine left with status 0."""


class RefusalError(ZugwerkError):
    """Another program refuses this board or rule. No game is played, so none is lost."""


class PlayerError(ZugwerkError):
    """A player gave no legal move in time. The arena turns this into a forfeit of the game and goes on."""

    def __init__(self, kind: ErrorKind, text: str) -> None:
        super().__init__(text)
        self.kind = kind

    def __reduce__(self) -> tuple[type["PlayerError"], tuple[ErrorKind, str]]:
        return PlayerError, (self.kind, str(self))

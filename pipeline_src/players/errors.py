"""Errors of players: `PlayerError` forfeits a game, `RefusalError` means that no game is played."""

from typing import Literal

from pipeline_src.errors import ZugwerkError

ErrorKind = Literal["illegal", "time", "crash"]
"""``illegal``: an illegal move or none. ``time``: too late. ``crash``: the engine ended, hung or wrote no answer."""


class RefusalError(ZugwerkError):
    """Another program refuses this board or rule. No game is played, so none is lost."""


class PlayerError(ZugwerkError):
    """A player gave no legal move in time. The arena turns this into a forfeit of the game and goes on."""

    def __init__(self, kind: ErrorKind, text: str) -> None:
        super().__init__(text)
        self.kind = kind

    def __reduce__(self) -> tuple[type["PlayerError"], tuple[ErrorKind, str]]:
        return PlayerError, (self.kind, str(self))

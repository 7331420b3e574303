"""Errors of players: `PlayerError` forfeits a game, `RefusalError` ends a match before its first game."""

from typing import Literal

from pipeline_src.errors import ZugwerkError

ErrorKind = Literal["illegal", "time", "hang", "crash", "exit"]
"""``illegal``: an illegal move or none. ``time``: too late. ``hang``: no answer at all. ``crash``: the engine crashed.
``exit``: the engine left with status 0."""


class PlayerError(ZugwerkError):
    """A player gave no legal move in time. The arena turns this into a forfeit of the game and continues."""

    def __init__(self, kind: ErrorKind, text: str) -> None:
        super().__init__(text)
        self.kind = kind

    def __reduce__(self) -> tuple[type["PlayerError"], tuple[ErrorKind, str]]:
        return PlayerError, (self.kind, str(self))


class RefusalError(PlayerError):
    """Another program refuses a board or a rule.

    Before a match (`Player.check`) no game is played, so none is lost. A program that refuses the same board later
    forfeits that game.
    """

    def __init__(self, text: str) -> None:
        super().__init__("illegal", text)

    def __reduce__(self) -> tuple[type["RefusalError"], tuple[str]]:  # type: ignore[override] # one argument
        return RefusalError, (str(self),)

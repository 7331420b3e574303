"""The interface of a game, `Game`, and `get_game`, which turns the name of a game into its module.

A game is a module. Its functions take a state as a value and do not change it; those that follow from its kernels are
the same for all games (`pipeline_src.games.rules`). Fast searches do not go through here: they call kernels that
dispatch on the type of the state (`pipeline_src.games.kernels`).
"""

import importlib
import pkgutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast

from pipeline_src.errors import ZugwerkError

if TYPE_CHECKING:  # names of games are asked for where nothing is played
    import numpy as np
    import numpy.typing as npt

_NO_GAMES = ("game", "kernels", "rules", "stones")
GAMES = tuple(sorted({found.name for found in pkgutil.iter_modules([str(Path(__file__).parent)])} - {*_NO_GAMES}))
"""Names of the games: every other file or folder next to this file is one."""


class Game(Protocol):
    """The functions of a game's module. The side that moves first is ``first`` as a winner and 0 as ``to_play``."""

    NAME: str
    VERSION: int
    SIZES: tuple[int, ...]
    VARIANTS: tuple[str, ...]

    def initial_state(self, size: int = ..., variant: str = ...) -> Any:
        """Return the start position. A size or variant that the game does not have raises ZugwerkError."""

    def to_play(self, state: Any) -> int:
        """Return the side to move: 0 (first) or 1 (second)."""

    def legal_actions(self, state: Any) -> "npt.NDArray[np.int32]":
        """Return all legal action ids, int32 [A], in an order that depends on the position alone."""

    def is_legal(self, state: Any, action: int) -> bool:
        """Whether an action is legal. Any int is accepted."""

    def play(self, state: Any, action: int) -> Any:
        """Return the state after a legal action."""

    def winner(self, state: Any) -> Literal["first", "second", "draw"] | None:
        """Return the result of a finished game: ``first``, ``second`` or ``draw``; None for an unfinished game."""

    def from_fen(self, fen: str) -> Any:
        """Read a position text. A malformed one raises ZugwerkError."""

    def to_fen(self, state: Any) -> str:
        """Return the position text of a state."""

    def parse_move(self, text: str, height: int, width: int) -> int:
        """Return the action id of a move's text. A malformed one raises ZugwerkError."""

    def format_move(self, action: int, height: int, width: int) -> str:
        """Return the text of an action id."""

    def perft(self, state: Any, depth: int) -> int:
        """Count the sequences of ``depth`` legal actions."""

    def divide(self, state: Any, depth: int) -> dict[int, int]:
        """Return, for each legal action, the perft of ``depth - 1`` after it."""


def get_game(name: str) -> Game:
    """Return the module of a game. Only this game is imported.

    >>> get_game("amazons").SIZES
    (10, 8, 6)

    Raises:
        ZugwerkError: no game has this name; the message lists the games.
    """
    if name not in GAMES:
        raise ZugwerkError(f"no game called {name!r}; there are: {', '.join(GAMES)}")
    return cast(Game, importlib.import_module(f"pipeline_src.games.{name}"))

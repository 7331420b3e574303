"""What every game offers, and `get_game`, the one place where a game's name becomes its module.

A game is a module: its functions take a state as a value and leave it as it was. Searches that must be fast do not go
through here; they call kernels that dispatch on the type of the state.
"""

import importlib
import pkgutil
from pathlib import Path
from typing import Any, Literal, Protocol, cast

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError

GAMES = tuple(sorted(found.name for found in pkgutil.iter_modules([str(Path(__file__).parent)]) if found.ispkg))
"""Every folder beside this file is a game."""


class Game(Protocol):
    """The functions of a game's module. ``first`` is the side that moves first, 0 as ``to_play``."""

    NAME: str
    VERSION: int
    SIZES: tuple[int, ...]
    VARIANTS: tuple[str, ...]

    def initial_state(self, size: int = ..., variant: str = ...) -> Any:
        """The start position; ZugwerkError for a size or variant that the game does not have."""

    def to_play(self, state: Any) -> int:
        """Side to move, 0 (first) or 1 (second)."""

    def legal_actions(self, state: Any) -> npt.NDArray[np.int32]:
        """All legal action ids, int32 [A], in an order that depends on the position alone."""

    def is_legal(self, state: Any, action: int) -> bool:
        """Whether an action is legal; any int may be asked."""

    def play(self, state: Any, action: int) -> Any:
        """The state after a legal action."""

    def winner(self, state: Any) -> Literal["first", "second", "draw"] | None:
        """The result of a finished game, None while it goes on."""

    def from_fen(self, fen: str) -> Any:
        """Read a position text; ZugwerkError says what is wrong with it."""

    def to_fen(self, state: Any) -> str:
        """Position text of a state."""

    def parse_move(self, text: str, height: int, width: int) -> int:
        """Action id of a move's text; ZugwerkError if it is not one."""

    def format_move(self, action: int, height: int, width: int) -> str:
        """Text of an action id."""

    def perft(self, state: Any, depth: int) -> int:
        """Number of sequences of ``depth`` legal actions."""

    def divide(self, state: Any, depth: int) -> dict[int, int]:
        """Perft of ``depth - 1`` behind each legal action, by action."""


def get_game(name: str) -> Game:
    """The module of the game called ``name``; only this game is imported.

    Raises:
        ZugwerkError: there is no such game.
    """
    if name not in GAMES:
        raise ZugwerkError(f"no game called {name!r}; there are: {', '.join(GAMES)}")
    return cast(Game, importlib.import_module(f"pipeline_src.games.{name}"))

"""Moves in UCI: the squares of a move without separators, ``d1d7g7`` for ``d1-d7/g7``."""

import re
from typing import Any

from pipeline_src.games.game import Game

_SIGNS = re.compile(r"[-/()]")
_COMMA = re.compile(r"([a-z]\d+)([a-z]\d+),(?:\2)?([a-z]\d+)")
"""``d1d7,g7``, or ``d1d7,d7g7`` in the form of chess programs with walls."""


def write_move(game: Game, state: Any, action: int) -> str:
    """Return the text of an action on the board of ``state``."""
    return _SIGNS.sub("", game.format_move(action, *state.board.shape))


def read_move(game: Game, state: Any, text: str) -> int:
    """Return the action id of ``d1d7g7``, ``d1d7,g7``, ``d1d7,d7g7`` or the game's own text. Only the form is checked.

    Raises:
        ZugwerkError: the text is not a move, or a square is not on the board.
    """
    return game.parse_move(_COMMA.sub(r"\1\2\3", text.strip().lower()), *state.board.shape)

"""Moves in UCI: ``d1d7g7`` for ``d1-d7/g7``, or ``d1d7,d7g7`` for programs that know no other form."""

import re
from typing import Any, Literal

from pipeline_src.games.game import Game

_SIGNS = re.compile(r"[-/()]")
_TURN = re.compile(r"([a-z]\d+)([a-z]\d+)([a-z]\d+)")
_COMMA = re.compile(r"([a-z]\d+)([a-z]\d+),(?P<again>\2)?([a-z]\d+)")
"""``d1d7,g7``, or ``d1d7,d7g7`` in the form of chess programs with walls."""


Form = Literal["joined", "pairs", "comma"]  # `joined` is `d1d7g7`, `pairs` is `d1d7,d7g7`, `comma` is `d1d7,g7`
_FORMS: dict[Form, str] = {"joined": r"\1\2\3", "pairs": r"\1\2,\2\3", "comma": r"\1\2,\3"}


def write_move(game: Game, state: Any, action: int, form: Form = "joined") -> str:
    """Return the text of an action on the board of ``state``."""
    return _TURN.sub(_FORMS[form], _SIGNS.sub("", game.format_move(action, *state.board.shape)))


def form_of(text: str) -> Form:
    """Return the form in which a move is written.

    >>> form_of("d1d7,d7g7")
    'pairs'
    """
    found = _COMMA.fullmatch(text.strip().lower())
    if found is None:
        return "joined"
    return "pairs" if found["again"] else "comma"


def read_move(game: Game, state: Any, text: str) -> int:
    """Return the action id of ``d1d7g7``, ``d1d7,g7``, ``d1d7,d7g7`` or the game's own text. Only the form is checked.

    Raises:
        ZugwerkError: the text is not a move, or a square is not on the board.
    """
    return game.parse_move(_COMMA.sub(r"\1\2\4", text.strip().lower()), *state.board.shape)

"""Gomoku: five in a row, on a board of any size and with lines of any length.

Black and White place a stone in turn, Black first. In ``freestyle`` a line of five or more of one colour wins; in
``exact`` one of just five; `board.RULES` says what ``renju`` and ``caro`` are. A full board is a draw.

`board` holds the state and its text, `rows` and `renju` read the stones, `moves` are the kernels that change and read
a state, `turns` the Python face, `notation` the text of cells, `diagram` a board for people, `kernels` what searches
call.
"""

from pipeline_src.games.gomoku import kernels as _kernels  # noqa: F401, makes the searches know the game
from pipeline_src.games.gomoku.board import MAX_SIDE, MIN_SIDE, RULES, to_play
from pipeline_src.games.gomoku.notation import format_move, parse_move
from pipeline_src.games.gomoku.setup import from_fen, initial_state, to_fen
from pipeline_src.games.gomoku.turns import is_legal, legal_actions, play, winner
from pipeline_src.games.perft import divide, perft

NAME = "gomoku"
VERSION = 1
"""Of the rules and the action numbering; models store it."""
SIZES = tuple(range(MIN_SIDE, MAX_SIDE + 1))
VARIANTS = RULES
"""All but ``renju`` also with another length of a line than five, e.g. ``freestyle-4``."""

__all__ = [
    "NAME",
    "SIZES",
    "VARIANTS",
    "VERSION",
    "divide",
    "format_move",
    "from_fen",
    "initial_state",
    "is_legal",
    "legal_actions",
    "parse_move",
    "perft",
    "play",
    "to_fen",
    "to_play",
    "winner",
]

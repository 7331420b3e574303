"""Gomoku: five in a row, on a board of any size and with lines of any length.

Black and White in turn place a stone, Black first. In ``freestyle`` a line of five or more of one colour wins, in
``exact`` a line of exactly five; `board.RULES` describes ``renju`` and ``caro``. A full board is a draw.

Modules: `board` holds the state and its text, `rows` and `renju` find lines and forbidden cells, `moves` the kernels
that read and change a state, `turns` the Python functions, `notation` the text of cells and of boards, `kernels` the
functions that searches call.
"""

from pipeline_src.games.gomoku import kernels as _kernels  # noqa: F401, makes the searches know the game
from pipeline_src.games.gomoku.board import MAX_SIDE, MIN_SIDE, RULES, to_play
from pipeline_src.games.gomoku.notation import format_move, parse_move
from pipeline_src.games.gomoku.setup import from_fen, initial_state, to_fen
from pipeline_src.games.gomoku.turns import is_legal, legal_actions, play, winner
from pipeline_src.games.perft import divide, perft

NAME = "gomoku"
VERSION = 1
"""Version of the rules and of the action numbering. Models store it."""
SIZES = tuple(range(MIN_SIDE, MAX_SIDE + 1))
VARIANTS = RULES
"""Names of the variants. All but ``renju`` take another length of the winning line, e.g. ``freestyle-4``."""

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

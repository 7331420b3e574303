"""The Game of the Amazons.

A turn moves one amazon like a chess queen, then shoots an arrow, also along a queen line, from where she
landed; the square she left is free by then. Arrows stay. White moves first; who cannot move loses.

`board` holds the state and its text, `moves` the kernels that change and read it, `turns` the Python face, `notation`
the text of turns, `perft` the counts, `kernels` what searches call.
"""

from pipeline_src.games.amazons import kernels as _kernels  # noqa: F401, makes the searches know the game
from pipeline_src.games.amazons.board import START, from_fen, initial_state, to_fen, to_play
from pipeline_src.games.amazons.notation import format_move, parse_move
from pipeline_src.games.amazons.perft import divide, perft
from pipeline_src.games.amazons.turns import is_legal, legal_actions, play, winner

NAME = "amazons"
VERSION = 1
"""Of the rules and the action numbering; models store it."""
SIZES = tuple(dict.fromkeys(size for size, _ in START))
VARIANTS = tuple(dict.fromkeys(variant for _, variant in START))

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

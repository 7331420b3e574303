"""The Game of the Amazons.

A turn moves one amazon like a chess queen, then shoots an arrow along a queen line from her new square. The arrow may
cross or hit the square that she left. Arrows stay on the board. White moves first. The side that cannot move loses.

Modules: `board` holds the state and its text, `moves` the kernels that read and change a state, `turns` the Python
functions, `notation` the text of turns, `perft` the counts, `kernels` the functions that searches call.
"""

from pipeline_src.games.amazons import kernels as _kernels  # noqa: F401, makes the searches know the game
from pipeline_src.games.amazons.board import START, from_fen, initial_state, to_fen, to_play
from pipeline_src.games.amazons.notation import format_move, parse_move
from pipeline_src.games.amazons.perft import divide, perft
from pipeline_src.games.amazons.turns import is_legal, legal_actions, play, winner

NAME = "amazons"
VERSION = 1
"""Version of the rules and of the action numbering. Models store it."""
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

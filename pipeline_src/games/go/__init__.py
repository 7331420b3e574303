"""Go on boards of 3x3 to 25x25: captures, simple ko, no suicide, passes, handicap stones, area scoring.

Black and White place a stone in turn or pass, Black first, White first where there are handicap stones. A single stone
that has just captured a single one cannot be taken back at once (simple ko); longer repetitions are not forbidden. Two
passes in a row end the game; the area of each side counts as it stands, and nobody removes dead stones.

`board` holds the state and the variant's text, `position_text` the text of positions, `moves` the kernels that change
and read a state, `replay` the one that plays a whole record, `turns` the Python face, `notation` the text of points,
`diagram` a board for people, `kernels` what searches call.
"""

from pipeline_src.games.go import kernels as _kernels  # noqa: F401, makes the searches know the game
from pipeline_src.games.go.board import MAX_SIDE, MIN_SIDE, to_play
from pipeline_src.games.go.notation import format_move, parse_move
from pipeline_src.games.go.position_text import from_fen, to_fen
from pipeline_src.games.go.setup import initial_state
from pipeline_src.games.go.turns import is_legal, legal_actions, play, winner
from pipeline_src.games.perft import divide, perft

NAME = "go"
VERSION = 1
"""Of the rules and the action numbering; models store it."""
SIZES = tuple(range(MIN_SIDE, MAX_SIDE + 1))
VARIANTS = ("standard",)
"""Also with another komi than 7.5 and with handicap stones: ``komi-6.5``, ``komi-0.5/handicap-2:dp,pd``."""

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

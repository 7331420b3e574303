"""Go on boards of 3x3 to 25x25: captures, simple ko, no suicide, passes, handicap stones, area scoring.

Black and White in turn place a stone or pass. Black moves first; with handicap stones, White does. A stone that has
just captured a single stone cannot be recaptured at once (simple ko); longer repetitions are allowed. Two passes in a
row end the game. The area of each side is counted as the board stands: all stones count as alive.

Modules: `board` holds the state and the variant's text, `position_text` the text of positions, `moves` the kernels
that read and change a state, `turns` the Python functions, `notation` the text of points and of boards, `kernels` the
functions that searches call.
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
"""Version of the rules and of the action numbering. Models store it."""
SIZES = tuple(range(MIN_SIDE, MAX_SIDE + 1))
VARIANTS = ("standard",)
"""Names of the variants. Others set the komi or handicap stones: ``komi-6.5``, ``komi-0.5/handicap-2:dp,pd``."""

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

"""Rules of the games: numba kernels with a thin Python face. The size of a board is the shape of its array.

`GAMES` has the names of the games, `get_game` turns a name into a module, and each module has the functions of `Game`:

>>> from pipeline_src.games import get_game
>>> rules = get_game("gomoku")
>>> state = rules.initial_state(9)
>>> state = rules.play(state, rules.parse_move("e5", 9, 9))
>>> rules.to_fen(state)
'9/9/9/9/4x4/9/9/9/9 w'
"""

from pipeline_src import exports

_MODULES = {"GAMES": "game", "Game": "game", "get_game": "game"}
__all__ = list(_MODULES)
__getattr__ = exports(__name__, _MODULES)

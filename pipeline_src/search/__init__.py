"""Searches for any game, the evaluations they call, and solvers for single games. Nothing here imports torch.

`AlphaBeta` and `Uct` are searches (`limits.Searcher`): they take a position and a `Limit` and return a `SearchResult`.
`evaluate` gives the static value of a position, `Solver` proves forced wins of Gomoku.

>>> from pipeline_src.games import get_game
>>> from pipeline_src.search import Limit, Solver
>>> rules = get_game("gomoku")
>>> found = Solver().solve(rules.from_fen("9/9/9/9/2xxx4/9/2oo5/2o6/9 b"), Limit(nodes=1000))
>>> found.win, found.plies
(True, 3)
"""

from pipeline_src import exports

_MODULES = {
    "AlphaBeta": "alphabeta",
    "Limit": "limits",
    "SearchResult": "limits",
    "Solver": "gomoku.solver",
    "Uct": "mcts.uct",
    "evaluate": "evaluator",
}
__all__ = list(_MODULES)
__getattr__ = exports(__name__, _MODULES)

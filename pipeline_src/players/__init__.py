"""Players: searches, nets and outside engines that choose moves, named by a text such as ``one_ply:noise=0.5``.

`make_player` makes a `Player` from its text; ``zugwerk players`` lists all names and options. A player chooses a move
for a `Position`, under `Bounds` if they are given.

>>> from pipeline_src.players import make_player
>>> make_player("gomoku", "minimax:depth=2").limit.depth
2
"""

from pipeline_src import exports

_MODULES = {
    "Bounds": "player",
    "Player": "player",
    "Position": "player",
    "make_player": "registry",
}
__all__ = list(_MODULES)
__getattr__ = exports(__name__, _MODULES)

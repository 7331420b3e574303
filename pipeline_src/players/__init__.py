"""Players: searches, nets and outside engines that choose moves, named by a text such as ``one_ply:noise=0.5``.

`make_player` makes a `Player` from its text; ``zugwerk players`` lists all names and options. A player chooses a move
for a `Position`, under `Bounds` if they are given.

>>> from pipeline_src.players import make_player
>>> make_player("gomoku", "minimax:depth=2").limit.depth
2
"""

from pipeline_src import exports

AMAZONS = {
    "random": "pipeline_src.players.searching:RandomPlayer",
    "one_ply": "pipeline_src.players.amazons:OnePlyPlayer",
    "alphabeta": "pipeline_src.players.amazons:amazons_alphabeta",
    "uct": "pipeline_src.players.amazons:amazons_uct",
    "level": "pipeline_src.players.levels:amazons_level",
}
GOMOKU = {
    "random": "pipeline_src.players.searching:RandomPlayer",
    "one_ply": "pipeline_src.players.gomoku:OnePlyPlayer",
    "minimax": "pipeline_src.players.gomoku:MinimaxPlayer",
    "alphabeta": "pipeline_src.players.gomoku:gomoku_alphabeta",
    "engine": "pipeline_src.players.gomoku:EnginePlayer",
    "mcts": "pipeline_src.players.gomoku:gomoku_mcts",
    "level": "pipeline_src.players.levels:gomoku_level",
}
PLAYERS = {"amazons": AMAZONS, "gomoku": GOMOKU}  # Makers of the players that belong to no system, by game and name
ENGINES = {
    "amazons": {"uci": "pipeline_src.players.uci:UciPlayer"},
    "gomoku": {"brain": "pipeline_src.players.gomocup:BrainPlayer"},
}
"""Makers of the players that are other programs."""

_MODULES = {"Bounds": "player", "Player": "player", "Position": "player", "make_player": "registry"}
__all__ = list(_MODULES)
__getattr__ = exports(__name__, _MODULES)

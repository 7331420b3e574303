"""Small games and players for the tests of matches on a clock of nodes."""

from pipeline_src.systems.search_depth.params import DepthGame

GAME = DepthGame(
    clock_ms=60,
    nodes_per_ms=1000,
    game_plies=60,
    engine="width=8,width3=4,width4=3,table_mb=1",
    simulations=4,
    plies=100,
    forward_nodes=100,
    lowest=2,
    highest=5,
    opening_plies=4,
)
DEEPENING = GAME.player()
DEPTH1, DEPTH2 = GAME.player("depth=1"), GAME.player("depth=2")

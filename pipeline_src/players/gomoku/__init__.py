"""Players of Gomoku that belong to no system."""

PLAYERS = {
    "random": "pipeline_src.players.gomoku.searches:random_player",
    "one_ply": "pipeline_src.players.gomoku.searches:one_ply_player",
    "minimax": "pipeline_src.players.gomoku.searches:gomoku_minimax",
    "alphabeta": "pipeline_src.players.gomoku.searches:gomoku_alphabeta",
    "engine": "pipeline_src.players.gomoku.searches:gomoku_engine",
    "mcts": "pipeline_src.players.gomoku.searches:gomoku_mcts",
    "level": "pipeline_src.players.levels:gomoku_level",
}

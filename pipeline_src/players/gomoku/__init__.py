"""Players of Gomoku that belong to no system."""

PLAYERS = {
    "random": "pipeline_src.players.gomoku.basic:random_player",
    "one_ply": "pipeline_src.players.gomoku.basic:one_ply_player",
    "minimax": "pipeline_src.players.gomoku.minimax:gomoku_minimax",
    "alphabeta": "pipeline_src.players.gomoku.alphabeta:gomoku_alphabeta",
    "engine": "pipeline_src.players.gomoku.engine:gomoku_engine",
    "mcts": "pipeline_src.players.gomoku.mcts:gomoku_mcts",
    "level": "pipeline_src.players.levels:gomoku_level",
}

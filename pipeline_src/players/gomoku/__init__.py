"""Players of Gomoku that need no net."""

PLAYERS = {
    "random": "pipeline_src.players.gomoku.basic:random_player",
    "minimax": "pipeline_src.players.gomoku.minimax:gomoku_minimax",
    "alphabeta": "pipeline_src.players.gomoku.alphabeta:gomoku_alphabeta",
    "mcts": "pipeline_src.players.gomoku.mcts:gomoku_mcts",
}

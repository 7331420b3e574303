"""Gomoku by Monte Carlo tree search and one residual net, trained by self-play (Li et al.)."""

PLAYERS = {
    "gomoku": {
        "zero": "pipeline_src.systems.gomoku_zero.player:zero_player",
        "zero:solver": "pipeline_src.systems.gomoku_zero.proving_player:proving_player",
    }
}

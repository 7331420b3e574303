"""Gomoku by Monte Carlo tree search and one residual net, trained by self-play (Li et al.)."""

_PROVING = "pipeline_src.systems.gomoku_zero.proving_player:zero_player"
_ALONE = "pipeline_src.systems.gomoku_zero.player:zero_player"
PLAYERS = {
    "gomoku": {
        "zero": _PROVING,
        "zero:fours": _PROVING,
        "zero:solver": _PROVING,
        "zero:nodes": _ALONE,
        "zero:simulations": _ALONE,
        "zero:search=none": _ALONE,
    }
}

"""Gomoku by Monte Carlo tree search and one residual net, trained by self-play (Li et al.)."""

from dataclasses import dataclass

_PROVING = "pipeline_src.systems.gomoku_zero.proving_player:zero_player"
_ALONE = "pipeline_src.systems.gomoku_zero.player:zero_player"
PLAYERS = {
    "gomoku": {
        "zero": _PROVING,
        "zero:fours": _PROVING,
        "zero:solver": _PROVING,
        "zero:threats": _PROVING,
        "zero:nodes": _ALONE,
        "zero:simulations": _ALONE,
        "zero:search=none": _ALONE,
    }
}


@dataclass(frozen=True)
class ModelInfo:
    """Description of a model: its game, its board and its input."""

    game: str
    variant: str
    version: int  # Version of the game's rules
    kind: str
    height: int
    width: int
    positions: int  # Number of positions of history in its planes

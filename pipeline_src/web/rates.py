"""Win rates from the values of searches, which have units of their own."""

import math

from pipeline_src.players.player import PlayerText

RATED = frozenset({"zero", "mcts", "puct"})
"""Players whose values go from -1 to 1, the mean result."""
SCALES = {"amazons": 4.0, "gomoku": 40.0}
"""Points that make odds of e to 1: squares in the Amazons (`search.mcts.uct_tree.UctOptions.scale`), points of Gomoku's
evaluation. For showing only; no search reads them."""


def win_rate(game: str, player: str, value: float) -> float:
    """A value as the chance to win of the side that it belongs to, 0 to 1."""
    if PlayerText.parse(player).name in RATED:
        return min(max((1 + value) / 2, 0.0), 1.0)
    return 1 / (1 + math.exp(-max(-60.0, min(60.0, value / SCALES.get(game, 1.0)))))

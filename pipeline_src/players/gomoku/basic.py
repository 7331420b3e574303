"""The Gomoku player that knows nothing."""

from collections.abc import Sequence

from pipeline_src.games.gomoku.turns import legal_actions
from pipeline_src.players.options import Options
from pipeline_src.players.player import Player, Position


class RandomOptions(Options):
    """Every empty cell with the same chance."""

    EXAMPLE = "random"


class RandomPlayer(Player):
    """Every empty cell with the same chance."""

    def choose(self, positions: Sequence[Position]) -> list[int]:
        """See `Player.choose`."""
        return [int(position.rng.choice(legal_actions(position.state))) for position in positions]


def random_player(_: RandomOptions) -> RandomPlayer:
    """The player ``random``."""
    return RandomPlayer()

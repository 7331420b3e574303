"""The random player of Gomoku."""

from collections.abc import Sequence

from pipeline_src.games.gomoku.turns import legal_actions
from pipeline_src.players.options import Options
from pipeline_src.players.player import Player, Position


class RandomOptions(Options):
    """Uniformly random legal cells."""

    EXAMPLE = "random"


class RandomPlayer(Player):
    """Uniformly random legal cells."""

    def choose(self, positions: Sequence[Position]) -> list[int]:
        """See `Player.choose`."""
        return [int(position.rng.choice(legal_actions(position.state))) for position in positions]


def random_player(_: RandomOptions) -> RandomPlayer:
    """The player ``random``."""
    return RandomPlayer()

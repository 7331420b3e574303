"""The Gomoku player that knows nothing."""

from collections.abc import Sequence

from pipeline_src.games.gomoku.turns import legal_actions
from pipeline_src.players.player import Player, PlayerText, Position


class RandomPlayer(Player):
    """Every empty cell with the same chance."""

    def choose(self, positions: Sequence[Position]) -> list[int]:
        """See `Player.choose`."""
        return [int(position.rng.choice(legal_actions(position.state))) for position in positions]


def random_player(text: PlayerText) -> RandomPlayer:
    """``random``."""
    text.no_value()
    text.numbers()
    return RandomPlayer()

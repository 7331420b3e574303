"""Units of players' values: mean results, which say the win rate, or points."""

from pipeline_src.players.player import PlayerText

RATES = ("zero", "mcts", "puct", "nets")
"""Players with values from -1 to 1."""


def by_results(text: str) -> bool:
    """Whether the values of a player's searches, given its text, are mean results from -1 to 1."""
    return PlayerText.parse(text).name in RATES

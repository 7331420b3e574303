"""Players of Connect Four."""

from collections.abc import Sequence

from pipeline_src.games.connect_four import initial_state, legal_actions
from pipeline_src.search.connect_four import make_evaluator

from pipeline_src.players.player import Options, Player, Position
from pipeline_src.players.searching import Limits, Nodes, SearchPlayer
from pipeline_src.project.params import NonNegative
from pipeline_src.search import alphabeta as searching
from pipeline_src.search.limits import Limit
from pipeline_src.search.mcts.playouts import PlainUct

PLAYERS = {
    "random": "pipeline_src.players.connect_four:random_player",
    "mcts": "pipeline_src.players.connect_four:mcts",
    "alphabeta": "pipeline_src.players.connect_four:alphabeta",
}
"""Makers by name: `players.registry` looks for them in the module that is called as the game is."""


class RandomOptions(Options):
    """Every legal action with the same chance."""

    EXAMPLE = "random"


class RandomPlayer(Player):
    """See `RandomOptions`."""

    def choose(self, positions: Sequence[Position]) -> list[int]:
        """See `Player.choose`."""
        return [int(position.rng.choice(legal_actions(position.state))) for position in positions]


def random_player(_: RandomOptions) -> RandomPlayer:
    """The player ``random``."""
    return RandomPlayer()


class MctsOptions(Nodes):
    """Monte Carlo tree search with random playouts; 1,000 of them a move if no limit is given."""

    EXAMPLE = "mcts:nodes=500,c=0.8"
    DEFAULT = Limit(nodes=1000)

    c: NonNegative = 1.0
    """Weight of exploration."""


def mcts(options: MctsOptions) -> SearchPlayer:
    """The player ``mcts``."""
    player = SearchPlayer(PlainUct(options.c), options.limit)
    player.searcher.search(initial_state(4), Limit(nodes=1))  # compiled before any clock runs
    return player


class AlphaBetaOptions(Limits):
    """Alpha-beta with iterative deepening; a depth of 6 if no limit is given."""

    EXAMPLE = "alphabeta:depth=6"
    DEFAULT = Limit(depth=6)


def alphabeta(options: AlphaBetaOptions) -> SearchPlayer:
    """The player ``alphabeta``."""
    search = searching.Options(widths=(0,), reduce_after=0)
    player = SearchPlayer(searching.AlphaBeta(make_evaluator(), search), options.limit)
    player.searcher.search(initial_state(4), Limit(depth=2, nodes=1))
    return player

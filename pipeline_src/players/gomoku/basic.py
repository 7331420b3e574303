"""The random player of Gomoku, and the one that looks one ply ahead and, with noise, misjudges what it sees."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pipeline_src.games.gomoku.turns import legal_actions
from pipeline_src.games.kernels import max_actions
from pipeline_src.jit import Need
from pipeline_src.players.options import Options
from pipeline_src.players.player import Player, Position
from pipeline_src.project.params import NonNegative
from pipeline_src.search.evaluator import WIN, rank
from pipeline_src.search.gomoku.evaluation import make_evaluator


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


WEIGHED = 20
"""Number of actions, the best by one-ply value, to which noise is added."""
ALL = 2 * WIN
"""Value to stop at: none, so that all actions are weighed even where one wins or has to be taken."""


class OnePlyOptions(Options):
    """The cell with the best position by the evaluation of `alphabeta`."""

    EXAMPLE = "one_ply:noise=20"

    noise: NonNegative = 0.0
    """Standard deviation, in points, of normal noise added to the values of the twenty best cells."""


class OnePlyPlayer(Player):
    """The cell with the best position by the evaluation of `alphabeta`, misjudged by some noise."""

    def __init__(self, noise: float) -> None:
        """``noise`` is the standard deviation, in points, of the noise on the values of the `WEIGHED` best cells."""
        self.noise, self.evaluator = noise, make_evaluator()

    def choose(self, positions: Sequence[Position]) -> list[int]:
        """See `Player.choose`. Without noise the first of equal cells is taken, and nothing is random."""
        return [self._choose(position) for position in positions]

    def _choose(self, position: Position) -> int:
        room = int(max_actions(position.state))
        actions, values = np.empty(room, np.int32), np.empty(room, np.float32)
        count = int(rank(position.state, self.evaluator, actions, values, ALL))
        best = np.argsort(-values[:count], kind="stable")[:WEIGHED]
        return int(actions[best[np.argmax(values[best] + position.rng.normal(0.0, self.noise, best.size))]])

    def needs(self, start: Any) -> list[Need]:
        """See `Player.needs`."""
        room = np.empty(1, np.int32), np.empty(1, np.float32)
        return [Need(max_actions, (start,)), Need(rank, (start, self.evaluator, *room, ALL))]


def one_ply_player(options: OnePlyOptions) -> OnePlyPlayer:
    """The player ``one_ply``."""
    return OnePlyPlayer(options.noise)

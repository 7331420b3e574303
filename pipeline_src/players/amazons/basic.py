"""Simple players of the Amazons: uniformly random, and one ply deep."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pipeline_src.games.amazons.board import AmazonsState
from pipeline_src.games.amazons.moves import buffers
from pipeline_src.games.amazons.turns import legal_actions
from pipeline_src.jit import Need
from pipeline_src.players.amazons.evaluator import make_evaluator
from pipeline_src.players.options import Options
from pipeline_src.players.player import Player, Position
from pipeline_src.project.params import NonNegative
from pipeline_src.search.amazons.evaluation import AmazonsEvaluator, rank_all


class RandomOptions(Options):
    """Uniformly random legal turns."""

    EXAMPLE = "random"


class OnePlyOptions(Options):
    """The turn with the best position by the static evaluation."""

    EXAMPLE = "one_ply:noise=0.5"

    noise: NonNegative = 0.0
    """Standard deviation, in squares, of normal noise added to the value of each turn."""


class RandomPlayer(Player):
    """Uniformly random legal turns."""

    def choose(self, positions: Sequence[Position]) -> list[int]:
        """See `Player.choose`."""
        return [int(position.rng.choice(legal_actions(position.state))) for position in positions]


class OnePlyPlayer(Player):
    """The turn with the best position by the static evaluation."""

    def __init__(self, noise: float = 0.0) -> None:
        """``noise`` is the standard deviation, in squares, of normal noise added to the value of each turn."""
        self.noise, self.evaluator = noise, make_evaluator()

    def choose(self, positions: Sequence[Position]) -> list[int]:
        """See `Player.choose`. Without noise the first of equal turns is taken, and nothing is random."""
        chosen = []
        for position in positions:
            turns, values = one_ply_values(position.state, self.evaluator)
            if self.noise:
                values = values + position.rng.normal(0.0, self.noise, len(values))
            chosen.append(int(turns[np.argmax(values)]))
        return chosen

    def needs(self, start: Any) -> list[Need]:
        """See `Player.needs`."""
        return [Need(rank_all, (start, self.evaluator, np.empty(1, np.int32), np.empty(1, np.float32)))]


def random_player(_: RandomOptions) -> RandomPlayer:
    """The player ``random``."""
    return RandomPlayer()


def one_ply_player(options: OnePlyOptions) -> OnePlyPlayer:
    """The player ``one_ply``."""
    return OnePlyPlayer(options.noise)


def one_ply_values(state: AmazonsState, evaluator: AmazonsEvaluator) -> tuple[np.ndarray, np.ndarray]:
    """Return all legal turns, int32 [A], and their one-ply values to the side to move, float32 [A], in squares."""
    _, turns = buffers(state)
    values = np.empty(turns.size, np.float32)
    n = rank_all(state, evaluator, turns, values)
    return turns[:n], values[:n]

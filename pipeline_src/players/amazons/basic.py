"""Amazons players without a net: uniformly random, and one ply deep."""

import math
from collections.abc import Sequence

import numpy as np

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.amazons.board import AmazonsState
from pipeline_src.games.amazons.moves import buffers
from pipeline_src.games.amazons.turns import legal_actions
from pipeline_src.players.amazons.evaluator import make_evaluator
from pipeline_src.players.player import Player, PlayerText, Position
from pipeline_src.search.amazons.evaluation import AmazonsEvaluator, rank_all


class RandomPlayer(Player):
    """Every legal turn with the same chance."""

    def choose(self, positions: Sequence[Position]) -> list[int]:
        """See `Player.choose`."""
        return [int(position.rng.choice(legal_actions(position.state))) for position in positions]


class OnePlyPlayer(Player):
    """The turn whose position is worth most by the static evaluation."""

    def __init__(self, noise: float = 0.0, evaluator: AmazonsEvaluator | None = None) -> None:
        """``noise`` is the standard deviation, in squares, of a normal error added to each turn's value.

        The evaluation is that of params.yaml unless another is given.
        """
        self.noise = noise
        self.evaluator = evaluator or make_evaluator("amazons")

    def choose(self, positions: Sequence[Position]) -> list[int]:
        """See `Player.choose`. Without noise the first of equal turns is taken, so nothing random is left."""
        chosen = []
        for position in positions:
            turns, values = one_ply_values(position.state, self.evaluator)
            if self.noise:
                values = values + position.rng.normal(0.0, self.noise, len(values))
            chosen.append(int(turns[np.argmax(values)]))
        return chosen


def random_player(text: PlayerText) -> RandomPlayer:
    """``random``."""
    text.no_value()
    text.numbers()
    return RandomPlayer()


def one_ply_player(text: PlayerText) -> OnePlyPlayer:
    """``one_ply[:noise=SQUARES]``.

    Raises:
        ZugwerkError: a noise below 0, or another option.
    """
    text.no_value()
    noise = text.numbers(noise=0.0)["noise"]
    if not 0 <= noise < math.inf:
        raise ZugwerkError(f"player 'one_ply': noise must be 0 or more, not {noise}")
    return OnePlyPlayer(noise)


def one_ply_values(state: AmazonsState, evaluator: AmazonsEvaluator | None = None) -> tuple[np.ndarray, np.ndarray]:
    """All legal turns, int32 [A], and what each is worth to its player, float32 [A], in squares.

    Without an evaluator, the one of params.yaml is made anew: hand one over where there are many positions.
    """
    evaluator = evaluator or make_evaluator("amazons")
    _, turns = buffers(state)
    values = np.empty(turns.size, np.float32)
    n = rank_all(state, evaluator, turns, values)
    return turns[:n], values[:n]

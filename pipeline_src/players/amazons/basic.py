"""Simple players of the Amazons: uniformly random, and one ply deep."""

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from pipeline_src.games.amazons import AmazonsState, buffers, legal_actions
from pipeline_src.jit import Need
from pipeline_src.players.player import Options, Player, Position
from pipeline_src.project.params import PARAMS_FILE, NonNegative, load, read_tree
from pipeline_src.search.alphabeta import AlphaBeta
from pipeline_src.search.amazons import evaluation
from pipeline_src.search.amazons.endgame import closing_needs, closing_turn
from pipeline_src.search.amazons.evaluation import AmazonsEngine, AmazonsEvaluator, rank_all
from pipeline_src.search.limits import Limit, OnInfo, Searcher, SearchResult

# The static evaluation of the Amazons, with the weights of params.yaml if the file has them.


def amazons_engine() -> AmazonsEngine:
    """Return section ``amazons_engine`` of ./params.yaml, or the defaults if the file or the section is missing.

    Raises:
        ZugwerkError: the file or the section is malformed.
    """
    if PARAMS_FILE.exists() and "amazons_engine" in read_tree():
        return load(AmazonsEngine, "amazons_engine")
    return AmazonsEngine()


def make_evaluator() -> AmazonsEvaluator:
    """Return an evaluator for the functions of `search.evaluator`, for use in one thread.

    Raises:
        ZugwerkError: params.yaml is malformed.
    """
    return evaluation.make_evaluator(amazons_engine())


# Endings that need no search, because counting gives the turn.


class ClosingFirst:
    """A search of the Amazons that is skipped where the areas are closed and counting gives the turn."""

    def __init__(self, searcher: Searcher) -> None:
        self.searcher = searcher

    def search(self, state: Any, limit: Limit, seed: int = 0, on_info: OnInfo | None = None) -> SearchResult:
        """See `Searcher.search`."""
        begin = time.perf_counter()
        filling = closing_turn(state)
        if filling is None or (limit.actions and filling.action not in limit.actions):
            return self.searcher.search(state, limit, seed, on_info)
        found = SearchResult(filling.action, filling.value, 1, 1, (filling.action,), time.perf_counter() - begin)
        if on_info is not None:
            on_info(found)
        return found

    def needs(self, state: Any) -> list[Need]:
        """See `Searcher.needs`."""
        return [*closing_needs(state), *self.searcher.needs(state)]

    def take_memory(self, size: int) -> None:
        """Set the size of the search's table in bytes, if it has one."""
        if isinstance(self.searcher, AlphaBeta):
            self.searcher.take_memory(size)

    def stop(self) -> None:
        """See `Searcher.stop`."""
        self.searcher.stop()


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

"""Players of the Amazons: one ply deep, alpha-beta and UCT."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from pipeline_src.games.amazons import AmazonsState, buffers
from pipeline_src.jit import Need
from pipeline_src.players.player import Options, Player, Position
from pipeline_src.players.searching import Limits, SearchPlayer
from pipeline_src.project.params import PARAMS_FILE, NonNegative, load, read_tree
from pipeline_src.search.alphabeta import AlphaBeta
from pipeline_src.search.alphabeta import Options as Search
from pipeline_src.search.amazons import evaluation
from pipeline_src.search.amazons.endgame import closing_needs, closing_turn
from pipeline_src.search.amazons.evaluation import AmazonsEngine, AmazonsEvaluator, rank_all
from pipeline_src.search.limits import Limit, OnInfo, Searcher, SearchResult
from pipeline_src.search.mcts.uct import Uct, UctOptions


def amazons_engine() -> AmazonsEngine:
    """Return section ``amazons_engine`` of ./params.yaml, or the defaults if the file or the section is missing.

    Raises:
        ZugwerkError: the file or the section is malformed.
    """
    if PARAMS_FILE.exists() and "amazons_engine" in read_tree():
        return load(AmazonsEngine, "amazons_engine")
    return AmazonsEngine()


def make_evaluator() -> AmazonsEvaluator:
    """Return an evaluator for the functions of `search.evaluator`, for use in one thread; see `amazons_engine`."""
    return evaluation.make_evaluator(amazons_engine())


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


class OnePlyOptions(Options):
    """The turn with the best position by the static evaluation."""

    EXAMPLE = "one_ply:noise=0.5"

    noise: NonNegative = 0.0
    """Standard deviation, in squares, of normal noise added to the value of each turn."""


class OnePlyPlayer(Player):
    """The turn with the best position by the static evaluation."""

    def __init__(self, options: OnePlyOptions) -> None:
        self.noise, self.evaluator = options.noise, make_evaluator()

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


def one_ply_values(state: AmazonsState, evaluator: AmazonsEvaluator) -> tuple[np.ndarray, np.ndarray]:
    """Return all legal turns, int32 [A], and their one-ply values to the side to move, float32 [A], in squares."""
    _, turns = buffers(state)
    values = np.empty(turns.size, np.float32)
    n = rank_all(state, evaluator, turns, values)
    return turns[:n], values[:n]


STANDARD = Search(breadth=8, inner_breadth=16, futility=3.0)  # Default options, chosen by matches (docs/experiments.md)
Width = Annotated[int, Field(ge=0, lt=10_000)]


class EngineOptions(Options):
    """Options of the alpha-beta search of the Amazons; see `search.alphabeta.Options`."""

    width: Width | None = None
    """Number of turns of a position that are searched deeper, the best by one-ply value; 0 is all."""
    width3: Width | None = None
    """`width` with three plies left to search; by default the same as width."""
    width4: Width | None = None
    """`width` with four or more plies left to search; by default the same as width3."""
    table_mb: Annotated[float, Field(ge=0, lt=1e6)] | None = None
    """Size of the transposition table in MiB, 0 for none; by default amazons_engine.table_mb of params.yaml."""
    weights: Literal["learned", "hand"] | None = None
    """Weights of the evaluation; by default those of amazons_engine in params.yaml."""
    breadth: Width | None = None
    """One ply above the horizon, the number of (from, to) that are examined with all their arrows, the best by their
    value before the arrow; 0 is all, the default if width is 0."""
    inner_breadth: Width | None = None
    """`breadth` further above the horizon, except at the root."""
    futility: Annotated[float, Field(ge=0)] | None = None
    """With two plies left to search, turns with a one-ply value this many squares below alpha are left out; none by
    default if width is 0."""

    def engine(self) -> ClosingFirst:
        """Return the search."""
        widths = list(STANDARD.widths)
        for i, width in enumerate((self.width, self.width3, self.width4)):
            if width is not None:
                widths[i:] = [width] * (len(widths) - i)
        static = amazons_engine()
        if self.weights is not None:
            static = static.model_copy(update={"weights": self.weights, "phases": ()})
        names = ("table_mb", "breadth", "inner_breadth", "futility")
        given = {name: value for name in names if (value := getattr(self, name)) is not None}
        standard: dict[str, Any] = {"widths": tuple(widths), "table_mb": float(static.table_mb)}
        options = replace(STANDARD if self.width != 0 else Search(), **standard | given)
        return ClosingFirst(AlphaBeta(evaluation.make_evaluator(static), options))


class AlphaBetaOptions(EngineOptions, Limits):
    """Alpha-beta with iterative deepening; one second per move if no limit is given."""

    EXAMPLE = "alphabeta:depth=3,width=20"
    DEFAULT = Limit(movetime_ms=1000)


def amazons_alphabeta(options: AlphaBetaOptions) -> SearchPlayer:
    """The player ``alphabeta`` of the Amazons; see `amazons_engine`."""
    return SearchPlayer(options.engine(), options.limit)


UCT_STANDARD = UctOptions(c=1.0, prior=1.0, widen=2.0, breadth=16)
"""Default options, chosen by matches (docs/experiments.md)."""


class UctPlayerOptions(Limits):
    """Monte Carlo tree search with the static evaluation; one second per move if no limit is given."""

    EXAMPLE = "uct:iterations=200,c=0.5"
    ALIASES: ClassVar[Mapping[str, str]] = {"iterations": "nodes"}
    DEFAULT = Limit(movetime_ms=1000)

    tree: Annotated[int, Field(ge=1, le=1 << 25)] = 1 << 16
    """Largest number of nodes in the tree; the default takes about 100 MB."""
    c: NonNegative = UCT_STANDARD.c
    """Exploration constant, for win rates in -1..1."""
    prior: NonNegative = UCT_STANDARD.prior
    """Temperature, in squares, of the prior: the softmax of the one-ply values; 0 is no prior (UCB1)."""


def amazons_uct(options: UctPlayerOptions) -> SearchPlayer:
    """The player ``uct``; see `amazons_engine`."""
    chosen = UCT_STANDARD._replace(c=options.c, prior=options.prior)
    return SearchPlayer(ClosingFirst(Uct(make_evaluator(), chosen, options.tree)), options.limit)

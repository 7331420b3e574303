"""Players of Gomoku that belong to no system, and the choices of colours in swap2."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from pydantic import Field, model_validator

from pipeline_src.games.gomoku import GomokuState, legal_actions, play, winner
from pipeline_src.games.kernels import max_actions
from pipeline_src.jit import Need
from pipeline_src.players.player import Options, Player, Position
from pipeline_src.players.searching import Limits, Nodes, SearchPlayer
from pipeline_src.project.params import NonNegative
from pipeline_src.search.alphabeta import AlphaBeta
from pipeline_src.search.alphabeta import Options as SearchOptions
from pipeline_src.search.evaluator import WIN, rank
from pipeline_src.search.gomoku import playouts as _playouts  # noqa: F401, makes the search know the game
from pipeline_src.search.gomoku.engine import Engine
from pipeline_src.search.gomoku.engine import Options as EngineSearchOptions
from pipeline_src.search.gomoku.evaluation import make_evaluator
from pipeline_src.search.limits import FOREVER, Limit
from pipeline_src.search.mcts.playouts import C as STANDARD_C
from pipeline_src.search.mcts.playouts import PlainUct
from pipeline_src.search.minimax import MAX_DEPTH, Minimax

EXACT = SearchOptions(widths=(0,), reduce_after=0, killers=2, inner_killers=1)
"""Options for a depth alone: a full-width search, with the value of `search.minimax` at the same depth."""
SELECTIVE = SearchOptions(widths=(40, 30, 20), reduce_after=8, killers=2, inner_killers=1)
"""Options for any other limit: fewer actions of each ply, and more plies."""
Width = Annotated[int, Field(ge=0, lt=10_000)]


class AlphaBetaOptions(Limits):
    """Alpha-beta with iterative deepening; depth 4 if no limit is given.

    With a depth alone, all actions are searched. With other limits, the best actions of a position by the evaluation
    are searched, and most of them one ply less deep at first.
    """

    EXAMPLE = "alphabeta:depth=4"
    DEFAULT = Limit(depth=4)

    width: Width | None = None
    """Number of actions searched in each position above the horizon; 0 is all."""
    reduce_after: Width | None = None
    """Number of actions of a node after which the others are first searched one ply less deep; 0 is never."""
    table_mb: Annotated[float, Field(ge=0, lt=1e6)] = EXACT.table_mb
    """Size of the transposition table in MiB; 0 for none."""


def gomoku_alphabeta(options: AlphaBetaOptions) -> SearchPlayer:
    """The player ``alphabeta`` of Gomoku."""
    limit = options.limit
    search = EXACT if limit.nodes is None and limit.movetime_ms is None else SELECTIVE
    if options.width is not None:
        search = replace(search, widths=(options.width,))
    if options.reduce_after is not None:
        search = replace(search, reduce_after=options.reduce_after)
    return SearchPlayer(AlphaBeta(make_evaluator(), replace(search, table_mb=options.table_mb, proofs=False)), limit)


WEIGHED = 20  # Number of actions, the best by one-ply value, to which noise is added
ALL = 2 * WIN  # Value to stop at: none, so that all actions are weighed even where one wins or has to be taken


class OnePlyOptions(Options):
    """The cell with the best position by the evaluation of `alphabeta`."""

    EXAMPLE = "one_ply:noise=20"

    noise: NonNegative = 0.0
    """Standard deviation, in points, of normal noise added to the values of the twenty best cells."""


class OnePlyPlayer(Player):
    """The cell with the best position by the evaluation of `alphabeta`, misjudged by some noise."""

    def __init__(self, options: OnePlyOptions) -> None:
        self.noise, self.evaluator = options.noise, make_evaluator()

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


class EngineOptions(EngineSearchOptions, Limits):
    """Alpha-beta of Gomoku with searches by threats; one second per move if no limit is given."""

    EXAMPLE = "engine:movetime=300"
    DEFAULT = Limit(movetime_ms=1000)

    @model_validator(mode="after")
    def _threads_have_time(self) -> Self:
        if self.threads > 1 and (self.nodes, self.depth) != (None, None):
            raise ValueError("threads: a search limited by nodes or depth has one; limit its time with movetime")
        return self


class EnginePlayer(SearchPlayer):
    """The engine as a player. In games on time it keeps the results of earlier searches of the game."""

    def __init__(self, options: EngineOptions) -> None:
        self.engine = Engine(options)
        super().__init__(self.engine, options.limit)

    def new_game(self) -> None:
        """See `Player.new_game`."""
        self.engine.forget()


class MctsOptions(Nodes):
    """Monte Carlo tree search with random playouts; 1,000 playouts per move if no limit is given."""

    EXAMPLE = "mcts:playouts=1000"
    ALIASES: ClassVar[Mapping[str, str]] = {"playouts": "nodes"}
    DEFAULT = Limit(nodes=1000)

    nodes: Annotated[int, Field(ge=1, lt=FOREVER)] | None = None
    """Playouts per move."""
    c: NonNegative = STANDARD_C
    """Exploration constant, for results in -1..1."""


def gomoku_mcts(options: MctsOptions) -> SearchPlayer:
    """The player ``mcts`` of Gomoku."""
    return SearchPlayer(PlainUct(options.c), options.limit)


class MinimaxOptions(Options):
    """Plain minimax at a fixed depth, with the evaluation of ``alphabeta``."""

    EXAMPLE = "minimax:depth=2"

    depth: Annotated[int, Field(ge=1, le=MAX_DEPTH)] = 2
    """Depth in plies."""


class MinimaxPlayer(SearchPlayer):
    """Searches to its depth, on a clock too."""

    def __init__(self, options: MinimaxOptions) -> None:
        super().__init__(Minimax(make_evaluator()), Limit(depth=options.depth))

    def limit_at(self, position: Position) -> Limit:  # noqa: ARG002
        """See `SearchPlayer.limit_at`."""
        return self.limit


# The openings swap2 and swap1, in which the players choose colours. Our own search makes the choices.
#
# In *swap2* the first player places three stones: Black, White, Black. The second player swaps (takes Black), or stays
# (takes White and plays), or places a white and a black stone and leaves the choice to the first player, who then swaps
# or stays. *Swap1* has no third option. White is to move at every choice, so the player who stays is the side to move.
# Values are in points of `search.gomoku.engine`; 400 points are a factor of e in the odds.


SIDE = 9  # Side of the central square from which stones are drawn
EVEN = 40.0  # Up to this absolute value, two stones are placed, because the search does not prefer a side clearly
LEVEL = 15.0  # An absolute value of at most this ends the search for balanced stones
NODES, DRAWN_NODES, DRAWS = 100_000, 20_000, 40
"""Without a time limit: positions searched for a choice, positions searched for each draw of stones, and draws."""


def first_stones(
    state: GomokuState, rng: np.random.Generator, seconds: float | None = None, count: int = 3
) -> tuple[int, ...]:
    """Return ``count`` actions, black and white in turn, after which the search sees the smallest advantage.

    On the board some stones of the opening may stand. ``seconds`` are for all draws; None is `DRAWS` draws.
    """
    return _most_level(_engine(), state, count, rng, _deadline(seconds))[0]


def choose(
    state: GomokuState, rng: np.random.Generator, seconds: float | None = None, may_place: bool = True
) -> str | tuple[int, ...]:
    """Return ``swap``, ``stay``, or the white and the black stone to place, where White is to move.

    ``seconds`` are for the choice; None is `NODES` positions and `DRAWS` draws. Whether stones may be placed, as after
    three stones in swap2, says ``may_place``.
    """
    engine, deadline = _engine(), _deadline(seconds)
    value = _value(engine, state, Limit(nodes=NODES) if seconds is None else Limit(movetime_ms=500 * seconds))
    if may_place and abs(value) <= EVEN:
        stones, left = _most_level(engine, state, 2, rng, deadline)
        if left <= EVEN:
            return stones
    return "swap" if value < 0 else "stay"


def swap_needs(state: GomokuState) -> list[Need]:
    """Kernels of the choices."""
    return _engine().needs(state)


def _engine() -> Engine:
    return Engine(EngineSearchOptions(table_mb=4, threats=DRAWN_NODES))


def _deadline(seconds: float | None) -> float:
    return float("inf") if seconds is None else time.perf_counter() + seconds


def _most_level(
    engine: Engine, state: GomokuState, plies: int, rng: np.random.Generator, deadline: float
) -> tuple[tuple[int, ...], float]:
    """Return the most balanced of random stones near the middle, and the absolute value after them."""
    best: tuple[int, ...] = ()
    least = np.inf
    for _ in range(DRAWS):
        after, drawn = state, list[int]()
        while len(drawn) < plies and winner(after) is None:
            drawn.append(int(rng.choice(_near_middle(after))))
            after = play(after, drawn[-1])
        if winner(after) is None:
            rest = None if deadline == np.inf else max(1.0, (deadline - time.perf_counter()) * 1000)
            value = abs(_value(engine, after, Limit(nodes=DRAWN_NODES, movetime_ms=rest)))
            if value < least:
                best, least = tuple(drawn), value
        if best and (least <= LEVEL or time.perf_counter() > deadline):
            break
    return best, float(least)


def _value(engine: Engine, state: GomokuState, limit: Limit) -> float:
    """Return the mean value of the two deepest iterations, since the side that moves last in a search looks better."""
    values: dict[int, float] = {}
    engine.search(state, limit, on_info=lambda found: values.update({found.depth: found.value}))
    last = list(values.values())[-2:]
    return sum(last) / len(last)


def _near_middle(state: GomokuState) -> list[int]:
    """Return the legal actions within the central square, or all legal actions if it has none."""
    height, width = state.board.shape
    legal = [int(action) for action in legal_actions(state)]
    off = [max(abs(action // width - height // 2), abs(action % width - width // 2)) for action in legal]
    return [action for action, far in zip(legal, off, strict=True) if far <= SIDE // 2] or legal

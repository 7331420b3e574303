"""Players of the Amazons that choose how deep to search, on a clock of nodes or of milliseconds: `DepthPlayer`.

All search with the same engine and have the same hard stop: no move takes more than a fifth of what the clock has left,
nor what the moves still expected need to be answered one ply deep. A search that is stopped answers with the best turn
it has found. Without a chooser the player is the yardstick: iterative deepening for the clock's share of each move.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil, exp, log, sqrt
from typing import Any, Literal, NamedTuple, Protocol, Self

import numpy as np
import numpy.typing as npt
from pydantic import model_validator

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.amazons import EMPTY, AmazonsState, legal_actions
from pipeline_src.games.kernels import below, copy_into, max_steps, outcome, play_step, seeded, to_play, write_steps
from pipeline_src.games.rules import copy_state
from pipeline_src.games.rules import to_play as side_to_play
from pipeline_src.jit import Need, njit
from pipeline_src.players.amazons import EngineOptions, make_evaluator
from pipeline_src.players.player import Position, Thought
from pipeline_src.players.searching import SearchPlayer
from pipeline_src.project.params import Count, NonNegative, Positive, Whole
from pipeline_src.search.amazons.endgame import closing_turn
from pipeline_src.search.evaluator import evaluate
from pipeline_src.search.limits import (
    GAME_PLIES,
    LAG_MS,
    SHARE,
    Clock,
    Limit,
    Searcher,
    SearchResult,
    expected_plies,
    movetime_ms,
)

# `SquareSearch`: the depth at which a small tree search passes through each square, the input of the depth nets.
#
# The published input is "the number of layers at which a Monte Carlo tree search through that square came back with a
# game result". Read so here: a simulation passes through a square at a layer where the turn of that ply, in the tree or
# in the random plies after it, puts an amazon or an arrow there; counted are the layers, from 1 for the root's own
# turns, at which any of the simulations did. All come back with a result, that of a finished game or the evaluation as
# a win rate. Squares that hold an amazon or an arrow have 0.
#
# UCT over steps, a turn being two (move, arrow): descend by UCB1, widen progressively over steps in random order, play
# on at random for a few plies, evaluate (Li, Gao 2022; Kocsis, Szepesvari 2006; Chaslot et al. 2008).


LAYERS = 128  # Largest number of layers: more than the plies of any game on a 10x10 board
C = 0.5  # Weight of exploration; results go from 0 to 1
SCALE = 4.0  # How much of the evaluation's unit makes odds of e to 1
WIDEN, ALPHA = 1.0, 0.5  # A node with v visits lets in `WIDEN * v^ALPHA` of its steps, at least one
NODES, EDGES, COST = range(3)

Ints = npt.NDArray[np.int32]
Seen = npt.NDArray[np.uint8]  # [N, LAYERS]: whether a simulation passed through a square at a layer


class StepTree(NamedTuple):
    """Nodes [N], 0 the root, and edges [E], one a step."""

    first: Ints  # [N]: a node's first edge, -1 where it has none yet
    branches: Ints  # [N]: how many edges it has
    tried: Ints  # [N]: how many of them, the first ones, have a child
    visits: Ints  # [N]: simulations through it
    step: Ints  # [E]
    child: Ints  # [E]: node
    tries: Ints  # [E]: simulations through it
    total: npt.NDArray[np.float64]  # [E]: sum of their results, 0 to 1, of the side that takes the step
    path: Ints  # [N, 3]: edges of the line under way, their nodes and the sides that took them
    steps: Ints  # Scratch of the random plies
    used: npt.NDArray[np.int64]  # [3]: nodes and edges in use; steps taken and positions evaluated


class SquareSearch:
    """The search, with memory of its own; one at a time."""

    def __init__(self, evaluator: Any, simulations: int, plies: int) -> None:
        """``plies`` turns are played at random after the tree. The ``evaluator`` and its scratch is this thread's."""
        self.evaluator, self.simulations, self.plies = evaluator, simulations, plies
        self._tree: StepTree | None = None

    def search(self, state: AmazonsState, seed: int) -> tuple[npt.NDArray[np.uint8], int]:
        """Search a position between turns; return (uint8 [H, W] layers by square, cost in nodes). It is not changed.

        The cost counts a node for each step played, in the tree or at random, and one for each evaluation; each takes
        about as long as a node of the engine's search. Depends on position and seed alone.
        """
        if self._tree is None or self._tree.steps.size < max_steps(state):
            self._tree = _new_tree(self.simulations + 1, int(max_steps(state)))
        seen = np.zeros((state.board.size, LAYERS), np.uint8)
        random = seeded(seed)
        _simulate_all(self._tree, state, copy_state(state), self.evaluator, self.simulations, self.plies, seen, random)
        layers = np.minimum(seen.sum(axis=1, dtype=np.int64), 255).astype(np.uint8).reshape(state.board.shape)
        layers[state.board != EMPTY] = 0  # a square that an amazon leaves
        return layers, int(self._tree.used[COST])

    def needs(self, state: AmazonsState) -> list[Need]:
        """Kernels that it calls on such boards."""
        seen, tree = np.zeros((1, LAYERS), np.uint8), _new_tree(1, 1)
        whole = Need(_simulate_all, (tree, state, state, self.evaluator, 1, 1, seen, seeded(0)))
        return [Need(max_steps, (state,)), whole]


def _new_tree(nodes: int, steps: int) -> StepTree:
    def ints(count: int, arrays: int) -> Iterator[Ints]:
        return (np.empty(count, np.int32) for _ in range(arrays))

    (first, branches, tried, visits), (step, child, tries) = ints(nodes, 4), ints(nodes * steps, 3)
    total, path, scratch = np.empty(nodes * steps), np.empty((nodes + 1, 3), np.int32), np.empty(steps, np.int32)
    used = np.zeros(3, np.int64)
    return StepTree(first, branches, tried, visits, step, child, tries, total, path, scratch, used)


@njit(cache=True)
def _add_node(tree: StepTree) -> int:
    node = tree.used[NODES]
    tree.first[node], tree.branches[node], tree.tried[node], tree.visits[node] = -1, 0, 0, 0
    tree.used[NODES] += 1
    return int(node)


@njit(cache=True)
def _choose_edge(tree: StepTree, node: int, random: npt.NDArray[np.uint64]) -> int:
    """The edge to go down: a new one where the node may widen, else the one with the greatest bound."""
    first, tried, visits = tree.first[node], tree.tried[node], tree.visits[node]
    if tried < tree.branches[node] and tried < ceil(WIDEN * (visits + 1.0) ** ALPHA):
        edge, other = first + tried, first + tried + below(random, tree.branches[node] - tried)
        tree.step[edge], tree.step[other] = tree.step[other], tree.step[edge]
        tree.tries[edge], tree.total[edge], tree.child[edge] = 0, 0.0, -1
        tree.tried[node] += 1
        return int(edge)
    best, best_bound, spread = -1, -np.inf, C * sqrt(log(visits + 1.0))
    for edge in range(first, first + tried):
        share = 1.0 / tree.tries[edge]
        bound = tree.total[edge] * share + spread * sqrt(share)
        if bound > best_bound:
            best, best_bound = edge, bound
    return best


@njit(cache=True)
def _take(state: AmazonsState, step: int, layer: int, seen: Seen) -> None:
    """Play a step and note the square it puts something on."""
    square = step % state.board.size
    play_step(state, step)
    if layer < seen.shape[1]:
        seen[square, layer] = 1


@njit(cache=True)
def _simulate(
    tree: StepTree, state: AmazonsState, evaluator: Any, plies: int, seen: Seen, random: npt.NDArray[np.uint64]
) -> None:
    """One simulation from the root's position ``state``, which is used up."""
    node, depth, start = 0, 0, state.turn[2]
    over, fresh = outcome(state)[0], False
    while not over and not fresh:
        if tree.first[node] < 0:
            first = tree.used[EDGES]
            count = write_steps(state, tree.step[first:])
            tree.first[node], tree.branches[node] = first, count
            tree.used[EDGES] += count
        edge = _choose_edge(tree, node, random)
        tree.path[depth, 0], tree.path[depth, 1], tree.path[depth, 2] = edge, node, to_play(state)
        depth += 1
        _take(state, tree.step[edge], state.turn[2] - start, seen)
        fresh = tree.child[edge] < 0
        if fresh:
            tree.child[edge] = _add_node(tree)
        node = tree.child[edge]
        over = outcome(state)[0]
    last = state.turn[2] + plies
    while not over and (state.turn[1] >= 0 or state.turn[2] < last):
        count = write_steps(state, tree.steps)
        _take(state, tree.steps[below(random, count)], state.turn[2] - start, seen)
        over = outcome(state)[0]
    mover = to_play(state)
    result = 0.0 if over else 1.0 / (1.0 + exp(-evaluate(state, evaluator) / SCALE))
    tree.used[COST] += 2 * (state.turn[2] - start) + (0 if over else 1)
    for i in range(depth):
        edge, above, side = tree.path[i]
        tree.visits[above] += 1
        tree.tries[edge] += 1
        tree.total[edge] += result if side == mover else 1.0 - result


@njit(cache=True, nogil=True)
def _simulate_all(
    tree: StepTree, root: AmazonsState, state: AmazonsState, evaluator: Any, simulations: int, plies: int,
    seen: Seen, random: npt.NDArray[np.uint64],
) -> None:  # fmt: skip
    tree.used[:] = 0
    _add_node(tree)
    for _ in range(simulations):
        copy_into(root, state)
        _simulate(tree, state, evaluator, plies, seen, random)


# Choosers of the search depth: a table, which may have the same depth everywhere, or a net (`NetDepth`).


class Choice(NamedTuple):
    """A depth, and the cost of choosing it."""

    depth: int  # Plies to search
    nodes: int = 0  # Node equivalents: of the search that fills the net's input, and of the forward pass


class Chooser(Protocol):
    """Says how deep to search a position in which there is something to search."""

    def choose(self, state: AmazonsState, legal: int, used: float, seed: int) -> Choice:
        """A depth where there are so many legal turns; ``used`` is the share of the side's clock that is gone, 0..1."""

    def needs(self, state: AmazonsState) -> list[Need]:  # noqa: ARG002 - few need any
        """Kernels that it calls on such boards."""
        return []

    def most_nodes(self, state: AmazonsState) -> int:
        """Node equivalents that a choice here can cost at most."""


@dataclass(frozen=True)
class TableDepth(Chooser):
    """The published opponent: a table from the number of expandable nodes, the legal turns, to the depth."""

    lowest: int  # Depth where there are at least `below[0]` legal turns
    below: tuple[int, ...] = ()  # Falling numbers of legal turns; with fewer than each, the search goes a ply deeper

    def __post_init__(self) -> None:
        if not 1 <= self.lowest <= 96:
            raise ZugwerkError(f"a depth table begins at a depth of 1 to 96, not {self.lowest}")
        if any(a < b for a, b in zip(self.below, self.below[1:], strict=False)):
            raise ZugwerkError(f"a depth table has falling numbers of legal turns, such as 900/400/150, not {self}")

    def choose(self, state: AmazonsState, legal: int, used: float, seed: int) -> Choice:  # noqa: ARG002
        """See `Chooser`."""
        return Choice(self.depth_of(legal))

    def most_nodes(self, state: AmazonsState) -> int:  # noqa: ARG002
        """None."""
        return 0

    def depth_of(self, legal: int) -> int:
        """Return the depth for a number of legal turns."""
        return self.lowest + sum(legal < number for number in self.below)

    def __str__(self) -> str:
        return "/".join(map(str, self.below))


def read_table(text: str, lowest: int) -> TableDepth:
    """The table that ``900/400/150`` stands for; empty is ``lowest`` everywhere. Raises ZugwerkError: it is none."""
    words = text.split("/") if text else []
    if not all(word.isascii() and word.isdigit() and len(word) < 10 for word in words):
        raise ZugwerkError(f"a depth table has falling numbers of legal turns, such as 900/400/150, not {text}")
    return TableDepth(lowest, tuple(map(int, words)))


PUBLISHED_CLOCK_MS = 900_000.0
RESERVE = 4  # On a clock of nodes no depth is chosen, and one ply searched, where that might take a share of this
MOST_NODES = 2.0**62  # Limit of a search on a clock of more nodes than a kernel's int64 holds
StopRule = Literal["", "early", "close"]
STRETCH = 2  # How many times its share a move may take by the rule CLOSE
GROWTH = 1.5, 3.0, 8.0  # Nodes of an iteration to those of the one before: least, before two are known, and most


class DepthMove(NamedTuple):
    """A move for which there was a search, as the record of a game keeps it (`Thought.note`)."""

    ply: int
    side: int
    used: float  # Share of the side's clock that was gone before it
    asked: int  # Depth that was chosen; 0 where nothing chose
    reached: int  # Depth that was completed
    nodes: int  # Nodes that the engine searched
    choosing: int  # Node equivalents that the choice was charged


class DepthPlayer(SearchPlayer):
    """Asks its chooser for a depth, and searches so deep while the clock lets it. The numbers: see `DepthOptions`."""

    def __init__(
        self,
        searcher: Searcher,
        chooser: Chooser | None,  # None for iterative deepening
        clock_ms: float = PUBLISHED_CLOCK_MS,
        nodes_per_ms: float = 0.0,
        game_plies: int = GAME_PLIES,
        stop_rule: StopRule = "",
        near: float = 0.0,
    ) -> None:
        super().__init__(searcher, Limit(depth=1))
        self.chooser, self.clock_ms, self.nodes_per_ms = chooser, clock_ms, nodes_per_ms
        self.game_plies, self.stop_rule, self.near = game_plies, stop_rule, near

    def needs(self, start: AmazonsState) -> list[Need]:
        """See `Player.needs`."""
        return [*super().needs(start), *(self.chooser.needs(start) if self.chooser is not None else [])]

    def consider(self, positions: Sequence[Position]) -> list[Thought]:
        """See `Player.consider`; a move without a search is free, the note of others is a `DepthMove`."""
        return [self._decide(position) for position in positions]

    def _decide(self, position: Position) -> Thought:
        state, seed = position.state, int(position.rng.integers(1 << 62))
        filling = closing_turn(state)
        if filling is not None:
            return Thought(filling.action)
        turns = legal_actions(state)
        if turns.size == 1:
            return Thought(int(turns[0]))
        choice, limit = self._plan(position, turns.size, seed)
        found = self._stopped(state, limit, seed) if self.stop_rule else self.searcher.search(state, limit, seed)
        depth, choosing = choice or (0, 0)
        used = self._used(position.clock)
        move = DepthMove(len(position.actions), side_to_play(state), used, depth, found.depth, found.nodes, choosing)
        return Thought(found.action, found, found.nodes + choosing, move)

    def _stopped(self, state: AmazonsState, limit: Limit, seed: int) -> SearchResult:
        """Search until a rule of Baier and Winands (2016), here between the iterations of a deepening, ends it.

        EARLY begins no iteration that is not expected to end within the move's share; CLOSE gives the share `STRETCH`
        times where the best two turns are ``near`` each other.
        """
        close, most_nodes, before, last = self.stop_rule == "close", limit.nodes or 0, 0, 0

        def look(found: SearchResult) -> None:
            nonlocal before, last
            least, unknown, most = GROWTH
            step = found.nodes - before
            growth = min(max(step / last, least), most) if last else unknown
            before, last = found.nodes, step
            near = len(found.lines) < 2 or found.lines[0].value - found.lines[1].value <= self.near
            share = most_nodes / STRETCH if close and not near else most_nodes
            if found.nodes + growth * step > share:
                self.searcher.stop()

        return self.searcher.search(state, replace(limit, lines=1 + close), seed, look)

    def _used(self, clock: Clock | None) -> float:
        """Share of the side's clock that is gone."""
        return 0.0 if clock is None else min(1.0, max(0.0, 1.0 - clock.own_ms / self.clock_ms))

    def limit_at(self, position: Position) -> Limit:
        """Return the chosen depth and the nodes or time that the clock allows."""
        seed = int(position.rng.integers(1 << 62))
        return self._plan(position, legal_actions(position.state).size, seed)[1]

    def _plan(self, position: Position, legal: int, seed: int) -> tuple[Choice | None, Limit]:
        clock, choice = position.clock or Clock(self.clock_ms, self.clock_ms), None
        if self.chooser is not None:
            dear = RESERVE * (self.chooser.most_nodes(position.state) + legal) > clock.own_ms * self.nodes_per_ms > 0
            choice = None if dear else self.chooser.choose(position.state, legal, self._used(position.clock), seed)
        depth, nodes = choice or (None if self.chooser is None else 1, 0)
        if choice is not None and self.nodes_per_ms:
            clock = replace(clock, own_ms=max(1e-3, clock.own_ms - nodes / self.nodes_per_ms))
        return choice, self.limit_of(clock, len(position.actions), legal, depth, nodes)

    def limit_of(self, clock: Clock, played: int, legal: int, depth: int | None, choosing: int = 0) -> Limit:
        """Where the search of a move ends, after ``played`` plies and with so many ``legal`` turns.

        ``depth`` was chosen, None for iterative deepening; a choice costs ``choosing`` nodes, this one's being paid.
        """
        expected = expected_plies(played, legal, self.game_plies)
        least = (legal + choosing) / self.nodes_per_ms if self.nodes_per_ms else LAG_MS  # one ply deep
        most = min(SHARE * clock.own_ms, clock.own_ms - least * (expected // 2))
        share = movetime_ms(clock, played, expected, 0.0 if self.nodes_per_ms else LAG_MS)
        if depth is None:
            most = min(most, share * (STRETCH if self.stop_rule == "close" else 1))
        if self.nodes_per_ms:
            return Limit(depth=depth, nodes=max(1, int(min(most * self.nodes_per_ms, MOST_NODES))))
        return Limit(depth=depth, movetime_ms=max(most, min(1.0, max(clock.own_ms / 2, 1e-3))))


class NetDepth(Chooser):
    """Chooses the depth by a net, from a small tree search through each square and the clock."""

    def __init__(self, options: "DepthOptions") -> None:
        """Load the model. Raises ZugwerkError: there is none, or a damaged one."""
        from pipeline_src.systems.search_depth.net import load_depth_model  # and torch, which others do without

        self.model = load_depth_model(options.model, confidence=options.confidence, shares=options.shares)
        self.squares = SquareSearch(make_evaluator(), options.simulations, options.plies)
        self.forward_nodes, self.plus = options.forward_nodes, options.plus

    def choose(self, state: AmazonsState, legal: int, used: float, seed: int) -> Choice:
        """See `Chooser`."""
        layers, nodes = self.squares.search(state, seed)
        return Choice(self.model.choose(layers, used, state, legal) + self.plus, nodes + self.forward_nodes)

    def needs(self, state: AmazonsState) -> list[Need]:
        """See `Chooser`."""
        return self.squares.needs(state)

    def most_nodes(self, state: AmazonsState) -> int:
        """See `Chooser`: each turn fills a square, so no simulation has more of them than there are empty ones."""
        return self.squares.simulations * (2 * int((state.board == EMPTY).sum()) + 1) + self.forward_nodes


class DepthOptions(EngineOptions):
    """Alpha-beta on a clock of nodes or time, in which a net or a table may choose the depth of each move.

    A player's text with ``depth=cnn``, ``depth=table`` or ``nodes_per_ms`` selects it.
    """

    EXAMPLE = "alphabeta:depth=table,lowest=3,table=900/400/150"

    depth: str = ""
    """Chooser of the depth: cnn, table, or a fixed depth of 1 to 96; empty is iterative deepening."""
    model: str = ""
    """File of the net, for depth=cnn."""
    table: str = ""
    """For depth=table: falling numbers of legal turns, e.g. 900/400/150. Below each of them the depth is one more."""
    lowest: Count = 3
    """For depth=table: depth if the number of legal turns is not below any number of the table."""
    clock: Positive = PUBLISHED_CLOCK_MS
    """Milliseconds of a side at the start, from which the used share is computed."""
    nodes_per_ms: NonNegative = 0.0
    """Nodes that count as one millisecond of the clock; 0 is wall time."""
    simulations: Count = 8
    """Number of simulations of the small search that fills a net's input, as many as in its training positions."""
    plies: Whole = 100
    """Number of random plies at the end of each of these simulations."""
    forward_nodes: Whole = 300
    """Nodes that the clock is charged for a forward pass."""
    game_plies: Count = GAME_PLIES
    """Number of plies over which the clock is divided."""
    confidence: Positive | None = None
    """For a net of classes: choose the first depth that suffices with this probability."""
    shares: Positive = 1.0
    """For a net of costs: number of equal shares of the clock that one search may take."""
    plus: Whole = 0
    """For a net: plies by which every search is deeper than it says."""
    stop: StopRule = ""
    """For iterative deepening on a clock of nodes: early ends it before an iteration that is not expected to end, close
    also gives a move twice its share where the best two turns are near."""
    near: NonNegative = 0.5
    """For stop=close: difference in squares up to which the best two turns are near."""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        of_depth = {"model": "cnn", "confidence": "cnn", "shares": "cnn", "plus": "cnn"}
        of_depth |= {"table": "table", "lowest": "table", "stop": "", "near": ""}
        for name, wanted in of_depth.items():
            if name in self.model_fields_set and self.depth != wanted:
                raise ValueError(f"{name} is for {f'depth={wanted}' if wanted else 'iterative deepening'} only")
        if self.stop and not self.nodes_per_ms:
            raise ValueError(f"stop={self.stop} needs a clock of nodes, nodes_per_ms=N")
        if self.depth == "cnn" and not self.model:
            raise ValueError("depth=cnn needs model=PATH")
        if self.depth not in ("", "cnn", "table", *map(str, range(1, 97))):
            raise ValueError(f"depth must be cnn, table, or 1 to 96, not {self.depth}")
        return self

    def chooser(self) -> Chooser | None:
        """The chooser of the depth; None for iterative deepening. Raises ZugwerkError: no such model, or no table."""
        if self.depth == "cnn":
            return NetDepth(self)
        if self.depth == "table":
            return read_table(self.table, self.lowest)
        return TableDepth(int(self.depth)) if self.depth else None


def depth_player(options: DepthOptions) -> DepthPlayer:
    """The player ``alphabeta`` that chooses its depth. Raises ZugwerkError: no such model, or a table that is none."""
    engine, clock, per_ms = options.engine(), options.clock, options.nodes_per_ms
    return DepthPlayer(engine, options.chooser(), clock, per_ms, options.game_plies, options.stop, options.near)

"""`SquareSearch`: the depth at which a small tree search passes through each square, the input of the depth nets.

The published input is "the number of layers at which a Monte Carlo tree search through that square came back with a
game result". Read so here: a simulation passes through a square at a layer where the turn of that ply, in the tree or
in the random plies after it, puts an amazon or an arrow there; counted are the layers, from 1 for the root's own turns,
at which any of the simulations did. All come back with a result, that of a finished game or the evaluation as a win
rate. Squares that hold an amazon or an arrow have 0.

UCT over steps, a turn being two (move, arrow): descend by UCB1, widen progressively over steps in random order, play on
at random for a few plies, evaluate (Li, Gao 2022; Kocsis, Szepesvari 2006; Chaslot et al. 2008).
"""

from math import ceil, exp, log, sqrt
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.games.amazons.board import EMPTY, AmazonsState, copy_state
from pipeline_src.games.kernels import copy_into, max_steps, outcome, play_step, to_play, write_steps
from pipeline_src.jit import Need, njit
from pipeline_src.search.evaluator import evaluate
from pipeline_src.search.mcts.xorshift import below, seeded

LAYERS = 128
"""Largest number of layers: more than the plies of any game on a 10x10 board."""
C = 0.5
"""Weight of exploration; results go from 0 to 1."""
SCALE = 4.0
"""How much of the evaluation's unit makes odds of e to 1."""
WIDEN, ALPHA = 1.0, 0.5
"""A node with v visits lets in ``WIDEN * v^ALPHA`` of its steps, at least one."""
NODES, EDGES, COST = range(3)

Ints = npt.NDArray[np.int32]


class StepTree(NamedTuple):
    """Nodes [N], 0 the root, and edges [E], one a step."""

    first: Ints
    """[N]: a node's first edge, -1 where it has none yet."""
    branches: Ints
    """[N]: how many edges it has."""
    tried: Ints
    """[N]: how many of them, the first ones, have a child."""
    visits: Ints
    """[N]: simulations through it."""
    step: Ints
    """[E]"""
    child: Ints
    """[E]: node."""
    tries: Ints
    """[E]: simulations through it."""
    total: npt.NDArray[np.float64]
    """[E]: sum of their results, 0 to 1, of the side that takes the step."""
    path: Ints
    """[N, 3]: edges of the line under way, their nodes and the sides that took them."""
    steps: Ints
    """Scratch of the random plies."""
    used: npt.NDArray[np.int64]
    """[3]: nodes and edges in use; steps taken and positions evaluated."""


class SquareSearch:
    """The search, with memory of its own; one at a time."""

    def __init__(self, evaluator: Any, simulations: int, plies: int) -> None:
        """A search with ``evaluator`` (`search.amazons.evaluation`).

        Args:
            evaluator: scratch space included, so of this thread alone.
            simulations: of a search; each adds a node to the tree.
            plies: turns played at random after the tree, before the evaluation.
        """
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
    edges = nodes * steps
    return StepTree(
        np.empty(nodes, np.int32),
        np.empty(nodes, np.int32),
        np.empty(nodes, np.int32),
        np.empty(nodes, np.int32),
        np.empty(edges, np.int32),
        np.empty(edges, np.int32),
        np.empty(edges, np.int32),
        np.empty(edges, np.float64),
        np.empty((nodes + 1, 3), np.int32),
        np.empty(steps, np.int32),
        np.zeros(3, np.int64),
    )


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
def _take(state: AmazonsState, step: int, layer: int, seen: npt.NDArray[np.uint8]) -> None:
    """Play a step and note the square it puts something on."""
    square = step % state.board.size
    play_step(state, step)
    if layer < seen.shape[1]:
        seen[square, layer] = 1


@njit(cache=True)
def _simulate(
    tree: StepTree,
    state: AmazonsState,
    evaluator: Any,
    plies: int,
    seen: npt.NDArray[np.uint8],
    random: npt.NDArray[np.uint64],
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
    tree: StepTree,
    root: AmazonsState,
    state: AmazonsState,
    evaluator: Any,
    simulations: int,
    plies: int,
    seen: npt.NDArray[np.uint8],
    random: npt.NDArray[np.uint64],
) -> None:
    tree.used[:] = 0
    _add_node(tree)
    for _ in range(simulations):
        copy_into(root, state)
        _simulate(tree, state, evaluator, plies, seen, random)

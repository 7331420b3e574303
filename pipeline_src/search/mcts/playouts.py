"""Plain UCT: each playout adds one node to the tree and is uniformly random to the end of the game.

`UctTree` is also the tree of UCT with an evaluation (`uct`).

Kocsis and Szepesvari, "Bandit based Monte-Carlo planning" (2006): each node first tries every action once, in random
order, and then the one with the greatest UCB1, the mean result plus ``c * sqrt(ln(visits) / tries)``, with results from
0 to 1 (a draw is 0.5). The answer is the most tried action. It uses no evaluation, no priors and no other knowledge.
This player is the anchor of the ratings, so its moves must not change.
"""

import time
from functools import singledispatch
from math import log, sqrt
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import kernels
from pipeline_src.games.kernels import below, seeded
from pipeline_src.games.rules import copy_state
from pipeline_src.jit import Need, njit
from pipeline_src.search.limits import FOREVER, Limit, OnInfo, SearchResult, Slices, StopFlag, searching_seconds

C = 0.15
"""Exploration constant: the best of 0 to 1.4 in matches with 1,000 playouts per move on 9x9; 0.1 to 0.2 are as good."""
MAX_DEPTH = 1024  # Longest line in the tree in plies. A longer one continues as a playout.
MEMORY = 1 << 29  # Largest size of a tree in bytes. Unused memory is not taken from the system.
NODE_BYTES, EDGE_BYTES = 16, 20
FIRST_REPORT = 1 << 10  # Playouts before the first report. Each further report doubles their number.
NODES, EDGES, DEPTH = 0, 1, 2  # Entries of `UctTree.used`: nodes, edges, and the longest line so far

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int32]


@singledispatch
def playout(state: Any, actions: Ints, random: npt.NDArray[np.uint64]) -> float:
    """Return the result, to the side to move, of a random game from ``state``: 1, 0 or -1. The state is not changed.

    ``actions`` is scratch with room for `games.kernels.max_actions`, ``random`` as in `games.kernels`.
    """
    raise TypeError(f"no random playouts for states of type {type(state).__name__}, or they are not imported")


class UctTree(NamedTuple):
    """Nodes [N] and edges [E]; node 0 is the root. Values are in the evaluation's unit, by the node's side to move.

    Plain UCT uses neither values nor priors, and its results are from 0 to 1.
    """

    first: Ints  # [N]: a node's first edge
    branches: Ints  # [N]: how many edges it has, best one-ply value first
    reached: Ints  # [N]: how many of its edges, from the first on, were tried or passed over
    visits: Ints  # [N]: iterations that went on below it
    side: npt.NDArray[np.int8]  # [N]: side to move
    closed: npt.NDArray[np.uint8]  # [N]: 1 where its value is final, so that no iteration need go there
    value: Floats  # [N]: minimax value of the searched subtree
    rest: Floats
    """[N]: one-ply value of the best action that was ranked but not stored; where a whole shortlist is stored, that of
    the worst in it; minus infinity where all actions are stored."""
    action: Ints  # [E]
    child: Ints  # [E]: node, -1 before it is expanded
    tries: Ints  # [E]: iterations through it
    total: npt.NDArray[np.float64]  # [E]: sum of their win rates, -1..1
    worth: Floats  # [E]: one-ply value; once expanded, the child's minimax value
    prior: Floats  # [E]: softmax of the one-ply values
    used: npt.NDArray[np.int64]  # [3]


def new_tree(nodes: int, edges: int) -> UctTree:
    """Return an empty tree with this capacity. Untouched pages cost nothing."""
    return UctTree(
        first=np.empty(nodes, np.int32),
        branches=np.empty(nodes, np.int32),
        reached=np.empty(nodes, np.int32),
        visits=np.empty(nodes, np.int32),
        side=np.empty(nodes, np.int8),
        closed=np.empty(nodes, np.uint8),
        value=np.empty(nodes, np.float32),
        rest=np.empty(nodes, np.float32),
        action=np.empty(edges, np.int32),
        child=np.empty(edges, np.int32),
        tries=np.empty(edges, np.int32),
        total=np.empty(edges, np.float64),
        worth=np.empty(edges, np.float32),
        prior=np.empty(edges, np.float32),
        used=np.zeros(3, np.int64),
    )


@njit(cache=True)
def clear(tree: UctTree) -> None:
    """Reset the tree to an unvisited root."""
    tree.used[:] = 0
    _add_node(tree)


@njit(cache=True)
def _add_node(tree: UctTree) -> int:
    node = tree.used[NODES]
    tree.first[node], tree.branches[node], tree.reached[node], tree.visits[node] = -1, 0, 0, 0
    tree.used[NODES] += 1
    return int(node)


@njit(cache=True)
def _add_edges(tree: UctTree, node: int, state: Any) -> None:
    first = tree.used[EDGES]
    n = kernels.write_actions(state, tree.action[first:])
    tree.first[node], tree.branches[node] = first, n
    tree.used[EDGES] += n


@njit(cache=True)
def _try_another(tree: UctTree, node: int, random: npt.NDArray[np.uint64]) -> int:
    """Return the edge of a random untried action, with a new node as its child."""
    first, tried = tree.first[node], tree.reached[node]
    edge, other = first + tried, first + tried + below(random, tree.branches[node] - tried)
    tree.action[edge], tree.action[other] = tree.action[other], tree.action[edge]
    tree.tries[edge], tree.total[edge], tree.child[edge] = 0, 0.0, _add_node(tree)
    tree.reached[node] += 1
    return int(edge)


@njit(cache=True)
def _greatest_bound(tree: UctTree, node: int, c: float) -> int:
    """Return the edge with the greatest UCB1, the first of equals. All edges have been tried."""
    tries, total, first = tree.tries, tree.total, tree.first[node]
    spread, best, best_bound = c * sqrt(log(float(tree.visits[node]))), -1, -np.inf
    for edge in range(first, first + tree.branches[node]):
        share = 1.0 / tries[edge]
        bound = total[edge] * share + spread * sqrt(share)
        if bound > best_bound:
            best, best_bound = edge, bound
    return best


@njit(cache=True)
def _grow(tree: UctTree, state: Any, c: float, path: Ints, actions: Ints, random: npt.NDArray[np.uint64]) -> None:
    """Run one playout; add one node unless the line ends a game that is in the tree already."""
    node, depth = 0, 0
    over, result = kernels.outcome(state)
    while not over:
        if tree.first[node] < 0:
            _add_edges(tree, node, state)
        fresh = tree.reached[node] < tree.branches[node]
        edge = _try_another(tree, node, random) if fresh else _greatest_bound(tree, node, c)
        path[depth, 0], path[depth, 1] = node, edge
        depth += 1
        kernels.play(state, tree.action[edge])
        node = tree.child[edge]
        over, result = kernels.outcome(state)
        if not over and (fresh or depth == path.shape[0]):
            over, result = True, playout(state, actions, random)
    side = kernels.to_play(state)
    tree.used[DEPTH] = max(tree.used[DEPTH], depth)
    for i in range(depth - 1, -1, -1):
        node, edge = path[i, 0], path[i, 1]
        kernels.take_back(state, tree.action[edge])
        tree.tries[edge] += 1
        tree.total[edge] += 0.5 + 0.5 * (result if kernels.to_play(state) == side else -result)
        tree.visits[node] += 1


@njit(cache=True, nogil=True)
def grow(
    tree: UctTree,
    state: Any,
    c: float,
    until: int,
    depth: int,
    path: Ints,
    actions: Ints,
    random: npt.NDArray[np.uint64],
    flag: npt.NDArray[np.uint8],
) -> None:
    """Run playouts until the root has ``until`` visits, a line ``depth`` plies, ``flag`` is set or the tree is full.

    Args:
        tree: a node has its edges from when a playout first continues from it; the first ``reached`` have children.
        state: the root's, unfinished; changed on the way, and the same again at the end.
        c: weight of exploration.
        until: visits of the root.
        depth: plies of the longest line.
        path: scratch, [D, 2]; lines are followed no further than D plies.
        actions: scratch, [A].
        random: see `games.kernels`.
        flag: uint8 [1]; looked at before every playout but the first.
    """
    while has_room(tree, actions.size) and tree.visits[0] < until and tree.used[DEPTH] < depth:
        if flag[0] != 0 and tree.visits[0] > 0:
            break
        _grow(tree, state, c, path, actions, random)


@njit(cache=True)
def has_room(tree: UctTree, actions: int) -> bool:
    """Whether the tree has room for one more playout in a game with this number of actions."""
    return bool(tree.used[NODES] < tree.first.size and tree.used[EDGES] + actions <= tree.action.size)


@njit(cache=True)
def most_tried(tree: UctTree, node: int) -> int:
    """Return the most tried edge of a node, of equals the one with better results; -1 if none has been tried."""
    best = -1
    for edge in range(tree.first[node], tree.first[node] + tree.reached[node]):
        if best < 0 or (tree.tries[edge], tree.total[edge]) > (tree.tries[best], tree.total[best]):
            best = edge
    return best


class PlainUct:
    """Plain UCT, for any game with kernels and a `playout`; see `limits.Searcher`.

    ``Limit.nodes`` counts playouts; values are mean results from -1 to 1.
    """

    def __init__(self, c: float = C, memory: int = MEMORY) -> None:
        """``c`` is the exploration constant; for ``memory`` see `use_memory`.

        Raises:
            ZugwerkError: c is below 0 or not finite.
        """
        if not 0 <= c < np.inf:
            raise ZugwerkError(f"UCT needs c of 0 or more, not {c}")
        self.c, self.flag, self.memory = float(c), StopFlag(), memory
        self.tree = new_tree(1, 1)

    def use_memory(self, size: int) -> None:
        """Limit the size of a tree in bytes. A search ends when the tree is full."""
        self.memory, self.tree = size, new_tree(1, 1)

    def stop(self) -> None:
        """See `Searcher`."""
        self.flag.set()

    def needs(self, state: Any) -> list[Need]:
        """See `Searcher`."""
        path, actions, flag = np.empty((1, 2), np.int32), np.empty(1, np.int32), self.flag.raised
        return [
            Need(kernels.outcome, (state,)),
            Need(kernels.max_actions, (state,)),
            Need(clear, (self.tree,)),
            Need(has_room, (self.tree, 1)),
            Need(grow, (self.tree, state, self.c, 1, 1, path, actions, seeded(0), flag)),
            Need(most_tried, (self.tree, 0)),
        ]

    def search(self, state: Any, limit: Limit, seed: int = 0, on_info: OnInfo | None = None) -> SearchResult:
        """See `Searcher`. The whole tree is allocated first, because copying it to a larger one could not be stopped.

        Raises:
            ZugwerkError: the game is over.
        """
        began = time.perf_counter()
        self.flag.clear()
        if kernels.outcome(state)[0]:
            raise ZugwerkError("the game is over: there is nothing to search")
        state, room = copy_state(state), int(kernels.max_actions(state))
        path, actions, random = np.empty((MAX_DEPTH, 2), np.int32), np.empty(room, np.int32), seeded(seed)
        until, depth = limit.nodes or FOREVER, limit.depth or FOREVER
        self._set_aside(until, room)
        clear(self.tree)
        slices = Slices(until if on_info is None else FIRST_REPORT, limit.endless)
        with self.flag.after(None if limit.movetime_ms is None else searching_seconds(limit.movetime_ms)):
            while True:
                grow(self.tree, state, self.c, min(slices.upto, until), depth, path, actions, random, self.flag.raised)
                result = _result(self.tree, time.perf_counter() - began)
                if on_info is not None:
                    on_info(result)
                full = not has_room(self.tree, room)
                if full or result.nodes == until or result.depth >= depth or self.flag.raised[0]:
                    return result
                slices.extend()

    def _set_aside(self, playouts: int, actions: int) -> None:
        """Allocate a tree for a number of playouts, each of which adds at most one node and the edges of another."""
        nodes = min(playouts + 2, max(2, self.memory // (4 * NODE_BYTES)))
        edges = min((playouts + 1) * actions, max(actions, (self.memory - NODE_BYTES * nodes) // EDGE_BYTES))
        if self.tree.first.size < nodes or self.tree.action.size < edges:
            self.tree = new_tree(nodes, edges)


def _result(tree: UctTree, seconds: float) -> SearchResult:
    best = edge = int(most_tried(tree, 0))
    line = []
    while edge >= 0:
        line.append(int(tree.action[edge]))
        node = int(tree.child[edge])
        edge = int(most_tried(tree, node)) if tree.first[node] >= 0 else -1
    return SearchResult(
        action=line[0],
        value=2.0 * float(tree.total[best]) / int(tree.tries[best]) - 1.0,
        depth=int(tree.used[DEPTH]),
        nodes=int(tree.visits[0]),
        pv=tuple(line),
        seconds=seconds,
    )

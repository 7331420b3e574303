"""`Uct`: the search of `uct_run` with the interface that all searches share."""

import time
from math import exp, log, sqrt
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import kernels
from pipeline_src.jit import Need, njit
from pipeline_src.search.limits import Limit, OnInfo, SearchResult, Slices, StopFlag, searching_seconds
from pipeline_src.search.mcts.uct_tree import (
    EDGES,
    NODES,
    SURE,
    Floats,
    Ints,
    UctOptions,
    UctTree,
    expand,
    is_open,
    new_tree,
    plant,
    refresh,
)

# The iterations of UCT: descend by the bound on the win rate, expand, back up.
#
# UCT is by Kocsis and Szepesvari (2006). Extensions: progressive widening (Coulom, 2007; Chaslot et al., 2008), proven
# values (Winands et al., 2008), a share of the minimax value in addition to the mean (Lanctot et al., 2014), priors in
# the bound (Rosin, 2011).


MAX_DEPTH = 256  # Largest number of actions in a line. A longer one is not followed further.


class UctScratch(NamedTuple):
    """Scratch space of one search."""

    actions: Ints
    values: Floats
    order: Ints  # [A] each, A = `games.kernels.max_actions`
    path: Ints  # [MAX_DEPTH, 2]: nodes and edges of the current line
    depth: npt.NDArray[np.int64]  # [1]: the longest line so far


@njit(cache=True)
def win_rate(value: float, scale: float) -> float:
    """Convert a value to a win rate in -1..1."""
    if abs(value) >= SURE:
        return 1.0 if value > 0 else -1.0
    return 2.0 / (1.0 + exp(-value / scale)) - 1.0


@njit(cache=True)
def choose_edge(tree: UctTree, node: int, options: UctOptions) -> int:
    """The open edge with the greatest bound among those that progressive widening lets in; the first of equals."""
    worths, children, all_tries, totals, closed = tree.worth, tree.child, tree.tries, tree.total, tree.closed
    priors, visits, first = tree.prior, tree.visits[node], tree.first[node]
    c, share, scale, with_prior = options.c, options.minimax, options.scale, options.prior > 0.0
    width = max(1, int(options.widen * (visits + 1.0) ** options.alpha))
    spread = sqrt(visits + 1.0) if with_prior else log(visits + 1.0)
    best, best_bound, seen = -1, -np.inf, 0
    for edge in range(first, first + tree.branches[node]):
        worth, tries = np.float64(worths[edge]), all_tries[edge]
        if not is_open(worth, children[edge], closed):
            continue
        if tries == 0:
            bound = win_rate(worth, scale)
        else:
            bound = totals[edge] / tries
            if share > 0.0:
                bound += share * (win_rate(worth, scale) - bound)
        bound += c * priors[edge] * spread / (1.0 + tries) if with_prior else c * sqrt(spread / (1.0 + tries))
        if bound > best_bound:
            best, best_bound = edge, bound
        seen += 1
        if seen == width:
            break
    return best


@njit(cache=True)
def _iterate(tree: UctTree, state: Any, evaluator: Any, options: UctOptions, scratch: UctScratch) -> None:
    """Run one iteration from the open root. ``state`` is the root's, changed on the way and restored at the end."""
    node, depth, path = 0, 0, scratch.path
    while True:
        edge = choose_edge(tree, node, options)
        path[depth, 0], path[depth, 1] = node, edge
        depth += 1
        kernels.play(state, tree.action[edge])
        if tree.child[edge] < 0 or depth == MAX_DEPTH:
            break
        node = tree.child[edge]
    room = tree.used[NODES] < tree.first.size and tree.used[EDGES] + options.keep <= tree.action.size
    if tree.child[edge] < 0 and room:
        child = expand(
            tree,
            state,
            evaluator,
            scratch.actions,
            scratch.values,
            scratch.order,
            options.keep,
            options.breadth,
            options.prior,
        )
        tree.child[edge] = child
        tree.worth[edge] = tree.value[child] if tree.side[child] == tree.side[node] else -tree.value[child]
    side, rate = tree.side[node], win_rate(float(tree.worth[edge]), options.scale)
    scratch.depth[0] = max(scratch.depth[0], depth)
    for i in range(depth - 1, -1, -1):
        node, edge = path[i, 0], path[i, 1]
        kernels.take_back(state, tree.action[edge])
        child = tree.child[edge]
        if child >= 0:
            tree.worth[edge] = tree.value[child] if tree.side[child] == tree.side[node] else -tree.value[child]
        tree.tries[edge] += 1
        tree.total[edge] += rate if tree.side[node] == side else -rate
        tree.visits[node] += 1
        tree.reached[node] = max(tree.reached[node], edge - tree.first[node] + 1)
        refresh(tree, node)


@njit(cache=True, nogil=True)
def iterate(
    tree: UctTree,
    state: Any,
    evaluator: Any,
    options: UctOptions,
    scratch: UctScratch,
    until: int,
    depth: int,
    flag: npt.NDArray[np.uint8],
) -> None:
    """Iterate until the root has ``until`` visits or a final value, a line has ``depth`` actions, or ``flag`` is set.

    Args:
        tree: with the root expanded.
        state: state of the root; changed on the way and restored at the end.
        evaluator: evaluator of the game (`search.evaluator`).
        options: see `UctOptions`.
        scratch: see `UctScratch`.
        until: visits of the root.
        depth: length of the longest line.
        flag: uint8 [1]; checked before every iteration.
    """
    while tree.visits[0] < until and tree.closed[0] == 0 and scratch.depth[0] < depth and flag[0] == 0:
        _iterate(tree, state, evaluator, options, scratch)


@njit(cache=True)
def answer_edge(tree: UctTree, node: int) -> int:
    """Return the edge to play at a node: a proven win, else the most tried edge not proven lost, else the longest loss.

    Ties go to the higher value, then to the first. -1 if the node has no edges.
    """
    best, best_rank, best_tries, best_worth = -1, -1, -1, -np.inf
    for edge in range(tree.first[node], tree.first[node] + tree.branches[node]):
        worth = tree.worth[edge]
        level = 2 if worth >= SURE else 0 if worth <= -SURE else 1
        tries = tree.tries[edge] if level == 1 else 0
        if (level, tries, worth) > (best_rank, best_tries, best_worth):
            best, best_rank, best_tries, best_worth = edge, level, tries, worth
    return best


FIRST_SLICE = 32  # Iterations before the first report. Each further report doubles their number.
FOREVER = (1 << 31) - 1
NOTHING = np.empty(0, np.int32)  # Scratch of a search that keeps nothing of the last one's tree


class Uct:
    """UCT over whole actions, for any game with an evaluator that can `rank`.

    ``Limit.nodes`` counts iterations.
    """

    def __init__(self, evaluator: Any, options: UctOptions | None = None, nodes: int = 1 << 16) -> None:
        """``nodes`` bounds the memory: about 32 * `UctOptions.keep` bytes per node. A full tree is searched further.

        Raises:
            ZugwerkError: an option is out of range.
        """
        self.evaluator, self.nodes, self.flag = evaluator, nodes, StopFlag()
        self.options = _checked(options or UctOptions())
        if nodes < 1:
            raise ZugwerkError(f"a search tree needs at least 1 node, not {nodes}")
        self.tree: UctTree | None = None
        self._root: Any = None  # State of the tree's root

    def stop(self) -> None:
        """See `Searcher`."""
        self.flag.set()

    def needs(self, state: Any) -> list[Need]:
        """See `Searcher`."""
        tree, scratch = new_tree(1, self.options.keep, 1), _scratch(1)
        own = (scratch.actions, scratch.values, scratch.order, self.options.prior, NOTHING)
        flag = self.flag.raised
        return [
            Need(kernels.outcome, (state,)),
            Need(plant, (tree, state, state, self.evaluator, *own)),
            Need(iterate, (tree, state, self.evaluator, self.options, scratch, 1, 1, flag)),
            Need(answer_edge, (tree, 0)),
        ]

    def search(self, state: Any, limit: Limit, seed: int = 0, on_info: OnInfo | None = None) -> SearchResult:  # noqa: ARG002
        """See `Searcher`. Reports come at doubling numbers of iterations, or `REPORT_S` seconds apart if it is endless.

        Nothing is random, so ``seed`` is ignored.

        A search with a time limit reuses what the last one found, if its position comes two actions later. Other
        searches start over, so that their answer depends on the arguments alone.

        Raises:
            ZugwerkError: the game is over.
        """
        started = time.perf_counter()
        self.flag.clear()
        if kernels.outcome(state)[0]:
            raise ZugwerkError("the game is over: there is nothing to search")
        root = type(state)(*(array.copy() for array in state))
        size = int(kernels.max_actions(state))
        if self.tree is None or self.tree.action.size < self.nodes * self.options.keep + size:
            self.tree = new_tree(self.nodes, self.options.keep, size)
            self.tree.used[:] = 0
        tree, scratch = self.tree, _scratch(size)
        before, self._root = root if self._root is None else self._root, root
        owner = NOTHING if limit.movetime_ms is None else np.empty(self.nodes, np.int32)
        own = (scratch.actions, scratch.values, scratch.order, self.options.prior, owner)
        with self.flag.after(None if limit.movetime_ms is None else searching_seconds(limit.movetime_ms)):
            kept = plant(tree, before, root, self.evaluator, *own)
            until, done = limit.nodes or FOREVER, False
            depth = min(limit.depth or MAX_DEPTH + 1, MAX_DEPTH + 1)
            slices = Slices(FIRST_SLICE, limit.endless)
            while not done:
                upto = min(slices.upto, until)
                end = kept + upto
                iterate(tree, root, self.evaluator, self.options, scratch, end, depth, self.flag.raised)
                done = tree.visits[0] < end or upto == until or tree.branches[0] <= 1
                result = _result(tree, kept, scratch, time.perf_counter() - started)
                if on_info is not None:
                    on_info(result)
                slices.extend()
        return result


def _checked(options: UctOptions) -> UctOptions:
    whole = ("keep", "breadth")
    given = {k: int(v) if k in whole else float(v) for k, v in options._asdict().items()}
    checked = UctOptions(**given)  # type: ignore[arg-type]  # whole numbers and floats, each in its place
    bad = [
        f"{name}={given[name]}"
        for name, low in {"scale": 1e-6, "widen": 1.0, "keep": 1}.items()
        if not given[name] >= low
    ] + [f"{name}={given[name]}" for name in ("c", "prior", "alpha", "breadth") if not given[name] >= 0]
    if not 0 <= checked.minimax <= 1:
        bad.append(f"minimax={checked.minimax}")
    if bad:
        raise ZugwerkError(f"UCT cannot search with {', '.join(bad)}")
    return checked


def _scratch(size: int) -> UctScratch:
    return UctScratch(
        actions=np.empty(size, np.int32),
        values=np.empty(size, np.float32),
        order=np.empty(size, np.int32),
        path=np.empty((MAX_DEPTH, 2), np.int32),
        depth=np.zeros(1, np.int64),
    )


def _result(tree: UctTree, kept: int, scratch: UctScratch, seconds: float) -> SearchResult:
    best = answer_edge(tree, 0)
    line, node = [], 0
    while node >= 0 and (edge := answer_edge(tree, node)) >= 0:
        line.append(int(tree.action[edge]))
        node = int(tree.child[edge])
    return SearchResult(
        action=int(tree.action[best]),
        value=float(tree.worth[best]),
        depth=max(1, int(scratch.depth[0])),
        nodes=int(tree.visits[0]) - kept,
        pv=tuple(line),
        seconds=seconds,
    )

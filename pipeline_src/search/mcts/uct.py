"""UCT guided by an evaluation: the tree (that of `playouts`), the iterations, and the search `Uct`.

UCT is by Kocsis and Szepesvari (2006). Extensions: progressive widening (Coulom, 2007; Chaslot et al., 2008), proven
values (Winands et al., 2008), a share of the minimax value in addition to the mean (Lanctot et al., 2014), priors in
the bound (Rosin, 2011). The subtree below a position is kept as the new tree once the game has come to it: `plant`.
"""

import time
from math import exp, log, sqrt
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import kernels
from pipeline_src.games.rules import copy_state
from pipeline_src.jit import Need, njit
from pipeline_src.search.evaluator import WIN, settle, shortlist
from pipeline_src.search.limits import FOREVER, Limit, OnInfo, SearchResult, Slices, StopFlag, searching_seconds
from pipeline_src.search.mcts.playouts import DEPTH, EDGES, NODES, Floats, Ints, UctTree, new_tree

SURE = WIN / 2
"""A value at least this far from 0 is exact: a win or loss on the board, or one that `settle` has counted."""


class UctOptions(NamedTuple):
    """Options of UCT. The player of the Amazons has its own."""

    c: float = 0.5  # Exploration constant, for win rates in -1..1
    prior: float = 2.0
    """Temperature, in the evaluation's unit, of the prior: the softmax of the one-ply values; 0 is no prior (UCB1)."""
    scale: float = 4.0  # Advantage, in the evaluation's unit, that corresponds to odds of e to 1
    widen: float = 3.0
    """Progressive widening: k in the number k * v^alpha of actions that a node with v visits considers."""
    alpha: float = 0.5  # Progressive widening: the exponent alpha, see `widen`
    minimax: float = 0.5
    """Share of the minimax value in the value of an edge; the rest is the mean of the results below it."""
    keep: int = 48  # Number of actions stored for a node other than the root, the best by one-ply value
    breadth: int = 0
    """Number of likely moves of a node other than the root that are examined (`evaluator.shortlist`); 0 is all."""


@njit(cache=True)
def is_open(worth: float, child: int, closed: npt.NDArray[np.uint8]) -> bool:
    """Whether an edge of this worth and child can still change its value."""
    if abs(worth) >= SURE:
        return False
    return bool(child < 0 or closed[child] == 0)


@njit(cache=True)
def refresh(tree: UctTree, node: int) -> None:
    """Set a node's value and whether it is final from its edges, of which it has at least one.

    The value is the best of the edges that were searched, or of all where none was; a certain loss counts only when
    nothing else is left. That all stored edges are lost proves nothing of the others: the best of those counts then.
    """
    # Loops first take their arrays out of the tree: passing a tuple counts references to all of its arrays.
    worths, children, tries, closed, first = tree.worth, tree.child, tree.tries, tree.closed, tree.first[node]
    reached = first + tree.reached[node]
    searched, unsearched, final = -np.inf, -np.inf, -np.inf
    for edge in range(first, first + tree.branches[node]):
        worth = np.float64(worths[edge])
        if not is_open(worth, children[edge], closed):
            final = max(final, worth)
        elif tries[edge] > 0:
            searched = max(searched, worth)
        else:
            unsearched = max(unsearched, worth)
            if edge >= reached:
                break  # later edges were not tried, and these are in order
    if final > -SURE and searched > -np.inf:
        searched = max(searched, final)
    if final >= SURE:
        tree.value[node], tree.closed[node] = final, 1
    elif searched > -np.inf:
        tree.value[node] = searched
    elif unsearched > -np.inf:
        tree.value[node] = max(unsearched, final)
    else:
        tree.value[node], tree.closed[node] = max(final, tree.rest[node]), 1


@njit(cache=True)
def _better(values: Floats, a: int, b: int) -> bool:
    return values[a] > values[b] or (values[a] == values[b] and a < b)


@njit(cache=True)
def best_first(values: Floats, n: int, keep: int, order: Ints) -> int:
    """Write the places of the ``keep`` largest of n values to ``order``, largest first, the first of equals first.

    Returns how many were written. A heap whose top is the worst of those held: most values meet only that one.
    """
    held = 0
    for i in range(n):
        if held < keep:
            at, held = held, held + 1
            while at > 0 and _better(values, order[(at - 1) // 2], i):
                order[at] = order[(at - 1) // 2]
                at = (at - 1) // 2
            order[at] = i
        elif values[i] > values[order[0]]:
            _sift(values, order, held, i)
    for end in range(held - 1, 0, -1):  # heap sort: the worst goes to the end
        worst, last = order[0], order[end]
        _sift(values, order, end, last)
        order[end] = worst
    return held


@njit(cache=True)
def _sift(values: Floats, heap: Ints, held: int, item: int) -> None:
    """Put ``item`` in the place of the heap's top and restore the order."""
    at = 0
    while True:
        below = 2 * at + 1
        if below >= held:
            break
        if below + 1 < held and _better(values, heap[below], heap[below + 1]):
            below += 1
        if not _better(values, item, heap[below]):
            break
        heap[at] = heap[below]
        at = below
    heap[at] = item


@njit(cache=True)
def expand(
    tree: UctTree,
    state: Any,
    evaluator: Any,
    actions: Ints,
    values: Floats,
    order: Ints,
    keep: int,
    breadth: int,
    temperature: float,
) -> int:
    """Add ``state`` as a node with the best ``keep`` actions of its shortlist; return the node. There must be room.

    ``actions``, ``values`` and ``order`` are scratch with room for all actions. The first node, the root, is ranked
    even where `settle` knows its value: an action is wanted there.
    """
    node, first = tree.used[NODES], tree.used[EDGES]
    tree.used[NODES] += 1
    tree.first[node], tree.branches[node], tree.visits[node], tree.reached[node] = first, 0, 0, 0
    tree.side[node], tree.closed[node], tree.rest[node] = kernels.to_play(state), 1, -np.inf
    if node > 0:
        settled, value = settle(state, evaluator)
        if settled:
            tree.value[node] = value
            return int(node)
    n, looked = shortlist(state, evaluator, breadth, actions, values, WIN)
    if n == 0:
        tree.value[node] = kernels.outcome(state)[1] * WIN
        return int(node)
    held = best_first(values, n, min(keep + 1, n), order)
    if held > keep:
        held = keep
        tree.rest[node] = values[order[keep]]
    elif looked > 0:
        tree.rest[node] = values[order[held - 1]]
    tree.branches[node] = held
    tree.used[EDGES] += held
    total = 0.0
    for i in range(held):
        edge, place = first + i, order[i]
        tree.action[edge], tree.worth[edge] = actions[place], values[place]
        tree.child[edge], tree.tries[edge], tree.total[edge] = -1, 0, 0.0
        tree.prior[edge] = 1.0
        if temperature > 0.0:
            tree.prior[edge] = np.exp((values[place] - values[order[0]]) / temperature)
        total += tree.prior[edge]
    for edge in range(first, first + held):
        tree.prior[edge] /= total
    tree.closed[node] = 0
    refresh(tree, node)
    return int(node)


@njit(cache=True)
def _below(tree: UctTree, state: Any, wanted: Any) -> int:
    """Return the node two actions below the root whose position has the hash ``wanted``, -1 if there is none.

    ``state`` is the root's, changed on the way and restored at the end.
    """
    for edge in range(tree.first[0], tree.first[0] + tree.branches[0]):
        node = tree.child[edge]
        if node < 0:
            continue
        kernels.play(state, tree.action[edge])
        for reply in range(tree.first[node], tree.first[node] + tree.branches[node]):
            found = tree.child[reply]
            if found >= 0:
                kernels.play(state, tree.action[reply])
                same = kernels.position_hash(state) == wanted
                kernels.take_back(state, tree.action[reply])
                if same:
                    kernels.take_back(state, tree.action[edge])
                    return int(found)
        kernels.take_back(state, tree.action[edge])
    return -1


@njit(cache=True)
def _graft(tree: UctTree, top: int, nodes: int, owner: Ints) -> None:
    """Move the subtree of node ``top`` of ``nodes`` to the root, which `expand` has just made.

    Children come after their parents, before and after, so nodes and edges only ever move forward.
    """
    owner[:nodes] = -1
    for old in range(tree.first[top], tree.first[top] + tree.branches[top]):
        for edge in range(tree.branches[0] if tree.tries[old] > 0 else 0):
            if tree.action[edge] == tree.action[old]:
                tree.tries[edge], tree.total[edge] = tree.tries[old], tree.total[old]
                tree.worth[edge], tree.reached[0] = tree.worth[old], max(tree.reached[0], edge + 1)
                tree.visits[0] += tree.tries[old]
                if tree.child[old] >= 0:
                    owner[tree.child[old]] = edge
                break
    kept, used = 1, tree.used[EDGES]
    for node in range(top + 1, nodes):
        if owner[node] < 0:
            continue
        tree.child[owner[node]] = kept
        first, tree.first[kept] = tree.first[node], used
        tree.branches[kept], tree.reached[kept] = tree.branches[node], tree.reached[node]
        tree.visits[kept], tree.side[kept], tree.closed[kept] = tree.visits[node], tree.side[node], tree.closed[node]
        tree.value[kept], tree.rest[kept] = tree.value[node], tree.rest[node]
        for edge in range(first, first + tree.branches[kept]):
            if tree.child[edge] >= 0:
                owner[tree.child[edge]] = used
            tree.action[used], tree.child[used], tree.tries[used] = (
                tree.action[edge],
                tree.child[edge],
                tree.tries[edge],
            )
            tree.total[used], tree.worth[used] = tree.total[edge], tree.worth[edge]
            tree.prior[used] = tree.prior[edge]
            used += 1
        kept += 1
    tree.used[NODES], tree.used[EDGES] = kept, used
    refresh(tree, 0)


@njit(cache=True, nogil=True)
def plant(
    tree: UctTree,
    before: Any,
    state: Any,
    evaluator: Any,
    actions: Ints,
    values: Floats,
    order: Ints,
    temperature: float,
    owner: Ints,
) -> int:
    """Make ``state`` the root, with all its actions so that proofs about it are complete; return the visits it keeps.

    ``before`` is the last root's state: the subtree of a position two actions later is kept. ``owner`` is
    scratch, int32 [N]; without entries nothing is kept.
    """
    nodes, top = tree.used[NODES], -1
    if owner.size > 0 and nodes > 0:
        top = _below(tree, before, kernels.position_hash(state))
    tree.used[:] = 0
    expand(tree, state, evaluator, actions, values, order, actions.size, 0, temperature)
    tree.used[EDGES] = actions.size
    if top >= 0 and tree.closed[0] == 0:
        _graft(tree, top, nodes, owner)
    return int(tree.visits[0])


# The iterations: descend by the bound on the win rate, expand, back up.


MAX_DEPTH = 256  # Largest number of actions in a line. A longer one is not followed further.


class UctScratch(NamedTuple):
    """Scratch space of one search."""

    actions: Ints
    values: Floats
    order: Ints  # [A] each, A = `games.kernels.max_actions`
    path: Ints  # [MAX_DEPTH, 2]: nodes and edges of the current line


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
    tree.used[DEPTH] = max(tree.used[DEPTH], depth)
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
    while tree.visits[0] < until and tree.closed[0] == 0 and tree.used[DEPTH] < depth and flag[0] == 0:
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
        tree, scratch = new_tree(1, self.options.keep + 1), _scratch(1)
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
        root = copy_state(state)
        size = int(kernels.max_actions(state))
        edges = self.nodes * self.options.keep + size
        if self.tree is None or self.tree.action.size < edges:
            self.tree = new_tree(self.nodes, edges)
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
                result = _result(tree, kept, time.perf_counter() - started)
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
    )


def _result(tree: UctTree, kept: int, seconds: float) -> SearchResult:
    best = answer_edge(tree, 0)
    line, node = [], 0
    while node >= 0 and (edge := answer_edge(tree, node)) >= 0:
        line.append(int(tree.action[edge]))
        node = int(tree.child[edge])
    return SearchResult(
        action=int(tree.action[best]),
        value=float(tree.worth[best]),
        depth=max(1, int(tree.used[DEPTH])),
        nodes=int(tree.visits[0]) - kept,
        pv=tuple(line),
        seconds=seconds,
    )

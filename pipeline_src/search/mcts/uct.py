"""`Uct`: the search of `uct_run` with the interface that all searches share."""

import time
from typing import Any

import numpy as np

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import kernels
from pipeline_src.jit import Need
from pipeline_src.search.limits import Limit, OnInfo, SearchResult, Slices, StopFlag, searching_seconds
from pipeline_src.search.mcts.uct_run import MAX_DEPTH, UctScratch, answer_edge, iterate
from pipeline_src.search.mcts.uct_tree import UctOptions, UctTree, new_tree, plant

FIRST_SLICE = 32
"""Iterations before the first report. Each further report doubles their number."""
FOREVER = (1 << 31) - 1
NOTHING = np.empty(0, np.int32)
"""Scratch of a search that keeps nothing of the last one's tree."""


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
        self._root: Any = None
        """State of the tree's root."""

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

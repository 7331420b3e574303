"""`PuctTrees`: the forest with its states and its evaluator, as self-play and players use it."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import kernels
from pipeline_src.search.mcts.batches import row, stack
from pipeline_src.search.mcts.puct_forest import Forest, PuctOptions, new_forest, new_leaves
from pipeline_src.search.mcts.puct_kernels import expand_and_back_up, select

EvaluateBatch = Callable[
    [Any, npt.NDArray[np.int32], npt.NDArray[np.int32]], tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]
]
"""(stacked states [B], their legal steps int32 [B, S], their numbers int32 [B]) -> (priors float32 [B, S] of those
steps, each row's first so many summing to 1, values float32 [B] in -1..1 to the side to move)."""


class PuctTrees:
    """G searches in lock step: what one finds depends on nothing of the others, if the evaluator's rows do not."""

    def __init__(
        self,
        state: Any,
        trees: int,
        evaluate_batch: EvaluateBatch,
        options: PuctOptions | None = None,
        nodes: int = 1024,
        edges: int | None = None,
        per_tree: int = 1,
    ) -> None:
        """Room for ``trees`` searches from states shaped as ``state``.

        Args:
            state: any state of the game and board size.
            trees: G.
            evaluate_batch: the net, or what stands for it.
            options: the formula's constants.
            nodes: of each tree; a full tree is searched on, but grows no more.
            edges: of each tree, None for 64 a node (and room for one position at least).
            per_tree: leaves of a tree in a batch; 1 is the sequential algorithm.

        Raises:
            ZugwerkError: a number below 1.
        """
        if min(trees, nodes, per_tree) < 1:
            raise ZugwerkError(f"PUCT needs trees, nodes and leaves of at least 1, not {trees}, {nodes}, {per_tree}")
        self.count = trees
        steps = int(kernels.max_steps(state))
        self.options = _checked(options or PuctOptions())
        self.evaluate_batch, self.per_tree = evaluate_batch, per_tree
        self.forest: Forest = new_forest(trees, nodes, max(steps, 64 * nodes if edges is None else edges))
        self.roots = stack(state, trees)
        self._states = stack(state, trees * per_tree)
        self._leaves = new_leaves(trees * per_tree, steps)

    def plant(self, g: int, state: Any) -> None:
        """Begin tree g anew at an unfinished position, which is copied.

        Raises:
            ZugwerkError: the game is over there.
        """
        if kernels.outcome(state)[0]:
            raise ZugwerkError("the game is over: there is nothing to search")
        kernels.copy_into(state, row(self.roots, g))
        for counter in (self.forest.root, self.forest.nodes, self.forest.edges, self.forest.done):
            counter[g] = 0

    def advance(self, g: int, step: int) -> None:
        """Play a step at the root of tree g and go on in what was searched below it; its simulations count from 0.

        The rest of the tree keeps its room until the next `plant`.
        """
        forest = self.forest
        first = forest.first[g, forest.root[g]]
        edge = first + int(np.flatnonzero(self.steps(g) == step)[0])
        child = int(forest.child[g, edge])
        kernels.play_step(row(self.roots, g), step)
        if child < 0:
            self.plant(g, row(self.roots, g))
        else:
            forest.root[g], forest.done[g] = child, 0

    def simulate(self, targets: npt.NDArray[np.int32], flag: npt.NDArray[np.uint8] | None = None) -> None:
        """Search until each tree has had ``targets`` int32 [G] simulations since `plant` or `advance`, or ``flag``.

        Trees of target -1 rest. The flag, uint8 [1], is looked at between two batches and two simulations.
        """
        flag = np.zeros(1, np.uint8) if flag is None else flag
        while self.round(targets, flag):
            pass

    def round(self, targets: npt.NDArray[np.int32], flag: npt.NDArray[np.uint8]) -> int:
        """One batch of `simulate`; return how many positions the evaluator saw."""
        n = int(select(self.forest, self.roots, targets, self.options, self.per_tree, self._states, self._leaves, flag))
        if n:
            states = type(self._states)(*(array[:n] for array in self._states))
            priors, values = self.evaluate_batch(states, self._leaves.steps[:n], self._leaves.counts[:n])
            expand_and_back_up(self.forest, self._states, self._leaves, n, priors, values)
        return n

    def steps(self, g: int) -> npt.NDArray[np.int32]:
        """The legal steps at the root of tree g, int32 [A]; none before the root is evaluated."""
        return self.forest.step[g, self._root_edges(g)]

    def visits(self, g: int) -> npt.NDArray[np.int32]:
        """Visit counts of those steps, int32 [A]."""
        return self.forest.tries[g, self._root_edges(g)]

    def q(self, g: int) -> npt.NDArray[np.float64]:
        """Mean values of those steps to the root's side, float64 [A]; NaN without visits."""
        edges, tries = self._root_edges(g), self.visits(g)
        found = np.full(len(tries), np.nan)
        np.divide(self.forest.worth[g, edges], tries, out=found, where=tries > 0)
        return found

    def priors(self, g: int) -> npt.NDArray[np.float32]:
        """Priors of those steps, float32 [A], noise included."""
        return self.forest.prior[g, self._root_edges(g)]

    def add_noise(self, g: int, rng: np.random.Generator, alpha: float, fraction: float) -> None:
        """Mix Dirichlet noise into the root's priors (Silver et al., 2018): before the simulations, the root evaluated.

        ``alpha`` is of each step, e.g. 10 / (usual number of legal steps); ``fraction`` of the prior is replaced.
        """
        edges = self._root_edges(g)
        noise = rng.dirichlet(np.full(edges.stop - edges.start, alpha))
        self.forest.prior[g, edges] = (1 - fraction) * self.forest.prior[g, edges] + fraction * noise

    def value(self, g: int) -> float:
        """Mean value of the root to its side to move."""
        root = self.forest.root[g]
        return float(self.forest.total[g, root] / self.forest.visits[g, root])

    def best(self, g: int) -> int:
        """Place among the root's steps of the most visited, of equals that of the largest sum of values."""
        edges = self._root_edges(g)
        return most_visited(self.forest.tries[g, edges], self.forest.worth[g, edges])

    def likeliest(self, g: int) -> int:
        """The root's step of the largest prior, the first of equals."""
        return int(self.steps(g)[np.argmax(self.priors(g))])

    def line(self, g: int) -> list[int]:
        """The most visited steps from the root on, to the first that has no visits."""
        found, node = [], int(self.forest.root[g])
        while node >= 0 and self.forest.branches[g, node]:
            first = int(self.forest.first[g, node])
            edges = slice(first, first + int(self.forest.branches[g, node]))
            if not self.forest.tries[g, edges].any():
                break
            edge = first + most_visited(self.forest.tries[g, edges], self.forest.worth[g, edges])
            found.append(int(self.forest.step[g, edge]))
            node = int(self.forest.child[g, edge])
        return found

    def _root_edges(self, g: int) -> slice:
        if self.forest.nodes[g] == 0:
            return slice(0, 0)
        root = self.forest.root[g]
        first = int(self.forest.first[g, root])
        return slice(first, first + int(self.forest.branches[g, root]))


def most_visited(tries: npt.NDArray[np.int32], worth: npt.NDArray[np.float64]) -> int:
    """Place of the largest visit count; of equal ones that of the largest sum of values, then the first."""
    most = np.flatnonzero(tries == tries.max())
    return int(most[np.argmax(worth[most])])


def sample_step(
    steps: npt.NDArray[np.int32], visits: npt.NDArray[np.int32], rng: np.random.Generator, temperature: float = 1.0
) -> int:
    """A step with probability proportional to visits^(1 / temperature), temperature above 0."""
    weights = (visits / visits.max()) ** (1.0 / temperature)
    return int(rng.choice(steps, p=weights / weights.sum()))


def _checked(options: PuctOptions) -> PuctOptions:
    c, c_base, fpu = float(options.c), float(options.c_base), float(options.fpu)
    if not np.isfinite([c, c_base, fpu]).all() or min(c, c_base) < 0:
        raise ZugwerkError(f"PUCT cannot search with c={options.c}, c_base={options.c_base}, fpu={options.fpu}")
    return PuctOptions(c, c_base, fpu, bool(options.fpu_absolute))

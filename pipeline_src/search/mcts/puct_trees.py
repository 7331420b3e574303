"""`PuctTrees`: a forest with its states and its evaluator, for self-play and players."""

from collections.abc import Callable, Generator
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import kernels
from pipeline_src.games.kernels import row, stack
from pipeline_src.jit import Need, njit
from pipeline_src.search.mcts.puct import (
    DRAWN,
    LOST,
    UNKNOWN,
    UNPROVEN,
    WON,
    Doubles,
    Floats,
    Forest,
    Ints,
    PuctOptions,
    fullest,
    new_forest,
    new_waiting,
    play_out,
    play_round,
    play_steps,
)

Answer = tuple[Floats, Floats]
EvaluateBatch = Callable[[Any, Ints, Ints], Answer]
"""(stacked states [B], their legal steps int32 [B, S], their numbers int32 [B]) -> (priors float32 [B, S] of those
steps, each row's first so many summing to 1, values float32 [B] in -1..1 to the side to move)."""


class RootTable(NamedTuple):
    """The roots of G trees, 0 past a row's number of steps; the arrays are the caller's."""

    steps: Ints  # [G, S]: the legal steps
    visits: Ints  # [G, S]
    worths: Doubles  # [G, S]: sums of the values, to the root's side: Q times visits
    priors: Floats  # [G, S], noise included
    counts: Ints  # [G]: number of steps; 0 before the root is evaluated


@njit(cache=True, nogil=True)
def write_roots(
    forest: Forest, roots: Any, steps: Ints, visits: Ints, worths: Doubles, priors: Floats, counts: Ints
) -> None:
    """Fill the arrays of a `RootTable`, which hold zeros."""
    for g in range(counts.size):
        if forest.used_nodes[g] == 0:
            continue
        root, edges = forest.nodes[g, 0], forest.edges[g]
        counts[g] = kernels.write_steps(row(roots, g), steps[g])
        bits = forest.priors[g, 0].view(np.float32)
        steps[g, counts[g] :] = 0
        for i in range(counts[g]):
            priors[g, i] = abs(bits[i])
        for edge in range(root.first, root.first + root.edges):
            place = edges[edge].place
            visits[g, place], worths[g, place] = edges[edge].tries, edges[edge].worth


class Leaves(NamedTuple):
    """Positions that wait for the evaluator, as `EvaluateBatch` takes them: views, which the next round overwrites."""

    states: Any  # Stacked states [B]
    steps: Ints  # [B, S]: the legal steps; what follows them is undefined
    counts: Ints  # [B]: number of legal steps


Result = TypeVar("Result")


def answer_all(search: Generator[Leaves, Answer, Result], evaluate_batch: EvaluateBatch) -> Result:
    """Run a search that yields its leaves to the end."""
    try:
        leaves = next(search)
        while True:
            leaves = search.send(evaluate_batch(*leaves))
    except StopIteration as ended:
        result: Result = ended.value
        return result
    except BaseException:  # Ctrl-C too
        search.close()
        raise


class PuctTrees:
    """G searches in lock step, each independent of the others if the rows of the evaluator are.

    `simulate` is the whole search. A caller with an asynchronous evaluator (a GPU) uses two `PuctTrees`, and continues
    the `rounds` of one (or calls its `leaves` and `absorb`) while the evaluator works on the leaves of the other. The
    trees are the same either way.
    """

    def __init__(
        self,
        state: Any,
        trees: int,
        evaluate_batch: EvaluateBatch,
        options: PuctOptions | None = None,
        nodes: int = 1024,
        per_tree: int = 1,
    ) -> None:
        """Allocate ``trees`` searches for states like ``state``.

        Args:
            state: any state of the game and board size.
            trees: G.
            evaluate_batch: the net, or a substitute. If it has a method ``inside``, that gives the
                net for a state as arguments of a kernel (`puct.evaluate`), and searches run whole in compiled
                code, one tree after the other.
            options: constants of the formula.
            nodes: capacity of each tree, including nodes kept by `advance`. A full tree is searched on, but grows
                no more, or with ``options.prune`` where the search goes.
            per_tree: leaves of a tree in a batch; 1 is the sequential algorithm.

        Raises:
            ZugwerkError: a number is below 1.
        """
        if min(trees, nodes, per_tree) < 1:
            raise ZugwerkError(f"PUCT needs trees, nodes and leaves of at least 1, not {trees}, {nodes}, {per_tree}")
        self.count, self.nodes = trees, nodes
        steps, most = int(kernels.max_steps(state)), trees * per_tree
        self.options = checked(options or PuctOptions())
        self.evaluate_batch, self.per_tree = evaluate_batch, per_tree
        inside = getattr(evaluate_batch, "inside", None)
        self.net = None if inside is None else inside(state)
        self.forest: Forest = new_forest(trees, nodes, steps, self.options.share)
        self.roots = stack(state, trees)
        self._states = stack(state, most)
        self._waiting, self._spare = (new_waiting(most, steps) for _ in range(2))
        self._asked = 0

    def needs(self, tables: bool = False) -> list[Need]:
        """Return the kernels that searches call, and with ``tables`` that of `table`."""
        state, ints = row(self.roots, 0), np.empty(1, np.int32)
        found = [
            Need(kernels.outcome, (state,)),
            Need(kernels.max_steps, (state,)),
            Need(kernels.copy_into, (state, state)),
            Need(kernels.write_steps, (state, ints)),
            Need(play_round, self._arguments(ints, None, None, *_NO_ANSWER))
            if self.net is None
            else Need(play_out, self._inner_arguments(ints, None, None)),
            Need(play_steps, (self.forest, self.roots, ints, ints)),
            Need(fullest, (self.forest, 0, 0)),
        ]
        if tables:
            one = np.empty((1, 1), np.int32)
            table = RootTable(one, one, np.empty((1, 1)), np.empty((1, 1), np.float32), ints)
            found.append(Need(write_roots, (self.forest, self.roots, *table)))
        return found

    def plant(self, g: int, state: Any) -> None:
        """Reset tree g to an unfinished position, which is copied.

        Raises:
            ZugwerkError: the game is over there, its board has another size, or leaves wait for the evaluator.
        """
        self._settled()
        if any(array.shape != there.shape[1:] for array, there in zip(state, self.roots, strict=True)):
            raise ZugwerkError("positions searched together need boards of one size")
        if kernels.outcome(state)[0]:
            raise ZugwerkError("the game is over: there is nothing to search")
        kernels.copy_into(state, row(self.roots, g))
        self._empty(g)

    def advance(self, g: int, step: int) -> None:
        """Play a step as `advance_all` does, in tree g only."""
        if step < 0:
            raise ZugwerkError(f"step {step} is not legal at the root of tree {g}")
        played = np.full(self.count, -1, np.int32)
        played[g] = step
        self.advance_all(played)

    def advance_all(self, steps: Ints) -> None:
        """Play legal steps, int32 [G], at the roots and keep the trees below them; simulations count from 0.

        Trees with step -1 are not changed. The rest of each tree is freed. A tree is not searched further if the game
        is over after the step.

        Raises:
            ZugwerkError: a step is illegal (no tree is changed), or leaves wait for the evaluator.
        """
        self._settled()
        wrong = play_steps(self.forest, self.roots, steps, self._spare.steps[0])
        if wrong >= 0:
            raise ZugwerkError(f"step {steps[wrong]} is not legal at the root of tree {wrong}")

    def simulate(
        self,
        targets: Ints,
        flag: npt.NDArray[np.uint8] | None = None,
        forced: Ints | None = None,
    ) -> None:
        """Search until each tree has had ``targets``, int32 [G], simulations since `plant` or `advance`.

        Trees with target -1 rest. The search ends early if ``flag``, uint8 [1], is set, which is checked between
        simulations. Simulation k of tree g begins with the root's step at place ``forced[g, k]``, int32 [G, K], unless
        that is negative.
        """
        answer_all(self.rounds(targets, flag, forced), self.evaluate_batch)

    def rounds(
        self, targets: Ints, flag: npt.NDArray[np.uint8] | None = None, forced: Ints | None = None
    ) -> Generator[Leaves, Answer, None]:
        """`simulate` as a generator that yields leaves and receives the evaluator's answers.

        With an evaluator that is a kernel, it searches to the end and yields nothing.
        """
        if self.net is not None:
            self._settled()
            play_out(*self._inner_arguments(targets, flag, forced))
            return
        leaves = self.leaves(targets, flag, forced)
        while len(leaves.counts):
            try:
                priors, values = yield leaves
            except GeneratorExit:  # no answer will come
                self._asked = 0
                self.clear()
                raise
            leaves = self.exchange(priors, values, targets, flag, forced)

    def leaves(self, targets: Ints, flag: npt.NDArray[np.uint8] | None = None, forced: Ints | None = None) -> Leaves:
        """Run one round of `simulate` up to the evaluator; return the positions to evaluate, none if all is done.

        Raises:
            ZugwerkError: earlier leaves still wait for the evaluator.
        """
        self._settled()
        return self._round(targets, flag, forced, *_NO_ANSWER)

    def absorb(self, priors: Floats, values: Floats) -> None:
        """Process the evaluator's answer to the last `leaves`: arrays as `EvaluateBatch` returns them.

        Raises:
            ZugwerkError: a leaf has no answer, or an answer is not a number.
        """
        self._round(np.full(self.count, -1, np.int32), None, None, priors, values)

    def exchange(
        self,
        priors: Floats,
        values: Floats,
        targets: Ints,
        flag: npt.NDArray[np.uint8] | None = None,
        forced: Ints | None = None,
    ) -> Leaves:
        """`absorb` and `leaves` in one pass over the trees, which is faster."""
        return self._round(targets, flag, forced, priors, values)

    def _round(
        self, targets: Ints, flag: npt.NDArray[np.uint8] | None, forced: Ints | None, priors: Floats, values: Floats
    ) -> Leaves:
        asked = self._asked
        if len(priors) != asked or len(values) != asked or not np.isfinite(values).all():
            raise ZugwerkError(
                f"the evaluator gave {len(priors)} rows of priors and {len(values)} values for {asked} positions"
                if np.isfinite(values).all()
                else "the evaluator gave values that are not numbers: its net has diverged"
            )
        self._waiting, self._spare = self._spare, self._waiting
        n = self._asked = play_round(*self._arguments(targets, flag, forced, priors, values))
        states = type(self._states)(*(array[:n] for array in self._states))
        return Leaves(states, self._waiting.steps[:n], self._waiting.counts[:n])

    def _arguments(
        self, targets: Ints, flag: npt.NDArray[np.uint8] | None, forced: Ints | None, priors: Floats, values: Floats
    ) -> tuple[Any, ...]:
        """Return the arguments of `play_round`."""
        bits = np.ascontiguousarray(priors, np.float32).view(np.int32)
        return (
            *(self.forest, self.roots, self.options, self.nodes, self.per_tree),
            self._spare._replace(priors=bits, values=np.ascontiguousarray(values, np.float32)),
            *(self._asked, targets, _FREE if forced is None else forced, _DOWN if flag is None else flag),
            *(self._waiting, self._states),
        )

    def _inner_arguments(
        self, targets: Ints, flag: npt.NDArray[np.uint8] | None, forced: Ints | None
    ) -> tuple[Any, ...]:
        """Return the arguments of `play_out`."""
        return (
            *(self.net, self.forest, self.roots, self.options, self.nodes, self.per_tree, targets),
            *(_FREE if forced is None else forced, _DOWN if flag is None else flag, self._waiting, self._states),
        )

    def steps(self, g: int) -> Ints:
        """The legal steps at the root of tree g, int32 [A]; none before the root is evaluated."""
        if self.forest.used_nodes[g] == 0:
            return np.zeros(0, np.int32)
        steps = np.empty(self.forest.priors.shape[2], np.int32)
        return steps[: kernels.write_steps(row(self.roots, g), steps)]

    def visits(self, g: int) -> Ints:
        """Visit counts of those steps, int32 [A]."""
        return self._by_place(g, "tries", np.zeros(self._branches(g), np.int32))

    def q(self, g: int) -> npt.NDArray[np.float64]:
        """Mean values of those steps to the root's side, float64 [A]; NaN without visits."""
        worth = self._by_place(g, "worth", np.zeros(self._branches(g)))
        tries, found = self.visits(g), np.full(len(worth), np.nan)
        np.divide(worth, tries, out=found, where=tries > 0)
        return found

    def priors(self, g: int) -> Floats:
        """Priors of those steps, float32 [A], noise included."""
        return np.abs(self.forest.priors[g, 0, : self._branches(g)].view(np.float32))

    def add_noise(self, g: int, rng: np.random.Generator, alpha: float, fraction: float) -> None:
        """Mix Dirichlet noise into the root's priors (Silver et al., 2018): before the simulations, the root evaluated.

        ``alpha`` is of each step, e.g. 10 / (usual number of legal steps); ``fraction`` of the prior is replaced.
        """
        count = self._branches(g)
        noise = rng.dirichlet(np.full(count, alpha))
        self._set_priors(g, ((1 - fraction) * self.priors(g) + fraction * noise).astype(np.float32))

    def _set_priors(self, g: int, priors: Floats) -> None:
        tried, root = self._root_edges(g), self.forest.nodes[g, 0]
        tried["prior"] = priors[tried["place"]]
        signed = priors.copy()
        signed[tried["place"]] = -priors[tried["place"]]
        self.forest.priors[g, 0, : len(priors)] = signed.view(np.int32)
        root["seen"] = tried["prior"].sum(dtype=np.float64)
        root["next"] = UNKNOWN

    def table(self) -> RootTable:
        """Return the statistics of all roots."""
        steps, visits = np.zeros((2, *self.forest.priors[:, 0].shape), np.int32)
        table = RootTable(
            steps, visits, np.zeros(steps.shape), np.zeros(steps.shape, np.float32), np.zeros(self.count, np.int32)
        )
        write_roots(self.forest, self.roots, *table)
        return table

    def value(self, g: int) -> float:
        """Return the mean value of the root to its side to move, or the proven one."""
        root = self.forest.nodes[g, 0]
        if self.proven(g):
            return float(root["proof"]) - DRAWN
        return float(root["total"] / root["visits"])

    def proven(self, g: int) -> bool:
        """Whether the root's result is proven; see `PuctOptions.solve`."""
        return bool(self.forest.nodes[g, 0]["proof"] != UNPROVEN)

    def raw_value(self, g: int) -> float:
        """Return the evaluator's value of the root."""
        return float(self.forest.nodes[g, 0]["value"])

    def best(self, g: int) -> int:
        """Return the place of the root's best step, by default the most visited one (`PuctOptions.caution`).

        With proven results, a winning step comes first and a losing one last. If no other step has visits, it is the
        likeliest of those without.
        """
        edge = self._best_edge(g, 0, self._root_edges(g))
        signed = self.forest.priors[g, 0, : self._branches(g)].view(np.float32)
        return int(np.argmax(signed) if edge is None else edge["place"])

    def likeliest(self, g: int) -> int:
        """Return the root's step with the largest prior, the first of equals."""
        return int(self.steps(g)[np.argmax(self.priors(g))])

    def line(self, g: int) -> list[int]:
        """Return the steps of `best` from the root on, up to the first without visits."""
        return self._line_from(g, 0) if self.forest.used_nodes[g] else []

    def lines(self, g: int, most: int) -> list[tuple[list[int], float, int]]:
        """Return (line, mean or proven value to the root's side, visits) of the root's ``most`` best steps.

        The step of `best` comes first, and then the most visited ones; steps without visits are left out.
        """
        tried, nodes, best = np.sort(self._root_edges(g), order="place"), self.forest.nodes[g], self.best(g)
        order = np.lexsort((-tried["worth"], -tried["tries"], tried["place"] != best))
        found = []
        for edge in tried[order[:most]]:
            child = int(edge["child"])
            sign = 1 if nodes[child]["side"] == nodes[0]["side"] else -1
            proof = nodes[child]["proof"]
            value = float(edge["worth"] / edge["tries"]) if proof == UNPROVEN else sign * (float(proof) - DRAWN)
            line = [int(edge["step"]), *self._line_from(g, child)]
            found.append((line, value, int(edge["tries"])))
        return found

    def _line_from(self, g: int, node: int) -> list[int]:
        found = list[int]()
        while True:
            node = int(fullest(self.forest, g, node))
            edge = self._best_edge(g, node, self._edges_of(g, node))
            if edge is None:
                return found
            found.append(int(edge["step"]))
            node = int(edge["child"])

    def _best_edge(self, g: int, node: int, tried: npt.NDArray[Any]) -> Any:
        """Return the best of a node's tried edges, None if a step without one is better; see `best`."""
        tried, nodes = np.sort(tried, order="place"), self.forest.nodes[g]
        below = nodes[tried["child"]]
        same = below["side"] == nodes[node]["side"]
        wins, loses = (below["proof"] == np.where(same, *of) for of in ((WON, LOST), (LOST, WON)))
        if not len(tried) or (loses.all() and (self.forest.priors[g, node, : nodes[node]["count"]] >= 0).any()):
            return None
        chosen = tried[wins] if wins.any() else tried[~loses] if not loses.all() else tried
        return chosen[best_of(chosen["tries"], chosen["worth"], self.options.caution)]

    def _branches(self, g: int) -> int:
        return int(self.forest.nodes[g, 0]["count"]) if self.forest.used_nodes[g] else 0

    def _root_edges(self, g: int) -> npt.NDArray[Any]:
        """EDGE records of the root's tried steps, a view."""
        return self._edges_of(g, 0) if self.forest.used_nodes[g] else self.forest.edges[g, :0]

    def _edges_of(self, g: int, node: int) -> npt.NDArray[Any]:
        first = int(self.forest.nodes[g, node]["first"])
        return self.forest.edges[g, first : first + int(self.forest.nodes[g, node]["edges"])]

    def _by_place(self, g: int, name: str, found: npt.NDArray[Any]) -> npt.NDArray[Any]:
        tried = self._root_edges(g)
        found[tried["place"]] = tried[name]
        return found

    def clear(self) -> None:
        """Empty all trees; each needs `plant` before its next search."""
        for g in range(self.count):
            self._empty(g)

    def _empty(self, g: int) -> None:
        for counter in (self.forest.used_nodes, self.forest.used_edges, self.forest.done):
            counter[g] = 0

    def _settled(self) -> None:
        if self._asked:
            raise ZugwerkError(f"{self._asked} positions wait for the evaluator: absorb its answer first")


_NO_ANSWER = np.zeros((0, 0), np.float32), np.zeros(0, np.float32)
_FREE = np.zeros((0, 0), np.int32)
_DOWN = np.zeros(1, np.uint8)


LEAST_SHARE = 0.1  # With caution, the least visits of the best step as a share of those of the most visited one


def best_of(tries: Ints, worth: npt.NDArray[np.float64], caution: float) -> int:
    """Return the place of the best of some steps, see `PuctOptions.caution`.

    Of the most visited ones it is that with the largest sum of values; further ties go to the first.
    """
    if caution > 0.0:
        seen = np.flatnonzero(tries >= max(1.0, LEAST_SHARE * tries.max()))
        return int(seen[np.argmax(worth[seen] / tries[seen] - caution / np.sqrt(tries[seen]))])
    most = np.flatnonzero(tries == tries.max())
    return int(most[np.argmax(worth[most])])


def sample_step(steps: Ints, visits: Ints, rng: np.random.Generator, temperature: float = 1.0) -> int:
    """Draw a step with probability proportional to visits^(1 / temperature); the temperature is above 0."""
    weights = (visits / visits.max()) ** (1.0 / temperature)
    return int(rng.choice(steps, p=weights / weights.sum()))


def checked(options: PuctOptions) -> PuctOptions:
    """Return the options as numbers of the kernel's types.

    Raises:
        ZugwerkError: an option is out of range.
    """
    c, c_base, fpu, caution = (float(value) for value in (options.c, options.c_base, options.fpu, options.caution))
    if not np.isfinite([c, c_base, fpu, caution]).all() or min(c, c_base, caution) < 0:
        raise ZugwerkError(f"PUCT cannot search with c={c}, c_base={c_base}, fpu={fpu}, caution={caution}")
    flags = options.fpu_absolute, options.own_visit, options.solve, options.share, options.prune
    return PuctOptions(c, c_base, fpu, caution, *map(bool, flags))

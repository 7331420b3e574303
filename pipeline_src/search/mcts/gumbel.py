"""Gumbel search at the root, for small numbers of simulations (Danihelka et al., 2022).

'Policy improvement by planning with Gumbel', ICLR 2022. The m steps of the greatest g + logits are considered, with g
from the Gumbel distribution (Gumbel-Top-k, equations 3 to 5); sequential halving divides the simulations among them
(algorithm 2); the remaining step with the greatest g + logits + sigma(Q) is played. Below the root the trees search
with PUCT: the paper's action selection at inner nodes (section 5) is left out.
"""

from collections.abc import Generator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.search.mcts.puct import Doubles, Floats, Ints
from pipeline_src.search.mcts.puct_trees import Answer, Leaves, PuctTrees, RootTable, answer_all

TINY = float(np.finfo(np.float32).tiny)


class GumbelFound(NamedTuple):
    """The result of a search of K trees."""

    steps: Ints  # [K]: the steps to play
    legal: Ints  # [K, S]: the legal steps, `counts` of them
    policies: Floats
    """[K, S]: the improved policy of those steps (equation 11), 0 past a row's number: the target of the policy."""
    counts: Ints  # [K]
    values: Doubles  # [K]: mean values of the roots to their sides to move


def halvings(considered: int, simulations: int) -> list[tuple[int, int]]:
    """Sequential halving of at least one step: (steps, simulations) of each phase, the steps' visits differing by 1.

    Karnin et al. (2013), 'Almost optimal exploration in multi-armed bandits', as `mctx` has it: the last two steps
    share the rest, so that all simulations are used.
    """
    if considered == 1:
        return [(1, simulations)]
    phases, left, most = [], simulations, considered
    rounds = (considered - 1).bit_length()
    while left > 0:
        part = min(left, most * max(1, simulations // (rounds * most)))
        phases.append((most, part))
        left, most = left - part, max(2, most // 2)
    return phases


def mixed_values(table: RootTable, values: Doubles) -> Doubles:
    """v_mix [K] (appendix D): the net's own values [K] mixed with the Q of visited steps, weighted by their priors."""
    tried = table.visits > 0
    weights = np.where(tried, np.maximum(table.priors, TINY), 0.0)
    q = np.divide(table.worths, table.visits, out=np.zeros_like(table.worths), where=tried)
    many, mass = table.visits.sum(axis=1), weights.sum(axis=1)
    mean = np.divide((weights * q).sum(axis=1), mass, out=np.zeros_like(mass), where=mass > 0)
    mixed: Doubles = (values + many * mean) / (1 + many)
    return mixed


def completed(table: RootTable, values: Doubles) -> Doubles:
    """Return Q of every step [K, S] (equation 10): v_mix for steps without visits."""
    mixed = np.repeat(mixed_values(table, values)[:, None], table.visits.shape[1], axis=1)
    return np.divide(table.worths, table.visits, out=mixed, where=table.visits > 0)


def rescaled(q: Doubles, counts: Ints) -> Doubles:
    """Rescale Q [K, S] of each row's first counts [K] steps linearly to 0..1; equal values become 0.

    As in `mctx`: sigma then depends on which step is better, and not on how far the game is decided or on how much the
    values differ so far.
    """
    legal = np.arange(q.shape[1]) < counts[:, None]
    least = np.where(legal, q, np.inf).min(axis=1, keepdims=True, initial=np.inf)
    most = np.where(legal, q, -np.inf).max(axis=1, keepdims=True, initial=-np.inf)
    found: Doubles = np.divide(q - least, most - least, out=np.zeros_like(q), where=legal & (most > least))
    return found


class GumbelTrees:
    """Gumbel search of the roots of `PuctTrees`."""

    def __init__(
        self,
        trees: PuctTrees,
        considered: int = 16,
        simulations: int = 32,
        c_visit: float = 50.0,
        c_scale: float = 1.0,
        rescale: bool = False,
    ) -> None:
        """Set the options.

        Args:
            trees: the trees to search; the caller plants and advances them.
            considered: m, the number of steps of a root that are considered.
            simulations: simulations of each search, at least 1. At most as many steps are considered.
            c_visit: sigma(Q) = (c_visit + most visits of a step) * c_scale * Q (equation 8).
            c_scale: see ``c_visit``. Q is in -1..1.
            rescale: whether Q is `rescaled` first; c_scale is then about 0.1.

        Raises:
            ZugwerkError: a number is out of range.
        """
        if min(considered, simulations) < 1 or not np.isfinite([c_visit, c_scale]).all() or min(c_visit, c_scale) < 0:
            raise ZugwerkError(
                f"Gumbel search needs considered steps and simulations of at least 1 and scales of at least 0, "
                f"not {considered}, {simulations}, {c_visit}, {c_scale}"
            )
        self.trees, self.considered, self.simulations = trees, considered, simulations
        self.c_visit, self.c_scale, self.rescale = float(c_visit), float(c_scale), rescale

    def search(
        self,
        gs: Sequence[int],
        rngs: Sequence[np.random.Generator | None] | None = None,
        flag: npt.NDArray[np.uint8] | None = None,
    ) -> GumbelFound:
        """Search the trees ``gs``, which have unfinished positions; the others rest.

        Args:
            gs: K trees.
            rngs: generators of the noise, None for a tree without; None for a deterministic search, as in matches.
            flag: uint8 [1]; when it is set, the search ends with the result so far.
        """
        return answer_all(self.rounds(gs, rngs, flag), self.trees.evaluate_batch)

    def rounds(
        self,
        gs: Sequence[int],
        rngs: Sequence[np.random.Generator | None] | None = None,
        flag: npt.NDArray[np.uint8] | None = None,
    ) -> Generator[Leaves, Answer, GumbelFound]:
        """`search` as a generator that yields leaves and receives the evaluator's answers."""
        trees, rows = self.trees, np.asarray(gs, np.int64)
        targets = np.full(trees.count, -1, np.int32)
        targets[rows] = 0
        yield from trees.rounds(targets)
        table = self._table(rows)
        if not table.counts.all():
            raise ZugwerkError("the game is over: there is nothing to search")
        legal = np.arange(table.steps.shape[1]) < table.counts[:, None]
        logits = np.where(legal, np.log(np.maximum(table.priors, TINY)), -np.inf)
        noise = np.zeros(logits.shape)
        for i, rng in enumerate(rngs or ()):
            if rng is not None:
                noise[i, : table.counts[i]] = rng.gumbel(size=table.counts[i])
        own = trees.forest.nodes["value"][rows, 0].astype(np.float64)
        order = np.argsort(-(noise + logits), axis=1, kind="stable")
        plans = [halvings(min(self.considered, self.simulations, int(n)), self.simulations) for n in table.counts]
        begun = trees.forest.done[rows]
        forced = np.full((trees.count, int(begun.max(initial=0)) + self.simulations), -1, np.int32)
        for phase in range(max((len(plan) for plan in plans), default=0)):
            for i, g in enumerate(rows):
                if phase < len(plans[i]):
                    most, part = plans[i][phase]
                    forced[g, begun[i] : begun[i] + part] = np.resize(order[i, :most], part)
                    begun[i] += part
            targets[rows] = begun
            yield from trees.rounds(targets, flag, forced)
            table = self._table(rows)
            scores = noise + logits + self._sigma(table, own)
            for i, plan in enumerate(plans):
                if phase < len(plan):
                    left = order[i, : plan[phase][0]]
                    order[i, : len(left)] = left[np.argsort(-scores[i, left], kind="stable")]
        found = table.steps[np.arange(len(rows)), order[:, 0]]
        policies = _softmax(logits + self._sigma(table, own))
        roots = trees.forest.nodes[rows, 0]
        return GumbelFound(found, table.steps, policies, table.counts, roots["total"] / roots["visits"])

    def _table(self, rows: npt.NDArray[np.int64]) -> RootTable:
        steps, visits, worths, priors, counts = self.trees.table()
        return RootTable(steps[rows], visits[rows], worths[rows], priors[rows], counts[rows])

    def _sigma(self, table: RootTable, values: Doubles) -> Doubles:
        most = table.visits.max(axis=1, initial=0)
        q = completed(table, values)
        if self.rescale:
            q = rescaled(q, table.counts)
        found: Doubles = (self.c_visit + most)[:, None] * self.c_scale * q
        return found


def _softmax(logits: Doubles) -> Floats:
    weights = np.exp(logits - logits.max(axis=1, keepdims=True, initial=-np.inf))
    policies: Floats = (weights / weights.sum(axis=1, keepdims=True)).astype(np.float32)
    return policies

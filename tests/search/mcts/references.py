"""Toy games of one step a turn, and evaluators made of hashes, for the tests of the tree searches."""

import zlib
from math import ceil, exp, log, log2, sqrt
from typing import Any, NamedTuple

import numpy as np

from pipeline_src.games import amazons, kernels
from pipeline_src.games.rules import copy_state
from pipeline_src.jit import njit
from tests.search import references
from tests.search.references import LineState

LIMIT, MOST = 23, 3


class CountState(NamedTuple):
    """Players in turn add 1 to 3 to a sum; who must move at 23 or more has lost; who stands exactly on 22 has drawn."""

    sum: Any  # int64 [1]
    turn: Any  # int64 [1]


def count_state(total: int = 0, side: int = 0) -> CountState:
    return CountState(np.array([total]), np.array([side]))


@njit
def _copy_into(state, other):
    other.sum[0] = state.sum[0]
    other.turn[0] = state.turn[0]


@njit
def _to_play(state):
    return int(state.turn[0])


@njit
def _hash(state):
    return np.uint64(state.sum[0] * 2 + state.turn[0])


@njit
def _outcome(state):
    if state.sum[0] >= LIMIT:
        return True, -1.0
    return state.sum[0] == LIMIT - 1, 0.0


@njit
def _write(state, out):
    for i in range(MOST):
        out[i] = i + 1
    return MOST


@njit
def _play(state, action):
    state.sum[0] += action
    state.turn[0] = 1 - state.turn[0]


@njit
def _take_back(state, action):
    state.sum[0] -= action
    state.turn[0] = 1 - state.turn[0]


@njit
def _most(state):
    return MOST


for generic, kernel in (
    (kernels.copy_into, _copy_into),
    (kernels.to_play, _to_play),
    (kernels.position_hash, _hash),
    (kernels.outcome, _outcome),
    (kernels.max_actions, _most),
    (kernels.max_steps, _most),
    (kernels.write_actions, _write),
    (kernels.play, _play),
    (kernels.take_back, _take_back),
    (kernels.write_steps, _write),
    (kernels.play_step, _play),
):
    kernels.implement(generic, CountState, kernel)
for generic, kernel in (
    (kernels.max_steps, references._max_actions),
    (kernels.write_steps, references._write_actions),
    (kernels.play_step, references._play),
):
    kernels.implement(generic, LineState, kernel)


def _numbers(text: str, n: int) -> np.ndarray:
    return np.random.default_rng(zlib.crc32(text.encode())).random(n)


def hashed(states, steps, counts):
    """Priors and values that follow from the position's hash alone."""
    priors, values = np.zeros(steps.shape, np.float32), np.zeros(len(counts), np.float32)
    for b, n in enumerate(counts):
        key = kernels.position_hash(type(states)(*(array[b] for array in states)))
        numbers = _numbers(str(int(key)), n + 1)
        weights = np.exp(4 * numbers[:n])
        priors[b, :n] = weights / weights.sum()
        values[b] = 2 * numbers[n] - 1
    return priors, values


def uniform(states, steps, counts):
    """Equal priors; every position even."""
    priors = np.zeros(steps.shape, np.float32)
    for b, n in enumerate(counts):
        priors[b, :n] = 1 / n
    return priors, np.zeros(len(counts), np.float32)


# Positions of random games.


def random_states(n, size, seed=0, most=None):
    """n unfinished positions after 1 to ``most`` random turns."""
    rng, found = np.random.default_rng(seed), []
    most = size + 4 if most is None else most
    while len(found) < n:
        state = amazons.initial_state(size)
        for _ in range(int(rng.integers(1, most + 1))):
            state = amazons.play(state, int(rng.choice(amazons.legal_actions(state))))
            if amazons.winner(state) is not None:
                break
        else:
            found.append(state)
    return found


# PUCT written out plainly, one position at a time, an edge for every step, as the papers have it: the oracle.


class Edge:
    def __init__(self, step, prior):
        self.step, self.prior = step, prior
        self.node, self.visits, self.total = None, 0, 0.0


class Node:
    def __init__(self, state):
        self.state, self.side = state, int(kernels.to_play(state))
        self.over, self.value = kernels.outcome(state)
        self.visits, self.total, self.edges = 0, 0.0, []

    @property
    def mean(self):
        return self.total / self.visits


def evaluated(state, evaluate_batch):
    """A node with its edges, visited once."""
    node = Node(copy_state(state))
    if not node.over:
        buffer = np.zeros(int(kernels.max_steps(state)), np.int32)
        n = int(kernels.write_steps(state, buffer))
        stacked = type(state)(*(array[None] for array in state))
        priors, values = evaluate_batch(stacked, buffer[None], np.array([n], np.int32))
        node.edges = [Edge(int(buffer[i]), float(priors[0, i])) for i in range(n)]
        node.value = float(values[0])
    node.visits, node.total = 1, node.value
    return node


def choose(node, options):
    """The edge with the greatest Q + U; of equal ones the first, but of equal ones without visits the likeliest."""
    visits = sum(edge.visits for edge in node.edges) + (1 if options.own_visit else 0)
    c = options.c + (log((1 + visits + options.c_base) / options.c_base) if options.c_base else 0)
    if options.fpu_absolute:
        untried = options.fpu
    else:
        untried = node.mean - options.fpu * sqrt(sum(edge.prior for edge in node.edges if edge.visits))
    bounds = [
        (edge.total / edge.visits if edge.visits else untried) + c * sqrt(visits) * edge.prior / (1 + edge.visits)
        for edge in node.edges
    ]
    best = max(bounds)
    tied = [edge for edge, bound in zip(node.edges, bounds, strict=True) if bound == best]
    likeliest = max((edge.prior for edge in tied if not edge.visits), default=0)
    return next(edge for edge in tied if edge.visits or edge.prior == likeliest)


def simulate(root, evaluate_batch, options, first=None):
    """One simulation, its first edge given or chosen."""
    node, path = root, []
    while node.edges:
        edge = first if first is not None and node is root else choose(node, options)
        path.append((node, edge))
        if edge.node is None:
            after = copy_state(node.state)
            kernels.play_step(after, edge.step)
            node = edge.node = evaluated(after, evaluate_batch)
            break
        node = edge.node
    for above, edge in path:
        seen = node.value if above.side == node.side else -node.value
        above.visits += 1
        above.total += seen
        edge.visits += 1
        edge.total += seen


def slow_puct(state, simulations, evaluate_batch, options):
    """The root after so many simulations."""
    root = evaluated(state, evaluate_batch)
    for _ in range(simulations):
        simulate(root, evaluate_batch, options)
    return root


# Gumbel search at the root written out plainly, one position at a time, as the paper has it: the oracle.


def completed(root):
    """Q of each edge, v_mix where there are no visits."""
    visited = [edge for edge in root.edges if edge.visits]
    n = sum(edge.visits for edge in visited)
    if n:
        q = sum(edge.prior * edge.total / edge.visits for edge in visited) / sum(edge.prior for edge in visited)
        mixed = (root.value + n * q) / (1 + n)
    else:
        mixed = root.value
    return [edge.total / edge.visits if edge.visits else mixed for edge in root.edges]


def sigma(root, c_visit, c_scale, rescale):
    most, values = max(edge.visits for edge in root.edges), completed(root)
    if rescale:
        low, high = min(values), max(values)
        values = [(q - low) / (high - low) if high > low else 0 for q in values]
    return [(c_visit + most) * c_scale * q for q in values]


def improved(root, *scales):
    logits = [log(edge.prior) + s for edge, s in zip(root.edges, sigma(root, *scales), strict=True)]
    weights = [exp(logit - max(logits)) for logit in logits]
    return [weight / sum(weights) for weight in weights]


def slow_gumbel(root, noise, considered, simulations, scales, evaluate_batch, options):
    """The edge to play, after so many simulations of the root; ``scales`` are c_visit, c_scale, rescale."""
    start = [g + log(edge.prior) for g, edge in zip(noise, root.edges, strict=True)]
    left = sorted(range(len(start)), key=lambda i: -start[i])[: min(considered, simulations)]
    rounds, used = ceil(log2(len(left))) if len(left) > 1 else 1, 0
    while used < simulations:
        for _ in range(max(1, simulations // (rounds * len(left)))):
            for i in left:
                if used < simulations:
                    simulate(root, evaluate_batch, options, first=root.edges[i])
                    used += 1
        scores = [a + b for a, b in zip(start, sigma(root, *scales), strict=True)]
        left = sorted(left, key=lambda i, scores=scores: -scores[i])
        if used < simulations:
            left = left[: max(2, len(left) // 2)]
    return root.edges[left[0]]

"""PUCT written out plainly, one position at a time, an edge for every step, as the papers have it: the oracle."""

from math import log, sqrt

import numpy as np

from pipeline_src.games import kernels


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


def copied(state):
    return type(state)(*(array.copy() for array in state))


def evaluated(state, evaluate_batch):
    """A node with its edges, visited once."""
    node = Node(copied(state))
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
            after = copied(node.state)
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


def search(state, simulations, evaluate_batch, options):
    """The root after so many simulations."""
    root = evaluated(state, evaluate_batch)
    for _ in range(simulations):
        simulate(root, evaluate_batch, options)
    return root

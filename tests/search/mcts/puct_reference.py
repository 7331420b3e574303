"""PUCT written out plainly, one position at a time, as the papers have it: the oracle of the forest's tests."""

from math import log, sqrt

import numpy as np

from pipeline_src.games import kernels


class Node:
    def __init__(self, state, side):
        self.state, self.side = state, side
        self.visits, self.total = 0, 0.0
        self.children = []  # [step, prior, node or None, visits, total]

    @property
    def mean(self):
        return self.total / self.visits


def copied(state):
    return type(state)(*(array.copy() for array in state))


def evaluate(node, evaluate_batch):
    """Give a node its edges; return its value to its side."""
    buffer = np.zeros(int(kernels.max_steps(node.state)), np.int32)
    n = int(kernels.write_steps(node.state, buffer))
    stacked = type(node.state)(*(array[None] for array in node.state))
    priors, values = evaluate_batch(stacked, buffer[None], np.array([n], np.int32))
    node.children = [[int(buffer[i]), float(priors[0, i]), None, 0, 0.0] for i in range(n)]
    return float(values[0])


def search(state, simulations, evaluate_batch, c, c_base, fpu, fpu_absolute):
    """The root after so many simulations."""
    root = Node(copied(state), int(kernels.to_play(state)))
    root.total, root.visits = evaluate(root, evaluate_batch), 1
    for _ in range(simulations):
        node, path = root, []
        while True:
            edge = max(node.children, key=lambda e, node=node: bound(node, e, c, c_base, fpu, fpu_absolute))
            path.append((node, edge))
            if edge[2] is None:
                after = copied(node.state)
                kernels.play_step(after, edge[0])
                edge[2] = Node(after, int(kernels.to_play(after)))
                over, result = kernels.outcome(after)
                value = result if over else evaluate(edge[2], evaluate_batch)
                edge[2].total, edge[2].visits = value, 1
                break
            if not edge[2].children:  # a finished game
                value = edge[2].total
                break
            node = edge[2]
        side = path[-1][1][2].side
        for node, edge in path:
            seen = value if node.side == side else -value
            node.visits += 1
            node.total += seen
            edge[3] += 1
            edge[4] += seen
    return root


def bound(node, edge, c, c_base, fpu, fpu_absolute):
    _, prior, _, visits, total = edge
    growth = log((1 + node.visits + c_base) / c_base) if c_base else 0
    if visits:
        q = total / visits
    elif fpu_absolute:
        q = fpu
    else:
        q = node.mean - fpu * sqrt(sum(e[1] for e in node.children if e[3]))
    return q + (c + growth) * sqrt(node.visits) * prior / (1 + visits)

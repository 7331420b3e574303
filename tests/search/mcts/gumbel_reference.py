"""Gumbel search at the root written out plainly, one position at a time, as the paper has it: the oracle."""

from math import ceil, exp, log, log2

from tests.search.mcts import puct_reference


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


def search(root, noise, considered, simulations, scales, evaluate_batch, options):
    """The edge to play, after so many simulations of the root; ``scales`` are c_visit, c_scale, rescale."""
    start = [g + log(edge.prior) for g, edge in zip(noise, root.edges, strict=True)]
    left = sorted(range(len(start)), key=lambda i: -start[i])[: min(considered, simulations)]
    rounds, used = ceil(log2(len(left))) if len(left) > 1 else 1, 0
    while used < simulations:
        for _ in range(max(1, simulations // (rounds * len(left)))):
            for i in left:
                if used < simulations:
                    puct_reference.simulate(root, evaluate_batch, options, first=root.edges[i])
                    used += 1
        scores = [a + b for a, b in zip(start, sigma(root, *scales), strict=True)]
        left = sorted(left, key=lambda i, scores=scores: -scores[i])
        if used < simulations:
            left = left[: max(2, len(left) // 2)]
    return root.edges[left[0]]

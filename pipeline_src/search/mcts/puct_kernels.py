"""One round of PUCT in many trees: back up the evaluator's answers to the last leaves, and select the next leaves."""

from functools import singledispatch
from math import log, sqrt
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.games import kernels
from pipeline_src.jit import njit
from pipeline_src.search.mcts.puct_forest import (
    DRAWN,
    LOST,
    NONE_LEFT,
    SIGN,
    UNKNOWN,
    UNPROVEN,
    WON,
    Floats,
    Forest,
    Ints,
    PuctOptions,
    Records,
    join,
    make_room,
    result_below,
    row,
)

NEW, ENDS, WAITS = -1, -2, -3
"""In place of an edge: one that is to be made; none, since the game is over or the full tree ends there; one whose node
waits for the evaluator."""


class Answers(NamedTuple):
    """The evaluator's answers for B leaves."""

    priors: Ints
    """[B, >= S]: bits of its float32 priors, each row's first so many being those of the leaf's legal steps."""
    values: Floats  # [B]: -1..1, to the leaf's side to move


class Waiting(NamedTuple):
    """Leaves that wait for the evaluator, [B] of them at most; those of one tree are neighbours, the trees ascend."""

    tree: Ints  # [B]
    node: Ints  # [B]
    steps: Ints  # [B, S]: the legal steps; what follows them is undefined
    counts: Ints  # [B]: number of legal steps


def new_waiting(rows: int, steps: int) -> Waiting:
    """Return space for a number of leaves with a number of steps each."""
    tree, node, counts = np.zeros((3, rows), np.int32)
    return Waiting(tree, node, np.zeros((rows, steps), np.int32), counts)


@njit(cache=True, forceinline=True)
def find_next(nodes: Records, node: int, bits: Ints, steps: Ints) -> None:
    """Note a node's likeliest step without an edge, the first of equals, given its priors' bits and its legal steps."""
    here = nodes[node]
    count, most = here.count, np.int32(-1)
    for i in range(count):
        most = max(most, bits[i])
    if most < 0:
        here.next = NONE_LEFT
        return
    place = 0
    while bits[place] != most:
        place += 1
    here.next, here.next_step = place, steps[place]
    here.next_prior = bits.view(np.float32)[place]


@njit(cache=True, forceinline=True)
def add_edge(nodes: Records, edges: Records, node: int, used: int) -> tuple[int, int]:
    """Room for one more edge of ``node`` in a tree with ``used`` ones: (the edge, how many are used now)."""
    many, first = nodes[node].edges, nodes[node].first
    if many & (many - 1) == 0:  # the block is full, or there is none
        for i in range(many):
            edges[used + i] = edges[first + i]
            nodes[edges[first + i].child].owner = used + i
        first, used = used, used + max(1, 2 * many)
        nodes[node].first = first
    nodes[node].edges = many + 1
    return first + many, used


@njit(cache=True, forceinline=True)
def back_up(nodes: Records, edges: Records, node: int, value: float) -> None:
    """Add ``value``, by the side of ``node``, to all above it up to the root."""
    side, parent = nodes[node].side, nodes[node].parent
    while parent >= 0:
        edge = nodes[node].owner
        seen = value if nodes[parent].side == side else -value
        edges[edge].worth += seen
        edges[edge].tries += 1
        nodes[parent].total += seen
        nodes[parent].visits += 1
        node, parent = parent, nodes[parent].parent


@njit(cache=True)
def prove(forest: Forest, g: int, node: int, proof: int) -> None:
    """Store the proven result of a node, and of others that follow from it: above, and of the same positions."""
    nodes, waiting, count = forest.nodes[g], forest.moved, 1
    waiting[0], nodes[node].proof = node, proof
    while count > 0:
        count -= 1
        node = waiting[count]
        proof, parent, twin = nodes[node].proof, nodes[node].parent, node
        if forest.keys.size > 0 and nodes[node].over == 0:
            twin = forest.twins[g, node]
        while twin != node:
            if nodes[twin].proof == UNPROVEN:
                waiting[count], nodes[twin].proof = twin, proof
                count += 1
            twin = forest.twins[g, twin]
        if parent >= 0 and nodes[parent].proof == UNPROVEN:
            best = result_below(forest, g, parent)
            if best != UNPROVEN:
                waiting[count], nodes[parent].proof = parent, best
                count += 1


@njit(cache=True, forceinline=True)
def mark(nodes: Records, edges: Records, node: int, change: int) -> None:
    """Add ``change`` to the virtual losses on the way from the root to ``node``."""
    parent = nodes[node].parent
    while parent >= 0:
        edges[nodes[node].owner].virtual += change
        nodes[parent].pending += change
        node, parent = parent, nodes[parent].parent


@njit(cache=True, forceinline=True)
def choose(nodes: Records, edges: Records, node: int, options: PuctOptions, room: bool) -> tuple[int, int]:
    """Return the edge with the greatest Q + U (see `PuctOptions`), or NEW and the place of the step to add.

    Ties go to the first of the legal steps, and among untried steps, which share their Q, to the likeliest. A virtual
    loss counts as a visit. Returns ENDS if only a new edge could be chosen and the tree is full.
    """
    here = nodes[node]
    visits = here.visits + here.pending
    c = options.c
    if not options.own_visit:
        visits -= 1
    if options.c_base > 0.0:
        c += log((1.0 + visits + options.c_base) / options.c_base)
    scale = c * sqrt(float(visits))
    first, place, best, best_bound = here.first, here.count, ENDS, -np.inf
    if room and here.next >= 0:
        best, place = NEW, here.next
        best_bound = options.fpu
        if not options.fpu_absolute:
            best_bound = here.total / here.visits
            if options.fpu != 0.0:
                best_bound -= options.fpu * sqrt(here.seen)
        best_bound += scale * here.next_prior
    for edge in range(first, first + here.edges):
        that = edges[edge]
        if options.solve and nodes[that.child].proof == (LOST if nodes[that.child].side == here.side else WON):
            continue
        tries = that.tries + that.virtual
        bound = (that.worth - that.virtual) / tries + scale * that.prior / (1.0 + tries)
        if bound > best_bound or (bound == best_bound and that.place < place):
            best, best_bound, place = edge, bound, that.place
    return best, place


@njit(cache=True, forceinline=True)
def edge_at(nodes: Records, edges: Records, place: int) -> int:
    """Return the root's edge of the step at ``place``, NEW if it has none."""
    first = nodes[0].first
    for edge in range(first, first + nodes[0].edges):
        if edges[edge].place == place:
            return edge
    return NEW


@njit(cache=True, forceinline=True)
def begin_node(nodes: Records, node: int, parent: int, owner: int, side: int) -> None:
    """Begin a node without edges that waits for the evaluator."""
    new = nodes[node]
    new.total, new.seen, new.visits, new.pending = 0.0, 0.0, 0, 0
    new.first, new.edges, new.count, new.next = 0, 0, 0, UNKNOWN
    new.parent, new.owner, new.value, new.side, new.over, new.proof = parent, owner, 0.0, side, 0, UNPROVEN
    new.next_step, new.next_prior = -1, 0.0


@njit(cache=True, forceinline=True)
def absorb(
    forest: Forest, g: int, node: int, priors: Ints, value: float, steps: Ints, several: bool, solve: bool
) -> None:
    """Give a node of tree g, whose steps these are, its priors (their bits) and its value, and back that up."""
    nodes, edges = forest.nodes[g], forest.edges[g]
    here, bits = nodes[node], forest.priors[g, node]
    here.visits, here.total, here.value = 1, value, value
    for i in range(here.count):
        bits[i] = max(np.int32(0), priors[i])
        if solve:  # a step with the sign alone loses
            bits[i] = SIGN if priors[i] < 0 else max(np.int32(1), bits[i])
    find_next(nodes, node, bits, steps)
    if several:
        mark(nodes, edges, node, -1)
    back_up(nodes, edges, node, value)
    if solve and abs(value) >= 1.0:
        prove(forest, g, node, WON if value > 0.0 else LOST)
    if node > 0:
        forest.done[g] += 1


@njit(cache=True)
def take_over(forest: Forest, g: int, node: int, twin: int) -> None:
    """Begin a node with what is known of another one of the same position, and back that up."""
    here, other, bits, known = (
        forest.nodes[g, node],
        forest.nodes[g, twin],
        forest.priors[g, node],
        forest.priors[g, twin],
    )
    value = other.total / other.visits if other.proof == UNPROVEN else float(other.proof - DRAWN)
    here.count, here.visits, here.total, here.value = other.count, 1, value, other.value
    for i in range(other.count):
        bits[i] = SIGN if known[i] == SIGN else known[i] & ~SIGN
    back_up(forest.nodes[g], forest.edges[g], node, value)
    forest.done[g] += 1
    if other.proof != UNPROVEN:
        prove(forest, g, node, other.proof)


@njit(cache=True, forceinline=True)
def descend(
    forest: Forest,
    roots: Any,
    options: PuctOptions,
    room: int,
    per_tree: int,
    several: bool,
    g: int,
    target: int,
    forced: Ints,
    flag: npt.NDArray[np.uint8],
    new: Waiting,
    states: Any,
    n: int,
) -> int:
    """Descend in tree g, see `play_round`, with ``n`` leaves of others; return the number of leaves after that.

    ``several``: whether a tree may have several leaves that wait for the evaluator, and so virtual losses.
    """
    nodes, edges, all_bits, begun = forest.nodes[g], forest.edges[g], forest.priors[g], 0
    while begun < per_tree and target >= 0 and flag[0] == 0:
        node, place, edge = 0, -1, ENDS
        if forest.used_nodes[g] == 0:
            if kernels.outcome(row(roots, g))[0]:
                break
        else:
            if forest.done[g] + nodes[0].pending >= target or nodes[0].visits == 0 or nodes[0].proof != UNPROVEN:
                break
            if options.prune and forest.used_nodes[g] == room and 2 * nodes[0].edges < room:
                if nodes[0].pending > 0:  # leaves wait, which may not move
                    break
                make_room(forest, g, room)
        state = row(states, n)
        kernels.copy_into(row(roots, g), state)
        if forest.used_nodes[g] == 0:
            begin_node(nodes, 0, -1, -1, kernels.to_play(state))
            forest.used_nodes[g], forest.used_edges[g] = 1, 0
            if options.share:
                forest.slots[g] = -1
                join(forest, g, 0, kernels.position_hash(state))
        else:
            if forest.done[g] + nodes[0].pending < forced.shape[1]:
                place = forced[g, forest.done[g] + nodes[0].pending]
            if place >= 0:
                edge = edge_at(nodes, edges, place)
            while True:
                if nodes[node].next == UNKNOWN:
                    kernels.write_steps(state, new.steps[n])
                    find_next(nodes, node, all_bits[node], new.steps[n])
                if place < 0 or node > 0:
                    edge, place = choose(nodes, edges, node, options, forest.used_nodes[g] < room)
                if edge < 0:
                    break
                child = edges[edge].child
                if nodes[child].visits == 0:
                    edge = WAITS
                    break
                node = child
                if nodes[node].over != 0 or nodes[node].proof != UNPROVEN:
                    edge = ENDS
                    break
                kernels.play_step(state, edges[edge].step)
            if edge == WAITS:
                break
            if edge == ENDS or forest.used_nodes[g] == room:  # a finished game, or the end of a full tree
                here = nodes[node]
                value = here.total if here.over != 0 else float(here.value)
                if here.proof != UNPROVEN:
                    value = float(here.proof - DRAWN)
                back_up(nodes, edges, node, value)
                forest.done[g] += 1
                continue
            above = nodes[node]
            step, prior = above.next_step, above.next_prior
            if place != above.next:
                kernels.write_steps(state, new.steps[n])
                step, prior = new.steps[n, place], all_bits.view(np.float32)[node, place]
            kernels.play_step(state, step)
            edge, forest.used_edges[g] = add_edge(nodes, edges, node, forest.used_edges[g])
            child = forest.used_nodes[g]
            forest.used_nodes[g] += 1
            that = edges[edge]
            that.worth, that.tries, that.virtual, that.prior = 0.0, 0, 0, prior
            that.child, that.step, that.place = child, step, place
            all_bits[node, place] |= SIGN
            above.seen += prior
            if above.next == place:
                above.next = UNKNOWN
            begin_node(nodes, child, node, edge, kernels.to_play(state))
            node = child
            over, result = kernels.outcome(state)
            if over:
                here = nodes[node]
                here.over, here.visits, here.total = 1, 1, result
                back_up(nodes, edges, node, result)
                if options.solve:
                    prove(forest, g, node, DRAWN + int(result))
                forest.done[g] += 1
                continue
            if options.share:
                twin = join(forest, g, node, kernels.position_hash(state))
                if twin >= 0 and nodes[twin].visits > 0:
                    take_over(forest, g, node, twin)
                    continue
            if several:
                mark(nodes, edges, node, 1)
        count = kernels.write_steps(state, new.steps[n])
        new.counts[n], nodes[node].count = count, count
        new.tree[n], new.node[n] = g, node
        n += 1
        begun += 1
    return n


@njit(cache=True, nogil=True)
def play_round(
    forest: Forest,
    roots: Any,
    options: PuctOptions,
    room: int,
    per_tree: int,
    old: Waiting,
    n_old: int,
    answers: Answers,
    targets: Ints,
    forced: Ints,
    flag: npt.NDArray[np.uint8],
    new: Waiting,
    states: Any,
) -> int:
    """Process the evaluator's answers, then descend in every tree until it has ``per_tree`` leaves or its target.

    Simulations that end in finished games are backed up at once and take no row. With one leaf a tree this is the
    sequential algorithm; with more, virtual losses spread them, and a tree whose descents meet again stops early.

    Args:
        forest: the trees.
        roots: stacked states [G] of the roots.
        options: the formula's constants.
        room: nodes that a tree may have; a full one is searched on, but grows no more.
        per_tree: at least 1.
        old: the leaves of the round before.
        n_old: number of those leaves, 0 for none.
        answers: answers to those leaves.
        targets: int32 [G]: simulations that each tree is to have; a root is evaluated even where that is 0; -1: none.
        forced: int32 [G, K]: place of the root's step that simulation k of a tree has to take; -1: the formula's, as
            from simulation K on.
        flag: uint8 [1]; when it is set, no further simulation begins.
        new: becomes the leaves of this round.
        states: stacked states [B], B >= G * per_tree; row b becomes the state of leaf b.

    Returns:
        The number of leaves that wait for the evaluator.
    """
    n, b = 0, 0
    for g in range(targets.size):
        while b < n_old and old.tree[b] == g:
            absorb(
                forest, g, old.node[b], answers.priors[b], answers.values[b], old.steps[b], per_tree > 1, options.solve
            )
            b += 1
        n = descend(forest, roots, options, room, per_tree, per_tree > 1, g, targets[g], forced, flag, new, states, n)
    return n


@singledispatch
def evaluate(net: Any, state: Any, steps: Ints, count: int, priors: Floats) -> float:
    """Write the priors of a position's legal steps, the first ``count``; return its value to the side to move.

    It picks its kernel by the type of the net, as `games.kernels` do by that of the state.
    """
    raise TypeError(f"no kernel evaluates with a {type(net).__name__}, or its module is not imported")


@njit(cache=True, nogil=True)
def play_out(
    net: Any,
    forest: Forest,
    roots: Any,
    options: PuctOptions,
    room: int,
    per_tree: int,
    answers: Answers,
    targets: Ints,
    forced: Ints,
    flag: npt.NDArray[np.uint8],
    waiting: Waiting,
    states: Any,
) -> None:
    """Search tree after tree up to its target with a net that is a kernel (`evaluate`).

    What the rounds of `play_round` and an evaluator between them do, in one call. ``answers``, ``waiting`` and
    ``states`` are room for ``per_tree`` leaves.
    """
    for g in range(targets.size):
        n = 0
        while targets[g] >= 0:
            for b in range(n):
                value, steps = answers.values[b], waiting.steps[b]
                absorb(forest, g, waiting.node[b], answers.priors[b], value, steps, per_tree > 1, options.solve)
            n = descend(
                forest, roots, options, room, per_tree, per_tree > 1, g, targets[g], forced, flag, waiting, states, 0
            )
            if n == 0:
                break
            for b in range(n):
                priors = answers.priors[b].view(np.float32)
                answers.values[b] = evaluate(net, row(states, b), waiting.steps[b], waiting.counts[b], priors)

"""PUCT in compiled code: the formula, one simulation, rounds of many trees, and the memory of a tree.

Many searches run side by side, over steps of a side (`games.kernels.play_step`). A simulation descends by the formula
(`PuctOptions`, `choose`) to a new leaf, which the evaluator gives priors and a value; that is backed up to the root.

A node is one cache line and an edge half of one. Only tried steps have edges, in a block that moves to one of twice the
length when it is full. For the others a node keeps the evaluator's priors and the place of the likeliest one: since all
untried steps of a node share one value, no other of them can be chosen.

When a step is played, the part of the tree below it moves to the front of the tree's memory: `play_steps`. A full tree
can drop what lies below its least visited nodes, and so grow where the search goes: `make_room` (Enzenberger et al.,
2010, "Fuego: an open-source framework for board games and Go engine based on Monte Carlo tree search").
"""

from functools import singledispatch
from math import log, sqrt
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba.core import config as numba_config

from pipeline_src.games import kernels
from pipeline_src.games.kernels import row
from pipeline_src.jit import njit

Ints = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
Records = npt.NDArray[Any]


class PuctOptions(NamedTuple):
    """The formula's constants: Q + c(N) * P * sqrt(N) / (1 + n), c(N) = c + ln((1 + N + c_base) / c_base).

    Silver et al. (2018), 'A general reinforcement learning algorithm that masters chess, shogi and Go through
    self-play', and its pseudocode. N is the visits of the node, n those of the edge, P its prior.
    """

    c: float = 1.25
    c_base: float = 19652.0  # Base of the growth of c; with 0, c does not grow
    fpu: float = 0.0
    """First-play urgency: an edge without visits has the node's Q less fpu * sqrt(the prior of all visited edges)."""
    caution: float = 0.0
    """The best step of a node is the most visited one, or with caution the one with the greatest Q - caution / sqrt(n)
    (a lower confidence bound, as in Leela Zero 0.17): a step that the search has just found better need not first
    overtake the visits of another one."""
    fpu_absolute: bool = False  # Whether an edge without visits has Q = fpu instead
    own_visit: bool = True
    """Whether N includes the node's own evaluation, as in the pseudocode. If False, N is the sum of n over the edges,
    as in the papers' formula; it is then 0 at a node's first selection, and the prior alone decides (see `choose`)."""
    solve: bool = False
    """Whether proven results are backed up (Winands, Bjornsson and Saito, 2008, 'Monte-Carlo tree search solver'): a
    node with a step to a lost node is won, a node with steps to won nodes only is lost. A losing step is not tried
    again, and a proven root is not searched further. Finished games are proven, and so are evaluator values of 1 or -1;
    a negative prior marks a losing step."""
    share: bool = False
    """Whether nodes of one position share what is known (`join`): a new one begins with the priors of another one, and
    its mean value so far in place of the evaluator's; a proof holds for all."""
    prune: bool = False
    """Whether a full tree drops what lies below its least visited nodes (`make_room`). Else it is searched on, but does
    not grow."""


UNPROVEN, LOST, DRAWN, WON = 0, 1, 2, 3  # The proven result of a node to its side to move
UNSURE = np.float32(0.9999)  # Largest value that a net may give: only a certain win has the value 1
SIGN = np.int32(-(1 << 31))
MOST_VISITS = np.iinfo(np.int32).max
UNKNOWN, NONE_LEFT = -2, -1  # Special values of a node's `next`: to be searched for; every step has an edge
NEW, ENDS, WAITS = -1, -2, -3
"""In place of an edge: one that is to be made; none, since the game is over or the full tree ends there; one whose node
waits for the evaluator."""
NODE = np.dtype(
    [
        ("total", np.float64),  # sum of the values backed up to the node, by its side to move
        ("seen", np.float64),  # sum of its edges' priors
        ("visits", np.int32),  # number of values backed up to it, including its own; 0 while it waits for the evaluator
        ("pending", np.int32),  # simulations through it that have no value yet
        ("parent", np.int32),  # node above it, -1 for the root
        ("owner", np.int32),  # edge that leads to it, -1 for the root
        ("first", np.int32),  # its first edge
        ("next_step", np.int32),  # the likeliest step without an edge
        ("next_prior", np.float32),
        ("value", np.float32),  # the evaluator's value
        ("next", np.int32),  # place of that step among the legal ones, or UNKNOWN or NONE_LEFT
        ("edges", np.int32),  # number of edges; the length of the block is the next power of two
        ("count", np.int32),  # number of legal steps
        ("side", np.int8),  # side to move
        ("over", np.int8),  # 1 where the game is over; ``total`` is the result
        ("proof", np.int8),  # its proven result, if known, see UNPROVEN
    ],
    align=True,
)
EDGE = np.dtype(
    [
        ("worth", np.float64),  # sum of the values backed up through the edge, by the side of the node it leaves
        ("tries", np.int32),  # number of those values
        ("virtual", np.int32),  # virtual losses: unfinished simulations, if a tree may have several
        ("prior", np.float32),  # the evaluator's prior, with noise at the root if that was added
        ("child", np.int32),  # node it leads to
        ("step", np.int32),
        ("place", np.int32),  # place of the step among the legal ones
    ],
    align=True,
)


class Forest(NamedTuple):
    """G trees with room for N nodes and E edges each, and S legal steps in a node."""

    nodes: Records  # NODE [G, N]: node 0 is the root; a child comes after its parent
    edges: Records  # EDGE [G, E]
    used_nodes: Ints  # [G]: nodes in use; 0 if the root is not evaluated yet
    used_edges: Ints  # [G]
    done: Ints  # [G]: simulations since `plant` or `advance`, the evaluation of the root not among them
    priors: Ints
    """[G, N, S]: bits of the evaluator's float32 priors of a node's steps in the order of `games.kernels.write_steps`;
    the sign bit marks steps that have an edge. Floats from 0 up are in the order of their bits. The steps themselves
    are not kept: computing them again when needed takes less time than the memory."""
    keys: npt.NDArray[np.uint64]
    """[G, N]: hash of each node's position; [G, 0] if nodes share nothing, likewise the next two."""
    twins: Ints  # [G, N]: the next node of the same position, in a circle
    slots: Ints  # [G, T], T a power of two: a node of each position, found by its hash; -1 where there is none
    moved: Ints  # [>= N]: scratch for what moves parts of trees, and for proofs; likewise `block`
    block: Records  # EDGE [>= E]


class Waiting(NamedTuple):
    """Leaves that wait for the evaluator, B at most, and its answers. A tree's are neighbours, and the trees ascend."""

    tree: Ints  # [B]
    node: Ints  # [B]
    steps: Ints  # [B, S]: the legal steps; what follows them is undefined
    counts: Ints  # [B]: number of legal steps
    priors: Ints  # [B, >= S]: bits of the evaluator's float32 priors of those steps
    values: Floats  # [B]: -1..1, to the leaf's side to move


# The formula, and one simulation: from the root down to a leaf, and its value back up.


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


@njit(cache=True, forceinline=True)
def absorb(forest: Forest, g: int, waiting: Waiting, b: int, several: bool, solve: bool) -> None:
    """Give the node of leaf b, in tree g, its priors and its value, and back that up."""
    nodes, edges, node, value = forest.nodes[g], forest.edges[g], waiting.node[b], waiting.values[b]
    here, bits, priors = nodes[node], forest.priors[g, node], waiting.priors[b]
    here.visits, here.total, here.value = 1, value, value
    for i in range(here.count):
        bits[i] = max(np.int32(0), priors[i])
        if solve:  # a step with the sign alone loses
            bits[i] = SIGN if priors[i] < 0 else max(np.int32(1), bits[i])
    find_next(nodes, node, bits, waiting.steps[b])
    if several:
        mark(nodes, edges, node, -1)
    back_up(nodes, edges, node, value)
    if solve and abs(value) >= 1.0:
        prove(forest, g, node, WON if value > 0.0 else LOST)
    if node > 0:
        forest.done[g] += 1


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


@njit(cache=True, forceinline=True)
def mark(nodes: Records, edges: Records, node: int, change: int) -> None:
    """Add ``change`` to the virtual losses on the way from the root to ``node``."""
    parent = nodes[node].parent
    while parent >= 0:
        edges[nodes[node].owner].virtual += change
        nodes[parent].pending += change
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


@njit(cache=True)
def result_below(forest: Forest, g: int, node: int) -> int:
    """The result of a node that is proven by those of its steps, UNPROVEN if they do not prove one."""
    nodes, edges, best, known = forest.nodes[g], forest.edges[g], LOST, True
    here = nodes[node]
    for i in range(here.count):
        if forest.priors[g, node, i] >= 0:  # a step without an edge
            known = False
            break
    for edge in range(here.first, here.first + here.edges):
        below = nodes[edges[edge].child]
        if below.proof == UNPROVEN:
            known = False
        else:
            best = max(best, below.proof if here.side == below.side else 2 * DRAWN - below.proof)
    return int(best) if known or best == WON else UNPROVEN


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


# Rounds: simulations in many trees up to the evaluator, or, with a net that is a kernel, to the end.


@njit(cache=True, nogil=True)
def play_round(
    forest: Forest,
    roots: Any,
    options: PuctOptions,
    room: int,
    per_tree: int,
    old: Waiting,
    n_old: int,
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
        old: the leaves of the round before, with their answers.
        n_old: number of those leaves, 0 for none.
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
            absorb(forest, g, old, b, per_tree > 1, options.solve)
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
    targets: Ints,
    forced: Ints,
    flag: npt.NDArray[np.uint8],
    waiting: Waiting,
    states: Any,
) -> None:
    """Search tree after tree up to its target with a net that is a kernel (`evaluate`).

    What the rounds of `play_round` and an evaluator between them do, in one call. ``waiting`` and ``states``
    are room for ``per_tree`` leaves.
    """
    for g in range(targets.size):
        n = 0
        while targets[g] >= 0:
            for b in range(n):
                absorb(forest, g, waiting, b, per_tree > 1, options.solve)
            n = descend(
                forest, roots, options, room, per_tree, per_tree > 1, g, targets[g], forced, flag, waiting, states, 0
            )
            if n == 0:
                break
            for b in range(n):
                priors = waiting.priors[b].view(np.float32)
                waiting.values[b] = evaluate(net, row(states, b), waiting.steps[b], waiting.counts[b], priors)


# The memory of a tree: nodes, their blocks of edges, and positions that are met again.


def new_forest(trees: int, nodes: int, steps: int, share: bool = False) -> Forest:
    """Return empty trees with room for ``nodes`` nodes of ``steps`` steps each. Untouched pages cost no memory.

    Blocks of edges have lengths of powers of two, and a node's old ones together are shorter than its last: so four
    edges a node are always enough. Trees lie an odd number of cache lines apart, so that their roots do not all
    compete for the same few places of the processor's caches.
    """
    odd = nodes | 1
    used_nodes, used_edges, done = np.zeros((3, trees), np.int32)
    priors = np.empty((trees, nodes, steps), np.int32)
    each = _lines(trees, odd, NODE), _lines(trees, 4 * odd + 2, EDGE)
    noted, slots = (nodes, 2 << nodes.bit_length()) if share else (0, 0)
    keys = np.empty((trees, noted), np.uint64)
    twins, found = (np.empty((trees, count), np.int32) for count in (noted, slots))
    room = np.empty(odd, np.int32), np.empty(4 * odd + 2, EDGE)
    return Forest(*each, used_nodes, used_edges, done, priors, keys, twins, found, *room)


def _lines(trees: int, each: int, record: np.dtype[Any]) -> Records:
    """Records that begin on a cache line, [trees, each]."""
    size = trees * each * record.itemsize
    block = np.empty(size + 64, np.uint8)
    start = -block.ctypes.data % 64
    records = block[start : start + size].view(record).reshape(trees, each)
    settings: Any = numba_config
    # Compiled code has the fields as attributes; this does the same for uncompiled code.
    return records.view(np.recarray) if settings.DISABLE_JIT else records


def new_waiting(rows: int, steps: int) -> Waiting:
    """Return space for a number of leaves with a number of steps each."""
    tree, node, counts = np.zeros((3, rows), np.int32)
    room, priors = np.zeros((2, rows, steps), np.int32)
    return Waiting(tree, node, room, counts, priors, np.zeros(rows, np.float32))


@njit(cache=True, forceinline=True)
def begin_node(nodes: Records, node: int, parent: int, owner: int, side: int) -> None:
    """Begin a node without edges that waits for the evaluator."""
    new = nodes[node]
    new.total, new.seen, new.visits, new.pending = 0.0, 0.0, 0, 0
    new.first, new.edges, new.count, new.next = 0, 0, 0, UNKNOWN
    new.parent, new.owner, new.value, new.side, new.over, new.proof = parent, owner, 0.0, side, 0, UNPROVEN
    new.next_step, new.next_prior = -1, 0.0


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
def edge_at(nodes: Records, edges: Records, place: int) -> int:
    """Return the root's edge of the step at ``place``, NEW if it has none."""
    first = nodes[0].first
    for edge in range(first, first + nodes[0].edges):
        if edges[edge].place == place:
            return edge
    return NEW


@njit(cache=True)
def join(forest: Forest, g: int, node: int, key: np.uint64) -> int:
    """Note the position of a node by its hash; return another node of the same position, -1 if there is none.

    What a tree knows of one order of moves then serves the others (Childs, Brodeur and Kocsis, 2008, "Transpositions
    and move groups in Monte Carlo tree search").
    """
    keys, twins, slots, one = forest.keys[g], forest.twins[g], forest.slots[g], np.uint64(1)
    mask = np.uint64(slots.size) - one
    place = key & mask
    keys[node], twins[node] = key, node
    while slots[place] >= 0:
        other = slots[place]
        if keys[other] == key:
            twins[node], twins[other] = twins[other], node
            return int(other)
        place = (place + one) & mask
    slots[place] = node
    return -1


@njit(cache=True)
def fullest(forest: Forest, g: int, node: int) -> int:
    """The node of this one's position with most visits, among those with the steps that prove its result."""
    nodes = forest.nodes[g]
    if forest.keys.size == 0 or nodes[node].over != 0:
        return node
    best, proof = node, nodes[node].proof
    proves, twin = proof == UNPROVEN or result_below(forest, g, node) == proof, forest.twins[g, node]
    while twin != node:
        also = proof == UNPROVEN or result_below(forest, g, twin) == proof
        if also > proves or (also == proves and nodes[twin].visits > nodes[best].visits):
            best, proves = int(twin), also
        twin = forest.twins[g, twin]
    return best


# What stays of a tree when a step is played, or when it is full.


@njit(cache=True, nogil=True)
def play_steps(forest: Forest, roots: Any, played: Ints, steps: Ints) -> int:
    """Play a step at the root of every tree and keep the part of the tree below it.

    Args:
        forest: the trees, none of them waiting for the evaluator.
        roots: stacked states [G] of the roots.
        played: int32 [G]: steps, -1 where a tree stays as it is.
        steps: int32 [>= S]: scratch.

    Returns:
        -1, or the first tree in which the step is illegal; no tree is changed then.
    """
    for g in range(played.size):
        if played[g] >= 0 and not is_step(row(roots, g), played[g], steps):
            return g
    for g in range(played.size):
        if played[g] < 0:
            continue
        kernels.play_step(row(roots, g), played[g])
        top = -1
        if forest.used_nodes[g] > 0:
            first = forest.nodes[g, 0].first
            for edge in range(first, first + forest.nodes[g, 0].edges):
                if forest.edges[g, edge].step == played[g]:
                    top = forest.edges[g, edge].child
        if top >= 0 and forest.nodes[g, top].over == 0:
            keep_below(forest, g, fullest(forest, g, top), 0)
            root = forest.nodes[g, 0]
            if abs(root.value) < 1.0 and result_below(forest, g, 0) != root.proof:
                root.proof = UNPROVEN  # what proves it was not below it
        else:
            forest.used_nodes[g], forest.used_edges[g] = 0, 0
        forest.done[g] = 0
    return -1


@njit(cache=True, forceinline=True)
def is_step(state: Any, step: int, steps: Ints) -> bool:
    """Whether a step is legal; ``steps`` is scratch, int32 [>= S]."""
    for i in range(kernels.write_steps(state, steps)):
        if steps[i] == step:
            return True
    return False


@njit(cache=True)
def keep_below(forest: Forest, g: int, top: int, least: int) -> None:
    """Make node ``top`` the root of tree g, drop all nodes that are not below it, and what is below rare nodes.

    Those are other nodes than the root with fewer than ``least`` visits. They keep their visits and values, and a step
    that was proven to lose is not tried again. Children come after their parents, before and after: so nodes only ever
    move forward, and one pass does it. No node of the tree may wait for the evaluator.
    """
    nodes, edges, priors, moved, block = forest.nodes[g], forest.edges[g], forest.priors[g], forest.moved, forest.block
    for edge in range(forest.used_edges[g]):
        block[edge] = edges[edge]
    kept, used = 0, 0
    for node in range(top, forest.used_nodes[g]):
        parent = nodes[node].parent
        moved[node] = 0 if node == top else -1
        if node > top and parent >= top and moved[parent] >= 0 and nodes[moved[parent]].edges > 0:
            moved[node] = kept
        if moved[node] < 0:
            continue
        here = nodes[kept]
        nodes[kept] = nodes[node]
        if forest.keys.size > 0:
            forest.keys[g, kept] = forest.keys[g, node]
        for i in range(here.count):
            priors[kept, i] = priors[node, i]
        if node > top and here.visits < least:
            for edge in range(here.first, here.first + here.edges):
                below = nodes[block[edge].child]
                if below.proof != (LOST if below.side == here.side else WON):
                    priors[kept, block[edge].place] &= ~SIGN
            here.edges, here.next, here.seen = 0, UNKNOWN, 0.0
        for i in range(here.edges):
            edges[used + i] = block[here.first + i]
            nodes[edges[used + i].child].owner = used + i
        here.first = used
        length = 1 if here.edges else 0
        while length < here.edges:
            length *= 2
        used += length
        if node == top:
            here.parent, here.owner = -1, -1
        else:
            here.parent = moved[parent]
            edges[here.owner].child = kept
        kept += 1
    forest.used_nodes[g], forest.used_edges[g] = kept, used
    forest.slots[g] = -1
    for node in range(kept if forest.keys.size > 0 else 0):
        if nodes[node].over == 0:
            join(forest, g, node, forest.keys[g, node])


@njit(cache=True)
def make_room(forest: Forest, g: int, room: int) -> None:
    """Drop what lies below the least visited nodes of tree g, at least half of its ``room`` nodes.

    The root's children stay, which may not be more than that. No node of the tree may wait for the evaluator.
    """
    nodes, below = forest.nodes[g], forest.moved
    below[:room] = 0
    for node in range(1, forest.used_nodes[g]):
        below[min(nodes[node].visits, room - 1)] += nodes[node].edges
    least, kept = MOST_VISITS, 1 + nodes[0].edges
    for visits in range(room - 1, 0, -1):
        kept += below[visits]
        if kept > room // 2:
            break
        least = visits
    keep_below(forest, g, 0, least)

"""PUCT's trees in flat records: many searches side by side, over steps of a side (`games.kernels.play_step`).

A node is one cache line and an edge half of one. Only tried steps have edges, in a block that moves to one of twice the
length when it is full. For the others a node keeps the evaluator's priors and the place of the likeliest one: since all
untried steps of a node share one value, no other of them can be chosen.

When a step is played, the part of the tree below it moves to the front of the tree's memory: `play_steps`. A full tree
can drop what lies below its least visited nodes, and so grow where the search goes: `make_room` (Enzenberger et al.,
2010, "Fuego: an open-source framework for board games and Go engine based on Monte Carlo tree search").
"""

import operator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba.core import config as numba_config
from numba.core import types
from numba.extending import lower_builtin, type_callable

from pipeline_src.games import kernels
from pipeline_src.jit import borrows, njit

# Stacked states: the NamedTuple of a state with a leading batch axis on every array, and its rows as views.


def stack(state: Any, n: int) -> Any:
    """Return n copies of ``state`` as one: its arrays with a leading axis of n."""
    return type(state)(*(np.repeat(array[None], n, axis=0) for array in state))


@borrows
def row(states: Any, b: int) -> Any:
    """Return state b of a stack as views, so that changes apply to the stack. Works in and out of compiled code."""
    return type(states)(*(array[b] for array in states))


@type_callable(row)
def _type_row(context: Any) -> Any:
    def view(array: Any, b: Any) -> Any:
        return context.resolve_function_type(operator.getitem, (array, b), {}).return_type

    def type_row(states: Any, b: Any) -> Any:
        kind = getattr(states, "instance_class", None)
        return None if kind is None else types.BaseTuple.from_types([view(array, b) for array in states], kind)

    return type_row


@lower_builtin(row, types.BaseNamedTuple, types.Integer)
def _lower_row(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    (arrays, b), (states, at) = signature.args, values
    views = []
    for i, (array, view) in enumerate(zip(arrays, signature.return_type, strict=True)):
        take = context.get_function(operator.getitem, view(array, b))
        views.append(take(builder, (builder.extract_value(states, i), at)))
    return context.make_tuple(builder, signature.return_type, views)


Ints = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float32]
States = Any  # A state's NamedTuple with a leading batch axis on its arrays (`batches.stack`)
Records = npt.NDArray[Any]

UNPROVEN, LOST, DRAWN, WON = 0, 1, 2, 3  # The proven result of a node to its side to move
SIGN = np.int32(-(1 << 31))
MOST_VISITS = np.iinfo(np.int32).max
UNKNOWN, NONE_LEFT = -2, -1  # Special values of a node's `next`: to be searched for; every step has an edge

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


Doubles = npt.NDArray[np.float64]


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


@njit(cache=True, forceinline=True)
def is_step(state: Any, step: int, steps: Ints) -> bool:
    """Whether a step is legal; ``steps`` is scratch, int32 [>= S]."""
    for i in range(kernels.write_steps(state, steps)):
        if steps[i] == step:
            return True
    return False


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

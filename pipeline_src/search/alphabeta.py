"""Alpha-beta for any game with kernels and an evaluation registered for the type of its state."""

import math
import time
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.kernels import is_legal, max_actions, outcome, play, position_hash, take_back
from pipeline_src.games.rules import copy_state
from pipeline_src.jit import Need, njit
from pipeline_src.search.evaluator import COUNTED, WIN, evaluate, rank, settle, shortlist
from pipeline_src.search.limits import Limit, Line, OnInfo, SearchResult, StopFlag, repeated, searching_seconds

# A binary heap, built in one pass, that yields the best of many actions one after the other.
#
# Most nodes use only a few of their actions, so a full sort would be wasteful (Williams, "Heapsort", Communications of
# the ACM 7, 1964).


Actions = npt.NDArray[np.int32]
Values = npt.NDArray[np.float32]


@njit(cache=True)
def _sink(actions: Actions, values: Values, at: int, n: int) -> None:
    action, value = actions[at], values[at]
    while True:
        child = 2 * at + 1
        if child >= n:
            break
        if child + 1 < n and values[child + 1] > values[child]:
            child += 1
        if values[child] <= value:
            break
        actions[at], values[at] = actions[child], values[child]
        at = child
    actions[at], values[at] = action, value


@njit(cache=True)
def heapify(actions: Actions, values: Values, n: int) -> None:
    """Reorder the first ``n`` pairs into a heap with the highest value first."""
    for at in range(n // 2 - 1, -1, -1):
        _sink(actions, values, at, n)


@njit(cache=True)
def pop(actions: Actions, values: Values, n: int) -> int:
    """Remove and return the best action of a heap of ``n``; the rest is a heap of ``n - 1``."""
    action = actions[0]
    actions[0], values[0] = actions[n - 1], values[n - 1]
    _sink(actions, values, 0, n - 1)
    return int(action)


# Transposition table: results of searches by the full 64-bit hash of a position.
#
# Entries come in pairs: a search that is at least as deep replaces the even one, any search replaces the odd one. An
# entry has the number of the search that wrote it and counts as empty for all others, so that no search depends on
# earlier ones, and the table is never cleared.


EXACT, LOWER, UPPER = 0, 1, 2  # Kind of a stored value: exact, a lower bound, or an upper bound
PROVEN = WIN - 500.0
"""Larger absolute values are ends of games, counted from the root: ``WIN`` minus the plies to the end.

Positions that are settled but not over have smaller values (`evaluator.settle`)."""


class Table(NamedTuple):
    """[E] each, E a power of two, or 0 for a search without a table."""

    keys: npt.NDArray[np.uint64]
    actions: npt.NDArray[np.int32]  # Best action, or the one that caused the cutoff
    values: npt.NDArray[np.float32]
    """Values of the side to move. Plies to a win are counted from this position, not from the root."""
    generations: npt.NDArray[np.int32]  # Number of the search that wrote the entry, from 1
    depths: npt.NDArray[np.int16]
    bounds: npt.NDArray[np.uint8]


ENTRY = np.dtype(list(zip(Table._fields, ("<u8", "<i4", "<f4", "<i4", "<i2", "u1"), strict=True)), align=True)
"""The columns of an entry are adjacent in memory, so that a probe needs one cache line instead of six."""


def make_table(megabytes: float) -> Table:
    """Return an empty table with the largest power of two of entries that fit, at least 2; 0 megabytes give none."""
    entries = 0
    if megabytes > 0:
        entries = 2
        while entries * 2 * ENTRY.itemsize <= megabytes * 1e6:
            entries *= 2
    rows = np.empty(entries, ENTRY)
    rows.view(np.uint8).fill(0)  # touched now, so that the memory is there when a search needs it
    return Table(*(rows[name] for name in Table._fields))


@njit(cache=True)
def find(table: Table, key: Any, generation: int) -> int:
    """Return the index of a position's entry, -1 if this search has none."""
    if table.keys.size == 0:
        return -1
    at = np.int64(key & np.uint64(table.keys.size - 1))
    for slot in (at, at ^ 1):
        if table.keys[slot] == key and table.generations[slot] == generation:
            return int(slot)
    return -1


@njit(cache=True)
def store(table: Table, key: Any, generation: int, depth: int, bound: int, value: float, action: int, ply: int) -> None:
    """Write the result of a search of ``depth`` plies, at ``ply`` plies from the root."""
    if table.keys.size == 0:
        return
    even = np.int64(key & np.uint64(table.keys.size - 1)) & ~1
    slot = even + 1
    if table.keys[even] == key or table.generations[even] != generation or table.depths[even] <= depth:
        slot = even
    if table.keys[even + 1] == key and table.generations[even + 1] == generation:
        slot = even + 1  # each position once
    if value > PROVEN:
        value += ply
    elif value < -PROVEN:
        value -= ply
    table.keys[slot] = key
    table.actions[slot] = action
    table.values[slot] = value
    table.generations[slot] = generation
    table.depths[slot] = depth
    table.bounds[slot] = bound


@njit(cache=True)
def value_at(table: Table, slot: int, ply: int) -> float:
    """Return the value of an entry for a position ``ply`` plies from the root."""
    value = float(table.values[slot])
    if value > PROVEN:
        return value - ply
    if value < -PROVEN:
        return value + ply
    return value


# Principal variation search, the compiled part: one call for each iteration of the deepening.
#
# Nearly all the time goes to `rank`, which evaluates every action of a node, 2,000 of them in the Amazons. Therefore
# the table's action and the *killers*, the actions that last caused a cutoff at the same ply, are tried before a node
# is ranked: one ply above the horizon, each of them costs one evaluation. Nodes at that ply are only ranked. Further
# up, the width, the number of best actions by one-ply value that are searched deeper, can be limited.
#
# Values are those of the side to move. The end of a game is worth ``WIN`` less the plies from the root to it.
#
# Sources: Knuth and Moore, "An analysis of alpha-beta pruning", Artificial Intelligence 6 (1975); Akl and Newborn, "The
# principal continuation and the killer heuristic", ACM Annual Conference (1977); Marsland and Campbell, "Parallel
# search of strongly ordered game trees", Computing Surveys 14 (1982), for the minimal windows.


NODES, NODE_LIMIT, STOPPED, GENERATION, ROOT_ACTIONS, ROOT_DONE = range(6)
"""Entries of `Space.counts`: positions evaluated; how many may be; whether the search was cut off; its number (see
`table`); legal actions of the root; actions of the root that this iteration has searched to their end."""
SCOUT, REDUCE_AFTER, INNER_KILLERS, BREADTH, INNER_BREADTH, PROOFS = range(6)
"""Entries of `Space.switches`: whether to search with minimal windows; after how many actions of a node the others are
first searched a ply less deep, 0 for never; killers tried before a deeper node is ranked; for the rest see
`searcher.Options`."""
ALPHA, BETA, FLOOR, BEST = range(4)
"""Entries of a row of `Space.bounds`: the window, where it began, the best value so far."""
DEPTH, ACTION, STAGE, SEARCHED, BEST_ACTION, REMEMBERED, TRIED, RANKED, COUNT, LEFT, SHORT = range(11)
"""Entries of a row of `Space.marks`: remaining depth; action being searched, and how; how many have been; the best of
them; the table's action, -1 for none; killers tried; whether the node is ranked; actions in its heap; how many may
still be taken; whether actions were left out of the heap."""
NEXT, REDUCED, MINIMAL, WHOLE = range(4)
"""Stages of an action: not begun; a ply less deep; with a minimal window; with the whole one."""
INFINITY = 2.0 * WIN
DECIDED = WIN - 2000.0
"""Larger values are proofs: games that are over or counted to their end. A deeper search would not change them."""
LOST = WIN / 2
"""Values between this and `DECIDED` are beliefs: the losing side has actions that were not searched. A search prefers
them to any evaluation, like proofs, and `told` reports them as squares."""
_BELIEF = WIN - 4000.0
LEAST = 0.5  # Margin of a belief that follows from the end of the game, which has no margin of its own
STEP = 1e-3  # Width of a minimal window. Values inside it are returned unchanged, so no result depends on the width.


class Space(NamedTuple):
    """Memory of one search. P: greatest depth in plies; A: room for the legal actions of any position."""

    actions: npt.NDArray[np.int32]  # [P + 1, A]: of the node at each ply
    values: npt.NDArray[np.float32]  # [P + 1, A]: their one-ply values
    root: npt.NDArray[np.int32]  # [A]: legal actions of the root, the best found so far first
    widths: npt.NDArray[np.int32]  # [P + 1]: by remaining depth, how many actions of a node are searched
    bounds: npt.NDArray[np.float64]  # [P + 1, 4]: of the node at each ply
    marks: npt.NDArray[np.int64]  # [P + 1, 11]: of the node at each ply
    killers: npt.NDArray[np.int32]
    """[P + 1, K]: by ply, the actions that last refuted there or were best, latest first, then -1."""
    counts: npt.NDArray[np.int64]
    switches: npt.NDArray[np.int64]
    futility: npt.NDArray[np.float64]  # [1]: see `searcher.Options`
    stop: npt.NDArray[np.uint8]  # [1]: 0 until the search should end


def make_space(plies: int, actions: int, widths: tuple[int, ...], killers: int, stop: npt.NDArray[np.uint8]) -> Space:
    """Memory for a search; ``widths`` as in `searcher.Options`."""
    by_depth = [actions, actions, *widths][: plies + 1]
    by_depth += [by_depth[-1]] * (plies + 1 - len(by_depth))
    return Space(
        np.empty((plies + 1, actions), np.int32),
        np.empty((plies + 1, actions), np.float32),
        np.empty(actions, np.int32),
        np.array([width or actions for width in by_depth], np.int32),
        np.zeros((plies + 1, 4)),
        np.zeros((plies + 1, 11), np.int64),
        np.full((plies + 1, killers), -1, np.int32),
        np.zeros(6, np.int64),
        np.zeros(6, np.int64),
        np.full(1, np.inf),
        stop,
    )


@njit(cache=True)
def _ended(value: float, ply: int) -> float:
    """Convert a one-ply value to the search's scale, for an action that leads to ``ply`` plies from the root."""
    if value >= WIN:
        return WIN - ply
    if value <= -WIN:
        return ply - WIN
    return value


@njit(cache=True)
def believed(value: float) -> float:
    """Return the value of a proven loss if the loser has actions that were not searched."""
    return -_BELIEF - LEAST if value < -PROVEN else value + COUNTED - _BELIEF


def told(value: float) -> float:
    """Return a value for reports: a belief becomes the margin that it follows from, in the evaluation's unit."""
    return math.copysign(abs(value) - _BELIEF, value) if LOST < abs(value) < DECIDED else value


@njit(cache=True)
def _to_front(killers: npt.NDArray[np.int32], action: int) -> None:
    last = 0
    while last < killers.size - 1 and killers[last] != action:
        last += 1
    for i in range(last, 0, -1):
        killers[i] = killers[i - 1]
    if killers.size > 0:
        killers[0] = action


@njit(cache=True)
def _holds(actions: npt.NDArray[np.int32], n: int, action: int) -> bool:
    found = False
    for i in range(n):  # without an early exit, so that it is vectorised
        found |= actions[i] == action
    return found


@njit(cache=True)
def _one_ply(state: Any, evaluator: Any, space: Space, ply: int, action: int) -> float:
    """Return the one-ply value of an action, the same as from `rank`."""
    play(state, action)
    over, result = outcome(state)
    if over:
        value = -float(result * (WIN - (ply + 1)))
    else:
        value = -float(np.float32(evaluate(state, evaluator)))
        space.counts[NODES] += 1
    take_back(state, action)
    return value


@njit(cache=True)
def _refute(
    state: Any, evaluator: Any, space: Space, ply: int, beta: float, remembered: int
) -> tuple[bool, float, int]:
    """Return (whether the table's action or a killer reaches ``beta`` one ply deep, its value, the action).

    This takes one evaluation for each of them instead of one for every action of the node.
    """
    if remembered >= 0:
        value = _one_ply(state, evaluator, space, ply, remembered)
        if value >= beta:
            return True, value, remembered
    killers = space.killers[ply]
    for killer in killers:
        if killer < 0:
            break
        if killer != remembered and is_legal(state, killer):
            value = _one_ply(state, evaluator, space, ply, killer)
            if value >= beta:
                _to_front(killers, killer)
                return True, value, int(killer)
    return False, 0.0, -1


@njit(cache=True)
def _leaf(
    state: Any, evaluator: Any, space: Space, table: Table, depth: int, ply: int, alpha: float, beta: float
) -> tuple[bool, float]:
    """Return (whether a position needs no search, its value if so); otherwise prepare its frame."""
    counts = space.counts
    over, result = outcome(state)
    if over:
        return True, float(result * (WIN - ply))
    settled, known = settle(state, evaluator)
    if settled:
        return True, float(np.float32(known))
    key, generation, remembered = position_hash(state), counts[GENERATION], -1
    slot = find(table, key, generation)
    if slot >= 0:
        remembered = table.actions[slot]
        if table.depths[slot] >= depth:
            found, bound = value_at(table, slot, ply), table.bounds[slot]
            if bound == EXACT or (bound == LOWER and found >= beta) or (bound == UPPER and found <= alpha):
                return True, found
    if depth <= 1:
        refuted, value, action = _refute(state, evaluator, space, ply, beta, remembered)
        if refuted:
            store(table, key, generation, 1, LOWER, value, action, ply)
            return True, value
        actions, values = space.actions[ply], space.values[ply]
        n, looked = shortlist(state, evaluator, space.switches[BREADTH], actions, values, beta)
        counts[NODES] += n + looked
        at = 0
        for i in range(1, n):
            if values[i] > values[at]:
                at = i
        best = _ended(float(values[at]), ply + 1)
        store(table, key, generation, 1, LOWER if best >= beta else EXACT, best, actions[at], ply)
        _to_front(space.killers[ply], actions[at])
        return True, best
    space.bounds[ply, FLOOR] = alpha
    space.bounds[ply, BEST] = -INFINITY
    marks = space.marks[ply]
    marks[:] = 0
    marks[DEPTH], marks[BEST_ACTION], marks[REMEMBERED] = depth, -1, remembered
    space.bounds[ply, ALPHA], space.bounds[ply, BETA] = alpha, beta
    return False, 0.0


@njit(cache=True)
def _next_action(state: Any, evaluator: Any, space: Space, ply: int) -> int:
    """Return the next action of a node to search, -1 if none is left."""
    marks, actions, values = space.marks[ply], space.actions[ply], space.values[ply]
    if marks[RANKED] == 0:
        if marks[REMEMBERED] >= 0 and marks[SEARCHED] == 0:
            return int(marks[REMEMBERED])
        tries = 0
        if space.bounds[ply, BETA] - space.bounds[ply, ALPHA] < 2 * STEP:
            tries = min(space.switches[INNER_KILLERS], space.killers.shape[1])
        while marks[TRIED] < tries:
            killer = space.killers[ply, marks[TRIED]]
            if killer < 0:
                break
            marks[TRIED] += 1
            if killer != marks[REMEMBERED] and is_legal(state, killer):
                return int(killer)
        marks[RANKED] = 1
        n, looked = shortlist(state, evaluator, space.switches[INNER_BREADTH], actions, values, WIN)
        space.counts[NODES] += n + looked
        heapify(actions, values, n)
        if values[0] >= WIN:
            space.bounds[ply, BEST] = WIN - (ply + 1)
            marks[BEST_ACTION] = actions[0]
            return -1
        marks[COUNT], marks[LEFT], marks[SHORT] = n, min(n, space.widths[marks[DEPTH]]), looked
    while marks[LEFT] > 0 or (marks[COUNT] > 0 and space.switches[PROOFS] != 0 and space.bounds[ply, BEST] < -LOST):
        alpha, likely = space.bounds[ply, ALPHA], float(values[0])
        if marks[DEPTH] == 2 and marks[SEARCHED] > 0 and likely + space.futility[0] <= alpha < LOST:
            space.bounds[ply, BEST] = max(space.bounds[ply, BEST], likely)
            break
        action = pop(actions, values, marks[COUNT])
        marks[COUNT] -= 1
        marks[LEFT] -= 1
        if action != marks[REMEMBERED] and not _holds(space.killers[ply], marks[TRIED], action):
            return action
    return -1


@njit(cache=True)
def _finish(state: Any, space: Space, table: Table, ply: int) -> float:
    """Store and return the value of a finished node."""
    bounds, marks = space.bounds[ply], space.marks[ply]
    best = bounds[BEST]
    if best > bounds[FLOOR]:
        _to_front(space.killers[ply], marks[BEST_ACTION])
    if space.switches[PROOFS] != 0 and best < min(-DECIDED, bounds[BETA]) and marks[COUNT] + marks[SHORT] > 0:
        best = believed(best)
    bound = LOWER if best >= bounds[BETA] else (EXACT if best > bounds[FLOOR] else UPPER)
    generation = space.counts[GENERATION]
    store(table, position_hash(state), generation, marks[DEPTH], bound, best, marks[BEST_ACTION], ply)
    return float(best)


@njit(cache=True)
def _resume(state: Any, space: Space, table: Table, ply: int, below: float) -> tuple[bool, float]:
    """Process the value of a node's action; return (whether the node is finished, its value if so).

    Afterwards `STAGE` is the next search of the same action, or `NEXT`.
    """
    marks, bounds, value = space.marks[ply], space.bounds[ply], -below
    if marks[STAGE] == REDUCED and value > bounds[ALPHA]:
        marks[STAGE] = MINIMAL
        return False, 0.0
    if marks[STAGE] == MINIMAL and bounds[ALPHA] < value < bounds[BETA]:
        marks[STAGE] = WHOLE
        return False, 0.0
    marks[STAGE] = NEXT
    take_back(state, marks[ACTION])
    marks[SEARCHED] += 1
    if value > bounds[BEST]:
        bounds[BEST], marks[BEST_ACTION] = value, marks[ACTION]
        bounds[ALPHA] = max(bounds[ALPHA], value)
        if value >= bounds[BETA]:
            return True, _finish(state, space, table, ply)
    return False, 0.0


@njit(cache=True)
def _search(state: Any, evaluator: Any, space: Space, table: Table, depth: int, alpha: float, beta: float) -> float:
    """Return the value of a position one ply below the root, searched ``depth`` plies deep.

    Outside ``alpha`` to ``beta`` it is a bound (fail-soft). It is meaningless after `STOPPED` is set. The stack is
    explicit, because numba crashes in recursive functions that are loaded from its cache.
    """
    counts, ply, entering, value = space.counts, 1, True, 0.0
    while True:
        if space.stop[0] != 0 or counts[NODES] >= counts[NODE_LIMIT]:
            counts[STOPPED] = 1
            for above in range(ply - 1 if entering else ply, 0, -1):
                take_back(state, space.marks[above, ACTION])
            return 0.0
        if entering:
            done, value = _leaf(state, evaluator, space, table, depth, ply, alpha, beta)
        else:
            done, value = _resume(state, space, table, ply, value)
        if not done and (entering or space.marks[ply, STAGE] == NEXT):
            action = _next_action(state, evaluator, space, ply)
            if action < 0:
                done, value = True, _finish(state, space, table, ply)
            else:
                marks = space.marks[ply]
                marks[ACTION], marks[STAGE] = action, WHOLE
                if marks[SEARCHED] > 0 and space.switches[SCOUT] != 0:
                    reduce = 0 < space.switches[REDUCE_AFTER] <= marks[SEARCHED] and marks[DEPTH] > 2
                    marks[STAGE] = REDUCED if reduce else MINIMAL
                play(state, action)
        if done:
            if ply == 1:
                return value
            ply, entering = ply - 1, False
            continue
        marks, bounds = space.marks[ply], space.bounds[ply]
        depth = marks[DEPTH] - (2 if marks[STAGE] == REDUCED else 1)
        beta = -bounds[ALPHA]
        alpha = -bounds[BETA] if marks[STAGE] == WHOLE else beta - STEP
        ply, entering = ply + 1, True


@njit(cache=True)
def _rank_root(state: Any, evaluator: Any, space: Space) -> float:
    """Write the root's actions, best one-ply value first, to ``space.root``, values in that order to the first ply's.

    If an action wins at once, the others may be missing. Returns the best value.
    """
    actions, values = space.actions[1], space.values[1]
    n = rank(state, evaluator, actions, values, WIN)
    space.counts[NODES] += n
    space.counts[ROOT_ACTIONS] = n
    heapify(actions, values, n)
    for i in range(n):
        space.values[0, i] = _ended(float(values[0]), 1)
        space.root[i] = pop(actions, values, n - i)
    return float(space.values[0, 0])


@njit(cache=True, nogil=True)
def search_root(state: Any, evaluator: Any, space: Space, table: Table, depth: int) -> float:
    """Search the root ``depth`` plies deep.

    Each new best action moves to the front of ``space.root``, so that an interrupted search leaves its answer there
    too. Returns the value over the actions that were searched to their end.
    """
    counts, best, root = space.counts, -INFINITY, space.root
    counts[ROOT_DONE] = 0
    if depth == 1:  # not a kernel of its own, which would compile half of this one again
        return _rank_root(state, evaluator, space)
    for i in range(counts[ROOT_ACTIONS]):
        if i >= space.widths[depth] and (best > -LOST or space.switches[PROOFS] == 0):
            break
        action = root[i]
        play(state, action)
        value = -INFINITY
        whole = i == 0 or space.switches[SCOUT] == 0
        if not whole:
            value = -_search(state, evaluator, space, table, depth - 1, -best - STEP, -best)
            whole = value > best
        if whole and counts[STOPPED] == 0:
            value = -_search(state, evaluator, space, table, depth - 1, -INFINITY, -best)
        take_back(state, action)
        if counts[STOPPED] != 0:
            break
        counts[ROOT_DONE] += 1
        if value > best:
            best = value
            for j in range(i, 0, -1):
                root[j] = root[j - 1]
            root[0] = action
    if space.switches[PROOFS] != 0 and best < -DECIDED and counts[ROOT_DONE] < counts[ROOT_ACTIONS]:
        best = believed(best)
    return best


@njit(cache=True, nogil=True)
def read_variation(state: Any, space: Space, table: Table, depth: int, out: npt.NDArray[np.int32]) -> int:
    """Write the principal variation, from the root's best action and the table; return its length.

    It has at most ``depth`` plies. Each action is checked for legality. The state is not changed.
    """
    out[0] = space.root[0]
    play(state, out[0])
    n = 1
    while n < depth and not outcome(state)[0]:
        slot = find(table, position_hash(state), space.counts[GENERATION])
        if slot < 0:
            break
        action = table.actions[slot]
        if not is_legal(state, action):
            break
        out[n] = action
        play(state, action)
        n += 1
    for i in range(n - 1, -1, -1):
        take_back(state, out[i])
    return n


# `AlphaBeta`: iterative deepening around the compiled search of `nodes`.


MAX_DEPTH = 96  # Greatest depth of a search in plies, for any limit


@dataclass(frozen=True)
class Options:
    """Options of the search: the actions that it examines, and their order."""

    widths: tuple[int, ...] = (100, 40, 20)
    """Number of actions of a node, the best by one-ply value, that are searched deeper: with 2 plies of remaining
    depth, with 3, and so on. The last number applies to all greater depths. 0 is all."""
    table_mb: float = 32.0  # Size of the transposition table in MiB; 0 for none
    scout: bool = True  # Whether all actions of a node but the first are tried with a minimal window
    killers: int = 8
    """Number of killer actions, the last to cause a cutoff at a ply, that are tried before a node one ply above the
    horizon is ranked."""
    inner_killers: int = 4  # Largest number of killers for nodes further up that are searched with a minimal window
    reduce_after: int = 8
    """Number of actions of a node after which the others are first searched one ply less deep; 0 is never."""
    breadth: int = 0
    """Number of likely moves of a position examined one ply above the horizon (`evaluator.shortlist`); 0 is all."""
    inner_breadth: int = 0  # `breadth` further above the horizon, except at the root
    proofs: bool = True
    """Whether values beyond `nodes.DECIDED` are proofs. If a node loses by all actions within its width, the others are
    searched too; if some remain unsearched even then, the loss is a belief (`nodes.LOST`)."""
    futility: float = math.inf
    """With two plies left to search, an action with a one-ply value this far below alpha is left out, with all
    lower-ranked ones (Heinz, "Extended futility pruning", ICCA Journal 21, 1998)."""

    def __post_init__(self) -> None:
        if not self.widths:
            raise ValueError("widths must not be empty")
        for name in ("widths", "killers", "inner_killers", "reduce_after", "breadth", "inner_breadth"):
            value = getattr(self, name)
            if min(value if isinstance(value, tuple) else (value,)) < 0:
                raise ValueError(f"{name} must be 0 or more, not {value}")
        if not 0 <= self.table_mb < 1e6:
            raise ValueError(f"table_mb must be 0 or more and finite, not {self.table_mb}")
        if not self.futility >= 0:
            raise ValueError(f"futility must be 0 or more, not {self.futility}")


class AlphaBeta:
    """Alpha-beta with iterative deepening, for any game with kernels and an evaluation; see `limits.Searcher`.

    ``AlphaBeta(make_evaluator()).search(state, Limit(depth=3))`` searches a position of the Amazons three plies deep;
    the evaluator is that of `search.amazons.evaluation`.
    """

    def __init__(self, evaluator: Any, options: Options | None = None) -> None:
        """``evaluator`` is made by ``make_evaluator`` of a game's evaluation. It has scratch space: do not share it."""
        self.evaluator, self.options = evaluator, options or Options()
        self._stop = StopFlag()
        self._table = make_table(self.options.table_mb)
        self._space: Space | None = None
        self._generation = 0

    def stop(self) -> None:
        """End the running search, from another thread. It still answers with a legal action.

        A search clears the request when it begins, so an earlier one is lost.
        """
        self._stop.set()

    def use_memory(self, size: int) -> None:
        """Limit the table to a size in bytes, if that is less than the options set."""
        self._table = make_table(min(self.options.table_mb, size / 1e6))

    def take_memory(self, size: int) -> None:
        """Set the size of the table in bytes, in place of the options' size."""
        self._table = make_table(size / 1e6)

    def needs(self, state: Any) -> list[Need]:
        """See `Searcher`."""
        space = make_space(1, 1, self.options.widths, self.options.killers, self._stop.raised)
        line = np.empty(MAX_DEPTH + 1, np.int32)
        return [
            Need(outcome, (state,)),
            Need(max_actions, (state,)),
            Need(search_root, (state, self.evaluator, space, self._table, 1)),
            Need(read_variation, (state, space, self._table, 1, line)),
        ]

    def search(
        self,
        state: Any,
        limit: Limit,
        seed: int = 0,  # noqa: ARG002
        on_info: OnInfo | None = None,
    ) -> SearchResult:
        """Search an unfinished position, which is not changed. Nothing is random, so ``seed`` is ignored.

        An interrupted search answers with the best action of the unfinished iteration, if that has searched the
        previous best action to its end, and otherwise of the last finished one. ``on_info`` receives a report after
        each iteration, and finally the answer (`repeated`).

        Raises:
            ValueError: the game is over, or none of ``limit.actions`` is legal.
        """
        began = time.perf_counter()
        self._stop.clear()
        if outcome(state)[0]:
            raise ZugwerkError("the game is over: there is nothing to search")
        state = copy_state(state)
        space = self._start(state, limit)
        seconds = None
        if limit.movetime_ms is not None:
            seconds = searching_seconds(limit.movetime_ms) - (time.perf_counter() - began)
        with self._stop.after(seconds), repeated(on_info, limit, lambda: int(space.counts[NODES])) as tell:
            return self._deepen(state, limit, space, began, tell)

    def _start(self, state: Any, limit: Limit) -> Space:
        """Return the memory, prepared for a new search."""
        room = int(max_actions(state))
        if self._space is None or self._space.root.size < room:
            self._space = make_space(MAX_DEPTH, room, self.options.widths, self.options.killers, self._stop.raised)
        space = self._space
        space.switches[SCOUT] = self.options.scout
        space.switches[REDUCE_AFTER] = self.options.reduce_after
        space.switches[INNER_KILLERS] = self.options.inner_killers
        space.switches[BREADTH] = self.options.breadth
        space.switches[INNER_BREADTH] = self.options.inner_breadth
        space.switches[PROOFS] = self.options.proofs
        space.futility[0] = self.options.futility
        self._generation += 1
        space.counts[:] = 0
        space.killers[:] = -1
        space.counts[GENERATION] = self._generation
        space.counts[NODE_LIMIT] = limit.nodes if limit.nodes is not None else np.iinfo(np.int64).max
        return space

    def _deepen(self, state: Any, limit: Limit, space: Space, began: float, on_info: OnInfo | None) -> SearchResult:
        room = np.empty(MAX_DEPTH + 1, np.int32)
        self._search(state, space, 1)
        actions = int(space.counts[ROOT_ACTIONS])
        if limit.actions:
            kept = np.flatnonzero(np.isin(space.root[:actions], limit.actions))
            if not (actions := kept.size):
                raise ValueError("none of the actions that may be chosen is legal")
            space.root[:actions], space.values[0, :actions] = space.root[kept], space.values[0, kept]
            space.counts[ROOT_ACTIONS] = actions
        count = min(limit.lines, actions)
        values = [float(value) for value in space.values[0, :count]]
        shown = told if self.options.proofs else float  # without proofs there are no beliefs
        lines = [Line((int(space.root[k]),), shown(values[k]), 1) for k in range(count)]

        def read(rank: int, depth: int, looked: int) -> Line:
            length = read_variation(state, _below(space, rank), self._table, looked, room)
            return Line(tuple(room[:length].tolist()), shown(values[rank]), depth)

        def report() -> SearchResult:
            evaluated, seconds, best = int(space.counts[NODES]), time.perf_counter() - began, lines[0]
            several = tuple(lines) if limit.lines > 1 else ()
            result = SearchResult(best.pv[0], best.value, best.depth, evaluated, best.pv, seconds, several)
            if on_info:
                on_info(result)
            return result

        result = report()
        if actions == 1 and limit.movetime_ms is not None:
            return result
        last, cut = min(limit.depth or MAX_DEPTH, MAX_DEPTH), False
        for depth in range(2, last + 1):
            if cut or all(abs(value) > DECIDED for value in values) or self._stop.raised[0]:
                break
            found: list[Line] = []
            for first in range(count):  # each further line is searched without the actions of those before it
                space.counts[ROOT_ACTIONS] = actions - first
                value = self._search(state, _below(space, first), depth)
                cut = bool(space.counts[STOPPED])
                if cut and count > 1:  # lines of different depths cannot be compared
                    break
                if not cut or space.counts[ROOT_DONE]:
                    values[first] = value
                found.append(read(first, depth - cut, depth))
            if len(found) == count:
                lines = sorted(found, key=lambda line: -line.value)
                result = report()
        return result

    def _search(self, state: Any, space: Space, depth: int) -> float:
        return float(search_root(state, self.evaluator, space, self._table, depth))


def _below(space: Space, rank: int) -> Space:
    """Return the memory of a search that leaves out the first ``rank`` of the root's actions."""
    return space._replace(root=space.root[rank:])

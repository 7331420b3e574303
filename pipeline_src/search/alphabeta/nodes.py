"""Principal variation search, the compiled part: one call for each iteration of the deepening.

Nearly all the time goes to `rank`, which evaluates every action of a node, 2,000 of them in the Amazons. Therefore the
table's action and the *killers*, the actions that last caused a cutoff at the same ply, are tried before a node is
ranked: one ply above the horizon, each of them costs one evaluation. Nodes at that ply are only ranked. Further up, the
width, the number of best actions by one-ply value that are searched deeper, can be limited.

Values are those of the side to move. The end of a game is worth ``WIN`` less the plies from the root to it.

Sources: Knuth and Moore, "An analysis of alpha-beta pruning", Artificial Intelligence 6 (1975); Akl and Newborn, "The
principal continuation and the killer heuristic", ACM Annual Conference (1977); Marsland and Campbell, "Parallel search
of strongly ordered game trees", Computing Surveys 14 (1982), for the minimal windows.
"""

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.games.kernels import is_legal, outcome, play, position_hash, take_back
from pipeline_src.jit import njit
from pipeline_src.search.alphabeta.order import heapify, pop
from pipeline_src.search.alphabeta.table import EXACT, LOWER, PROVEN, UPPER, Table, find, store, value_at
from pipeline_src.search.evaluator import COUNTED, WIN, evaluate, rank, settle, shortlist

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
LEAST = 0.5
"""Margin of a belief that follows from the end of the game, which has no margin of its own."""
STEP = 1e-3
"""Width of a minimal window. Values inside it are returned unchanged, so no result depends on the width."""


class Space(NamedTuple):
    """Memory of one search. P: greatest depth in plies; A: room for the legal actions of any position."""

    actions: npt.NDArray[np.int32]
    """[P + 1, A]: of the node at each ply."""
    values: npt.NDArray[np.float32]
    """[P + 1, A]: their one-ply values."""
    root: npt.NDArray[np.int32]
    """[A]: legal actions of the root, the best found so far first."""
    widths: npt.NDArray[np.int32]
    """[P + 1]: by remaining depth, how many actions of a node are searched."""
    bounds: npt.NDArray[np.float64]
    """[P + 1, 4]: of the node at each ply."""
    marks: npt.NDArray[np.int64]
    """[P + 1, 11]: of the node at each ply."""
    killers: npt.NDArray[np.int32]
    """[P + 1, K]: by ply, the actions that last refuted there or were best, latest first, then -1."""
    counts: npt.NDArray[np.int64]
    switches: npt.NDArray[np.int64]
    futility: npt.NDArray[np.float64]
    """[1]: see `searcher.Options`."""
    stop: npt.NDArray[np.uint8]
    """[1]: 0 until the search should end."""


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

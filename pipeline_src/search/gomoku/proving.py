"""Threat search together with an evaluator of leaves: certain wins and losses replace the net's answer.

Every leaf of a tree search first gets a search by fours, and then one by threats, of a few positions each. If the side
to move wins, the value is 1 and the winning move gets all of the prior. If it loses against every defence, the value
is -1. If the other side threatens to win, the prior is distributed over the moves that meet the threat. The other moves
lose: their prior is -1. With `PuctOptions.solve`, the tree backs all of this up as certain.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.games import kernels
from pipeline_src.games.gomoku import SIDE, GomokuState, format_variant, from_board
from pipeline_src.games.kernels import row
from pipeline_src.jit import Need, needs_of, njit
from pipeline_src.search.gomoku import threats
from pipeline_src.search.gomoku.lines import (
    FIRST,
    ONE_FOUR,
    ONE_THREE,
    STRIDE,
    SURE,
    WINS,
    At,
    Int,
    Lines,
    bring,
    lift,
    lines_need,
    make_lines,
    place,
)
from pipeline_src.search.gomoku.threats import (
    FourSpace,
    ProofTable,
    ThreatSpace,
    first_cell,
    prove,
    win_by_fours,
    write_cells,
    write_defences,
)
from pipeline_src.search.mcts.puct import LOST, UNPROVEN, UNSURE, WON, Forest, evaluate
from pipeline_src.search.mcts.puct import prove as set_proof
from pipeline_src.search.mcts.puct_trees import Answer, EvaluateBatch, PuctTrees


@njit(cache=True, nogil=True)
def settle(
    lines: Lines,
    table: ProofTable | None,
    space: ThreatSpace,
    found: FourSpace,
    boards: npt.NDArray[np.int8],
    turns: npt.NDArray[np.int16],
    steps: npt.NDArray[np.int32],
    counts: npt.NDArray[np.int32],
    limits: npt.NDArray[np.int64],
    priors: npt.NDArray[np.float32],
    values: npt.NDArray[np.float32],
) -> int:
    """Correct the evaluator's answer about B positions (see the module's docstring); return the number of decided ones.

    Args:
        lines: a board of their size and rule, with any stones.
        table: of the search by threats, whose entries of the generation in ``space.counts`` stay true for all
            positions; None is no such search, which halves the time of compiling.
        space: of the same.
        found: of the search by fours.
        boards: int8 [B, H, W].
        turns: int16 [B, 5].
        steps: int32 [B, S].
        counts: int32 [B].
        limits: int64 [3]: positions that a search by fours may look at, and one by threats; and whether no search by
            fours sees what others found.
        priors: float32 [B, S].
        values: float32 [B].
    """
    decided = Int(0)
    for b in range(boards.shape[0]):
        cell, lost = search_win(lines, table, space, found, boards[At(b)], turns[At(b)], limits)
        side, width = Int(turns[At(b), SIDE]), boards.shape[2]
        value = correct(
            lines, space, side, width, steps[At(b)], counts[At(b)], cell, lost, priors[At(b)], float(values[At(b)])
        )
        values[At(b)] = value
        decided += abs(value) == 1.0
    return int(decided)


@njit(cache=True, nogil=True)
def search_win(
    lines: Lines,
    table: ProofTable | None,
    space: ThreatSpace,
    found: FourSpace,
    board: npt.NDArray[np.int8],
    turn: npt.NDArray[np.int16],
    limits: npt.NDArray[np.int64],
) -> tuple[Int, bool]:
    """Search for a forced win; return its first move's cell of ``lines``, or -1, and whether the other side has one.

    ``lines`` becomes the board. The arguments are those of `settle`, of one position.
    """
    bring(lines, board)
    if limits[2]:
        found.counts[threats.SALT] += 1
    asked, c = space.counts, Int(turn[SIDE])
    other = 1 - c
    if lines.counts[At(c), WINS] > 0:
        return Int(first_cell(lines, c, Int(WINS))), False
    if win_by_fours(lines, found, c, limits[0]) > 0:
        return found.line[0], False
    if table is not None:
        asked[threats.NODES], asked[threats.NODE_LIMIT], asked[threats.KINDS] = 0, limits[1], ONE_THREE
        proof, _, move, _ = prove(lines, table, space, found, c, False)
        if proof == 0:
            return move, False
        if lines.counts[At(other), WINS] + lines.counts[At(other), SURE] > 0:
            asked[threats.NODES] = 0
            proof, _, _, _ = prove(lines, table, space, found, other, True)
            return Int(-1), proof == 0
    return Int(-1), False


@njit(cache=True)
def correct(
    lines: Lines,
    space: ThreatSpace,
    c: int,
    width: int,
    steps: npt.NDArray[np.int32],
    count: int,
    cell: int,
    lost: bool,
    priors: npt.NDArray[np.float32],
    value: float,
) -> float:
    """Correct the priors of one position by what `search_win` found; return the value so corrected."""
    n, other = Int(-1), 1 - c
    if cell >= 0:
        space.moves[0, 0], n = cell, Int(1)
    elif lines.counts[At(other), WINS] > 0:
        n = Int(write_defences(lines, other, Int(WINS), space, Int(0)))
    elif lines.counts[At(other), SURE] > 0:
        n = Int(write_defences(lines, other, Int(SURE), space, Int(0)))
        n = Int(write_cells(lines, c, Int(ONE_FOUR), space.moves, Int(0), n))
    if n >= 0:
        kept = _keep(lines, space, n, width, steps, count, priors)
        lost |= kept == 0
    if cell >= 0:
        return 1.0
    most = float(UNSURE)
    return -1.0 if lost else min(max(value, -most), most)


@njit(cache=True)
def _keep(
    lines: Lines,
    space: ThreatSpace,
    n: int,
    width: int,
    steps: npt.NDArray[np.int32],
    count: int,
    priors: npt.NDArray[np.float32],
) -> int:
    """Distribute the prior of a position over the legal ones of ``n`` moves of ``space``; return their number.

    The others get -1. With none, nothing changes.
    """
    total, left = 0.0, Int(0)
    for i in range(count):
        if _is_move(lines, space, n, width, steps[At(i)]):
            total += priors[At(i)]
            left += 1
    for i in range(count if left > 0 else 0):
        if _is_move(lines, space, n, width, steps[At(i)]):
            priors[At(i)] = priors[At(i)] / total if total > 0.0 else 1.0 / left
        else:
            priors[At(i)] = -1.0
    return int(left)


@njit(cache=True)
def _is_move(lines: Lines, space: ThreatSpace, n: int, width: int, step: int) -> bool:
    """Whether a step is among the first ``n`` moves of ``space``."""
    cell, found = lines.sizes[FIRST] + step // width * lines.sizes[STRIDE] + step % width, False
    for k in range(n):
        found |= space.moves[0, At(k)] == cell
    return found


class ProvingNet(NamedTuple):
    """A net that is a kernel, together with the threat search, as searches in compiled code take it."""

    net: Any
    lines: Lines
    table: ProofTable | None
    space: ThreatSpace
    found: FourSpace
    limits: npt.NDArray[np.int64]  # [3]: see `settle`
    decided: npt.NDArray[np.int64]  # [1]: number of positions so far that were certainly won or lost


@njit(cache=True)
def evaluate_proving(
    beside: ProvingNet, state: GomokuState, steps: npt.NDArray[np.int32], count: int, priors: npt.NDArray[np.float32]
) -> float:
    """`evaluate` of the net, corrected as by `settle`."""
    lines, space, c = beside.lines, beside.space, Int(state.turn[SIDE])
    cell, lost = search_win(lines, beside.table, space, beside.found, state.board, state.turn, beside.limits)
    value = 0.0
    if cell >= 0:  # a run of the net would be for nothing
        priors[:count] = 0.0
    else:
        value = evaluate(beside.net, state, steps, count, priors)
    value = correct(lines, space, c, state.board.shape[1], steps, count, cell, lost, priors, value)
    beside.decided[0] += abs(value) == 1.0
    return float(value)


kernels.implement(evaluate, ProvingNet, evaluate_proving)


class _Memory:
    """Board, tables and scratch space of searches by fours and by threats, for one board size and rule at a time."""

    def __init__(self, by_threats: bool) -> None:
        self._table = threats.make_table(1 << 18) if by_threats else None
        self._fours = threats.make_four_space()
        self._space = threats.make_space(1, np.zeros(1, np.uint8))
        self._lines: Lines | None = None
        self._shape, self._generation = (0, 0), 0

    def fit(self, state: GomokuState) -> tuple[Lines, ProofTable | None, ThreatSpace, FourSpace]:
        """The memory for boards of the size and rule of ``state``, allocated if the last one had another size."""
        if self._lines is None or self._shape != state.board.shape:
            self._shape = state.board.shape
            self._lines = make_lines(from_board(np.zeros_like(state.board), 0, format_variant(state)))
            self._space = threats.make_space(self._lines.cells.size, np.zeros(1, np.uint8))
            self.forget()
        return self._lines, self._table, self._space, self._fours

    def forget(self) -> None:
        """Forget what was found, so that the next answers depend on their positions alone."""
        self._generation += 1
        self._space.counts[threats.GENERATION] = self._generation
        self._fours.counts[threats.SALT] += 1

    def types(self, state: GomokuState) -> tuple[list[Need], tuple[Any, ...]]:
        """The kernels of a board's lines, and arguments of the types of `fit`."""
        lines, needs = lines_need(state)
        return needs, (lines, self._table, self._space, self._fours)


class ProvingEvaluator:
    """An evaluator of leaves together with the threat search."""

    def __init__(
        self, evaluate_batch: EvaluateBatch, by_fours: int, by_threats: int = 0, *, alone: bool = False
    ) -> None:
        """How far the searches go.

        Args:
            evaluate_batch: the evaluator.
            by_fours: number of positions of each search by fours.
            by_threats: number of positions of each search by threats; 0 is none of these.
            alone: whether each search by fours forgets what others found, so that an answer depends on its position
                alone, and not on those asked about before; a tenth slower. Searches by threats remember in any case.
        """
        self.evaluate_batch, self.limits = evaluate_batch, np.array([by_fours, by_threats, alone])
        self.decided = 0  # Number of positions so far that were certainly won or lost
        self._memory = _Memory(by_threats > 0)

    def __call__(self, states: Any, steps: npt.NDArray[np.int32], counts: npt.NDArray[np.int32]) -> Answer:
        """See `search.mcts.puct_trees.EvaluateBatch`; all states are of one board size and rule."""
        priors, values = self.evaluate_batch(states, steps, counts)
        priors, values = priors.copy(), values.copy()
        memory = self._memory.fit(row(states, 0))
        self.decided += settle(*memory, states.board, states.turn, steps, counts, self.limits, priors, values)
        return priors, values

    def inside(self, state: GomokuState) -> ProvingNet | None:
        """See `PuctTrees`; None if the evaluator has no net that is a kernel."""
        inside = getattr(self.evaluate_batch, "inside", None)
        if inside is None:
            return None
        return ProvingNet(inside(state), *self._memory.fit(state), self.limits, np.zeros(1, np.int64))

    def twin(self) -> "ProvingEvaluator":
        """See `search.mcts.puct_search.Crew`."""
        by_fours, by_threats, alone = self.limits.tolist()
        twin: Any = self.evaluate_batch
        return ProvingEvaluator(twin.twin(), by_fours, by_threats, alone=alone)

    def needs(self, state: GomokuState) -> list[Need]:
        """See `Puct.needs`."""
        found, memory = self._memory.types(state)
        boards, turns, steps = np.empty((1, *state.board.shape), np.int8), state.turn[None], np.empty((1, 1), np.int32)
        priors, values = np.empty((1, 1), np.float32), np.empty(1, np.float32)
        settled = Need(settle, (*memory, boards, turns, steps, steps[0], self.limits, priors, values))
        return [*found, settled, *needs_of(self.evaluate_batch, state)]


# Threats at much visited nodes of a tree.
#
# Leaves see wins by fours, and few plies ahead. A node that many simulations pass through gets a search by fours and
# threes for its side to move: a few positions for each of its visits, again each time that these have doubled. What it
# proves goes up the tree as other proofs do, and so a move is given up whose refutation the net would see too late.


DEEPER = 0.1  # Positions for each visit of a node below the root's children, as a share of those of these
LEAST_POSITIONS = 200  # Least positions of a search by threats of a node
PATH = 40  # Greatest depth of a node that is searched, in plies
NEVER_AGAIN, PROVEN = -1, -2  # In place of a number of positions: no win by threats exists; one does


class Seen(NamedTuple):
    """Nodes' searches so far, by a few bits of the hash of their positions: a later position replaces an earlier."""

    keys: npt.NDArray[np.uint64]  # [M], M a power of two
    positions: npt.NDArray[np.int32]  # [M]: limit of the last search, NEVER_AGAIN or PROVEN
    path: npt.NDArray[np.int32]  # [PATH]: scratch, the next edge of each node on the way from the root


@njit(cache=True, nogil=True)
def search_nodes(
    forest: Forest,
    lines: Lines,
    table: ProofTable,
    space: ThreatSpace,
    found: FourSpace,
    seen: Seen,
    board: npt.NDArray[np.int8],
    rate: float,
) -> int:
    """Search by threats at those nodes of the first tree whose visits have doubled, and back up the proofs.

    Args:
        forest: the tree, whose nodes know their positions' hashes; none waits for the evaluator.
        lines: a board of its size and rule, with any stones.
        table: of the searches by threats.
        space: of the same.
        found: of the searches by fours.
        seen: what was searched before.
        board: int8 [H, W] of the root.
        rate: positions for each visit of the root or a child of it; deeper nodes have `DEEPER` of it.

    Returns:
        The step that wins by threats at the root if it has no visits yet, else -1.
    """
    nodes, edges, width, untried = forest.nodes[0], forest.edges[0], board.shape[1], Int(-1)
    first, stride, asked, mask = lines.sizes[FIRST], lines.sizes[STRIDE], space.counts, np.uint64(seen.keys.size - 1)
    bring(lines, board)
    node, depth, entering = 0, 0, True
    while True:
        here = nodes[node]
        if entering:
            seen.path[At(depth)] = 0
            key, most = forest.keys[0, node], Int((rate if depth <= 1 else DEEPER * rate) * here.visits)
            slot = Int(key & mask)
            before = Int(seen.positions[At(slot)]) if seen.keys[At(slot)] == key else Int(0)
            if (before >= 0 and most >= 2 * before) or (before == PROVEN and depth == 0):
                asked[threats.NODES], asked[threats.STOPPED] = 0, 0
                asked[threats.NODE_LIMIT], asked[threats.KINDS] = most - max(before, 0), ONE_THREE  # the table has more
                proof, disproof, move, _ = prove(lines, table, space, found, Int(here.side), False)
                if space.stop[0] == 0:
                    before = Int(PROVEN) if proof == 0 else Int(NEVER_AGAIN) if disproof == 0 else most
                    seen.keys[At(slot)], seen.positions[At(slot)] = key, before
                if proof == 0 and depth == 0:
                    untried = (move - first) // stride * width + (move - first) % stride
                    for edge in range(here.first, here.first + here.edges):
                        if edges[edge].step == untried:  # the proof has to name its move
                            set_proof(forest, 0, edges[edge].child, LOST)
                            untried = Int(-1)
                            break
            if before == PROVEN and depth > 0:
                set_proof(forest, 0, node, WON)
        edge, last = Int(here.first) + seen.path[At(depth)], Int(here.first) + here.edges
        if here.proof != UNPROVEN or depth == PATH - 1 or space.stop[0] != 0:
            edge = last
        least = LEAST_POSITIONS / (rate if depth == 0 else DEEPER * rate)
        while edge < last:
            below = nodes[edges[edge].child]
            if below.proof == UNPROVEN and below.over == 0 and below.visits >= least:
                break
            edge += 1
        if edge < last:
            seen.path[At(depth)] = edge + 1 - here.first
            step = edges[edge].step
            place(lines, first + step // width * stride + step % width, here.side + 1)
            node, depth, entering = Int(edges[edge].child), depth + 1, True
        elif depth > 0:
            step = edges[here.owner].step
            lift(lines, first + step // width * stride + step % width)
            node, depth, entering = Int(here.parent), depth - 1, False
        else:
            return int(untried)


class TreeThreats:
    """Searches by threats at much visited nodes of a tree of Gomoku, see `search_nodes`. One search at a time."""

    def __init__(self, rate: float) -> None:
        """See `search_nodes` for the rate, above 0."""
        self._rate, self._memory = float(rate), _Memory(by_threats=True)
        self._seen = Seen(np.zeros(1 << 16, np.uint64), np.zeros(1 << 16, np.int32), np.zeros(PATH, np.int32))

    def forget(self) -> None:
        """Forget what was found, so that the next answers depend on the tree alone."""
        self._seen.positions[:] = 0
        self._memory.forget()

    def __call__(self, trees: PuctTrees, flag: npt.NDArray[np.uint8]) -> None:
        """Search at the nodes of the first tree, until ``flag``, uint8 [1], is set."""
        state = row(trees.roots, 0)
        assert trees.options.solve and trees.options.share, "proofs need a tree that backs them up"  # noqa: PT018
        lines, table, space, fours = self._memory.fit(state)
        assert table is not None
        memory = (lines, table, space._replace(stop=flag), fours, self._seen)
        step = search_nodes(trees.forest, *memory, state.board, self._rate)
        if step >= 0:
            done, targets = int(trees.forest.done[0]), np.full(trees.count, -1, np.int32)
            targets[0], place = done + 1, int(np.flatnonzero(trees.steps(0) == step)[0])
            trees.simulate(targets, forced=np.full((trees.count, done + 1), place, np.int32))
            search_nodes(trees.forest, *memory, state.board, self._rate)

    def needs(self, trees: PuctTrees) -> list[Need]:
        """See `search.mcts.puct_search.Between`."""
        state = row(trees.roots, 0)
        found, memory = self._memory.types(state)
        return [*found, Need(search_nodes, (trees.forest, *memory, self._seen, state.board, self._rate))]

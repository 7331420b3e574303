"""`Solver`: find a forced win of the side to move, with its line.

Four searches follow one another; each begins if the one before finds nothing: continuous fours; threats
(`threats.prove`); threats and quiet moves that threaten to win by fours; and one quiet move of any kind, against all
answers of the other side, with a threat search after each.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Thread
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import gomoku
from pipeline_src.games.gomoku import PLY, SIDE, GomokuState, winner
from pipeline_src.jit import njit
from pipeline_src.search.gomoku import threats
from pipeline_src.search.gomoku.lines import (
    FIRST,
    LAST,
    ONE_THREE,
    QUIET,
    SURE,
    WINS,
    Lines,
    action_of,
    bring,
    cell_of,
    lift,
    make_lines,
    may_play,
    place,
)
from pipeline_src.search.gomoku.threats import first_cell, win_by_fours
from pipeline_src.search.limits import FOREVER, Limit, StopFlag
from pipeline_src.search.mcts.puct import PuctOptions
from pipeline_src.search.mcts.puct_search import Crew
from pipeline_src.search.mcts.puct_trees import EvaluateBatch, PuctTrees

FOURS_ALONE = 20_000  # Node limit of the search by fours alone
SHARE, STEP = 0.3, 50_000
"""Share of the limit for threats alone before quiet moves are tried; positions between two checks of the limit."""
WIDE, DEEP = 16, 100  # Number of quiet moves of a node, and node limit of each search by fours below one
BEHIND, CANDIDATES = 5_000, 12
"""Node limit of a search after a quiet move of any kind or after an answer to it; number of these moves."""
AGAIN = 1_000_000  # Node limit of a search that restores a proof after the table has lost a part of it
ENTRIES = 1 << 20
NEVER = 1 << 60


@dataclass(frozen=True)
class Found:
    """The result of a solver."""

    line: tuple[int, ...]
    """Actions up to the winning line, the attacker's and the defender's in turn; empty if no win was found. The
    defender's actions are those that hold out longest, as far as the search knows."""
    nodes: int  # Number of positions searched
    seconds: float

    @property
    def win(self) -> bool:
        """Whether a win of the side to move was found."""
        return bool(self.line)

    @property
    def plies(self) -> int | None:
        """Length of the line; None without a win."""
        return len(self.line) or None


_cell_of, _action_of = njit(cache=True)(cell_of), njit(cache=True)(action_of)

LIMIT, TOTAL, GENERATION, SEARCHED, MOVE, BEGUN = range(6)
"""Entries of `Memory.numbers`: positions that a search may look at and those it has; number of the last search by
threats; what the last proof was of, `ONE_THREE` or `QUIET`, and its first stone; stones of the line before it."""


class Memory(NamedTuple):
    """Memory of a search for forced wins, for boards of up to C cells."""

    table: threats.ProofTable
    space: threats.ThreatSpace
    fours: threats.FourSpace
    hurry: npt.NDArray[np.uint8]  # [1]: not 0 once threats alone have had their share of the time
    numbers: npt.NDArray[np.int64]  # [6]
    quiet: npt.NDArray[np.int32]  # [2, C]: quiet moves of the attacker, answers to one
    line: npt.NDArray[np.int32]  # [C]: of the last win


def make_memory(cells: int, entries: int, stop: npt.NDArray[np.uint8], hurry: npt.NDArray[np.uint8]) -> Memory:
    """Return the memory for boards of up to ``cells`` cells with their border; ``entries`` is a power of two."""
    return Memory(
        threats.make_table(entries),
        threats.make_space(cells, stop),
        threats.make_four_space(),
        hurry,
        np.zeros(6, np.int64),
        np.zeros((2, cells), np.int32),
        np.zeros(cells, np.int32),
    )


@njit(cache=True)
def _fours(lines: Lines, memory: Memory, c: int, limit: int) -> bool:
    plies = win_by_fours(lines, memory.fours, c, limit)
    memory.numbers[TOTAL] += memory.fours.counts[threats.FOUR_NODES]
    return plies > 0


@njit(cache=True)
def _ask(memory: Memory, kinds: int, limit: int) -> None:
    counts, numbers = memory.space.counts, memory.numbers
    counts[:] = 0
    counts[threats.NODE_LIMIT] = max(0, limit)
    counts[threats.GENERATION] = numbers[GENERATION] - (1 if kinds == ONE_THREE else 0)
    counts[threats.KINDS], counts[threats.QUIETS], counts[threats.FOUR_LIMIT] = kinds, WIDE, DEEP
    numbers[SEARCHED] = kinds


@njit(cache=True)
def _prove(lines: Lines, memory: Memory, c: int, kinds: int, limit: int) -> tuple[int, int]:
    """Return (proof number, disproof number) of the attacker's win in the position on the board."""
    _ask(memory, kinds, limit)
    proof, disproof, move, _ = threats.prove(lines, memory.table, memory.space, memory.fours, c, False)
    memory.numbers[TOTAL] += memory.space.counts[threats.NODES]
    memory.numbers[MOVE] = move
    return proof, disproof


@njit(cache=True)
def _wins(lines: Lines, memory: Memory, c: int) -> bool:
    """Whether the attacker, to move, wins by threats, or else by threats and quiet moves that threaten fours."""
    return _prove(lines, memory, c, ONE_THREE, BEHIND)[0] == 0 or _prove(lines, memory, c, QUIET, BEHIND)[0] == 0


@njit(cache=True)
def _by_worth(lines: Lines, cells: npt.NDArray[np.int32], n: int) -> None:
    """Sort ``n`` cells, best first; equal ones stay in their order."""
    for i in range(1, n):
        cell, at = cells[i], i
        while at > 0 and lines.scores[cells[at - 1]] < lines.scores[cell]:
            cells[at] = cells[at - 1]
            at -= 1
        cells[at] = cell


@njit(cache=True)
def _write_empty(lines: Lines, c: int, cells: npt.NDArray[np.int32]) -> int:
    """Write where colour c may place a stone, best first; Renju forbids some to Black."""
    n = 0
    for cell in range(lines.sizes[FIRST], lines.sizes[LAST]):
        if lines.cells[cell] == 0 and may_play(lines, c, cell):
            cells[n] = cell
            n += 1
    _by_worth(lines, cells, n)
    return n


@njit(cache=True)
def _write_candidates(lines: Lines, memory: Memory, c: int) -> int:
    """Write quiet moves, best first; if the other side has a threat, those that meet it."""
    cells, other = memory.quiet[0], 1 - c
    for threat in (WINS, SURE):
        if lines.counts[other, threat]:
            n = 0
            for i in range(threats.write_defences(lines, other, threat, memory.space, 0)):
                cell = int(memory.space.moves[0, i])
                if may_play(lines, c, cell):
                    cells[n] = cell
                    n += 1
            _by_worth(lines, cells, n)
            return n
    return min(CANDIDATES, _write_empty(lines, c, cells))


@njit(cache=True)
def _any_quiet(lines: Lines, memory: Memory, c: int) -> bool:
    """Whether a quiet move of any kind wins against every answer."""
    numbers, other = memory.numbers, 1 - c
    for i in range(_write_candidates(lines, memory, c)):
        cell = int(memory.quiet[0, i])
        place(lines, cell, c + 1)
        if lines.counts[other, WINS] == 0 and _wins(lines, memory, c):
            longest, best, searched, won = -1, -1, QUIET, True
            for j in range(_write_empty(lines, other, memory.quiet[1])):
                answer = int(memory.quiet[1, j])
                place(lines, answer, other + 1)
                before = numbers[TOTAL]
                won = _wins(lines, memory, c)
                nodes = numbers[TOTAL] - before
                if nodes > longest or (nodes == longest and answer > best):
                    longest, best, searched = nodes, answer, numbers[SEARCHED]
                lift(lines, answer)
                if not won or memory.space.stop[0] or numbers[TOTAL] > numbers[LIMIT]:
                    won = False
                    break
            if won and best >= 0:
                lift(lines, cell)
                memory.line[0], memory.line[1] = cell, best
                numbers[BEGUN], numbers[SEARCHED] = 2, searched
                return True
        lift(lines, cell)
        if memory.space.stop[0] or numbers[TOTAL] > numbers[LIMIT]:
            break
    return False


@njit(cache=True)
def _search(lines: Lines, memory: Memory, c: int) -> bool:
    """Whether the searches find a win of the attacker within the limit."""
    numbers = memory.numbers
    limit = numbers[LIMIT]
    if _fours(lines, memory, c, min(FOURS_ALONE, limit)):
        return True
    spent, proof, disproof = 0, 1, 1
    while proof and disproof and not memory.space.stop[0] and spent < SHARE * limit:
        proof, disproof = _prove(lines, memory, c, ONE_THREE, min(STEP, limit - numbers[TOTAL]))
        spent += STEP
        if memory.hurry[0]:
            break
    if proof:
        proof, disproof = _prove(lines, memory, c, QUIET, limit - numbers[TOTAL])
    return proof == 0 or (disproof == 0 and _any_quiet(lines, memory, c))


@njit(cache=True)
def _attack(lines: Lines, memory: Memory, c: int) -> int:
    """Return the attacker's next stone; -1 if the table has lost too much of the proof."""
    if lines.counts[c, WINS]:
        return int(first_cell(lines, c, WINS))
    if _fours(lines, memory, c, FOURS_ALONE):
        return int(memory.fours.line[0])
    return int(memory.numbers[MOVE]) if _prove(lines, memory, c, memory.numbers[SEARCHED], AGAIN)[0] == 0 else -1


@njit(cache=True)
def _longest_answer(lines: Lines, memory: Memory, c: int) -> int:
    """Return the defender's answer that holds out longest; Renju forbids some to Black."""
    space, other = memory.space, 1 - c
    _ask(memory, memory.numbers[SEARCHED], AGAIN)
    proof, _, _ = threats.open_node(lines, c, True, space, memory.fours, memory.table, 0)
    most, best, any_most, any_best = -2, -1, -2, -1
    for i in range(1 if proof == 0 else space.marks[0, threats.COUNT]):
        cell, plies = int(space.moves[0, i]), int(space.plies[0, i] if space.proofs[0, i] == 0 else -1)
        if proof == 0:
            cell, plies = int(first_cell(lines, c, WINS if lines.counts[c, WINS] else SURE)), 0
        if plies > any_most:
            any_most, any_best = plies, cell
        if plies > most and may_play(lines, other, cell):
            most, best = plies, cell
    if best >= 0:
        return best
    return int(memory.quiet[1, 0]) if _write_empty(lines, other, memory.quiet[1]) else any_best


@njit(cache=True)
def _write_line(lines: Lines, memory: Memory, c: int) -> int:
    """Write the cells of the win that `_search` found, and return their number; 0 if the proof is not found again."""
    line, n, found = memory.line, 0, 0
    while n < memory.numbers[BEGUN]:
        place(lines, int(line[n]), (c if n % 2 == 0 else 1 - c) + 1)
        n += 1
    while True:
        line[n] = _attack(lines, memory, c)
        if line[n] < 0:
            break
        if lines.counts[c, WINS]:
            found = n + 1
            break
        place(lines, int(line[n]), c + 1)
        line[n + 1] = _longest_answer(lines, memory, c)
        place(lines, int(line[n + 1]), 2 - c)
        n += 2
    for i in range(n - 1, -1, -1):
        lift(lines, int(line[i]))
    return found


@njit(cache=True)
def _find(lines: Lines, memory: Memory, c: int, limit: int) -> int:
    """Search for a win of colour c, to move; return the number of cells of its line, which `Memory.line` has."""
    numbers = memory.numbers
    numbers[GENERATION] += 2
    numbers[LIMIT], numbers[TOTAL], numbers[SEARCHED], numbers[BEGUN] = limit, 0, ONE_THREE, 0
    memory.fours.counts[threats.SALT] = (numbers[GENERATION] - 1) * 0x9E3779B97F4A7C1 & NEVER - 1
    return _write_line(lines, memory, c) if _search(lines, memory, c) else 0


@njit(cache=True, nogil=True)
def find(state: GomokuState, lines: Lines, memory: Memory, limit: int) -> int:
    """Search for a forced win of the side to move within ``limit`` positions.

    Returns:
        The number of plies of its line, 0 without one. `Memory.line` has its actions. ``lines`` are of the board.
    """
    bring(lines, state.board)
    n = _find(lines, memory, int(state.turn[SIDE]), limit)
    for i in range(n):
        memory.line[i] = _action_of(memory.line[i], state.board.shape[1], lines)
    return n


@njit(cache=True, nogil=True)
def hold_out(state: GomokuState, lines: Lines, memory: Memory, limit: int) -> tuple[int, int]:
    """Look for the best answer to the last stone of a forced win, those near it first.

    Returns:
        The action, and the plies of the win after it: of the answer that holds out longest, or 0 for the first one
        after which no search of ``limit`` positions finds a win.
    """
    bring(lines, state.board)
    side = int(state.turn[SIDE])
    (height, width), last, best, most = state.board.shape, state.moves[state.turn[PLY] - 1], -1, 0
    for away in range(1, max(height, width)):
        for action in range(height * width):
            down, right = abs(action // width - last // width), abs(action % width - last % width)
            cell = _cell_of(action, width, lines)
            if max(down, right) != away or lines.cells[cell] != 0 or not may_play(lines, side, cell):
                continue
            if lines.classes[side, cell] == WINS:
                return action, 0
            place(lines, cell, side + 1)
            plies = _find(lines, memory, 1 - side, limit)
            lift(lines, cell)
            if plies == 0:
                return action, 0
            if plies > most:
                best, most = action, plies
    return best, most


class Solver:
    """Finds forced wins of the side to move in Gomoku. One search at a time.

    >>> from pipeline_src.games.gomoku import from_fen
    >>> found = Solver().solve(from_fen("9/9/9/9/2xxx4/9/2oo5/2o6/9 b"), Limit(nodes=1000))
    >>> found.win, found.plies
    (True, 3)
    """

    def __init__(self, entries: int = ENTRIES) -> None:
        """``entries`` is the number of entries of the transposition table, a power of two."""
        self._stop, self._hurry, self._entries = StopFlag(), StopFlag(), entries
        self._memory: Memory | None = None

    def stop(self) -> None:
        """End the running search, from another thread."""
        self._stop.set()

    def solve(self, state: GomokuState, limit: Limit) -> Found:
        """Search for a forced win of the side to move. The state is not changed. ``Limit.depth`` is ignored.

        Raises:
            ZugwerkError: the game is over, or patterns do not support the lines of its rule.
        """
        if winner(state) is not None:
            raise ZugwerkError("the game is over: there is nothing to solve")
        began = time.perf_counter()
        lines, memory = self._begin(state)
        self._stop.clear()
        self._hurry.clear()
        left = None if limit.movetime_ms is None else limit.movetime_ms / 1e3 - (time.perf_counter() - began)
        with self._stop.after(left), self._hurry.after(None if left is None else SHARE * left):
            plies = find(state, lines, memory, limit.nodes if limit.nodes is not None else NEVER)
        self._stop.clear()
        return Found(tuple(memory.line[:plies].tolist()), int(memory.numbers[TOTAL]), time.perf_counter() - began)

    def answer(self, state: GomokuState, nodes: int) -> tuple[int, int]:
        """See `hold_out`."""
        action, plies = hold_out(state, *self._begin(state), nodes)
        return int(action), int(plies)

    def _begin(self, state: GomokuState) -> tuple[Lines, Memory]:
        lines = make_lines(state)
        if self._memory is None or self._memory.line.size < lines.cells.size:
            self._memory = make_memory(lines.cells.size, self._entries, self._stop.raised, self._hurry.raised)
        return lines, self._memory


# `NetSolver`: find a forced win by threats alone, or else in a tree that a net guides.
#
# The net knows which quiet moves to look at, and so proves wins that are too long or too wide for threats alone. A
# proof in the tree rests on no value of the net: it is backed up from leaves that searches by fours decide (`proving`),
# and a lost position has all of its moves in the tree (`PuctOptions.solve`).


TREE_SHARE = 0.15  # Share of the limit for threats alone, where one thread searches by threats and then in the tree
SIMULATION = 16  # Positions of a search by threats that take as long as a simulation
NODES = 1 << 17
FORMULA = PuctOptions(c=1.0, c_base=0.0, solve=True, share=True, prune=True)


class NetSolver:
    """Finds forced wins of the side to move in Gomoku. One search at a time."""

    def __init__(self, evaluator_for: Callable[[GomokuState], EvaluateBatch | None], threads: int = 1) -> None:
        """Make the memory of a search.

        Args:
            evaluator_for: gives a `ProvingEvaluator` for a position; None is a search by threats alone.
            threads: number of threads of a search with no limit of nodes, of which one searches by threats and the
                others in the tree. The first proof ends the search.
        """
        self.evaluator_for, self.threads = evaluator_for, threads
        self._stop, self._threats = StopFlag(), Solver()

    def solve(self, state: GomokuState, limit: Limit) -> Found:
        """See `Solver.solve`. In a tree the line has the defender's most visited actions."""
        evaluate = self.evaluator_for(state)
        if evaluate is None:
            return self._threats.solve(state, limit)
        began = time.perf_counter()
        self._stop.clear()
        if self.threads > 1 and limit.nodes is None:
            return self._at_once(state, evaluate, limit, began)
        first = self._threats.solve(state, _share(limit))
        if first.win:
            return first
        trees = _planted(state, evaluate)
        most = FOREVER if limit.nodes is None else max(0, limit.nodes - first.nodes) // SIMULATION
        with self._stop.after(_left(limit, began)):
            trees.simulate(np.array([most], np.int32), self._stop.raised)
        return self._found(state, trees, first, began)

    def _at_once(self, state: GomokuState, evaluate: EvaluateBatch, limit: Limit, began: float) -> Found:
        """Search by threats in one thread and in the tree in the others."""
        by_threats = list[Found | BaseException]()

        def search() -> None:
            try:
                by_threats.append(self._threats.solve(state, limit))
            except BaseException as error:
                by_threats.append(error)
            if not isinstance(by_threats[0], Found) or by_threats[0].win:
                self._stop.set()

        trees, thread = _planted(state, evaluate), Thread(target=search)
        others = Crew(trees, self.threads - 1) if trees.net is not None else trees
        thread.start()
        try:
            with self._stop.after(_left(limit, began)):
                others.simulate(np.array([FOREVER], np.int32), self._stop.raised)
        finally:
            while thread.is_alive():
                self._threats.stop()  # again and again, since a search that has just begun clears its flag
                thread.join(0.001)
        (first,) = by_threats
        if isinstance(first, BaseException):
            raise first
        return first if first.win else self._found(state, trees, first, began)

    def _found(self, state: GomokuState, trees: PuctTrees, first: Found, began: float) -> Found:
        """Return the win that the tree has proven, if it has, after a search by threats that found none."""
        self._stop.clear()
        won = trees.forest.used_nodes[0] > 0 and trees.proven(0) and trees.value(0) > 0
        line = self._to_the_end(state, trees.line(0)) if won else ()
        return Found(line, first.nodes + int(trees.forest.done[0]), time.perf_counter() - began)

    def _to_the_end(self, state: GomokuState, line: list[int]) -> tuple[int, ...]:
        """Continue a line to the end of the game; () if the proof of its last position is not found again.

        The tree ends where a search by fours or a look at the board decides, or where it was pruned.
        """
        attacker = int(state.turn[SIDE])
        for action in line:
            state = gomoku.play(state, action)
        if gomoku.winner(state) is None and state.turn[SIDE] != attacker:
            line = [*line, _answer(state)]
            state = gomoku.play(state, line[-1])
        if gomoku.winner(state) is not None:
            return tuple(line)
        searcher = self if line else self._threats  # at the root, fours win: the tree would end there again
        rest = searcher.solve(state, Limit(nodes=AGAIN)).line
        return (*line, *rest) if rest else ()


def _planted(state: GomokuState, evaluate: EvaluateBatch) -> PuctTrees:
    trees = PuctTrees(state, 1, evaluate, FORMULA, NODES)
    trees.plant(0, state)
    return trees


def _left(limit: Limit, began: float) -> float | None:
    """Return the seconds that are left."""
    return None if limit.movetime_ms is None else limit.movetime_ms / 1e3 - (time.perf_counter() - began)


def _share(limit: Limit) -> Limit:
    nodes = None if limit.nodes is None else max(1, int(TREE_SHARE * limit.nodes))
    return Limit(nodes=nodes, movetime_ms=None if limit.movetime_ms is None else TREE_SHARE * limit.movetime_ms)


def _answer(state: GomokuState) -> int:
    """Return a lost side's stone where the other side would win, or any if there is none or that is forbidden."""
    lines, c, legal = make_lines(state), 1 - int(state.turn[SIDE]), gomoku.legal_actions(state).tolist()
    if lines.counts[c, WINS] + lines.counts[c, SURE] == 0:
        return int(legal[0])
    action = action_of(first_cell(lines, c, WINS if lines.counts[c, WINS] else SURE), state.board.shape[1], lines)
    return int(action if action in legal else legal[0])

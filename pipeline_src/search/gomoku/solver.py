"""`Solver`: find a forced win of the side to move, with its line.

Four searches follow one another; each begins if the one before finds nothing: continuous fours; threats
(`threats.prove`); threats and quiet moves that threaten to win by fours; and one quiet move of any kind, against all
answers of the other side, with a threat search after each.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Thread

import numpy as np

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import gomoku
from pipeline_src.games.gomoku import SIDE, GomokuState, winner
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


class Solver:
    """Finds forced wins of the side to move in Gomoku. One search at a time.

    >>> from pipeline_src.games.gomoku import from_fen
    >>> found = Solver().solve(from_fen("9/9/9/9/2xxx4/9/2oo5/2o6/9 b"), Limit(nodes=1000))
    >>> found.win, found.plies
    (True, 3)
    """

    def __init__(self, entries: int = ENTRIES) -> None:
        """``entries`` is the number of entries of the transposition table, a power of two."""
        self._stop = StopFlag()
        self._table, self._fours = threats.make_table(entries), threats.make_four_space()
        self._space = threats.make_space(1, self._stop.raised)
        self._generation = 0

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
        lines, c, width = make_lines(state), int(state.turn[SIDE]), state.board.shape[1]
        search = _Search(self, lines, c, limit.nodes if limit.nodes is not None else NEVER)
        self._stop.clear()
        left = None if limit.movetime_ms is None else limit.movetime_ms / 1e3 - (time.perf_counter() - began)
        with self._stop.after(left):
            won = search.run(left)
        self._stop.clear()
        line = tuple(action_of(cell, width, lines) for cell in search.line()) if won else ()
        return Found(line, search.nodes, time.perf_counter() - began)

    @property
    def stopped(self) -> bool:
        """Whether the running search should end."""
        return bool(self._stop.raised[0])

    def begin(self, lines: Lines) -> tuple[threats.ProofTable, threats.ThreatSpace, threats.FourSpace, int]:
        """Return the memory for one threat search, with an empty table, and the number of the search."""
        if self._space.stamps.size < lines.cells.size:
            self._space = threats.make_space(lines.cells.size, self._stop.raised)
        self._generation += 1
        return self._table, self._space, self._fours, self._generation


class _Search:
    """One position."""

    def __init__(self, solver: Solver, lines: Lines, c: int, limit: int) -> None:
        self.solver, self.lines, self.c, self.limit = solver, lines, c, limit
        self.table, self.space, self.fours, first = solver.begin(lines)
        *_, second = solver.begin(lines)
        self.generations = {ONE_THREE: first, QUIET: second}
        self.fours.counts[threats.SALT] = first * 0x9E3779B97F4A7C1 & NEVER - 1
        self.kinds, self.nodes, self.move = ONE_THREE, 0, -1
        self.begun: list[int] = []  # The beginning of the line, as found by the last of the searches

    def run(self, seconds: float | None) -> bool:
        """Whether the searches find a win of the attacker within the limit."""
        deadline = None if seconds is None else time.perf_counter() + SHARE * seconds
        if self._fours(min(FOURS_ALONE, self.limit)):
            return True
        spent, proof, disproof = 0, 1, 1
        while proof and disproof and not self.solver.stopped and spent < SHARE * self.limit:
            proof, disproof = self._prove(ONE_THREE, min(STEP, self.limit - self.nodes))
            spent += STEP
            if deadline is not None and time.perf_counter() > deadline:
                break
        if proof:
            proof, disproof = self._prove(QUIET, self.limit - self.nodes)
        return proof == 0 or (disproof == 0 and self._any_quiet())

    def _fours(self, limit: int) -> bool:
        plies = int(win_by_fours(self.lines, self.fours, self.c, limit))
        self.nodes += int(self.fours.counts[threats.FOUR_NODES])
        return plies > 0

    def _prove(self, kinds: int, limit: int) -> tuple[int, int]:
        """(proof number, disproof number) of the attacker's win in the position on the board; `move` and `kinds`."""
        self._ask(kinds, limit)
        proof, disproof, self.move, _ = threats.prove(self.lines, self.table, self.space, self.fours, self.c, False)
        self.nodes += int(self.space.counts[threats.NODES])
        return int(proof), int(disproof)

    def _ask(self, kinds: int, limit: int) -> None:
        counts = self.space.counts
        counts[:] = 0
        counts[threats.NODE_LIMIT], counts[threats.GENERATION] = max(0, limit), self.generations[kinds]
        counts[threats.KINDS], counts[threats.QUIETS], counts[threats.FOUR_LIMIT] = kinds, WIDE, DEEP
        self.kinds = kinds

    def _wins(self) -> bool:
        """Whether the attacker, to move, wins by threats, or else by threats and quiet moves that threaten fours."""
        return self._prove(ONE_THREE, BEHIND)[0] == 0 or self._prove(QUIET, BEHIND)[0] == 0

    def _any_quiet(self) -> bool:
        """Whether a quiet move of any kind wins against every answer."""
        for cell in self._candidates():
            self._place(cell, self.c)
            if self.lines.counts[1 - self.c, WINS] == 0 and self._wins():
                answers, longest = self._all_answers(), (-1, -1, QUIET)
                for answer in answers:
                    self._place(answer, 1 - self.c)
                    before = self.nodes
                    won = self._wins()
                    longest = max(longest, (self.nodes - before, answer, self.kinds))
                    lift(self.lines, answer)
                    if not won or self.solver.stopped or self.nodes > self.limit:
                        break
                else:
                    lift(self.lines, cell)
                    self.begun, self.kinds = [cell, longest[1]], longest[2]
                    return True
            lift(self.lines, cell)
            if self.solver.stopped or self.nodes > self.limit:
                break
        return False

    def _candidates(self) -> list[int]:
        """Return quiet moves, best first; if the other side has a threat, those that meet it."""
        other = 1 - self.c
        for threat in (WINS, SURE):
            if self.lines.counts[other, threat]:
                n = threats.write_defences(self.lines, other, threat, self.space, 0)
                cells = self.space.moves[0, :n].tolist()
                return self._by_worth([cell for cell in cells if may_play(self.lines, self.c, cell)])
        return self._by_worth([cell for cell in self._empty() if may_play(self.lines, self.c, cell)])[:CANDIDATES]

    def _all_answers(self) -> list[int]:
        """Return the defender's stones, best first; Renju forbids some to Black."""
        return self._by_worth([cell for cell in self._empty() if may_play(self.lines, 1 - self.c, cell)])

    def _empty(self) -> list[int]:
        first, last = int(self.lines.sizes[FIRST]), int(self.lines.sizes[LAST])
        return [int(cell) for cell in first + np.flatnonzero(self.lines.cells[first:last] == 0)]

    def _by_worth(self, cells: list[int]) -> list[int]:
        return sorted(cells, key=lambda cell: -int(self.lines.scores[cell]))

    def _place(self, cell: int, c: int) -> None:
        place(self.lines, cell, c + 1)

    def line(self) -> list[int]:
        """Return the cells of the winning line that `run` found; empty if the table has lost too much of it."""
        cells = list(self.begun)
        for i, cell in enumerate(cells):
            self._place(cell, self.c if i % 2 == 0 else 1 - self.c)
        while True:
            cell, last = self._attack()
            if cell < 0:
                return []
            cells.append(cell)
            if last:
                return cells
            self._place(cell, self.c)
            cells.append(self._answer())
            self._place(cells[-1], 1 - self.c)

    def _attack(self) -> tuple[int, bool]:
        """Return (the attacker's next stone, whether it makes a line); (-1, False) if the proof is lost."""
        lines, c = self.lines, self.c
        if lines.counts[c, WINS]:
            return int(first_cell(lines, c, WINS)), True
        if self._fours(FOURS_ALONE):
            return int(self.fours.line[0]), False
        return (int(self.move), False) if self._prove(self.kinds, AGAIN)[0] == 0 else (-1, False)

    def _answer(self) -> int:
        """Return the defender's answer that holds out longest."""
        lines, c, space = self.lines, self.c, self.space
        self._ask(self.kinds, AGAIN)
        proof, _, _ = threats.open_node(lines, c, True, space, self.fours, self.table, 0)
        n = 0 if proof == 0 else int(space.marks[0, threats.COUNT])
        plies = np.where(space.proofs[0, :n] == 0, space.plies[0, :n], -1)
        longest = space.moves[0, np.argsort(-plies, kind="stable")].tolist()
        if proof == 0:
            longest = [int(first_cell(lines, c, WINS if lines.counts[c, WINS] else SURE))]
        allowed = [cell for cell in longest if may_play(lines, 1 - c, cell)]  # Renju forbids some to Black
        return int(next(iter(allowed or self._all_answers()), longest[0]))


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

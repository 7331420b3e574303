"""`NetSolver`: find a forced win by threats alone, or else in a tree that a net guides.

The net knows which quiet moves to look at, and so proves wins that are too long or too wide for threats alone. A proof
in the tree rests on no value of the net: it is backed up from leaves that searches by fours decide (`proving`), and a
lost position has all of its moves in the tree (`PuctOptions.solve`).
"""

import time
from collections.abc import Callable
from threading import Thread

import numpy as np

from pipeline_src.games import gomoku
from pipeline_src.games.gomoku.board import SIDE, GomokuState
from pipeline_src.search.gomoku.fours import first_cell
from pipeline_src.search.gomoku.lines import action_of, make_lines
from pipeline_src.search.gomoku.patterns import SURE, WINS
from pipeline_src.search.gomoku.solver import AGAIN, Found, Solver
from pipeline_src.search.limits import Limit, StopFlag
from pipeline_src.search.mcts.puct import FOREVER
from pipeline_src.search.mcts.puct_forest import PuctOptions
from pipeline_src.search.mcts.puct_threads import Crew
from pipeline_src.search.mcts.puct_trees import EvaluateBatch, PuctTrees

SHARE = 0.15
"""Share of the limit for threats alone, where one thread searches by threats and then in the tree."""
SIMULATION = 16
"""Positions of a search by threats that take as long as a simulation."""
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
    nodes = None if limit.nodes is None else max(1, int(SHARE * limit.nodes))
    return Limit(nodes=nodes, movetime_ms=None if limit.movetime_ms is None else SHARE * limit.movetime_ms)


def _answer(state: GomokuState) -> int:
    """Return a lost side's stone where the other side would win, or any if there is none or that is forbidden."""
    lines, c, legal = make_lines(state), 1 - int(state.turn[SIDE]), gomoku.legal_actions(state).tolist()
    if lines.counts[c, WINS] + lines.counts[c, SURE] == 0:
        return int(legal[0])
    action = action_of(first_cell(lines, c, WINS if lines.counts[c, WINS] else SURE), state.board.shape[1], lines)
    return int(action if action in legal else legal[0])

"""`Puct`: PUCT as a search of one position, or of many in lock step, that answers with whole actions."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from threading import Thread
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import kernels
from pipeline_src.games.kernels import row, stack
from pipeline_src.games.rules import copy_state
from pipeline_src.jit import Need, needs_of, njit, peek, put, swap
from pipeline_src.search.limits import FOREVER, Limit, Line, OnInfo, SearchResult, Slices, StopFlag, searching_seconds
from pipeline_src.search.mcts.puct import (
    UNPROVEN,
    Forest,
    Ints,
    PuctOptions,
    Records,
    Waiting,
    absorb,
    descend,
    evaluate,
    new_waiting,
)
from pipeline_src.search.mcts.puct_trees import EvaluateBatch, PuctTrees

# PUCT in one tree by several threads (Chaslot, Winands and van den Herik, 2008, "Parallel Monte-Carlo tree search").
#
# Each thread has a net with memory of its own, and holds the tree's lock while it descends and backs up. The net takes
# most of the time. Virtual losses spread the threads. Which leaves they meet depends on their timing, and so does the
# result.


PATIENCE = 1 << 14
"""Number of looks at the lock, after which a thread sleeps for `REST_S` seconds: its core may be needed elsewhere."""
REST_S = 1e-4


@njit(cache=True, nogil=True)
def play_along(
    net: Any,
    waiting: Waiting,
    states: Any,
    forest: Forest,
    roots: Any,
    options: PuctOptions,
    room: int,
    per_tree: int,
    target: int,
    forced: Ints,
    flag: npt.NDArray[np.uint8],
    lock: npt.NDArray[np.int64],
    n: int,
) -> int:
    """Search the first tree up to its target as one of several threads, each with its own net and room; see `play_out`.

    ``lock``, int64 [1], is odd while a thread holds the tree, and greater by two once it has let go. ``n`` leaves in
    ``waiting`` have their answers, 0 at first. Returns the next ``n`` of a thread that should rest, -1 once it is done.
    """
    root, seen, looks = forest.nodes[0, 0], -1, 0
    while looks < PATIENCE:
        now = peek(lock)
        if now % 2 == 1 or now == seen or not swap(lock, now, now + 1):
            looks += 1
            continue
        for b in range(n):
            absorb(forest, 0, waiting, b, True, options.solve)
        n = descend(forest, roots, options, room, per_tree, True, 0, target, forced, flag, waiting, states, 0)
        over = flag[0] != 0 or forest.used_nodes[0] == 0 or root.proof != UNPROVEN
        over |= forest.done[0] + root.pending >= target
        seen = now + 2
        put(lock, seen)
        if n == 0 and over:
            return -1
        for b in range(n):
            priors = waiting.priors[b].view(np.float32)
            waiting.values[b] = evaluate(net, row(states, b), waiting.steps[b], waiting.counts[b], priors)
            seen, looks = -1, 0
        # With no leaf, the way led to one that waits for another thread, which has to come first.
    return n


class Crew:
    """Threads that search the first of `PuctTrees` together."""

    def __init__(self, trees: PuctTrees, threads: int) -> None:
        """Make the threads' memory.

        Args:
            trees: their evaluator is a kernel (`PuctTrees.net`) and has a method ``twin``, which returns the same one
                with memory of its own.
            threads: their number.
        """
        self._trees = trees
        state, rows = row(trees.roots, 0), trees.per_tree
        steps = trees.forest.priors.shape[2]
        nets = [trees.net, *(trees.evaluate_batch.twin().inside(state) for _ in range(threads - 1))]  # type: ignore[attr-defined]
        self._members = [(net, new_waiting(rows, steps), stack(state, rows)) for net in nets]

    def simulate(self, targets: Ints, flag: npt.NDArray[np.uint8]) -> None:
        """`PuctTrees.simulate` of the first tree. All threads end before it returns.

        The error of any of them is raised, with the flag set and the tree empty.
        """
        lock, failed = np.zeros(1, np.int64), list[BaseException]()

        def work(member: int) -> None:
            n = 0
            try:
                for thread in threads if member == 0 else []:
                    thread.start()
                while n >= 0 and not failed:
                    n = play_along(*self._arguments(member, int(targets[0]), flag, lock, n))
                    if n >= 0:
                        time.sleep(REST_S)
            except BaseException as error:
                failed.append(error)
                flag[0] = 1

        threads = [Thread(target=work, args=(k,)) for k in range(1, len(self._members))]
        work(0)
        for thread in threads:
            if thread.ident is not None:
                thread.join()
        if failed:
            self._trees.plant(0, row(self._trees.roots, 0))
            raise failed[0]

    def needs(self) -> list[Need]:
        """Return the kernels that `simulate` calls."""
        flag, lock = np.zeros(1, np.uint8), np.zeros(1, np.int64)
        return [Need(play_along, self._arguments(0, 0, flag, lock, 0))]

    def _arguments(
        self, member: int, target: int, flag: npt.NDArray[np.uint8], lock: npt.NDArray[np.int64], n: int
    ) -> tuple[Any, ...]:
        """Return the arguments of `play_along`."""
        trees = self._trees
        tree = (trees.forest, trees.roots, trees.options, trees.nodes, trees.per_tree)
        return (*self._members[member], *tree, target, np.zeros((0, 0), np.int32), flag, lock, n)


@njit(cache=True)
def _action_to(state: Any, after: Any, actions: Ints) -> int:
    wanted = kernels.position_hash(after)
    for i in range(kernels.write_actions(state, actions)):
        kernels.play(state, actions[i])
        same = kernels.position_hash(state) == wanted
        kernels.take_back(state, actions[i])
        if same:
            return int(actions[i])
    return -1


@njit(cache=True)
def _steps_to(nodes: Records, edges: Records, root: Any, wanted: Any, after: Any, last: Any, steps: Ints) -> int:
    """Write the steps of a tried turn of one or two steps from a tree's root to a position; return their number.

    It is 0 if there is no such turn. ``after`` and ``last`` are room.
    """
    goal, side = kernels.position_hash(wanted), kernels.to_play(root)
    for edge in range(nodes[0].first, nodes[0].first + nodes[0].edges):
        kernels.copy_into(root, after)
        kernels.play_step(after, edges[edge].step)
        steps[0] = edges[edge].step
        if kernels.position_hash(after) == goal:
            return 1
        child = nodes[edges[edge].child]
        if child.over != 0 or child.side != side:
            continue
        for below in range(child.first, child.first + child.edges):
            kernels.copy_into(after, last)
            kernels.play_step(last, edges[below].step)
            steps[1] = edges[below].step
            if kernels.position_hash(last) == goal:
                return 2
    return 0


def turns_need(state: Any) -> list[Need]:
    """Return the kernels that the functions of this module call."""
    return [
        Need(kernels.outcome, (state,)),
        Need(kernels.to_play, (state,)),
        Need(kernels.play_step, (state, 0)),
        Need(kernels.max_actions, (state,)),
        Need(kernels.copy_into, (state, state)),
        Need(_action_to, (state, state, np.empty(1, np.int32))),
    ]


def _steps_are_actions(state: Any) -> bool:
    """Whether a step is a whole action, also where the same side acts twice in a row, as in Connect6."""
    return kernels.play_step.dispatch(type(state)) is kernels.play.dispatch(type(state))


def has_more(state: Any, step: int) -> bool:
    """Whether the same side makes another step of the same action after ``step``."""
    if _steps_are_actions(state):
        return False
    after = copy_state(state)
    kernels.play_step(after, step)
    return not kernels.outcome(after)[0] and kernels.to_play(after) == kernels.to_play(state)


def actions_of(state: Any, steps: Sequence[int]) -> tuple[int, ...]:
    """Return the actions of a line of steps from ``state``; steps of an incomplete turn are left out.

    An action is identified by the position that it leads to, so that this works for any numbering of actions.
    """
    if _steps_are_actions(state):
        return tuple(int(step) for step in steps)
    found, before, after = [], copy_state(state), copy_state(state)
    buffer = np.empty(int(kernels.max_actions(state)), np.int32)
    for step in steps:
        kernels.play_step(after, step)
        if kernels.outcome(after)[0] or kernels.to_play(after) != kernels.to_play(before):
            found.append(int(_action_to(before, after, buffer)))
            assert found[-1] >= 0, "no action of the game leads where its steps lead"
            kernels.copy_into(after, before)
    return tuple(found)


class Between(Protocol):
    """Proves results of nodes of the first tree between simulations; see `PuctOptions.solve`."""

    def __call__(self, trees: PuctTrees, flag: npt.NDArray[np.uint8]) -> None:
        """Prove what can be proven until ``flag``, uint8 [1], is set. No leaf waits for the evaluator."""

    def forget(self) -> None:
        """Make the next answers depend on the tree alone."""

    def needs(self, trees: PuctTrees) -> list[Need]:
        """Return the kernels that it calls."""


APART = 250  # Simulations between two calls of a `Between`
LEAST_NODES, NODE_BYTES = 64, 352
"""Least number of nodes of a tree, however small its memory; bytes of a node without the priors of its steps."""
FIRST_REPORT = 16  # Simulations before the first report, see `Slices`
WIDE_NODES = 1 << 14
"""Least number of nodes of a tree for several lines, which are for looking at a position for a long time."""


Simulate = Callable[[Ints, npt.NDArray[np.uint8]], None]


@dataclass
class _Turn:
    """The state of a decision on a turn, step by step."""

    state: Any
    left: int  # Simulations left
    steps: list[int] = field(default_factory=list)  # Steps that are decided
    line: list[int] = field(default_factory=list)  # Best line from the position on, as far as the search has found it
    value: float = 0.0
    spent: int = 0
    whole: bool = False
    wanted: int = 1  # Number of lines to report
    lines: list[tuple[int, Line]] = field(default_factory=list)
    """First step and line of the root's best steps, before the first step is decided."""
    instead: list[int] = field(default_factory=list)
    """Other first steps, the best ones first, for when the decided one proves to lose."""

    def result(self, spent: int, seconds: float) -> SearchResult | None:
        """Return the result; None while the line is less than a whole turn."""
        pv = actions_of(self.state, self.line)
        if not pv:
            return None
        several: tuple[Line, ...] = ()
        if self.wanted > 1:
            visits = next((line.visits for step, line in self.lines if step == self.line[0]), None)
            others = [line for step, line in self.lines if step != self.line[0]][: self.wanted - 1]
            several = (Line(pv, self.value, len(pv), visits), *others)
        return SearchResult(pv[0], self.value, len(pv), spent, pv, seconds, several)


class Puct:
    """PUCT guided by an evaluator. ``Limit.nodes`` counts simulations; a limit of depth alone is an error."""

    def __init__(
        self,
        evaluate_batch: EvaluateBatch,
        options: PuctOptions | None = None,
        nodes: int = 1 << 14,
        per_tree: int = 1,
        first_share: float = 0.5,
        threads: int = 1,
        between: Between | None = None,
    ) -> None:
        """Set the options.

        Args:
            evaluate_batch: the net, or a substitute.
            options: constants of the formula.
            nodes: capacity of one tree. Full ones drop what lies below their least visited nodes (`make_room`).
            per_tree: number of leaves of one tree in a batch.
            first_share: in turns of two steps, the share of the limit for the first step. The second step has the rest,
                and the part of the tree below the first one.
            threads: number of threads of a search of one position with no limit of nodes, if the evaluator is a kernel
                (`Crew`). Others use one, which finds the same result each time.
            between: proves results of nodes in searches of one position, if the options are to ``solve``.

        Raises:
            ZugwerkError: ``first_share`` is not above 0 and at most 1, or another number is out of range.
        """
        if not 0 < first_share <= 1:
            raise ZugwerkError(f"a step's share of the limit must be above 0 and at most 1, not {first_share}")
        self.evaluate_batch, self.nodes = evaluate_batch, nodes
        self.options = (options or PuctOptions())._replace(prune=True)
        self.per_tree, self.first_share, self.threads = per_tree, first_share, threads
        self.between = between
        self._stopped, self._phase = StopFlag(), StopFlag()
        self._trees: PuctTrees | None = None
        self._crew: Crew | None = None
        self._memory: int | None = None
        self._owed = -1
        """The last step of the last search, which is played in tree 0 when that is continued: it may take long."""

    def use_memory(self, size: int) -> None:
        """Limit the size of a tree in bytes, if that is less than its capacity."""
        self._memory, self._trees, self._crew = size, None, None

    def forget(self) -> None:
        """Start over at the next search."""
        if self._trees is not None:
            self._trees.clear()
        if self.between is not None:
            self.between.forget()

    def stop(self) -> None:
        """See `Searcher`."""
        self._stopped.set()
        self._phase.set()

    def needs(self, state: Any) -> list[Need]:
        """See `Searcher`. An evaluator with its own kernels also has a method ``needs``."""
        trees = PuctTrees(state, 1, self.evaluate_batch, self.options, 1)
        nodes, edges, steps = trees.forest.nodes[0], trees.forest.edges[0], np.empty(2, np.int32)
        below = Need(_steps_to, (nodes, edges, row(trees.roots, 0), state, state, state, steps))
        crew = Crew(trees, 1).needs() if self.threads > 1 and trees.net is not None else []
        between = self.between.needs(trees) if self.between is not None else []
        return [*trees.needs(), *crew, *between, *turns_need(state), below, *needs_of(self.evaluate_batch, state)]

    def search(self, state: Any, limit: Limit, seed: int = 0, on_info: OnInfo | None = None) -> SearchResult:  # noqa: ARG002
        """See `Searcher`. Nothing here is random.

        Raises:
            ZugwerkError: the game is over, or the limit is one of depth alone.
        """
        return self.search_many([state], limit, on_info)[0]

    def search_many(self, states: Sequence[Any], limit: Limit, on_info: OnInfo | None = None) -> list[SearchResult]:
        """Search positions of one board size in lock step.

        A search of one position with a time limit continues in the tree of the last one, if the position comes one turn
        after its result. Other searches start over, so that their answers depend on the arguments alone.

        Args:
            states: unfinished positions, which are not changed.
            limit: simulations for each position; the time is for all together.
            on_info: receives reports on the first position.

        Raises:
            ZugwerkError: a game is over, or the limit is one of depth alone.
        """
        if limit.depth is not None and limit.nodes is None and limit.movetime_ms is None:
            raise ZugwerkError("PUCT can be limited by nodes (simulations) or movetime, not by depth alone")
        if not states:
            return []
        started = time.perf_counter()
        self._stopped.clear()
        deadline = None if limit.movetime_ms is None else started + searching_seconds(limit.movetime_ms)
        nodes = self.nodes if limit.lines == 1 else max(self.nodes, WIDE_NODES)
        trees = self._room(states, nodes, exactly=limit.movetime_ms is None)
        most = min(limit.nodes or FOREVER, FOREVER)
        turns = [_Turn(state, most, wanted=limit.lines) for state in states]
        owed, self._owed = self._owed, -1
        if limit.movetime_ms is None or len(states) > 1 or not _follow(trees, owed, states[0]):
            for g, state in enumerate(states):
                trees.plant(g, state)
            if self.between is not None and limit.nodes is not None and limit.movetime_ms is None:
                self.between.forget()
        crew = self._crew if limit.nodes is None and len(states) == 1 else None
        simulate = trees.simulate if crew is None else crew.simulate
        if self.between is not None and len(states) == 1:
            simulate = partial(_proving, self.between, trees, simulate)
        while not all(turn.whole for turn in turns):
            self._search_step(trees, simulate, turns, started, deadline, on_info, limit.lines > 1 or limit.endless)
        self._owed = turns[0].steps[-1]
        results = [turn.result(turn.spent, time.perf_counter() - started) for turn in turns]
        return [result for result in results if result is not None]

    def _room(self, states: Sequence[Any], nodes: int, exactly: bool) -> PuctTrees:
        shapes = [array.shape for array in states[0]]
        if any([array.shape for array in state] != shapes for state in states):
            raise ZugwerkError("positions searched together need boards of one size")
        trees = self._trees
        if self._memory is not None:
            nodes = min(nodes, max(LEAST_NODES, self._memory // (NODE_BYTES + 4 * int(kernels.max_steps(states[0])))))
        other = trees is None or trees.count < len(states) or trees.nodes < nodes or (exactly and trees.nodes > nodes)
        if trees is None or other or [a.shape[1:] for a in trees.roots] != shapes:
            trees = PuctTrees(states[0], len(states), self.evaluate_batch, self.options, nodes, per_tree=self.per_tree)
            self._trees = trees
            self._crew = Crew(trees, self.threads) if self.threads > 1 and trees.net is not None else None
        return trees

    def _search_step(
        self,
        trees: PuctTrees,
        simulate: Simulate,
        turns: list[_Turn],
        started: float,
        deadline: float | None,
        on_info: OnInfo | None,
        timed: bool,
    ) -> None:
        """Decide the next step of every unfinished turn by ``simulate``; ``timed`` is for `Slices`."""
        targets = np.full(trees.count, -1, np.int32)
        going = [g for g, turn in enumerate(turns) if not turn.whole]
        targets[going] = 0
        trees.simulate(targets)  # even a search without time needs the steps and their priors
        share = 1.0
        for g in going:
            more = has_more(row(trees.roots, g), trees.likeliest(g))
            part = self.first_share if more else 1.0
            share = min(share, part)
            targets[g] = turns[g].left if turns[g].left == FOREVER else int(np.ceil(turns[g].left * part))
        now = time.perf_counter()
        self._phase.clear()
        if self._stopped.raised[0]:
            self._phase.set()
        with self._phase.after(None if deadline is None else (deadline - now) * share):
            slices = Slices(FIRST_REPORT if on_info is not None else FOREVER, timed)
            while True:
                simulate(np.minimum(targets, min(slices.upto, FOREVER)), self._phase.raised)
                done = slices.upto >= targets.max() or bool(self._phase.raised[0])
                done = done or all(trees.proven(g) for g in going)  # a search without end ends there too
                if on_info is not None and not turns[0].whole:
                    _look(trees, 0, turns[0])
                    _look_wide(trees, 0, turns[0])
                    spent = turns[0].spent + int(trees.forest.done[0])
                    result = turns[0].result(spent, time.perf_counter() - started)
                    if result is not None:
                        on_info(result)
                if done:
                    break
                slices.extend()
        for g in going:
            _look_wide(trees, g, turns[g])
            lost = trees.proven(g) and trees.value(g) < 0
            if not (lost and _take_back(trees, g, turns[g])):
                _settle(trees, g, turns[g])


def _proving(
    between: Between, trees: PuctTrees, simulate: Simulate, targets: Ints, flag: npt.NDArray[np.uint8]
) -> None:
    """`PuctTrees.simulate` of one tree with proofs in between."""
    while True:
        upto = np.minimum(targets, trees.forest.done[0] + APART)
        simulate(upto, flag)
        between(trees, flag)
        if trees.proven(0) or flag[0] != 0 or trees.forest.done[0] >= targets[0]:
            return


def _follow(trees: PuctTrees, owed: int, state: Any) -> bool:
    """Play the step ``owed`` in tree 0 and make a position one turn below its root; whether it is there."""
    root, steps = row(trees.roots, 0), np.empty(2, np.int32)
    if owed < 0 or trees.forest.used_nodes[0] == 0:
        return False
    trees.advance(0, owed)
    if trees.forest.used_nodes[0] == 0 or kernels.outcome(root)[0] or kernels.outcome(state)[0]:
        return False
    found = _steps_to(
        trees.forest.nodes[0], trees.forest.edges[0], root, state, copy_state(state), copy_state(state), steps
    )
    for step in steps[:found].tolist():
        trees.advance(0, step)
    return found > 0


def _look(trees: PuctTrees, g: int, turn: _Turn) -> None:
    """Update a turn from tree g."""
    best, line = trees.best(g), trees.line(g)
    turn.line = turn.steps + (line or [int(trees.steps(g)[best])])
    turn.value = float(trees.q(g)[best]) if line and not trees.proven(g) else trees.value(g)


def _look_wide(trees: PuctTrees, g: int, turn: _Turn) -> None:
    """Update a turn's lines from tree g, if several are wanted and no step is decided."""
    if turn.wanted == 1 or turn.steps:
        return
    turn.lines = []
    for line, value, visits in trees.lines(g, turn.wanted):
        pv = actions_of(turn.state, line)
        if pv:
            turn.lines.append((line[0], Line(pv, value, len(pv), visits)))


def _settle(trees: PuctTrees, g: int, turn: _Turn) -> None:
    """Play the next step of a turn in its tree."""
    _look(trees, g, turn)
    _count(trees, g, turn)
    step = turn.line[len(turn.steps)]
    turn.steps.append(step)
    turn.whole = not has_more(row(trees.roots, g), step)
    if not turn.whole:
        turn.instead = [] if trees.proven(g) else _others(trees, g, step)
        trees.advance(g, step)


def _take_back(trees: PuctTrees, g: int, turn: _Turn) -> bool:
    """Decide on another first step in place of one that the search of the second has proven to lose, if there is one.

    One after which the turn is over has no second step to be searched, and is left out.
    """
    step = next((step for step in turn.instead if has_more(turn.state, step)), -1)
    if step < 0:
        return False
    turn.instead = turn.instead[turn.instead.index(step) + 1 :]
    _count(trees, g, turn)
    turn.steps, after = [step], copy_state(turn.state)
    kernels.play_step(after, step)
    trees.plant(g, after)
    return True


def _count(trees: PuctTrees, g: int, turn: _Turn) -> None:
    """Charge a turn for the simulations in its tree."""
    done = int(trees.forest.done[g])
    turn.spent += done
    turn.left -= 0 if turn.left == FOREVER else done


def _others(trees: PuctTrees, g: int, decided: int) -> list[int]:
    """Return the root's other steps that are not proven to lose, the most visited first, then the likeliest."""
    tried = {line[0]: value for line, value, _ in trees.lines(g, len(trees.steps(g)))}
    likeliest = trees.steps(g)[np.argsort(-trees.priors(g), kind="stable")].tolist()
    return [step for step in dict.fromkeys([*tried, *likeliest]) if step != decided and tried.get(step, 0.0) > -1]

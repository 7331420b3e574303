"""PUCT in one tree by several threads (Chaslot, Winands and van den Herik, 2008, "Parallel Monte-Carlo tree search").

Each thread has a net with memory of its own, and holds the tree's lock while it descends and backs up. The net takes
most of the time. Virtual losses spread the threads. Which leaves they meet depends on their timing, and so does the
result.
"""

import time
from threading import Thread
from typing import Any

import numpy as np
import numpy.typing as npt

from pipeline_src.jit import Need, njit, peek, put, swap
from pipeline_src.search.mcts.batches import row, stack
from pipeline_src.search.mcts.puct_forest import UNPROVEN, Forest, Ints, PuctOptions
from pipeline_src.search.mcts.puct_kernels import Answers, Waiting, absorb, descend, evaluate, new_waiting
from pipeline_src.search.mcts.puct_trees import PuctTrees

PATIENCE = 1 << 14
"""Number of looks at the lock, after which a thread sleeps for `REST_S` seconds: its core may be needed elsewhere."""
REST_S = 1e-4


@njit(cache=True, nogil=True)
def play_along(
    net: Any,
    answers: Answers,
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
            absorb(
                forest, 0, waiting.node[b], answers.priors[b], answers.values[b], waiting.steps[b], True, options.solve
            )
        n = descend(forest, roots, options, room, per_tree, True, 0, target, forced, flag, waiting, states, 0)
        over = flag[0] != 0 or forest.used_nodes[0] == 0 or root.proof != UNPROVEN
        over |= forest.done[0] + root.pending >= target
        seen = now + 2
        put(lock, seen)
        if n == 0 and over:
            return -1
        for b in range(n):
            priors = answers.priors[b].view(np.float32)
            answers.values[b] = evaluate(net, row(states, b), waiting.steps[b], waiting.counts[b], priors)
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
        self._members = [
            (
                net,
                Answers(np.empty((rows, steps), np.int32), np.empty(rows, np.float32)),
                new_waiting(rows, steps),
                stack(state, rows),
            )
            for net in nets
        ]

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

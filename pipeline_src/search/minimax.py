"""Plain minimax to a fixed depth, without cutoffs, table or move order: the reference for the other searches.

Its value equals that of alpha-beta at the same depth and full width. Ties go to the action with the best one-ply value,
then to the first.
"""

import time
from typing import Any

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import kernels
from pipeline_src.games.rules import copy_state
from pipeline_src.jit import Need, njit
from pipeline_src.search.evaluator import WIN, rank, settle
from pipeline_src.search.limits import Limit, OnInfo, SearchResult, StopFlag

MAX_DEPTH = 8  # Greatest depth in plies. The time of each further ply is multiplied by the number of actions.


@njit(cache=True)
def _best_ranked(state: Any, evaluator: Any, actions: Any, values: Any, ply: int) -> tuple[float, int]:
    """Return (one-ply value of the best action, number of actions). Ends of games count ``ply`` plies from the root."""
    n, best = rank(state, evaluator, actions, values, WIN), -np.inf
    for i in range(n):
        best = max(best, values[i])
    if best >= WIN:
        return WIN - (ply + 1), n
    return ply + 1 - WIN if best <= -WIN else float(best), n


@njit(cache=True, nogil=True)
def minimax(
    state: Any,
    evaluator: Any,
    depth: int,
    start: int,
    actions: npt.NDArray[np.int32],
    values: npt.NDArray[np.float32],
    best: npt.NDArray[np.float64],
    marks: npt.NDArray[np.int64],
    stop: npt.NDArray[np.uint8],
) -> tuple[float, int]:
    """Return (value of an unfinished position to its side to move at ``depth`` plies, positions evaluated).

    The result is meaningless once ``stop`` is not 0. The state is changed on the way and restored at the end.

    Args:
        state: a state of a game with kernels and an evaluation.
        evaluator: evaluator of the game.
        depth: at least 1.
        start: plies between the root and this position. The end of a game is worth ``WIN`` less the plies from the
            root.
        actions: scratch, [depth, A].
        values: scratch, [depth, A].
        best: scratch, [depth].
        marks: scratch, [depth, 2]: how many actions, and how many of them have been searched.
        stop: [1], checked before each position.
    """
    ply, entering, value, evaluated = 0, True, 0.0, 0
    while True:  # the stack is explicit, because numba crashes in recursive functions that are loaded from its cache
        done = False
        if entering:
            over, result = kernels.outcome(state)
            settled, known = settle(state, evaluator)
            if over:
                done, value = True, result * (WIN - (start + ply))
            elif settled and start + ply > 0:
                done, value = True, float(np.float32(known))
            elif ply == depth - 1 or stop[0] != 0:
                value, n = _best_ranked(state, evaluator, actions[ply], values[ply], start + ply)
                done, evaluated = True, evaluated + n
            else:
                marks[ply, 0], marks[ply, 1] = kernels.write_actions(state, actions[ply]), 0
                best[ply] = -np.inf
        else:
            kernels.take_back(state, actions[ply, marks[ply, 1]])
            best[ply] = max(best[ply], -value)
            marks[ply, 1] += 1
            if marks[ply, 1] == marks[ply, 0] or stop[0] != 0:
                done, value = True, best[ply]
        if done:
            if ply == 0:
                return value, evaluated
            ply, entering = ply - 1, False
        else:
            kernels.play(state, actions[ply, marks[ply, 1]])
            ply, entering = ply + 1, True


class Minimax:
    """Minimax to a fixed depth, for any game with kernels and an evaluation; see `limits.Searcher`."""

    def __init__(self, evaluator: Any) -> None:
        """``evaluator`` is made by ``make_evaluator`` of a game's evaluation. It has scratch space: do not share it."""
        self.evaluator, self.flag = evaluator, StopFlag()

    def stop(self) -> None:
        """See `Searcher`."""
        self.flag.set()

    def needs(self, state: Any) -> list[Need]:
        """See `Searcher`."""
        actions, values = np.empty((1, 1), np.int32), np.empty((1, 1), np.float32)
        own = (1, 1, actions, values, np.empty(1), np.empty((1, 2), np.int64), self.flag.raised)
        return [
            Need(kernels.outcome, (state,)),
            Need(kernels.max_actions, (state,)),
            Need(rank, (state, self.evaluator, actions[0], values[0], WIN)),
            Need(kernels.play, (state, 0)),
            Need(kernels.take_back, (state, 0)),
            Need(minimax, (state, self.evaluator, *own)),
        ]

    def search(
        self,
        state: Any,
        limit: Limit,
        seed: int = 0,  # noqa: ARG002
        on_info: OnInfo | None = None,
    ) -> SearchResult:
        """See `Searcher`. Nothing is random, so ``seed`` is ignored. The only limit is the depth.

        A stopped search answers with the best of the root's actions that were searched to their end.

        Raises:
            ZugwerkError: the game is over, or the depth is missing or above `MAX_DEPTH`.
        """
        began = time.perf_counter()
        self.flag.clear()
        depth = limit.depth
        if depth is None or depth > MAX_DEPTH:
            raise ZugwerkError(f"minimax needs a depth of 1 to {MAX_DEPTH}, not {depth}")
        if kernels.outcome(state)[0]:
            raise ZugwerkError("the game is over: there is nothing to search")
        state, room = copy_state(state), int(kernels.max_actions(state))
        actions, values = np.empty((depth + 1, room), np.int32), np.empty((depth + 1, room), np.float32)
        best, marks = np.empty(depth), np.empty((depth, 2), np.int64)
        evaluated = int(rank(state, self.evaluator, actions[0], values[0], WIN))
        order = np.argsort(-values[0, :evaluated], kind="stable")
        chosen, value = int(actions[0, order[0]]), float(values[0, order[0]])
        value = float(np.sign(value)) * (WIN - 1) if abs(value) >= WIN else value
        for i, at in enumerate(order if depth > 1 else []):
            action = int(actions[0, at])
            kernels.play(state, action)
            below, n = minimax(
                state, self.evaluator, depth - 1, 1, actions[1:], values[1:], best, marks, self.flag.raised
            )
            kernels.take_back(state, action)
            if self.flag.raised[0] != 0:
                break
            evaluated += int(n)
            if i == 0 or -below > value:
                chosen, value = action, -float(below)
        result = SearchResult(chosen, value, depth, evaluated, (chosen,), time.perf_counter() - began)
        if on_info is not None:
            on_info(result)
        return result

"""Slow, obvious searches in plain Python, over the same kernels that the fast ones use."""

import numpy as np

from pipeline_src.games.kernels import max_actions, outcome, play, take_back, write_actions
from pipeline_src.search.evaluator import WIN, rank, settle


def copy(state):
    return type(state)(*(array.copy() for array in state))


def legal(state):
    out = np.empty(max_actions(state), np.int32)
    return [int(action) for action in out[: write_actions(state, out)]]


def ranked(state, evaluator):
    actions, values = np.empty(max_actions(state), np.int32), np.empty(max_actions(state), np.float32)
    n = rank(state, evaluator, actions, values, np.inf)
    return actions[:n].tolist(), values[:n].astype(float).tolist()


def negamax(state, evaluator, depth, ply=0):
    """Value of a position at a fixed depth, without any cut; the state is left as it was."""
    over, result = outcome(state)
    if over:
        return result * (WIN - ply)
    settled, value = settle(state, evaluator)
    if settled and ply > 0:
        return float(np.float32(value))
    if depth == 1:
        value = max(ranked(state, evaluator)[1])
        return WIN - ply - 1 if value == WIN else ply + 1 - WIN if value == -WIN else value
    best = -np.inf
    for action in legal(state):
        play(state, action)
        best = max(best, -negamax(state, evaluator, depth - 1, ply + 1))
        take_back(state, action)
    return best


def solve(state, memory, ply=0):
    """Exact value of a game played to its end; positions must not occur at different plies."""
    key = b"".join(array.tobytes() for array in state)
    if key not in memory:
        over, result = outcome(state)
        best = result * (WIN - ply) if over else -np.inf
        for action in [] if over else legal(state):
            play(state, action)
            best = max(best, -solve(state, memory, ply + 1))
            take_back(state, action)
        memory[key] = best
    return memory[key]

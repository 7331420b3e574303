"""Slow, obvious searches in plain Python, over the same kernels that the fast ones use."""

import time
from typing import NamedTuple

import numpy as np

from pipeline_src.games import kernels
from pipeline_src.games.kernels import implement, max_actions, outcome, play, take_back, write_actions
from pipeline_src.jit import njit
from pipeline_src.search import evaluator
from pipeline_src.search.evaluator import WIN, rank, settle


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


# A toy game for searches: three in a row, of any length and direction of board; full boards are drawn.


class LineState(NamedTuple):
    board: np.ndarray
    """int8 [H, W]: 0 empty, 1 and 2 the sides'."""
    turn: np.ndarray
    """int64 [2]: side to move, last square or -1."""


class LineEvaluator(NamedTuple):
    weights: np.ndarray
    """float32 [H * W]: worth of a stone."""


def line_state(*rows, side=0):
    codes = {".": 0, "x": 1, "o": 2}
    return LineState(np.array([[codes[c] for c in row] for row in rows], np.int8), np.array([side, -1], np.int64))


def line_evaluator(state, seed=0):
    return LineEvaluator(np.random.default_rng(seed).normal(size=state.board.size).astype(np.float32))


@njit
def has_line(board, side):
    height, width = board.shape
    for r in range(height):
        for c in range(width):
            for dr, dc in ((0, 1), (1, 0), (1, 1), (1, -1)):
                run = 0
                while run < 3 and r + run * dr < height and 0 <= c + run * dc < width:
                    if board[r + run * dr, c + run * dc] != side + 1:
                        break
                    run += 1
                if run == 3:
                    return True
    return False


@njit
def _copy_into(state, other):  # cell by cell: numba takes seconds to compile an assignment of arrays
    for r in range(state.board.shape[0]):
        for c in range(state.board.shape[1]):
            other.board[r, c] = state.board[r, c]
    for i in range(state.turn.size):
        other.turn[i] = state.turn[i]


@njit
def _to_play(state):
    return state.turn[0]


@njit
def _position_hash(state):
    key = np.uint64(state.turn[0] + 1)
    for r in range(state.board.shape[0]):
        for c in range(state.board.shape[1]):
            key = (key ^ np.uint64(state.board[r, c] + 1)) * np.uint64(0x9E3779B97F4A7C15)
            key ^= key >> np.uint64(29)
    return key


@njit
def _outcome(state):
    if has_line(state.board, 1 - state.turn[0]):
        return True, -1.0
    for r in range(state.board.shape[0]):
        for c in range(state.board.shape[1]):
            if state.board[r, c] == 0:
                return False, 0.0
    return True, 0.0


@njit
def _write_actions(state, out):
    n = 0
    for square in range(state.board.size):
        if state.board[square // state.board.shape[1], square % state.board.shape[1]] == 0:
            out[n] = square
            n += 1
    return n


@njit
def _is_legal(state, action):
    width = state.board.shape[1]
    return bool(0 <= action < state.board.size and state.board[action // width, action % width] == 0)


@njit
def _play(state, action):
    state.board[action // state.board.shape[1], action % state.board.shape[1]] = state.turn[0] + 1
    state.turn[0] = 1 - state.turn[0]


@njit
def _take_back(state, action):
    state.board[action // state.board.shape[1], action % state.board.shape[1]] = 0
    state.turn[0] = 1 - state.turn[0]


@njit
def _max_actions(state):
    return state.board.size


@njit
def _evaluate(state, evaluator):
    total = 0.0
    for square in range(state.board.size):
        stone = state.board[square // state.board.shape[1], square % state.board.shape[1]]
        if stone:
            total += evaluator.weights[square] if stone - 1 == state.turn[0] else -evaluator.weights[square]
    return total


@njit
def _rank(state, evaluator, actions, values, stop_at):
    n = 0
    for square in range(state.board.size):
        if state.board[square // state.board.shape[1], square % state.board.shape[1]] != 0:
            continue
        _play(state, square)
        over, result = _outcome(state)
        actions[n] = square
        values[n] = -result * WIN if over else -_evaluate(state, evaluator)
        _take_back(state, square)
        n += 1
        if values[n - 1] >= stop_at:
            break
    return n


@njit
def _shortlist(state, evaluator, breadth, actions, values, stop_at):
    return _rank(state, evaluator, actions, values, stop_at), 0


@njit
def _settle(state, evaluator):
    return False, 0.0


for generic, kernel in (
    (kernels.copy_into, _copy_into),
    (kernels.to_play, _to_play),
    (kernels.position_hash, _position_hash),
    (kernels.outcome, _outcome),
    (kernels.write_actions, _write_actions),
    (kernels.is_legal, _is_legal),
    (kernels.play, _play),
    (kernels.take_back, _take_back),
    (kernels.max_actions, _max_actions),
    (evaluator.evaluate, _evaluate),
    (evaluator.rank, _rank),
    (evaluator.shortlist, _shortlist),
    (evaluator.settle, _settle),
):
    implement(generic, LineState, kernel)


# How long calls take, on a machine that may be busy.


def least_seconds(call, enough, tries=20):
    """Seconds of the quickest of some calls, up to the first below ``enough``.

    Any of them may have to wait for a processor, which other programs have.
    """
    least = float("inf")
    while least >= enough and tries:
        began = time.perf_counter()
        call()
        least, tries = min(least, time.perf_counter() - began), tries - 1
    return least

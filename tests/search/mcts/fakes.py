"""Toy games of one step a turn, and evaluators made of hashes, for the tests of the tree searches."""

import zlib
from typing import Any, NamedTuple

import numpy as np

from pipeline_src.games import kernels
from pipeline_src.jit import njit
from tests.search import line_game
from tests.search.line_game import LineState

LIMIT, MOST = 23, 3


class CountState(NamedTuple):
    """Players in turn add 1 to 3 to a sum; who must move at 23 or more has lost; who stands exactly on 22 has drawn."""

    sum: Any  # int64 [1]
    turn: Any  # int64 [1]


def count_state(total: int = 0, side: int = 0) -> CountState:
    return CountState(np.array([total]), np.array([side]))


@njit
def _copy_into(state, other):
    other.sum[0] = state.sum[0]
    other.turn[0] = state.turn[0]


@njit
def _to_play(state):
    return int(state.turn[0])


@njit
def _hash(state):
    return np.uint64(state.sum[0] * 2 + state.turn[0])


@njit
def _outcome(state):
    if state.sum[0] >= LIMIT:
        return True, -1.0
    return state.sum[0] == LIMIT - 1, 0.0


@njit
def _write(state, out):
    for i in range(MOST):
        out[i] = i + 1
    return MOST


@njit
def _play(state, action):
    state.sum[0] += action
    state.turn[0] = 1 - state.turn[0]


@njit
def _take_back(state, action):
    state.sum[0] -= action
    state.turn[0] = 1 - state.turn[0]


@njit
def _most(state):
    return MOST


for generic, kernel in (
    (kernels.copy_into, _copy_into),
    (kernels.to_play, _to_play),
    (kernels.position_hash, _hash),
    (kernels.outcome, _outcome),
    (kernels.max_actions, _most),
    (kernels.max_steps, _most),
    (kernels.write_actions, _write),
    (kernels.play, _play),
    (kernels.take_back, _take_back),
    (kernels.write_steps, _write),
    (kernels.play_step, _play),
):
    kernels.implement(generic, CountState, kernel)
for generic, kernel in (
    (kernels.max_steps, line_game._max_actions),
    (kernels.write_steps, line_game._write_actions),
    (kernels.play_step, line_game._play),
):
    kernels.implement(generic, LineState, kernel)


def _numbers(text: str, n: int) -> np.ndarray:
    return np.random.default_rng(zlib.crc32(text.encode())).random(n)


def hashed(states, steps, counts):
    """Priors and values that follow from the position's hash alone."""
    priors, values = np.zeros(steps.shape, np.float32), np.zeros(len(counts), np.float32)
    for b, n in enumerate(counts):
        key = kernels.position_hash(type(states)(*(array[b] for array in states)))
        numbers = _numbers(str(int(key)), n + 1)
        weights = np.exp(4 * numbers[:n])
        priors[b, :n] = weights / weights.sum()
        values[b] = 2 * numbers[n] - 1
    return priors, values


def uniform(states, steps, counts):
    """Equal priors; every position even."""
    priors = np.zeros(steps.shape, np.float32)
    for b, n in enumerate(counts):
        priors[b, :n] = 1 / n
    return priors, np.zeros(len(counts), np.float32)

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from pipeline_src.jit import njit, peek, put, swap


@njit(nogil=True)
def _add(lock, total, times):
    """Add 1 so often, one thread at a time."""
    for _ in range(times):
        while not swap(lock, 0, 1):
            while peek(lock) != 0:
                pass
        total[0] += 1
        put(lock, 0)


@pytest.mark.parametrize(("add", "times"), [(_add, 100_000), (_add.py_func, 200)])
def test_a_lock_lets_one_thread_in_at_a_time(add, times) -> None:
    lock, total = np.zeros((2, 1), np.int64)
    add(lock, total, 1)
    with ThreadPoolExecutor(2) as threads:
        list(threads.map(lambda _: add(lock, total, times), range(2)))
    assert (total.tolist(), lock.tolist()) == ([2 * times + 1], [0])


@njit
def _each(array):
    return swap(array, 5, 7), peek(array), swap(array, 5, 9), peek(array)


@pytest.mark.parametrize("each", [_each, _each.py_func])
def test_swap_needs_the_old_number(each) -> None:
    array = np.array([5, 6])
    assert each(array) == (True, 7, False, 7)
    assert array.tolist() == [7, 6]

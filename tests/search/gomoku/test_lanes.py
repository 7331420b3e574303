import numpy as np

from pipeline_src.jit import njit
from pipeline_src.search.gomoku.line_net import (
    add,
    exchange,
    larger,
    load,
    load_positive,
    multiply_add,
    splat,
    store,
    total,
)


@njit
def _all(floats, sums, table, out):
    """Use each operation once."""
    exchange(sums, 3, table, 20, 1)
    positive = load_positive(sums, 2)
    mixed = multiply_add(load(floats, 5), splat(floats[0]), positive)
    store(out, 1, larger(mixed, add(mixed, splat(-1.5))))
    return total(mixed)


def _arrays():
    rng = np.random.default_rng(4)
    floats = rng.integers(-40, 40, 40).astype(np.float32) / 8  # sums of such numbers are exact in any order
    sums, table = rng.integers(-500, 500, (2, 40)).astype(np.int16)
    return floats, sums, table, np.zeros(40, np.float32)


def test_compiled_lanes_equal_numpy_arrays() -> None:
    compiled, plain = _arrays(), _arrays()
    assert _all(*compiled) == _all.py_func(*plain)
    for one, other in zip(compiled, plain, strict=True):
        np.testing.assert_array_equal(one, other)


def test_lanes_touch_sixteen_entries() -> None:
    floats, sums, table, out = _arrays()
    before = sums.copy()
    _all(floats, sums, table, out)
    assert set(np.flatnonzero(sums != before)) <= set(range(3, 19))
    assert set(np.flatnonzero(out)) <= set(range(1, 17))
    np.testing.assert_array_equal(sums[3:19], before[3:19] + table[20:36] - table[1:17])

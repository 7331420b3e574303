"""Kernels without reference counts: what would need them is refused, and what is not leaks nothing."""

import contextlib
import gc
import io
import os
import subprocess
import sys
import threading
from typing import NamedTuple

import numpy as np
import pytest
from numba.core.errors import NumbaError
from numba.core.runtime import _nrt_python, rtsys

from pipeline_src.games import gomoku, kernels
from pipeline_src.jit import Need, Progress, distinct, njit, plainly, ready
from pipeline_src.jit.parts import MAKES_ARRAYS
from pipeline_src.project.code import ROOT


class Pair(NamedTuple):
    first: np.ndarray
    second: np.ndarray


@njit(allocates=True)
def fresh(n):
    return np.zeros(n)


@njit(allocates=True)
def same(a):
    return a


@njit(allocates=True)
def in_a_pair(a):
    return Pair(a, a[1:])


def copy_row(a):
    a[0] = a[1]


def swap(a):
    a[0], a[1] = a[1], a[0]


def add(a):
    a += 1


def iterate(a):
    total = 0
    for row in a:
        for x in row.flat:
            total += x
    return total


REFUSED = {
    "an empty array": lambda a: np.empty(3).size,
    "numba's own function in Python": lambda a: np.zeros_like(a).size,
    "a copy": lambda a: a.copy().size,
    "arithmetic": lambda a: (a + 1).size,
    "arithmetic in place": add,
    "a list": lambda a: len([1, 2]),
    "a text": lambda a: len(str(a.size)),
    "a dict": lambda a: len({1: 2}),
    "a row onto another": copy_row,
    "rows swapped": swap,
    "a sort": lambda a: np.sort(a[0])[0],
    "indices": lambda a: len(np.nonzero(a)),
    "a mask": lambda a: a[0][a[0] > 3].size,
    "another dtype": lambda a: a.astype(np.int16).size,
    "a flat copy": lambda a: a.ravel().size,
    "an array from another kernel": lambda a: fresh(3).size,
    "its own array from another kernel": lambda a: same(a).size,
    "a tuple from another kernel": lambda a: in_a_pair(a).second.size,
    "its argument returned": lambda a: a,
    "a view returned": lambda a: a[1],
    "a view returned in a tuple": lambda a: (1, a[1]),
}
BORROWED = {
    "a view": lambda a: a[1, 1] + a[1][2] + a[1:].size,
    "views in a tuple": lambda a: Pair(a, a[1:]).second.size,
    "transposed": lambda a: a.T.size,
    "another shape": lambda a: a.reshape(a.size)[5],
    "other bits": lambda a: a.view(np.uint64).size,
    "loops": iterate,
    "numba's own function that gives a number": lambda a: a.sum() + np.searchsorted(a[0], 2),
}


@pytest.mark.parametrize("name", REFUSED)
def test_kernel_that_releases_an_array_is_refused(name):
    with pytest.raises(NumbaError, match=r"allocates=True"):
        njit(REFUSED[name])(np.arange(12).reshape(3, 4))


@pytest.mark.slow
@pytest.mark.parametrize("name", REFUSED)
def test_releasing_kernels_are_allowed_with_reference_counts(name):
    a = np.arange(12).reshape(3, 4)
    expected = REFUSED[name](a.copy())
    assert np.array_equal(njit(allocates=True)(REFUSED[name])(a), expected) or name == "a view returned in a tuple"


def test_the_refusal_names_the_function():
    def makes(n):
        return np.empty(n).size

    inner = njit(makes)

    def calls(n):
        return inner(n)

    with pytest.raises(NumbaError) as refused:
        njit(calls)(3)
    assert f"{makes.__module__}.{makes.__qualname__}: {MAKES_ARRAYS}" in str(refused.value)


@pytest.mark.slow
@pytest.mark.parametrize("allocates", [False, True])
@pytest.mark.parametrize("name", BORROWED)
def test_borrowing_kernels_equal_python_and_leak_no_reference(name, allocates):
    a = np.arange(12).reshape(3, 4)
    kernel = njit(allocates=allocates)(BORROWED[name])
    assert kernel(a) == BORROWED[name](a)
    before = sys.getrefcount(a)
    for _ in range(100):
        kernel(a)
    assert sys.getrefcount(a) == before


@pytest.mark.slow
def test_arrays_passed_through_both_kinds_of_kernels_are_released():
    @njit
    def sizes(pair):
        return pair.first.size + pair.second[1:].size

    @njit(allocates=True)
    def make(pair, n):
        new = np.zeros_like(pair.first)
        if n < 0:
            raise ValueError("negative")
        return sizes(Pair(new, pair.second)) + sizes(in_a_pair(pair.first)), new

    pair = Pair(np.arange(12), np.arange(7))
    assert make(pair, 1)[0] == 18 + 22
    _nrt_python.memsys_enable_stats()
    gc.collect()
    references, blocks = [sys.getrefcount(array) for array in pair], rtsys.get_allocation_stats()
    for _ in range(100):
        make(pair, 1)
    gc.collect()
    after = rtsys.get_allocation_stats()
    _nrt_python.memsys_disable_stats()
    assert [sys.getrefcount(array) for array in pair] == references
    assert after.alloc - blocks.alloc == after.free - blocks.free >= 100


@pytest.mark.slow
def test_an_error_in_a_kernel_without_counts_leaves_no_reference():
    @njit
    def fails(pair):
        if pair.first[0] == 0:
            raise ValueError("zero")
        return 1

    pair = Pair(np.arange(12), np.arange(7))
    references = []
    for _ in range(3):
        for _ in range(50):
            with pytest.raises(ValueError, match="zero"):
                fails(pair)
        gc.collect()
        references.append([sys.getrefcount(array) for array in pair])
    assert references[0] == references[2]


def test_kernel_called_by_kernels_is_compiled_once_for_all_integers():
    @njit
    def twice(n):
        return 2 * n

    @njit
    def all_sizes(a, b):
        return twice(3) + twice(a[0]) + twice(b[0]) + twice(a.size)

    a, b = np.array([100], np.int8), np.array([-30_000], np.int16)
    assert all_sizes(a, b) == 6 + 200 - 60_000 + 2
    assert len(twice.part.overloads) == 1
    assert not twice.overloads  # Python has not called it
    assert twice(4) == 8
    assert len(twice.overloads) == 1


MANGLED = """
import sys
import numba
import numpy as np
from numba.core.itanium_mangler import mangle
met = [numba.from_dtype(np.dtype([(f"other{i}", "i4")])) for i in range(int(sys.argv[1]))]
import pipeline_src.jit.parts
print(mangle("kernel", [numba.types.Array(numba.from_dtype(np.dtype([("cell", "i4")])), 1, "C")]))
"""


def test_kernels_that_take_records_have_one_name_in_all_processes():
    """Else a kernel on disk may call a part by a name that it does not have, once another process wrote it again."""
    names = [subprocess.check_output([sys.executable, "-c", MANGLED, str(met)], text=True) for met in (0, 3)]
    assert names[0] == names[1]


# Kernels compiled ahead: each once, without being run, and reported on stderr where that takes long.


def made():
    @njit
    def add(a, n):
        a[0] += n
        return a[0]

    return add


def test_needed_kernels_are_compiled_once_and_not_run():
    add, a = made(), np.zeros(1)
    needs = [Need(add, (a, 1)), Need(add, (np.ones(5), 7)), Need(add, (a, 1.5))]
    assert len(distinct(needs)) == 2
    assert ready(needs) == 2
    assert a[0] == 0
    assert len(add.overloads) == 2
    add.disable_compile()
    assert add(a, 3) == 3


def test_a_generic_function_means_the_kernel_of_its_argument():
    state = gomoku.initial_state(5)
    ready([Need(kernels.play, (state, 0))])
    kernel = kernels.play.dispatch(type(state))
    assert distinct([Need(kernels.play, (state, 0))])[0][0] is kernel
    assert distinct([Need(kernels.play, (state, 0))])[0][1] in kernel.overloads


def test_stop_skips_remaining_kernels():
    add, stopped = made(), threading.Event()
    stopped.set()
    ready([Need(add, (np.zeros(1), 1))], stopped)
    assert not add.overloads


def test_missing_kernels_run_as_python_inside_the_block():
    add, other = made(), made()
    ready([Need(other, (np.zeros(1), 1))])
    with plainly():
        assert add(np.zeros(1), 2) == 2
        with plainly():
            pass
        assert add(np.zeros(1), 2.5) == 2.5
        assert other(np.zeros(1), 2) == 2
    assert not add.overloads
    assert add(np.zeros(1), 2) == 2
    assert len(add.overloads) == 1


def told(kernels, functions=3, seconds=2.0, terminal=False, name=""):
    stream = io.StringIO()
    stream.isatty = lambda: terminal
    progress = Progress(stream)
    if name:
        with contextlib.redirect_stderr(stream):
            progress.speak_as(name)
    with progress.expecting(kernels):
        for _ in range(kernels):
            with progress.kernel():
                progress._began -= seconds
                for _ in range(functions):
                    progress.function()
    return stream.getvalue()


def test_progress_shows_compilation_after_a_second():
    assert told(31, seconds=0.0) == ""
    first, last = told(3).splitlines()
    assert first == "compiling kernels, once: 1 of 3, 1 functions"
    assert last.startswith("compiled 3 kernels in 6.0 s")


def test_terminal_progress_is_a_transient_line():
    steps = told(2, terminal=True).split("\r")
    assert "compiling kernels, once: 2 of 2, 6 functions\033[K" in steps
    assert steps[-1] == "\033[K"


def test_progress_of_several_processes_names_each_and_stays():
    first, last = told(3, terminal=True, name="go").splitlines()
    assert first == "go: compiling kernels, once: 1 of 3, 1 functions"
    assert last.startswith("go: compiled 3 kernels in 6.0 s")


# numba's own compiler in place of compilation in parts, as with a numba that was never tried.

PLAIN = os.environ | {"ZUGWERK_PLAIN_JIT": "1"}
TESTS = ("jit/test_atomic", "search/gomoku/test_lines", "search/gomoku/test_playouts")
"""With those of one game's rules: what every kernel has in common, in a minute or two."""
UNTRIED = """
import sys
import numba
numba.__version__ = "1.2.3"
from pipeline_src.jit import njit
print(njit(lambda x: x + 1)(1), "pipeline_src.jit.parts" in sys.modules)
"""


@pytest.mark.slow
def test_kernels_pass_their_tests_without_our_compiler():
    files = [f"tests/{name}.py" for name in (*TESTS, "games/test_conformance")]
    words = ["-q", "-m", "not slow", "-k", "gomoku or not test_conformance", *files]
    done = subprocess.run([sys.executable, "-m", "pytest", *words], cwd=ROOT, env=PLAIN, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout


@pytest.mark.parametrize(("asked", "told"), [({}, True), ({"ZUGWERK_PLAIN_JIT": "1"}, False)])
def test_an_untried_numba_compiles_by_itself_and_is_named(asked, told):
    env = {name: value for name, value in os.environ.items() if name != "ZUGWERK_PLAIN_JIT"} | asked
    done = subprocess.run([sys.executable, "-c", UNTRIED], env=env, check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["2", "False"]
    assert done.stderr.startswith("numba 1.2.3 was never tried") if told else not done.stderr
    assert len(done.stderr.splitlines()) == told

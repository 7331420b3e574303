"""Kernels compiled ahead: each once, without being run, and reported on stderr where that takes long."""

import contextlib
import io
import threading

import numpy as np

from pipeline_src.games import gomoku, kernels
from pipeline_src.jit import Need, Progress, distinct, njit, plainly, ready


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

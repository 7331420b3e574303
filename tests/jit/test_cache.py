"""Kernels on disk: which edit compiles what again, and what becomes of damaged and old files."""

import json
import os
import shutil
import subprocess
import sys

import numba
import numpy as np
import pytest

import pipeline_src.jit as jit
from pipeline_src.games import amazons, gomoku
from pipeline_src.jit import parts as cache
from pipeline_src.project.code import ROOT, this_code
from pipeline_src.search.mcts.puct import is_step
from tests.search.mcts.references import count_state

KERNELS = """
from pipeline_src.games import kernels  # in a file of its own: it knows no game
from pipeline_src.jit import njit

@njit(cache=True)
def side_and_room(state):
    return kernels.to_play(state), kernels.max_actions(state)

@njit(cache=True)
def over_or_room(state):
    return kernels.outcome(state)[0], kernels.max_actions(state)
"""
PROGRAM = """
import json, sys
from pipeline_src.games import gomoku
from pipeline_src.jit import plainly
from pipeline_src.search.asked import over_or_room, side_and_room
if len(sys.argv) > 1:
    path, old, new = sys.argv[1:]
    text = open(path).read()
    open(path, "w").write(text.replace(old, new))
with plainly():
    state = gomoku.initial_state(3, "freestyle-3")
print(json.dumps([*map(int, side_and_room(state)), *map(int, over_or_room(state))]))
"""
RULE = "return int(state.board.size)"
EDITED = "return int(state.board.size) - 1"


def copied(folder):
    """A copy of the package with a kernel cache of its own: ``run()`` gives the answer and the kernels' files."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "pipeline_src", folder / "pipeline_src", ignore=ignored)
    (folder / "pipeline_src/search/asked.py").write_text(KERNELS)
    kernels = folder / "cache" / "kernels"

    def run(*edit, before=""):
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", before + PROGRAM, *edit],
            cwd=folder,
            env=os.environ | {"ZUGWERK_CACHE": str(folder / "cache")},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout), {path.name for path in kernels.glob("*.nbc")}

    def replace(name, old, new):
        path = folder / "pipeline_src" / name
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new, 1))

    run.replace, run.folder, run.cache = replace, folder / "pipeline_src", kernels
    return run


@pytest.fixture
def copy(tmp_path):
    return copied(tmp_path)


@pytest.fixture(scope="module")
def first_run(tmp_path_factory):
    """The answer of a copy that found no kernel, the names of those that it made, and their folder."""
    one = copied(tmp_path_factory.mktemp("first"))
    return *one(), one.cache


@pytest.fixture
def warm(copy, first_run):
    """A copy with those kernels; the answer, and their names."""
    answer, names, kernels = first_run
    shutil.copytree(kernels, copy.cache)
    return answer, names


@pytest.mark.slow
def test_only_kernels_with_changed_code_are_recompiled(copy, warm):
    answer, first = warm
    assert answer == [0, 9, 0, 9]
    assert first
    assert copy() == (answer, first)
    copy.replace("games/go.py", "from pipeline_src", "# another comment\nEDITED = True\nfrom pipeline_src")
    copy.replace("games/amazons.py", "from pipeline_src", "EDITED = True\nfrom pipeline_src")
    copy.replace("systems/amazons_net/build.py", "from pipeline_src", "EDITED = True\nfrom pipeline_src")
    copy.replace("games/gomoku.py", "from pipeline_src", "# only a comment\nfrom pipeline_src")
    assert copy() == (answer, first)
    # A new rule: there is one action less. The kernels' own file is as it was.
    copy.replace("games/gomoku.py", RULE, EDITED)
    edited, second = copy()
    assert edited == [0, 8, 0, 8]
    assert second > first


def test_kernel_cache_key_covers_code_called_for_its_types():
    """`playout` knows no game; Gomoku's kernel for it lies in a file that neither the search nor the rules import."""
    from pipeline_src.search.gomoku import playouts
    from pipeline_src.search.mcts import playouts as generic

    own = frozenset({gomoku.GomokuState})
    found = jit.modules_run(generic.__name__, own)
    assert playouts.__name__ in found
    assert gomoku.__name__ in found
    assert playouts.__name__ not in jit.modules_run(is_step.py_func.__module__, own)
    assert not any(name.endswith(".go") or "amazons" in name for name in this_code().closure(*found))
    assert list(cache.owners((numba.typeof(gomoku.initial_state(5)), numba.int64))) == [gomoku.GomokuState]


def test_every_implementation_counts_for_the_kernels_that_call_it():
    """Of each generic function: a kernel in its module, asked for with the state's type, covers the implementation."""
    for game in (gomoku, amazons):
        kind = type(game.initial_state(6))
        covered = 0
        for function, parts in jit._CHOICES.items():
            if kind in parts:
                found = jit.modules_run(function.__module__, frozenset({kind}))
                assert parts[kind].py_func.__module__ in this_code().closure(*found)
                covered += 1
        assert covered >= 11


@pytest.mark.slow
def test_kernel_of_code_edited_during_the_process_is_not_cached(copy):
    """The kernel would be filed under the edited code, and meet the next process as if it came from it."""
    answer, kept = copy(str(copy.folder / "games/gomoku.py"), RULE, EDITED)
    assert answer == [0, 9, 0, 9]
    assert not kept
    assert copy()[0] == [0, 8, 0, 8]


@pytest.mark.slow
def test_a_damaged_cache_is_made_again(copy, warm):
    answer, first = warm
    for path in copy.cache.glob("*.nbc"):
        path.write_bytes(path.read_bytes()[:100])
    assert copy() == (answer, first)
    assert copy() == (answer, first)


@pytest.mark.slow
def test_caches_of_two_processes_are_compatible(copy, warm, tmp_path):
    """Processes that compile at the same time write the same files; who comes later finds some of each."""
    answer, _ = warm
    first = copy.cache.rename(tmp_path / "first")
    assert copy(before="import numba; numba.njit(lambda x: x + 1)(1)")[0] == answer
    parts = sorted(copy.cache.glob("*.part-*"))
    assert len(parts) == 5
    for path in copy.cache.glob("*.nbc"):
        if path not in parts:
            path.unlink()
    for path in parts[::2]:
        (first / path.name).replace(path)
    assert copy()[0] == answer


def test_kernels_of_the_tests_toy_games_stay_off_the_disk():
    """A program that cannot import the tests could not read them."""
    steps = np.empty(3, np.int32)
    before = set(cache.FOLDER.glob("*is_step-*.nbc"))
    assert is_step(count_state(), 1, steps)
    assert not is_step(count_state(), 4, steps)
    assert set(cache.FOLDER.glob("*is_step-*.nbc")) == before
    assert is_step(gomoku.initial_state(3, "freestyle-3"), 4, np.empty(9, np.int32))
    assert list(cache.FOLDER.glob("*is_step-*.nbc"))


def test_kernels_out_of_use_are_removed(tmp_path, monkeypatch):
    monkeypatch.setattr(cache, "FOLDER", tmp_path)
    old, young = tmp_path / "a.nbc", tmp_path / "b.nbc"
    old.touch(), young.touch()
    os.utime(old, (0, 0))
    cache._touch(young)
    cache._prune.__wrapped__()
    assert [path.name for path in tmp_path.iterdir()] == ["b.nbc"]
    os.utime(young, (0, 0))
    cache._touch(young)
    assert young.stat().st_mtime > 1e9

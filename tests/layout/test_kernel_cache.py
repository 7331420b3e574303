import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pipeline_src
from pipeline_src.games import gomoku
from pipeline_src.search.mcts.puct_reuse import is_step
from tests.layout.imports import ROOT
from tests.search.mcts.fakes import count_state


def test_hash_sees_every_kernel_source(tmp_path):
    copy = tmp_path / "pipeline_src"
    shutil.copytree(ROOT / "pipeline_src" / "games", copy / "games", ignore=shutil.ignore_patterns("__pycache__"))
    before = pipeline_src.kernel_hash(copy)
    assert pipeline_src.kernel_hash(copy) == before
    rules = copy / "games" / "amazons" / "board.py"
    rules.write_text(rules.read_text() + "\n")
    assert pipeline_src.kernel_hash(copy) != before


@pytest.mark.slow
def test_an_edited_rule_is_seen_by_kernels_of_other_files(tmp_path):
    """Perft lives in a file of its own; numba's cache of it must not outlive a change in the moves."""
    shutil.copytree(ROOT / "pipeline_src", tmp_path / "pipeline_src", ignore=shutil.ignore_patterns("__pycache__"))
    program = "from pipeline_src.games import amazons; print(amazons.perft(amazons.initial_state(6), 2))"

    def count():
        env = {**os.environ, "ZUGWERK_CACHE": str(tmp_path / "cache")}
        command = [sys.executable, "-c", program]
        return int(subprocess.run(command, cwd=tmp_path, env=env, check=True, capture_output=True, text=True).stdout)

    first = count()
    assert count() == first
    moves = Path(tmp_path / "pipeline_src/games/amazons/moves.py")
    text = moves.read_text()
    rule = "        if start >= 0:\n            n = reach("
    assert rule in text
    assert "            count = reach(" in text
    # A new rule: the amazon on the lowest square may not move.
    edited = text.replace("if start >= 0:", "if start >= 0 and start != state.amazons[state.turn[0], 0]:")
    moves.write_text(edited)
    assert 0 < count() < first


def test_cache_folder_is_the_users_or_temporary():
    assert Path(os.environ["NUMBA_CACHE_DIR"]).name == f"numba-{pipeline_src.kernel_hash(ROOT / 'pipeline_src')}"


def test_kernels_of_the_tests_toy_games_stay_off_the_disk():
    """A program that cannot import the tests could read nothing of an index that names them."""
    steps = np.empty(3, np.int32)
    assert is_step(count_state(), 1, steps)
    assert not is_step(count_state(), 4, steps)
    assert is_step(gomoku.initial_state(3, "freestyle-3"), 4, np.empty(9, np.int32))
    indices = list(Path(os.environ["NUMBA_CACHE_DIR"]).rglob("puct_reuse.is_step-*.nbi"))
    assert indices
    assert not [path for path in indices if b"tests." in path.read_bytes()]

"""docs/how-to/add-a-game.md, followed in a copy of the project."""

import os
import shutil
import subprocess
import sys

import pytest

from tests.docs.pages import blocks
from tests.layout.imports import ROOT

PAGE = ROOT / "docs" / "how-to" / "add-a-game.md"
CODE = ROOT / "docs" / "how-to" / "connect_four"


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    folder = tmp_path_factory.mktemp("project")
    for name in ("pipeline_src", "tests"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "*.pt"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    shutil.copytree(CODE, folder, dirs_exist_ok=True)
    return folder


def run(copy, *words, **env):
    env = {**os.environ, "PYTHONPATH": str(copy), "ZUGWERK_CACHE": str(copy / "cache"), **env}
    done = subprocess.run([sys.executable, *words], cwd=copy, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_page_shows_code_as_it_stands():
    files = "".join(path.read_text() for path in CODE.rglob("*.py")).splitlines()
    shown = [text for language, text in blocks(PAGE) if language == "python"]
    assert len(shown) == 4
    for line in "".join(shown).splitlines():
        assert line in files, line


@pytest.mark.slow
def test_rules_pass_the_conformance_tests(copy):
    """Compiled, into a cache of its own."""
    assert " passed" in run(copy, "-m", "pytest", "-q", "tests/games/test_conformance.py", "-k", "connect_four")


@pytest.mark.slow
def test_perft_and_searches_agree_with_the_page(copy):
    """Interpreted, which takes less time than to compile so much."""
    words = ["tests/games/test_connect_four.py", "-k", "alphabeta or slow_rules_say and 7"]
    assert " passed" in run(copy, "-m", "pytest", "-q", *words, NUMBA_DISABLE_JIT="1")
    match = ["connect_four", "mcts:nodes=20", "random", "--games", "2", "--size", "4", "--json"]
    program = f"import sys; sys.argv = ['zugwerk', 'match', *{match}]; from pipeline_src.cli import main; main()"
    assert '"score"' in run(copy, "-c", program, NUMBA_DISABLE_JIT="1")

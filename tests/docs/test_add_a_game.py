"""docs/how-to/add-a-game.md, followed in a copy of the project."""

import os
import re
import shutil
import subprocess
import sys

import pytest

from tests.layout.imports import ROOT

PAGE = ROOT / "docs" / "how-to" / "add-a-game.md"
FILE = re.compile(r"^`([\w./]+)`:\n\n```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
DIFF = re.compile(r"^```diff\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    folder = tmp_path_factory.mktemp("project")
    for name in ("pipeline_src", "tests"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "*.pt"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    text = PAGE.read_text()
    for name, content in FILE.findall(text):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    (folder / "tests/games/connect_four/__init__.py").touch()
    for diff in DIFF.findall(text):
        subprocess.run(["git", "apply", "-"], cwd=folder, input=diff, text=True, check=True)
    return folder


def run(copy, *words, **env):
    env = {**os.environ, "PYTHONPATH": str(copy), "ZUGWERK_CACHE": str(copy / "cache"), **env}
    done = subprocess.run([sys.executable, "-m", *words], cwd=copy, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_rules_pass_the_conformance_tests(copy):
    """Compiled, into a cache of its own."""
    told = run(
        copy, "pytest", "-q", "tests/games/test_conformance.py", "-k", "connect_four-5 or connect_four] or every_game"
    )
    assert " passed" in told


def test_the_page_is_in_shape(copy):
    files = [name for name, _ in FILE.findall(PAGE.read_text()) if name.endswith(".py")]
    assert len(files) == 5
    run(copy, "ruff", "check", *files)
    run(copy, "ruff", "format", "--check", *files)


@pytest.mark.slow
def test_perft_and_searches_agree_with_the_page(copy):
    """Interpreted, which takes less time than to compile so much."""
    words = ["tests/games/connect_four", "-k", "alphabeta or 4/4/4 or slow_rules_say and 7"]
    assert " passed" in run(copy, "pytest", "-q", *words, NUMBA_DISABLE_JIT="1")
    match = ["connect_four", "mcts:nodes=20", "random", "--games", "2", "--size", "4", "--json"]
    program = f"import sys; sys.argv = ['zugwerk', 'match', *{match}]; from pipeline_src.cli import main; main()"
    env = {**os.environ, "PYTHONPATH": str(copy), "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run([sys.executable, "-c", program], cwd=copy, env=env, capture_output=True, text=True)
    assert '"score"' in done.stdout, done.stderr

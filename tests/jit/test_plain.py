"""Kernels that call functions of plain Python, and games whose rules are such functions."""

import os
import re
import subprocess
import sys
from typing import NamedTuple

import numpy as np
import pytest
from numba.core import types

from pipeline_src.games.game import load_game
from pipeline_src.jit import njit
from pipeline_src.jit.plain import calling
from pipeline_src.players.any_game import AnyUct
from pipeline_src.search.limits import Limit
from tests.layout.imports import ROOT


class State(NamedTuple):
    """Arrays of two shapes."""

    board: np.ndarray
    turn: np.ndarray


def states(size):
    return State(np.arange(size * size, dtype=np.int8).reshape(size, size), np.array([5, 6], np.int16))


def sums(state, out, add):
    out[: state.board.shape[0]] = state.board.sum(1) + add
    state.turn[1] = out.size
    return int(state.board.sum())


def kinds(state, action):
    return state.board[0, 1] == 1, -0.25 * action


def test_a_kernel_calls_python_with_its_own_arrays():
    state, out = states(3), np.zeros(4, np.int32)
    kernel = calling(sums, "zugwerk_test_sums", [state, out], ["state", "out", "add"], types.int64)

    @njit
    def twice(state, out, add):
        return kernel(state, out, add) + kernel(state, out, add + 1)

    for size in (3, 2):  # another shape, and so other views
        state, out = states(size), np.zeros(size + 1, np.int32)
        assert twice(state, out, 10) == 2 * state.board.sum()
        assert out.tolist() == [*(state.board.sum(1) + 11), 0]
        assert state.turn.tolist() == [5, size + 1]


def test_a_kernel_has_what_python_returns():
    state = states(2)
    wanted = types.Tuple([types.boolean, types.float64])
    for function, result, expected in (
        (kinds, wanted, (True, -1.75)),
        (lambda state, action: (-1, action), types.UniTuple(types.int64, 2), (-1, 7)),
        (lambda state, action: (1 << 64) - action, types.uint64, (1 << 64) - 7),
        (lambda state, action: action > 7, types.boolean, False),
        (lambda state, action: None, types.none, None),
    ):
        kernel = calling(function, f"zugwerk_test_{result}", [state], ["state", "action"], result)
        found = kernel(state, 7)
        assert found == expected
        assert type(found) is type(expected)


@pytest.fixture
def torus(tmp_path):
    """The game of docs/how-to/add-a-game.md, with kernels and without."""
    page = (ROOT / "docs" / "how-to" / "add-a-game.md").read_text()
    rules = re.search(r"```python\n(.*?)```", page, re.DOTALL)[1]
    (tmp_path / "compiled.py").write_text(rules)
    (tmp_path / "plain.py").write_text(re.sub(r"@njit.*\n|from pipeline_src.jit.*\n", "", rules))
    return tmp_path


@pytest.mark.slow
def test_a_game_in_plain_python_is_searched_like_kernels(torus, caplog):
    found = []
    for name in ("compiled", "plain"):
        game = load_game(str(torus / f"{name}.py"))
        result = AnyUct().search(game.initial_state(9), Limit(nodes=60), seed=1)
        found.append((result.action, result.value, result.nodes))
        assert ("play" in game.PLAIN) == (name == "plain")
    assert found[0] == found[1]
    assert re.search(r"plain\.py: outcome, .* in plain Python", caplog.text)


SEARCH = """
import sys
from pipeline_src.games.game import load_game
from pipeline_src.players.any_game import AnyUct
from pipeline_src.search.limits import Limit

AnyUct().search(load_game(sys.argv[1]).initial_state(9), Limit(nodes=9))
"""


@pytest.mark.slow
def test_rules_that_raise_end_the_process_at_their_line(torus):
    path = torus / "plain.py"
    path.write_text(path.read_text().replace("state.turn[SIDE] = 1 - side", "state.turn[SIDE] = [][side]"))
    program = [sys.executable, "-c", SEARCH, str(path)]
    done = subprocess.run(program, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)})
    line = 1 + path.read_text().split("\n").index("    state.turn[SIDE] = [][side]")
    assert f"{path}, line {line}: IndexError" in done.stderr
    assert done.returncode == 1

"""Nothing compiles on the clock: what a player calls in a game is there once it is ready."""

import json
import os
import subprocess
import sys

import pytest

from pipeline_src.players import engines
from pipeline_src.players.registry import players_of
from pipeline_src.players.warm import texts_of

PROGRAM = """
import json, sys
import numpy as np
from pipeline_src.games.game import get_game
from pipeline_src.games.kernels import rules_need
from pipeline_src.jit.needs import ready
from pipeline_src.jit.parts import Kernel
from pipeline_src.players.player import Bounds, Position
from pipeline_src.players.registry import build_player
from pipeline_src.search.limits import Clock

game, text, size, plies = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
rules, player = get_game(game), build_player(game, text)
state = start = rules.initial_state(size)
new = ready([*rules_need(start), *player.needs(start)])
late, compile = [], Kernel.compile

def noted(kernel, signature):
    late.append(kernel.py_func.__qualname__)
    return compile(kernel, signature)

Kernel.compile = noted
actions = []
while rules.winner(state) is None and len(actions) < plies:
    timed = not text.startswith("minimax")  # which knows a depth alone
    clock = Clock(2_000, 2_000) if timed and len(actions) % 3 == 1 else None
    position = Position(state, np.random.default_rng(len(actions)), start, tuple(actions), clock)
    if timed and len(actions) % 3 == 2:
        action = player.think(position, Bounds(depth=2, nodes=30)).action
    else:
        action = player.choose([position])[0]
    assert rules.is_legal(state, action)
    state = rules.play(state, action)
    actions.append(action)
print(json.dumps([new, late, len(actions), rules.winner(state)]))
"""
CHEAP = {
    "amazons": {
        "random": ("random", 6),
        "one_ply": ("one_ply:noise=0.5", 6),
        "alphabeta": ("alphabeta:nodes=100", 6),
        "uct": ("uct:nodes=20", 6),
        "nets": ("nets", 10),
        "puct": ("puct:simulations=4", 10),
    },
    "gomoku": {
        "random": ("random", 6),
        "minimax": ("minimax:depth=1", 6),
        "alphabeta": ("alphabeta:nodes=100", 7),
        "engine": ("engine:nodes=100", 9),
        "mcts": ("mcts:playouts=20", 6),
        "zero": ("zero:simulations=8", 9),
        "zero:search=gumbel": ("zero:simulations=8,search=gumbel", 9),
    },
}
"""By the text with no limits: such a player that moves fast, and a board that it plays on."""


def play(game, text, size, plies, cache=None):
    """(kernels compiled before the game, loaded or compiled within it, plies, result)."""
    env = os.environ | ({} if cache is None else {"ZUGWERK_CACHE": str(cache)})
    words = [sys.executable, "-W", "error", "-c", PROGRAM, game, text, str(size), str(plies)]
    done = subprocess.run(words, capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.usefixtures("shipped")
def test_each_player_that_is_warmed_is_looked_at():
    for game, texts in CHEAP.items():
        assert sorted(texts) == sorted(texts_of(game))
        assert {text.partition(":")[0] for text in texts} | engines.PLAYERS[game].keys() == players_of(game).keys()


@pytest.mark.slow
@pytest.mark.parametrize(("game", "name"), [(game, name) for game, texts in CHEAP.items() for name in texts])
def test_no_kernel_is_loaded_in_a_game(game, name):
    """Nor compiled, which comes to the same where all of them are on disk."""
    _, late, plies, winner = play(game, *CHEAP[game][name], 300)
    assert late == []
    assert winner is not None or plies == 300


@pytest.mark.slow
def test_nor_in_one_with_the_threat_search_beside_a_net():
    assert play("gomoku", "zero:simulations=8,solver=20", 9, 300)[1] == []


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("game", "name"), [("amazons", "random"), ("gomoku", "random"), ("gomoku", "minimax")])
def test_no_kernel_is_compiled_in_a_game_after_ready_with_nothing_on_disk(game, name, tmp_path):
    new, late, _, winner = play(game, *CHEAP[game][name], 300, cache=tmp_path)
    assert new >= 4
    assert late == []
    assert winner is not None
    assert play(game, *CHEAP[game][name], 1, cache=tmp_path)[0] == 0  # all on disk now

"""Nothing compiles on the clock: what a player calls in a game is there once it is ready."""

import json
import os
import subprocess
import sys

import pytest

from pipeline_src.players import ENGINES
from pipeline_src.players.listing import texts_of
from pipeline_src.players.registry import players_of

PROGRAM = """
import json, os, sys
import numpy as np
import torch  # once for all who need it
from pipeline_src.games.game import get_game
from pipeline_src.games.kernels import rules_need
from pipeline_src.jit import ready
from pipeline_src.jit.parts import Kernel
from pipeline_src.players.player import Bounds, Position
from pipeline_src.players.registry import build_player
from pipeline_src.search.limits import Clock

def play(game, text, size, plies):
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
    return [new, late, len(actions), rules.winner(state)]

for case in json.loads(sys.argv[1]):
    child = os.fork()  # a process each, that has loaded no kernel
    if not child:
        status = 1
        try:
            print(json.dumps(play(*case)), flush=True)
            status = 0
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            os._exit(status)
    if os.waitpid(child, 0)[1]:
        print(json.dumps(None), flush=True)
"""
CHEAP = {
    "amazons": {
        "random": ("random", 6),
        "one_ply": ("one_ply:noise=0.5", 6),
        "alphabeta": ("alphabeta:nodes=100", 6),
        "uct": ("uct:nodes=20", 6),
        "level": ("level:1", 6),
        "nets": ("nets", 10),
        "puct": ("puct:simulations=4", 10),
    },
    "gomoku": {
        "random": ("random", 6),
        "one_ply": ("one_ply:noise=10", 7),
        "minimax": ("minimax:depth=1", 6),
        "alphabeta": ("alphabeta:nodes=100", 7),
        "engine": ("engine:nodes=100", 9),
        "mcts": ("mcts:playouts=20", 6),
        "level": ("level:1", 9),
        "zero": ("zero:fours=40,simulations=8", 9),
        "zero:simulations=300": ("zero:simulations=8", 9),
        "zero:search=gumbel": ("zero:simulations=8,search=gumbel", 9),
        "zero:solver=200": ("zero:simulations=8,solver=20", 9),
    },
}
"""By the text with no limits: such a player that moves fast, and a board that it plays on."""


def play(*cases, cache=None):
    """Of each case (kernels compiled before the game, loaded or compiled within it, plies, result); None if it failed.

    A case is a game, a player, a size and a number of plies.
    """
    env = os.environ | ({} if cache is None else {"ZUGWERK_CACHE": str(cache)})
    words = [sys.executable, "-W", "error", "-c", PROGRAM, json.dumps(cases)]
    done = subprocess.run(words, capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def played():
    """Games of all cheap players, by their cases."""
    cases = [(game, *player, 300) for game, players in CHEAP.items() for player in players.values()]
    return dict(zip(cases, play(*cases), strict=True))


@pytest.mark.usefixtures("shipped")
def test_each_player_that_is_warmed_is_looked_at():
    for game, texts in CHEAP.items():
        assert sorted(texts) == sorted(texts_of(game))
        assert {text.partition(":")[0] for text in texts} | ENGINES[game].keys() == players_of(game).keys()


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("game", "name"), [(game, name) for game, texts in CHEAP.items() for name in texts])
def test_no_kernel_is_loaded_in_a_game(played, game, name):
    """Nor compiled, which comes to the same where all of them are on disk."""
    _, late, plies, winner = played[game, *CHEAP[game][name], 300]
    assert late == []
    assert winner is not None or plies == 300


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_after_ready_no_kernel_is_compiled_in_a_game(tmp_path):
    cold = [(game, *CHEAP[game][name]) for game, name in (("amazons", "random"), ("gomoku", "minimax"))]
    found = play(*((*case, plies) for plies in (300, 1) for case in cold), cache=tmp_path)
    for new, late, _, winner in found[:2]:
        assert new >= 4
        assert late == []
        assert winner is not None
    assert [again for again, *_ in found[2:]] == [0, 0]  # all on disk now

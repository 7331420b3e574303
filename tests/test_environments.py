"""The environments of PettingZoo and OpenSpiel: their own tests pass, and a step is what a move is made of."""

import doctest
import importlib
import re

import numpy as np
import pytest

import zugwerk
from pipeline_src.systems.gomoku_zero.evaluator import zero_planes
from tests.layout.imports import ROOT
from zugwerk.steps import Steps

BOARDS = [
    *(("gomoku", 9, "freestyle"), ("gomoku", 15, "renju"), ("amazons", 6, "standard")),
    *(("connect_four", 7, "standard"), ("breakthrough", 6, "standard"), ("othello", 8, "standard")),
]


def aec(*arguments):
    pytest.importorskip("pettingzoo", reason="pip install -e '.[pettingzoo]'")
    from zugwerk import pettingzoo

    return pettingzoo.env(*arguments)


def openspiel(game, size, variant):
    pyspiel = pytest.importorskip("pyspiel", reason="pip install -e '.[openspiel]'")
    import zugwerk.openspiel

    assert zugwerk.openspiel
    return pyspiel.load_game("zugwerk", {"game": game, "size": size, "variant": variant})


def played(*board, seed=1):
    """A finished game: its steps, and the `Steps` at the end."""
    steps, rng, made = Steps(zugwerk.game(*board)), np.random.default_rng(seed), []
    while len(legal := steps.legal()):
        made.append(int(rng.choice(legal)))
        steps.play(made[-1])
    return made, steps


@pytest.mark.filterwarnings("ignore:Observation:UserWarning")  # of all environments with a mask
@pytest.mark.parametrize("board", [*BOARDS, ("go", 5)])
def test_pettingzoo_finds_no_fault(board):
    made = aec(*board)
    from pettingzoo.test import api_test, seed_test

    api_test(made, num_cycles=100)
    seed_test(lambda: aec(*board), num_cycles=40)


@pytest.mark.parametrize("board", BOARDS)
def test_openspiel_finds_no_fault(board):
    game = openspiel(*board)
    import pyspiel

    pyspiel.random_sim_test(game, num_sims=1, serialize=True, verbose=False)


@pytest.mark.parametrize("board", BOARDS)
def test_a_game_ends_with_the_same_result_everywhere(board):
    made, steps = played(*board)
    assert len(made) <= steps.longest
    winner = {"first": (1, -1), "second": (-1, 1), "draw": (0, 0)}[steps.position.winner]
    env, state = aec(*board), openspiel(*board).new_initial_state()
    env.reset()
    for step in made:
        assert env.agent_selection == f"player_{state.current_player()}"
        mask = env.last()[0]["action_mask"]
        assert mask.nonzero()[0].tolist() == state.legal_actions()
        env.step(step)
        state.apply_action(step)
    assert tuple(env.rewards[f"player_{side}"] for side in (0, 1)) == tuple(state.returns()) == winner
    assert all(env.terminations.values())
    assert state.is_terminal()
    env.step(None)  # as PettingZoo wants it after the end
    assert env.agents


@pytest.mark.parametrize("step", [0, 40])
def test_an_illegal_step_loses_the_game_and_changes_no_board(step):
    env = aec("gomoku", 9)
    env.reset()
    env.step(step)
    env.step(step)
    assert env.rewards == {"player_0": 0, "player_1": -1}
    assert all(env.terminations.values())
    with pytest.raises(zugwerk.ZugwerkError, match="not legal"):
        env.unwrapped.steps.play(step)
    with pytest.raises(zugwerk.ZugwerkError, match="not legal"):
        env.unwrapped.steps.play(-1)


def test_planes_are_those_of_the_nets():
    steps, planes = Steps(zugwerk.game("gomoku", 9)), np.empty((1, 3, 9, 9), np.float32)
    for step in (40, 0, 41):
        state = steps.position.state
        zero_planes(type(state)(*(array[None] for array in state)), 1, planes)
        np.testing.assert_array_equal(steps.planes(steps.side), planes[0])
        steps.play(step)


def test_a_file_of_rules_is_an_environment(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text((ROOT / "pipeline_src/games/learnable/breakthrough.py").read_text())
    steps = Steps(zugwerk.game(str(file), 6))
    assert (steps.choices, steps.planes(0).shape) == (36 * 36, (3, 6, 6))
    with zugwerk.player("mcts:nodes=20", str(file)) as player:
        steps.play(steps.choose(player))
    assert steps.planes(1)[0].sum() == steps.planes(1)[1].sum() == 12
    assert aec(str(file), 6).unwrapped.steps.choices == steps.choices


def test_each_kind_of_piece_has_a_plane(tmp_path):
    file = tmp_path / "kinds.py"
    rules = (ROOT / "pipeline_src/games/learnable/breakthrough.py").read_text()
    file.write_text(rules + "\nOWNERS = (0, 1, 0, 1)\n")
    position = zugwerk.game(str(file), 6)
    position.state.board[0, 0] = 4  # the other side's second kind
    steps = Steps(position)
    assert [int(plane.sum()) for plane in steps.planes(0)] == [12, 0, 11, 1, 36]
    assert [int(plane.sum()) for plane in steps.planes(1)] == [11, 1, 12, 0, 0]


def test_a_player_makes_both_steps_of_an_amazons_turn():
    steps = Steps(zugwerk.game("amazons", 6))
    with zugwerk.player("alphabeta:depth=1", "amazons") as player:
        wanted = player.think(steps.position)
        side = steps.side
        steps.play(steps.choose(player))
        assert (steps.side, steps.position.actions) == (side, ())
        assert steps.planes(side)[4].sum() == 1  # the amazon that has moved
        steps.play(steps.choose(player))
    assert steps.position.actions == (wanted.action,)
    assert steps.side != side


def test_no_arrow_is_chosen_for_a_move_of_somebody_else():
    steps = Steps(zugwerk.game("amazons", 6))
    with zugwerk.player("alphabeta:depth=1", "amazons") as player:
        for _ in range(2):  # in the first turn a move was chosen and not made, in the second one none
            other = next(step for step in steps.legal() if step != steps.choose(player))
            steps.play(other)
            with pytest.raises(zugwerk.ZugwerkError, match="first step"):
                steps.choose(player)
            steps.play(steps.legal()[0])


@pytest.mark.parametrize("name", ["openspiel", "pettingzoo"])
def test_the_examples_of_a_module_run(name):
    pytest.importorskip({"openspiel": "pyspiel"}.get(name, name))
    failed, tried = doctest.testmod(importlib.import_module(f"zugwerk.{name}"))
    assert (failed, tried > 0) == (0, True)


def test_the_page_plays_against_a_level():
    for package in ("pyspiel", "pettingzoo"):
        pytest.importorskip(package)
    names = {}
    page = (ROOT / "docs/how-to/train-against-our-levels.md").read_text()
    for text in re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL):
        exec(text, names)
    assert names["play"]() == -1
    state, player = names["state"], zugwerk.player("random", "amazons")
    while not state.is_terminal():
        state.apply_action(state.steps.choose(player))
    assert sorted(state.returns()) == [-1, 1]

import dataclasses

import numpy as np
import pytest

from pipeline_src.errors import ZugwerkError
from pipeline_src.systems.gomoku_zero.window import extend_window, make_games, positions
from tests.systems.gomoku_zero.random_games import random_games


def slow_planes(moves, size, history):
    """Planes of the position after ``moves``, read off a list of boards."""
    boards = [np.zeros((size, size), int)]
    for ply, cell in enumerate(moves):
        boards.append(boards[-1].copy())
        boards[-1][cell // size, cell % size] = 1 + ply % 2
    own = 1 + len(moves) % 2
    before = [boards[max(len(moves) - back, 0)] for back in range(history)]
    planes = [b == own for b in before] + [b == 3 - own for b in before]
    return np.array([*planes, np.full((size, size), own == 1)], int)


@pytest.mark.parametrize("history", [1, 3, 5])
def test_planes_are_those_of_the_boards_on_the_way(history):
    games = random_games(3, opening=3)
    found = positions(games, history)
    row = 0
    for g in range(3):
        actions = games.actions[games.offsets[g] : games.offsets[g + 1]].tolist()
        for ply in range(3, len(actions)):
            assert np.array_equal(found.planes[row], slow_planes(actions[:ply], 5, history))
            row += 1
    assert row == len(found.planes) == len(found.value) == len(found.policy)


def test_value_is_the_result_for_the_side_to_move():
    lines = [[0, 3, 1, 4, 2], [8, 0, 3, 1, 4, 2], [0, 1, 2, 4, 3, 5, 7, 6, 8]]
    none = [np.eye(9)[game] for game in lines]
    games = make_games(3, "freestyle-3", lines, [1, -1, 0], none, generation=1)
    found = positions(games, 1)
    first_to_move = found.planes[:, 2, 0, 0]
    assert found.value[:5].tolist() == [1, -1, 1, -1, 1]
    assert found.value[5:11].tolist() == [-1, 1, -1, 1, -1, 1]
    assert not found.value[11:].any()
    assert first_to_move[:11].tolist() == [1, 0, 1, 0, 1, 1, 0, 1, 0, 1, 0]
    assert np.array_equal(found.policy.argmax(1), games.actions)


def test_policies_line_up_with_their_plies():
    games = random_games(6, opening=2)
    marked = games.policy.copy()
    marked[:] = 0
    played = [games.actions[games.offsets[g] + 2 : games.offsets[g + 1]] for g in range(6)]
    marked[np.arange(len(marked)), np.concatenate(played)] = 1
    found = positions(dataclasses.replace(games, policy=marked), 5)
    cells = found.policy.argmax(1)
    stones = found.planes[:, :10].reshape(len(cells), 10, -1)
    assert not stones[np.arange(len(cells)), :, cells].any()  # what was played next was empty
    for row in range(len(cells) - 1):
        if found.planes[row, 0].sum() <= found.planes[row + 1, 5].sum():  # the same game goes on
            assert found.planes[row + 1, 5].ravel()[cells[row]] == 1


def test_policies_sum_to_1_and_generations_go_along():
    window = extend_window(random_games(3, generation=1), random_games(2, generation=2), 10**6)
    found = positions(window, 2)
    np.testing.assert_allclose(found.policy.sum(1), 1, rtol=1e-6)
    np.testing.assert_allclose(found.policy, window.policy, atol=2e-3)
    assert (found.generation == 1).sum() == window.searched[:3].sum()
    assert (found.generation == 2).sum() == window.searched[3:].sum()


def test_an_illegal_action_is_named():
    games = random_games(3)
    actions = games.actions.copy()
    actions[games.offsets[1] + 3] = actions[games.offsets[1]]
    with pytest.raises(ZugwerkError, match=r"game 1 \(of generation 1\), ply 3: cell .* is not legal"):
        positions(dataclasses.replace(games, actions=actions), 5)


def test_a_game_that_goes_on_after_its_end_is_refused():
    games = make_games(3, "freestyle-3", [[0, 3, 1, 4, 2, 5]], [1], [np.eye(9)[:6]], generation=1)
    with pytest.raises(ZugwerkError, match="ply 5"):
        positions(games, 5)


@pytest.mark.parametrize("value", [0, np.nan, -1])
def test_a_policy_that_is_no_distribution_is_refused(value):
    games = random_games(2)
    policy = games.policy.copy()
    policy[3] = value
    with pytest.raises(ZugwerkError, match="no distribution"):
        positions(dataclasses.replace(games, policy=policy), 5)


def test_no_games_make_no_positions():
    found = positions(random_games(1, opening=99), 5)
    assert found.planes.shape == (0, 11, 5, 5)

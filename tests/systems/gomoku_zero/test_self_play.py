"""Self-play, and its replay window on disk."""

import dataclasses
import errno
import json

import numpy as np
import pytest

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import gomoku
from pipeline_src.selfplay import play
from pipeline_src.selfplay import window as windows
from pipeline_src.selfplay.play import play_self, temperature
from pipeline_src.selfplay.window import ARRAYS, extend_window, make_games
from pipeline_src.systems.gomoku_zero.evaluator import even
from pipeline_src.systems.gomoku_zero.params import GomokuSelfPlay
from pipeline_src.systems.gomoku_zero.self_play import Gomoku, with_fours
from pipeline_src.systems.gomoku_zero.train import positions
from tests.systems.gomoku_zero.small import random_games, slow_planes, states_of


def write_window(path, games):
    windows.write_window(path, games, gomoku)


def open_window(path):
    return windows.open_window(path, gomoku)


def params(**changed):
    return GomokuSelfPlay(temperature_decay=0.96, **changed)


def test_growing_boards_temperature_drops_after_ten_moves():
    schedule = params(decay_from_start=True)
    assert [temperature(ply, schedule) for ply in (1, 10)] == [1.0, 1.0]
    assert temperature(11, schedule) == pytest.approx(0.638, abs=5e-4)
    assert 1 / temperature(100, schedule) == pytest.approx(59, abs=0.5)


def test_without_that_it_falls_move_by_move():
    assert [temperature(ply, params()) for ply in (10, 11, 12)] == [1.0, 0.96, pytest.approx(0.96**2)]


def test_policy_target_can_be_as_cold_as_played_moves():
    start, seeds = gomoku.initial_state(5, "freestyle-4"), [[1], [2]]
    shared = {"simulations": 30, "temperature_plies": 0, "temperature_decay": 0.5, "decay_from_start": True}
    plain, cold = (
        play_self(Gomoku(), start, even, GomokuSelfPlay(**shared, tempered_policy=on), seeds) for on in (False, True)
    )
    for one, other in zip(plain, cold, strict=True):
        assert one.steps == other.steps  # moves are drawn alike
        for ply, (visits, policy) in enumerate(zip(one.policies, other.policies, strict=True), 1):
            weights = (visits.astype(float) / visits.max()) ** (1 / max(0.01, 0.5**ply))
            np.testing.assert_allclose(policy, weights / weights.sum(), rtol=1e-5, atol=1e-6)


def test_c_may_grow_with_the_visits():
    """The formula itself is tested with the search; here, that self-play hands its constants on, in both searches."""
    start, grows = (
        gomoku.initial_state(5, "freestyle-4"),
        GomokuSelfPlay(c=1.25, c_base=19652, own_visit=False),
    )
    for chooser in (play._Puct, play._Gumbel):
        options = chooser(start, 2, even, grows).trees.options
        assert (options.c, options.c_base, options.own_visit) == (1.25, 19652, False)


def test_an_opening_ends_where_its_square_is_full():
    start, one = gomoku.initial_state(9), params(simulations=2, opening_plies=40, opening_area=3)
    openings = [game.opening for game in play_self(Gomoku(), start, even, one, [[seed] for seed in range(8)])]
    assert max(openings) == 9


def test_trees_of_a_game_do_not_run_full():
    """With few likely moves most of a tree is kept, move after move."""

    def sure(states, steps, counts):
        priors = np.zeros(steps.shape, np.float32)
        priors[:, 0], priors[:, 1] = 0.75, 0.25
        return priors, np.zeros(len(counts), np.float32)

    chooser = play._Puct(gomoku.initial_state(15), 1, sure, params(simulations=300))
    trees = chooser.trees
    trees.plant(0, gomoku.initial_state(15))
    for _ in range(20):
        trees.simulate(np.array([300], np.int32))
        assert trees.forest.used_nodes[0] < trees.nodes
        trees.advance(0, int(trees.steps(0)[trees.best(0)]))


def test_searches_by_fours_of_games_forget_each_other():
    """Each by itself, so that a game does not depend on those searched before it."""
    assert with_fours(even, params()) is even
    assert with_fours(even, params(fours=40)).limits.tolist() == [40, 0, True]


def same(a, b):
    arrays = all(np.array_equal(getattr(a, n), getattr(b, n)) and getattr(b, n).dtype == ARRAYS[n] for n in ARRAYS)
    return arrays and (a.size, a.variant) == (b.size, b.variant)


def per_game(games):
    """Each game's content, as plain values."""
    ends = np.cumsum(games.searched)
    return [
        (
            games.generation[g],
            games.winner[g],
            games.searched_from[g],
            games.actions[games.offsets[g] : games.offsets[g + 1]].tolist(),
            games.policy[ends[g] - games.searched[g] : ends[g]].tolist(),
        )
        for g in range(len(games))
    ]


@pytest.fixture
def window(tmp_path):
    write_window(tmp_path / "07", random_games(4))
    return tmp_path / "07"


def test_a_window_is_read_as_it_was_written(tmp_path, window):
    assert same(random_games(4), open_window(window))
    manifest = json.loads((window / "manifest.json").read_text())
    assert (manifest["games"], manifest["size"]) == (4, 5)
    assert manifest["positions"] == len(open_window(window).policy)
    write_window(tmp_path / "again", random_games(4))
    for file in window.iterdir():
        assert (tmp_path / "again" / file.name).read_bytes() == file.read_bytes()


def test_policies_are_of_the_plies_after_the_opening_stones():
    games = make_games(
        gomoku.initial_state(3, "freestyle-3"),
        "freestyle-3",
        [[0, 1, 4, 2, 8], [0]],
        [1, 0],
        [np.eye(9)[[2, 8]], []],
        generation=2,
        searched_from=[3, 1],
    )
    assert games.searched.tolist() == [2, 0]
    assert games.policy.argmax(1).tolist() == [2, 8]
    assert games.generation.tolist() == [2, 2]


def test_games_that_ended_within_the_opening_have_no_target():
    games = make_games(
        gomoku.initial_state(3, "freestyle-3"),
        "freestyle-3",
        [[0, 3]],
        [0],
        [np.empty((0, 9))],
        generation=1,
        searched_from=4,
    )
    assert games.searched.tolist() == [0]


@pytest.mark.parametrize(
    ("actions", "winners", "policies", "why"),
    [
        ([[0, 1]], [1], [np.eye(9)[:1]], "policy"),
        ([[0, 1], [2]], [1], [np.eye(9)[:2], np.eye(9)[:1]], "1 games"),
        ([[0, 1], [2]], [1, 1], [np.eye(9)[:1], np.eye(9)[:2]], "one policy for each ply"),
        ([[0, 1]], [2], [np.eye(9)[:2]], "winner"),
    ],
)
def test_lists_that_do_not_fit_are_refused(actions, winners, policies, why):
    with pytest.raises(ZugwerkError, match=why):
        make_games(gomoku.initial_state(3, "freestyle-3"), "freestyle-3", actions, winners, policies, generation=1)


def test_the_oldest_games_go_first_and_go_whole():
    old, new = random_games(5, generation=1), random_games(3, generation=2)
    every = per_game(old) + per_game(new)
    assert per_game(extend_window(None, old, 10**9)) == per_game(old)
    counts = [len(policy) for *_, policy in every]
    for drop in range(8):
        for spare in (0, counts[drop - 1] - 1 if drop else 50):
            kept = extend_window(old, new, sum(counts[drop:]) + spare)
            assert per_game(kept) == every[drop:]
            assert len(kept.actions) == kept.offsets[-1]
    assert per_game(extend_window(old, new, 1)) == every[-1:]


def test_a_window_that_was_cut_can_be_written_and_read(tmp_path):
    cut = extend_window(random_games(5), random_games(3, generation=2), 40)
    write_window(tmp_path / "02", cut)
    assert same(cut, open_window(tmp_path / "02"))


def test_games_on_other_boards_cannot_be_appended():
    with pytest.raises(ZugwerkError, match="freestyle-4 on 6x6 cannot follow a window of freestyle-4 on 5x5"):
        extend_window(random_games(1), random_games(1, size=6), 100)


def test_arrays_out_of_order_are_refused(tmp_path):
    games = random_games(2)
    games = dataclasses.replace(games, offsets=games.offsets[[0, 2, 1]])
    write_window(tmp_path / "01", games)
    with pytest.raises(ZugwerkError, match="01: "):
        open_window(tmp_path / "01")


def test_full_disk_keeps_old_window_and_no_leftovers(window, monkeypatch):
    class Full(windows.ArrayStream):
        def append(self, rows):
            if self.path.name == "policy.npy":
                raise OSError(errno.ENOSPC, "No space left on device", str(self.path))
            super().append(rows)

    monkeypatch.setattr(windows, "ArrayStream", Full)
    with pytest.raises(OSError, match=r"policy\.npy"):
        write_window(window, random_games(2))
    assert same(open_window(window), random_games(4))
    assert [p.name for p in window.parent.iterdir()] == ["07"]


@pytest.mark.parametrize("history", [1, 3, 5])
def test_planes_are_those_of_the_boards_on_the_way(history):
    games = random_games(3, opening=3)
    found = positions(games, history)
    row = 0
    for g in range(3):
        actions = games.actions[games.offsets[g] : games.offsets[g + 1]].tolist()
        states = states_of(actions, 5, "freestyle-4")
        for ply in range(3, len(actions)):
            assert np.array_equal(found.planes[row], slow_planes(states, ply, history))
            row += 1
    assert row == len(found.planes) == len(found.value) == len(found.policy)


def test_value_is_the_result_for_the_side_to_move():
    lines = [[0, 3, 1, 4, 2], [8, 0, 3, 1, 4, 2], [0, 1, 2, 4, 3, 5, 7, 6, 8]]
    none = [np.eye(9)[game] for game in lines]
    games = make_games(gomoku.initial_state(3, "freestyle-3"), "freestyle-3", lines, [1, -1, 0], none, generation=1)
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
        if found.planes[row, 0].sum() <= found.planes[row + 1, 5].sum():  # the same game continues
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
    with pytest.raises(ZugwerkError, match=r"game 1 \(of generation 1\), ply 3: step .* is not legal"):
        positions(dataclasses.replace(games, actions=actions), 5)


def test_game_continued_after_its_end_is_refused():
    games = make_games(
        gomoku.initial_state(3, "freestyle-3"), "freestyle-3", [[0, 3, 1, 4, 2, 5]], [1], [np.eye(9)[:6]], generation=1
    )
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

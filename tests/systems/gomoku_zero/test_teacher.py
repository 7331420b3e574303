import numpy as np
import pytest

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import gomoku, kernels
from pipeline_src.parallel import Parallel
from pipeline_src.players.player import Position
from pipeline_src.players.registry import make_player
from pipeline_src.systems.gomoku_zero.files import GenerationFiles
from pipeline_src.systems.gomoku_zero.generation import run_generation
from pipeline_src.systems.gomoku_zero.params import GomokuTeacher, read_setting
from pipeline_src.systems.gomoku_zero.self_play import SelfPlayGame
from pipeline_src.systems.gomoku_zero.teacher import play_taught
from pipeline_src.systems.gomoku_zero.window import open_window
from tests.systems.gomoku_zero.settings import write_params

START = gomoku.initial_state(7)
SECTION = {"player": "alphabeta:depth=1", "games": 6, "area": 3, "slips": 0.5, "slip_plies": 6}


def taught(seeds, **changed):
    """Games that begin with stones in the middle, as many as the seed says."""
    games = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        one = SelfPlayGame(START, rng, int(rng.integers(0, 5)), [])
        for cell in rng.permutation([r * 7 + c for r in (2, 3, 4) for c in (2, 3, 4)])[: one.opening]:
            one.actions.append(int(cell))
            one.state = gomoku.play(one.state, int(cell))
        games.append(one)
    play_taught(START, GomokuTeacher(**SECTION | changed), games)
    return games


def states_of(game):
    """The states before each ply of a game."""
    state, found = START, []
    for action in game.actions:
        found.append(state)
        state = gomoku.play(state, action)
    return found


def test_policies_are_teacher_moves_even_after_slips():
    player, slips = make_player("gomoku", SECTION["player"]), 0
    for game in taught([[1, i] for i in range(4)]):
        assert kernels.outcome(game.state)[0]
        assert len(game.policies) == len(game.actions) - game.opening
        for ply, state in enumerate(states_of(game)):
            if ply < game.opening:
                continue
            (wanted,) = player.choose([Position(state, np.random.default_rng(0), START)])
            policy = game.policies[ply - game.opening]
            assert policy.sum() == policy[wanted] == 1
            if game.actions[ply] != wanted:
                slips += 1
                assert ply < 6
                stones = np.argwhere(state.board)
                here = np.array(divmod(game.actions[ply], 7))
                assert not len(stones) or np.abs(stones - here).max(axis=1).min() <= 2
    assert slips


def test_a_game_depends_on_its_own_seed_only():
    together, alone = taught([[1, 0], [1, 1]]), taught([[1, 1]])
    assert together[1].actions == alone[0].actions
    assert together[0].actions != together[1].actions


def test_without_slips_the_teacher_plays_all_moves():
    for game in taught([[2, 0]], slips=0.0):
        played = [int(policy.argmax()) for policy in game.policies]
        assert played == game.actions[game.opening :]


def test_only_the_first_generation_is_the_teachers(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    teacher = SECTION | {"player": "random", "games": 5}
    setting = read_setting(write_params(tmp_path, gomoku_self_play={"teacher": teacher}))
    for number, games in ((1, 5), (2, 10)):
        run_generation(number, setting, Parallel(workers=1), tmp_path / "artifacts")
        window = open_window(GenerationFiles(number, tmp_path / "artifacts").window)
        assert (window.generation == number).sum() == games
    sharp = np.repeat(window.generation == 1, window.searched)
    assert (window.policy[sharp].max(axis=1) == 1).all()
    assert (window.policy[~sharp].max(axis=1) < 1).any()


@pytest.mark.parametrize(
    ("teacher", "why"),
    [
        ({"player": "engine:movetime=20"}, "'engine:movetime=20' is limited by time"),
        ({"player": "engine"}, "'engine' is limited by time"),
        ({"player": "nobody"}, "no player 'nobody' for gomoku"),
        ({"area": 6}, "no square of 6 cells"),
    ],
)
def test_a_teacher_that_cannot_play_is_refused(tmp_path, monkeypatch, teacher, why):
    monkeypatch.chdir(tmp_path)
    setting = read_setting(write_params(tmp_path, gomoku_self_play={"teacher": SECTION | teacher}))
    with pytest.raises(ZugwerkError, match=why):
        run_generation(1, setting, Parallel(workers=1), tmp_path / "artifacts")
    assert not (tmp_path / "artifacts").exists()


def test_a_teacher_plays_in_one_round(tmp_path):
    with pytest.raises(ZugwerkError, match=r"gomoku_self_play.*rounds must .* be 1 with a teacher"):
        read_setting(write_params(tmp_path, gomoku_self_play={"teacher": SECTION, "rounds": 2}))

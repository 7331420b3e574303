import pytest
import torch

from pipeline_src.arena import match
from pipeline_src.arena.games import PlayedGame
from pipeline_src.arena.match import MatchResult, play_match
from pipeline_src.errors import ZugwerkError
from pipeline_src.parallel import Parallel
from pipeline_src.systems.amazons_net.models import save_nets
from pipeline_src.systems.amazons_net.net import AmazonsConfig, AmazonsNets
from tests.arena.gomoku_stubs import stubs  # noqa: F401

ALONE = Parallel(workers=1)


def play(a, b, parallel=ALONE, **changes):
    settings = {"pairs": 3, "opening_plies": 2, "seed": [9, 4, 0], "size": 6} | changes
    return play_match("amazons", a, b, parallel=parallel, **settings)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    torch.manual_seed(3)
    path = tmp_path_factory.mktemp("model") / "nets.pt"
    save_nets(path, AmazonsNets(AmazonsConfig(size=6, width=0.1)))
    return path


def test_points_go_to_the_right_player():
    games = [
        PlayedGame((1,), "first"),  # a moves first in even games
        PlayedGame((2,), "second"),
        PlayedGame((3,), "draw"),
        PlayedGame((4,), "first", illegal=True),
        PlayedGame((5,), "second", illegal=True),
        PlayedGame((6,), "second"),
    ]
    result = MatchResult("a", "b", games)
    assert result.points == [1.0, 1.0, 0.5, 0.0, 0.0, 1.0]
    assert result.wins_draws_losses == (3, 1, 2)
    assert result.illegal == (2, 0)
    assert result.score.value == pytest.approx(3.5 / 6)
    assert MatchResult("a", "b", [PlayedGame((1,), "first", illegal=True)] * 2).illegal == (1, 1)


def test_an_opening_is_played_twice_and_no_other_time():
    result = play("random", "one_ply", pairs=20)
    openings = [game.actions[:2] for game in result.games]
    assert openings[::2] == openings[1::2]
    assert len(set(openings)) == 20
    assert result.score.n == 40
    assert result.wins_draws_losses[2] > 30  # one ply deep beats chance


def test_a_player_is_worth_half_against_itself():
    result = play("one_ply", "one_ply", pairs=5)
    assert result.score.value == 0.5


def test_players_share_no_random_numbers_with_the_swapped_game():
    games = play("random", "random", pairs=8).games
    assert all(one.actions != other.actions for one, other in zip(games[::2], games[1::2], strict=True))


def test_no_two_games_share_random_numbers(monkeypatch):
    monkeypatch.setattr(match, "GROUP", 2)
    games = play("random", "random", pairs=6, opening_plies=0).games
    assert len({game.actions for game in games}) == 12


def test_the_number_of_pairs_leaves_earlier_pairs_as_they_are(monkeypatch):
    monkeypatch.setattr(match, "GROUP", 2)
    many = play("one_ply:noise=2", "random", pairs=5).games
    assert play("one_ply:noise=2", "random", pairs=4).games == many[:8]


def test_workers_change_nothing(model, monkeypatch):
    """Nets play the same moves in this process, whatever torch's threads here, as in workers."""
    monkeypatch.setattr(match, "GROUP", 2)
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        alone = play(f"nets:{model}", "one_ply:noise=1")
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(threads)
    assert play(f"nets:{model}", "one_ply:noise=1", Parallel(workers=2)).games == alone.games


@pytest.mark.parametrize(
    ("a", "b", "complaint"),
    [
        ("nobody", "random", "no player 'nobody' for amazons; there are: random, one_ply"),
        ("random", "one_ply:depth=3", "has no option 'depth'"),
        ("nets:missing.pt", "random", "missing.pt.*dvc repro"),
    ],
)
def test_a_wrong_player_is_named_before_any_game(a, b, complaint):
    with pytest.raises(ZugwerkError, match=complaint):
        play(a, b)


def test_nets_of_another_size_are_refused(model):
    with pytest.raises(ZugwerkError, match="8x8 board, but these nets play on 6x6"):
        play(f"nets:{model}", "random", size=8)


@pytest.mark.usefixtures("stubs")
def test_variant_and_openings_may_be_given():
    openings = [(0,), (5,), (7,)]
    result = play_match("gomoku", "random", "random", 2, 0, [1], ALONE, 4, "freestyle-3", openings)
    assert [game.actions[0] for game in result.games] == [0, 0, 5, 5]
    assert result == play_match("gomoku", "random", "random", 2, 0, [1], ALONE, 4, "freestyle-3", openings[:2])
    with pytest.raises(ZugwerkError, match="3 openings for 4 pairs"):
        play_match("gomoku", "random", "random", 4, 0, [1], ALONE, 4, "freestyle-3", openings)
    with pytest.raises(ZugwerkError, match="a line of 5"):
        play_match("gomoku", "random", "random", 2, 0, [1], ALONE, 4, "freestyle", openings)

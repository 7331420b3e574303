import pytest

from pipeline_src.arena import runner
from pipeline_src.arena.game import Fixture
from pipeline_src.arena.journal import Journal
from pipeline_src.arena.runner import Board, play_fixtures, play_matches, swapped_pair
from pipeline_src.errors import ZugwerkError
from pipeline_src.games import gomoku
from pipeline_src.parallel import Parallel
from tests.arena import gomoku_stubs
from tests.arena.gomoku_stubs import stubs  # noqa: F401
from tests.run_stage import split_at_random

pytestmark = pytest.mark.usefixtures("stubs")
ALONE = Parallel(workers=1)
BOARD = Board("gomoku", 4, "freestyle-3")


@pytest.fixture
def fixtures(tmp_path):
    (tmp_path / "good.pt").write_text("1.0")
    good = f"zero:{tmp_path / 'good.pt'},search=puct"
    return [one for i in range(5) for one in swapped_pair(good, "random", (i,), (7, i))]


def play(fixtures, journal=None):
    return play_fixtures(BOARD, fixtures, ALONE, journal)


def test_games_start_from_their_openings_with_named_players(fixtures):
    games = play(fixtures)
    assert [game.actions[0] for game in games] == [i for i in range(5) for _ in (0, 1)]
    assert [game.fixture for game in games] == fixtures
    for game in games:
        state = gomoku.initial_state(4, "freestyle-3")
        for action in game.actions:
            state = gomoku.play(state, action)
        assert gomoku.winner(state) == game.winner
    won = [game.winner == ("second" if i % 2 else "first") for i, game in enumerate(games)]
    assert sum(won) >= 8


def test_game_is_independent_of_concurrent_games(fixtures, monkeypatch):
    games = play(fixtures)
    assert play(fixtures[::-1]) == games[::-1]
    assert play(fixtures[6:7]) == games[6:7]
    for seed in range(5):
        split_at_random(monkeypatch, seed)
        monkeypatch.setattr(runner, "LOCK_STEP", 1 + seed)
        assert play(fixtures) == games


def test_concurrent_matches_each_get_their_games(fixtures):
    games = play(fixtures)
    gomoku_stubs.CALLS.clear()
    assert play_matches(BOARD, [fixtures[:4], [], fixtures[4:]], ALONE) == [games[:4], [], games[4:]]
    assert max(gomoku_stubs.CALLS) == 5  # of games of both


def test_duplicate_games_are_played_once_and_reported_twice(fixtures):
    games = play(fixtures[:2])
    gomoku_stubs.CALLS.clear()
    assert play(fixtures[:2] * 2) == games * 2
    calls = sum(gomoku_stubs.CALLS)
    gomoku_stubs.CALLS.clear()
    play(fixtures[:2])
    assert sum(gomoku_stubs.CALLS) == calls


def test_player_gets_all_positions_of_a_lock_step(fixtures):
    play(fixtures)
    assert max(gomoku_stubs.CALLS) == 5  # half of the ten games, each turn


def test_finished_games_are_kept_and_not_played_again(fixtures, tmp_path):
    path = tmp_path / "journal.jsonl"
    with Journal(path, {}) as journal:
        games = play(fixtures, journal)
    lines = path.read_bytes().splitlines(keepends=True)
    assert len(lines) == 1 + len(fixtures)
    path.write_bytes(b"".join(lines[:2] + lines[5:]))
    gomoku_stubs.CALLS.clear()
    with Journal(path, {}) as journal:
        assert play(fixtures, journal) == games
    assert 0 < sum(gomoku_stubs.CALLS) < sum(len(game.actions) for game in games) / 2
    gomoku_stubs.CALLS.clear()
    with Journal(path, {}) as journal:
        assert play(fixtures, journal) == games
    assert not gomoku_stubs.CALLS


def test_changed_model_plays_its_games_again(fixtures, tmp_path):
    with Journal(tmp_path / "journal.jsonl", {}) as journal:
        games = play(fixtures, journal)
        (tmp_path / "good.pt").write_text("0.0")
        assert play(fixtures, journal) != games
        (tmp_path / "good.pt").write_text("1.0")
        assert play(fixtures, journal) == games


def test_unknown_player_is_named_before_any_game():
    with pytest.raises(ZugwerkError, match="no player 'nobody' for gomoku"):
        play([Fixture("random", "random", (), (1,)), Fixture("random", "nobody", (), (2,))])
    assert not gomoku_stubs.CALLS

import numpy as np
import pytest

from pipeline_src.arena.kept_groups import kept_folder
from pipeline_src.errors import ZugwerkError
from pipeline_src.parallel import Parallel
from pipeline_src.systems.search_depth.choices import TableDepth
from pipeline_src.systems.search_depth.games import ClockedGame, ClockedMove
from pipeline_src.systems.search_depth.matches import DepthMatch, play_match
from pipeline_src.systems.search_depth.moves import move_rows
from pipeline_src.systems.search_depth.tables import DepthCosts
from pipeline_src.systems.search_depth.tuning import tune_table
from tests.systems.search_depth.players import DEEPENING, DEPTH1, DEPTH2, GAME

ALONE = Parallel(workers=1)


def game(winner, *moves, time_out=False, margin=3):
    return ClockedGame((), winner, time_out, 0 if time_out else margin, moves)


def move(ply, side, nodes, choosing=0, reached=3, used=0.0):
    return ClockedMove(ply, side, used, 4, reached, nodes, choosing)


def test_a_match_is_told_from_its_first_players_side():
    games = [
        game("first", move(4, 0, 10, 5), move(5, 1, 100), margin=4),
        game("first", move(4, 0, 200), move(5, 1, 20, 10), margin=2),
        game("second", move(4, 0, 30), time_out=True),
        game("second", move(4, 1, 60), margin=7),
    ]
    match = DepthMatch("a", "b", games)
    assert match.won() == [1.0, 0.0, 0.0, 1.0]
    assert match.score.value == 0.5
    assert match.margin.value == pytest.approx((4 - 2 + 7) / 3)
    assert match.time_outs == (1, 0)
    assert match.nodes(0) == (15 + 30 + 30 + 60) / 4
    assert match.nodes(1) == (100 + 200) / 4
    assert match.choosing(0) == 15 / 135
    assert match.choosing(1) == 0
    assert match.mean_depth(0) == 3


def test_rows_are_means_by_player_and_number_of_its_move():
    games = [game("first", move(4, 0, 10, reached=2), move(5, 1, 90), move(6, 0, 30, reached=5)) for _ in range(4)]
    rows = move_rows([(DepthMatch("a", "b", games), "one", "other")])
    # In games 1 and 3 the players have changed sides.
    assert [(row["move"], row["moves"]) for row in rows["one"]] == [(3, 4)]
    assert rows["one"][0]["depth"] == (2 + 3) / 2
    assert rows["one"][0]["nodes"] == (10 + 90) / 2
    assert [(row["move"], row["moves"]) for row in rows["other"]] == [(3, 4)]


def test_a_match_that_was_killed_goes_on_and_ends_in_the_same_games(tmp_path):
    whole = play_match(DEEPENING, DEPTH1, 3, GAME, [1], ALONE, tmp_path / "whole", group=1)
    again = play_match(DEEPENING, DEPTH1, 3, GAME, [1], ALONE, tmp_path / "half", group=1)
    kept = sorted((tmp_path / "half").iterdir())
    assert len(kept) == 3
    before = kept[0].stat().st_mtime_ns
    kept[1].unlink()
    resumed = play_match(DEEPENING, DEPTH1, 3, GAME, [1], ALONE, tmp_path / "half", group=1)
    assert whole.games == again.games == resumed.games
    assert kept[0].stat().st_mtime_ns == before
    assert len(whole.games) == 6
    assert whole.games[0].actions[:4] == whole.games[1].actions[:4] != whole.games[2].actions[:4]


def test_other_players_or_another_clock_do_not_meet_kept_games(tmp_path):
    play_match(DEEPENING, DEPTH1, 1, GAME, [1], ALONE, tmp_path)
    play_match(DEEPENING, DEPTH2, 1, GAME, [1], ALONE, tmp_path)
    play_match(DEEPENING, DEPTH2, 1, GAME, [2], ALONE, tmp_path)
    assert len(list(tmp_path.iterdir())) == 3


def test_a_player_that_counts_nothing_cannot_play(tmp_path):
    with pytest.raises(ZugwerkError, match="counts no nodes"):
        play_match(DEEPENING, "alphabeta:depth=2", 1, GAME, [1], ALONE, tmp_path)


def test_folders_of_other_runs_are_removed(tmp_path):
    one = kept_folder(tmp_path, "code", {"seed": 1})
    (one / "group").write_text("games")
    assert kept_folder(tmp_path, "code", {"seed": 1}) == one
    assert (one / "group").exists()
    other = kept_folder(tmp_path, "code", {"seed": 2})
    assert list(tmp_path.iterdir()) == [other]


def test_a_table_is_tuned_to_its_opponents_computing(tmp_path):
    rng = np.random.default_rng(0)
    legal = rng.integers(2, 2000, 300).astype(np.int32)
    nodes = DepthCosts(((0.0, 1.0), (0.7, 0.1), (0.5, 0.1), (0.5, 0.1), (0.5, 0.1))).nodes(legal).astype(np.int64)
    tuned = tune_table(DEPTH2, legal, nodes, GAME, 1, [1], ALONE, tmp_path, group=1)
    assert isinstance(tuned.table, TableDepth)
    assert tuned.table.lowest == GAME.lowest
    assert 0.5 < tuned.spent / tuned.wanted < 2
    assert tuned.options.startswith("depth=table,lowest=2")
    assert tune_table(DEPTH2, legal, nodes, GAME, 1, [1], ALONE, tmp_path, group=1) == tuned

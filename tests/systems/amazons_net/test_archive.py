import dataclasses

import numpy as np
import pytest

from pipeline_src.errors import ZugwerkError
from pipeline_src.records.parquet import write_records
from pipeline_src.systems.amazons_net.archive import read_games
from tests.systems.amazons_net.positions import random_game, random_records, record


@pytest.fixture
def archive(tmp_path):
    def write(records):
        write_records(records, tmp_path / "games.parquet")
        return tmp_path / "games.parquet"

    return write


def test_games_are_the_records_flat_and_by_gid(archive):
    records = random_records(5, size=6)
    read = read_games(archive(records[::-1]), 6, ["standard"])
    games = read.games
    assert games.gid.tolist() == [r.gid for r in records]
    assert games.first_won.tolist() == [r.winner == "first" for r in records]
    assert set(games.first_won.tolist()) == {True, False}
    for g, game in enumerate(records):
        assert tuple(games.actions[games.offsets[g] : games.offsets[g + 1]].tolist()) == game.actions
    assert read.sources == {"littlegolem": 0, "engine": 5, "file": 0}
    assert read.skipped == {"size": 0, "variant": 0}


def test_teachers_are_the_players_whose_name_matches_somewhere(archive):
    names = [("lazy/alphabeta:nodes=3000", "one_ply"), ("uct", "ALPHABETA"), ("", "alphabeta:nodes=9")]
    named = [
        dataclasses.replace(r, first_name=a, second_name=b)
        for r, (a, b) in zip(random_records(3, size=6), names, strict=True)
    ]
    path = archive(named)
    assert read_games(path, 6, ["standard"], "alphabeta").games.teachers.tolist() == [[1, 0], [0, 0], [0, 1]]
    assert read_games(path, 6, ["standard"], "^alphabeta|uct").games.teachers.tolist() == [[0, 0], [1, 0], [0, 1]]
    assert read_games(path, 6, ["standard"]).games.teachers.all()
    with pytest.raises(ZugwerkError, match=r"no player's name matches 'zero', amazons_samples.teachers .* ALPHABETA"):
        read_games(path, 6, ["standard"], "zero")


def test_other_sizes_and_variants_are_skipped_and_counted(archive):
    rng = np.random.default_rng(3)
    cross = [record(gid, *random_game(rng, 10, "cross"), variant="cross") for gid in (1, 7)]
    standard = record(4, *random_game(rng), source="littlegolem")
    small = random_records(3, size=6)
    path = archive([*cross, standard, *small])
    read = read_games(path, 10, ["standard"])
    assert read.games.gid.tolist() == [4]
    assert read.skipped == {"size": 3, "variant": 2}
    assert read.sources == {"littlegolem": 1, "engine": 0, "file": 0}
    both = read_games(path, 10, ["standard", "cross"])
    assert both.games.gid.tolist() == [1, 4, 7]
    assert both.games.start.tolist() == [1, 0, 1]


def test_skipped_games_may_lack_a_winner_used_ones_may_not(archive):
    used, other = random_records(2, size=6)
    path = archive([used, dataclasses.replace(other, winner=None, variant="cross")])
    assert read_games(path, 6, ["standard"]).skipped["variant"] == 1
    for winner in (None, "draw"):
        path = archive([used, dataclasses.replace(other, winner=winner)])
        with pytest.raises(ZugwerkError, match=f"game {other.gid}: winner '{winner}'; samples need first or second"):
            read_games(path, 6, ["standard"])


def test_archives_that_cannot_be_used(archive, tmp_path):
    used = random_records(1, size=6)[0]
    with pytest.raises(ZugwerkError, match="game 100: game 'gomoku'"):
        read_games(archive([dataclasses.replace(used, game="gomoku")]), 6, ["standard"])
    with pytest.raises(ZugwerkError, match="no 8x8 games of variant standard among 1"):
        read_games(archive([used]), 8, ["standard"])
    with pytest.raises(ZugwerkError, match="no 6x6 games of variant standard among 0"):
        read_games(archive([]), 6, ["standard"])
    with pytest.raises(ZugwerkError, match="no such file"):
        read_games(tmp_path / "none.parquet", 6, ["standard"])


def test_a_gid_twice_is_refused(archive, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = archive(random_records(2, size=6))
    table = pq.read_table(path)
    pq.write_table(pa.concat_tables([table, table]), path)
    with pytest.raises(ZugwerkError, match="game 100 twice"):
        read_games(path, 6, ["standard"])

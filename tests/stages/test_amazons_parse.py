import dataclasses
import json

import pyarrow.parquet as pq
import pytest

from pipeline_src import yaml12
from pipeline_src.errors import ZugwerkError
from pipeline_src.project.params import load
from pipeline_src.records.littlegolem.amazons import write_record
from pipeline_src.records.raw import RawGame, Seat, list_shards, write_raw
from pipeline_src.records.record import read_records
from pipeline_src.stages import amazons_parse
from pipeline_src.systems.amazons_net.params import AmazonsParseParams
from tests.records.amazons_games import random_game, record_of


def crawl():
    """Forty games over three shards: whole ones, and some that are not usable."""
    games = []
    for gid in range(9_990, 30_000, 500):
        actions, _ = random_game(gid)
        record = record_of(actions, first_name="ann", second_name="bob")
        games.append(
            RawGame(gid, f"/servlet/sgf/{gid}/game{gid}.txt", 200, write_record(record), "Size 10", engine=True)
        )
    games[3] = dataclasses.replace(games[3], status=500, body=b"")
    games[5] = dataclasses.replace(games[5], body=games[5].body[:300] + b")", engine=False)
    games[8] = dataclasses.replace(games[8], variant="Cross", seats=(Seat(1, "ann", "won"),))
    games[9] = dataclasses.replace(games[9], status=0, engine=False)
    return games


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "params.yaml").write_text(yaml12.dump({"amazons_parse": {"min_plies": 20, "variants": ["standard"]}}))
    write_raw(amazons_parse.PAGES, crawl())
    return tmp_path


def test_every_row_is_a_game_or_a_reject(project):
    amazons_parse.main()
    games, rejects = read_records(amazons_parse.GAMES), pq.ParquetFile(amazons_parse.REJECTS).read().to_pylist()
    assert sorted([game.gid for game in games] + [reject["gid"] for reject in rejects]) == [raw.gid for raw in crawl()]
    report = json.loads(amazons_parse.REPORT.read_text())
    rows = len(crawl())
    assert (report["rows"], report["games"], report["rejects"]) == (rows, rows - 3, 3)
    assert {reason: n for reason, n in report["rejects_by_reason"].items() if n} == {
        "http_status": 1,
        "bad_text": 1,
        "other_variant": 1,
    }
    by_source = report["by_source"]
    assert by_source["engine"] == {"rows": rows - 2, "games": rows - 4, "rejects": 2}
    assert by_source["littlegolem"] == {"rows": 1, "games": 0, "rejects": 1}
    assert by_source["file"] == {"rows": 1, "games": 1, "rejects": 0}
    assert report["winner_by"]["position"] == report["by_variant"]["standard"] == rows - 3
    assert report["mean_plies"] == pytest.approx(sum(len(game.actions) for game in games) / len(games))
    assert report["first_side_score"] == pytest.approx(sum(game.winner == "first" for game in games) / len(games))


def test_same_pages_same_bytes(project):
    paths = (amazons_parse.GAMES, amazons_parse.REJECTS, amazons_parse.REPORT)
    amazons_parse.main()
    first = [path.read_bytes() for path in paths]
    amazons_parse.main()
    assert [path.read_bytes() for path in paths] == first


def test_a_crawl_without_one_usable_game_fails_and_says_why(project):
    write_raw(amazons_parse.PAGES, [dataclasses.replace(raw, body=b"<html>") for raw in crawl()[:4]])
    with pytest.raises(ZugwerkError, match=r"not one usable game among 4 \(1 http_status, 3 bad_text\); see .*rejects"):
        amazons_parse.main()
    assert not amazons_parse.GAMES.exists()


def test_nothing_crawled_and_damaged_pages_are_named(project):
    shard = list_shards(amazons_parse.PAGES)[1]
    shard.write_bytes(shard.read_bytes()[:50])
    with pytest.raises(ZugwerkError, match=shard.name):
        amazons_parse.main()
    for path in list_shards(amazons_parse.PAGES):
        path.unlink()
    with pytest.raises(ZugwerkError, match="amazons_crawl"):
        amazons_parse.main()
    assert not amazons_parse.GAMES.exists()


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ({"min_plies": 0, "variants": ["standard"]}, "min_plies must be at least 1"),
        ({"min_plies": 20, "variants": []}, "variants must name"),
        ({"min_plies": 20, "variants": ["standard", "standard"]}, "variants must name"),
        ({"min_plies": 20, "variants": ["size8"]}, "'size8' is not one of standard, cross"),
        ({"min_plies": 20, "variants": ["standard"], "max_plies": 9}, "unknown key"),
    ],
)
def test_bad_params_are_named(tmp_path, section, message):
    path = tmp_path / "params.yaml"
    path.write_text(yaml12.dump({"amazons_parse": section}))
    with pytest.raises(ZugwerkError, match=message):
        load(AmazonsParseParams, "amazons_parse", path)

"""The stage joseki_records."""

import json
import os
import subprocess
import tarfile
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from pipeline_src import yaml12
from pipeline_src.errors import ZugwerkError
from pipeline_src.project.params import load
from pipeline_src.records.record import read_records
from pipeline_src.systems.joseki import records as stage
from pipeline_src.systems.joseki.params import JosekiCrawlParams, JosekiRecordsParams
from tests.run_stage import check_kill, stage_command

ROOT = Path(__file__).parents[3]
MADE = {"games": 12, "plies": 60, "tenuki": 0.15, "transposed": 0.1, "mistakes": 0.04}
CRAWL = {"source": "site", "gtid": "go19", "variants": ["DEFAULT"], "ways": ["text", "lists"], "max_games": 0}
MOVES = ";B[pd];W[dp];B[pp];W[dd];B[fq];W[cn]"


def write_params(folder, source, workers=1, min_plies=4):
    site = yaml12.parse((ROOT / "params.yaml").read_text())["crawl"]
    sections = {
        "seed": 3,
        "parallel": {"workers": workers},
        "crawl": site,
        "joseki_crawl": CRAWL,
        "joseki_records": {"source": source, "min_plies": min_plies, "made": MADE},
    }
    (folder / "params.yaml").write_text(yaml12.dump(sections))


def rejects():
    return pq.read_table(stage.REJECTS).to_pylist()


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
def test_made_games_are_the_same_whatever_the_workers(project):
    write_params(project, "made")
    stage.main()
    first = [path.read_bytes() for path in (stage.GAMES, stage.REJECTS, stage.REPORT)]
    games = read_records(stage.GAMES)
    assert [game.gid for game in games] == list(range(1, 13))
    assert json.loads(first[2])["made"] == json.loads(first[2])["sources"]["engine"] == 12
    write_params(project, "made", workers=2)
    stage.main()
    assert [path.read_bytes() for path in (stage.GAMES, stage.REJECTS, stage.REPORT)] == first


@pytest.mark.parametrize("source", ["made", "games"])
def test_after_a_kill_only_missing_games_are_read(project, monkeypatch, source):
    write_archive(project / "games")
    write_params(project, source)

    def run():
        stage.main()
        return [path.read_bytes() for path in (stage.GAMES, stage.REJECTS, stage.REPORT)]

    check_kill(monkeypatch, run)
    assert not stage.WORK.exists()


def write_archive(folder):
    texts = {
        "a.sgf": f"(;SZ[19]RE[B+R]PB[ann]{MOVES})",
        "b.sgf": f"(;SZ[19]HA[2]AB[jj][jd]RE[?];W[qq]{MOVES})",
        "c.sgf": f"(;SZ[19]{MOVES}(;B[aa])(;B[bb]))(;SZ[9];B[cc])",
        "d.sgf": f"(;SZ[19]{MOVES}",
        "e.sgf": "(;SZ[19];B[pd])",
        "f.sgf": f"(;SZ[19]{MOVES};B[pd])",
        "readme.txt": "not a game",
    }
    for name, text in texts.items():
        folder.mkdir(exist_ok=True)
        (folder / name).write_text(text)


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_folder_and_its_tar_give_the_same_games(project, monkeypatch, workers):
    write_archive(project / "games")
    write_params(project, "games")
    stage.main()
    report, games = json.loads(stage.REPORT.read_text()), read_records(stage.GAMES)
    assert [game.gid for game in games] == [1, 2, 3]
    assert [game.winner for game in games] == ["first", None, None]
    assert [(r["gid"], r["reason"], r["detail"].split(":")[0]) for r in rejects()] == [
        (4, "other_variant", "c.sgf (game 2 of 2)"),
        (5, "bad_text", "d.sgf"),
        (6, "too_short", "e.sgf"),
        (7, "illegal_move", "f.sgf"),
    ]
    assert (report["rows"], report["games"], report["rejects"]) == (7, 3, 4)
    assert (report["handicap"], report["variations"], report["no_result"], report["made"]) == (1, 1, 2, 0)
    assert report["sources"] == {"littlegolem": 0, "engine": 0, "file": 3}
    assert report["first_side_score"] == 1.0
    first = stage.GAMES.read_bytes()
    with tarfile.open("games.tar.gz", "w:gz") as tar:
        for path in sorted((project / "games").iterdir()):
            tar.add(path, arcname=f"../{path.name}")
    write_params(project, "games.tar.gz", workers=workers)
    monkeypatch.setattr(stage, "FILES_AT_ONCE", 2)
    stage.main()
    assert stage.GAMES.read_bytes() == first
    assert rejects()[1]["detail"].startswith("../d.sgf: ")


def test_no_usable_game_fails_and_says_why(project):
    (project / "games").mkdir()
    (project / "games" / "a.sgf").write_text("(;SZ[9];B[cc])")
    write_params(project, "games")
    with pytest.raises(ZugwerkError, match=r"games: not one usable game among 1 \(1 other_variant\); see .*rejects"):
        stage.main()
    assert not stage.GAMES.exists()


def test_sources_that_are_not_there_are_named(project):
    write_params(project, "nowhere")
    with pytest.raises(ZugwerkError, match="nowhere: no such folder or tar of SGF files"):
        stage.main()
    write_params(project, "littlegolem")
    with pytest.raises(ZugwerkError, match="no crawled games there; run `zugwerk crawl joseki`"):
        stage.main()


@pytest.mark.slow
def test_games_crawled_from_a_site_by_the_spider(project):
    """The spider is the Amazons' with another game type; a replica serves the folder."""
    (project / "site").mkdir()
    head = "(;FF[4]EV[null]PB[an;]n]PW[bob]KM[0.5]SZ[19]SO[http://www.littlegolem.com]"
    (project / "site" / "game21.txt").write_text(f"{head}{MOVES};B[resign])")
    (project / "site" / "game22.txt").write_text(f"{head}HA[2]AB[jj]AB[jd];W[qq]{MOVES};W[tt];B[tt];W[tt])")
    (project / "site" / "game23.txt").write_text(f"{head.replace('SZ[19]', 'SZ[9]')};B[cc])")
    write_params(project, "littlegolem")
    subprocess.run(
        stage_command("systems.joseki.crawl"), check=True, env=os.environ | {"PYTHONPATH": str(ROOT)}, timeout=240
    )
    stage.main()
    games = read_records(stage.GAMES)
    assert [(g.gid, g.winner, g.variant) for g in games] == [
        (21, "second", "komi-0.5"),
        (22, None, "komi-0.5/handicap-2:jd,jj"),
    ]
    assert [(r["gid"], r["reason"]) for r in rejects()] == [(23, "other_variant")]


@pytest.mark.parametrize(
    ("kind", "section", "changed", "message"),
    [
        (JosekiRecordsParams, "joseki_records", {"source": ""}, "source must not be empty"),
        (JosekiRecordsParams, "joseki_records", {"min_plies": -1}, "min_plies must be at least 0"),
        (JosekiRecordsParams, "joseki_records", {"made": {**MADE, "tenuki": 2.0}}, "tenuki must be 0 to 1"),
        (JosekiRecordsParams, "joseki_records", {"plies": 3}, "unknown key"),
        (JosekiCrawlParams, "joseki_crawl", {"ways": ["telnet"]}, "telnet"),
    ],
)
def test_bad_params_are_named(project, kind, section, changed, message):
    write_params(project, "made")
    sections = yaml12.parse((project / "params.yaml").read_text())
    sections[section] |= changed
    (project / "params.yaml").write_text(yaml12.dump(sections))
    with pytest.raises(ZugwerkError, match=message):
        load(kind, section)

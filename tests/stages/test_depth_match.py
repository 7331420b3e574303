"""Matches, as `dvc repro` runs them, between nets that learnt nothing."""

import csv

import pytest
import torch

from pipeline_src import yaml12
from pipeline_src.errors import ZugwerkError
from pipeline_src.files import read_json
from pipeline_src.systems.search_depth import match as depth_match
from pipeline_src.systems.search_depth.net import PublishedDepthConfig, SavedDepthNet, make_depth_net, save_depth_net
from tests.run_stage import check_kill
from tests.systems.search_depth.players import GAME
from tests.systems.search_depth.synthetic import write_synthetic

GAME = GAME.model_copy(update={"lowest": 3, "highest": 7})
MATCH = {
    "pilot_pairs": 1,
    "players": {"net": "depth=cnn,model={paper}", "two": "depth=2", "deepening": ""},
    "matches": {
        "net_table": {"a": "net", "b": "table", "pairs": 2},
        "two_deepening": {"a": "two", "b": "deepening", "pairs": 1},
    },
}
PARAMS = {
    "seed": 1,
    "parallel": {"workers": 1},
    "amazons_engine": {},
    "depth_game": GAME.model_dump(),
    "depth_split": {"train": 75, "validation": 10, "test": 15},
    "depth_match": MATCH,
}
REPORT = "artifacts/reports/depth/match.json"


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_synthetic(depth_match.POSITIONS)
    torch.manual_seed(0)
    net = make_depth_net(PublishedDepthConfig(10, 1, 1, filters=3)).eval()
    save_depth_net(depth_match.MODELS / "paper/model.pt", SavedDepthNet(net, "reached", 3, 7, "linear", "published"))
    write(tmp_path)
    return tmp_path


def write(folder, **changed):
    (folder / "params.yaml").write_text(yaml12.dump(PARAMS | changed))


def rows(name):
    with open(f"artifacts/reports/depth/moves/{name}.csv", newline="") as file:
        return list(csv.DictReader(file))


def test_report_covers_every_match(project):
    depth_match.main()
    report = read_json(REPORT)
    assert set(report) == {"net_table", "two_deepening", "tables"}
    assert report["net_table"]["score"]["n"] == 4
    assert report["two_deepening"]["score"]["n"] == 2
    assert 0 < report["net_table"]["choosing"] < 1
    assert report["two_deepening"]["choosing"] == 0
    assert report["two_deepening"]["mean_depth"] <= 2
    for match in ("net_table", "two_deepening"):
        assert report[match]["time_outs"] == report[match]["time_outs_opponent"] == 0
    table = report["tables"]["net"]
    assert [*table["below"]] == ["4", "5", "6", "7"]
    assert table["wanted"] > 0
    assert {row["move"] for row in rows("net")} == {row["move"] for row in rows("net")}
    assert all(float(row["asked"]) == 2 for row in rows("two"))
    assert all(0 <= float(row["used"]) <= 1 for row in rows("table_net"))
    assert not depth_match.WORK.exists()
    before = read_json(REPORT)
    depth_match.main()
    assert read_json(REPORT) == before


def test_after_a_kill_only_missing_games_are_played(project, monkeypatch):
    def run():
        depth_match.main()
        written = (path for path in (project / "artifacts/reports").rglob("*.*") if ".timings." not in path.name)
        return {path: path.read_bytes() for path in written}

    check_kill(monkeypatch, run)


@pytest.mark.parametrize(
    ("match", "complaint"),
    [
        ({"players": {"net": "depth=cnn,model={nobody}"}}, "players.net: .*nobody/model.pt: no such model"),
        ({"players": {"net": "depth={"}}, "players.net: cannot read"),
        ({"players": {"net": "depth=deep"}}, "players.net: .*depth must be cnn, table"),
        ({"players": {"table": "depth=2"}}, "the name table is that of the published opponent"),
        ({"matches": {"x": {"a": "table", "b": "two", "pairs": 1}}}, "matches.x.a: no player 'table'"),
        ({"matches": {"x": {"a": "two", "b": "table", "pairs": 0}}}, "pairs must be at least 1"),
    ],
)
def test_bad_params_are_named(project, match, complaint):
    players = MATCH["players"] | match.get("players", {})
    write(project, depth_match=MATCH | match | {"players": players})
    with pytest.raises(ZugwerkError, match=complaint):
        depth_match.main()


def test_positions_of_other_depths_are_refused(project):
    write(project, depth_game=GAME.model_dump() | {"highest": 6})
    with pytest.raises(ZugwerkError, match="labelled with depths 3 to 7, depth_game has 3 to 6"):
        depth_match.main()

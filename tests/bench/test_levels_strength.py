import json

import pytest

from bench.strength import levels as strength
from pipeline_src import yaml12
from pipeline_src.players.packaged import ladders
from pipeline_src.report.figures import REGISTRY

TEXTS = ["random", "one_ply:noise=9", "one_ply"]
LEVELS = [{"name": text, "player": text, "elo": 0.0, "low": 0.0, "high": 0.0, "games": 1, "ms": 1.0} for text in TEXTS]
LADDER = {"game": "amazons", "size": 6, "variant": "standard", "anchor": "one_ply", "openings": "random:2"}


@pytest.fixture
def measure(tmp_path, monkeypatch):
    file, measured = tmp_path / "levels.yaml", tmp_path / "measured.json"
    file.write_text(yaml12.dump({"ladders": [LADDER | {"levels": LEVELS}, LADDER | {"size": 8, "levels": LEVELS}]}))
    measured.write_text('{"illegal_moves": {"value": 0}}')
    monkeypatch.setattr(strength, "FILE", file)
    monkeypatch.setattr(strength, "WORK", tmp_path / "work")
    monkeypatch.setattr(strength, "MEASURED", {"amazons": measured})

    def run(*words):
        monkeypatch.setattr("sys.argv", ["levels", *words])
        strength.main()
        return ladders(file=file), json.loads(measured.read_text())

    yield run
    ladders.cache_clear()


def test_ladder_writes_elo_into_table_and_measurements(measure):
    (six, eight), measured = measure("--only", "amazons-6", "--games", "8")
    assert [level.elo for level in eight.levels] == [0, 0, 0], "only the chosen ladder is played"
    elos = [level.elo for level in six.levels]
    assert elos == sorted(elos)
    assert elos[-1] == 1500, "the anchor"
    assert [level.games for level in six.levels] == [12, 16, 12]
    assert all(level.ms > 0 for level in six.levels)
    figure = measured["levels_6_standard"]
    assert figure["value"] == pytest.approx(elos[-1] - elos[0], abs=1)
    assert figure["low"] < figure["value"] < figure["high"]
    assert figure["command"] == "make measure-levels"
    assert set(measured) - {"levels", "illegal_moves"} <= set(REGISTRY["amazons_engine"])
    assert measured["illegal_moves"] == {"value": 0}, "other figures stay"
    rows = measured["levels"]["amazons-6-standard"]
    assert [(row["a"], row["b"], row["wins"] + row["draws"] + row["losses"]) for row in rows] == [
        ("one_ply:noise=9", "random", 8),
        ("one_ply", "one_ply:noise=9", 8),
        ("one_ply", "random", 4),
    ]


def test_a_second_call_plays_no_game_again(measure, monkeypatch):
    _, first = measure("--only", "amazons-6", "--games", "4")
    monkeypatch.setattr("pipeline_src.arena.runner.play_group", None)
    _, second = measure("--only", "amazons-6", "--games", "4")
    assert second == first

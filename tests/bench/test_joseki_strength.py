import json
import sys

import pytest

from bench.strength import joseki
from pipeline_src.errors import ZugwerkError
from pipeline_src.records.sgf import write_sgf
from pipeline_src.report.figures import REGISTRY
from pipeline_src.systems.joseki.corners import fingerprint, walk
from tests.systems.joseki.games import random_record

GAMES = [random_record(seed) for seed in range(15)]


def test_every_figure_is_measured_and_rejects_are_counted(tmp_path, monkeypatch, capsys):
    folder = tmp_path / "games"
    folder.mkdir()
    for number, game in enumerate(GAMES):
        (folder / f"{number}.sgf").write_bytes(write_sgf(game))
    (folder / "bad.sgf").write_bytes(b"(;SZ[19];B[d")
    monkeypatch.setattr(joseki, "OUT", tmp_path / "joseki.json")
    words = ["joseki", "--games", str(folder), "--data", "random games", "--scales", "10", "20"]
    monkeypatch.setattr(sys, "argv", words)
    joseki.main()
    found = json.loads((tmp_path / "joseki.json").read_text())
    assert set(REGISTRY["joseki"]) <= set(found)
    assert found["games"]["value"] == 15
    assert found["games"]["data"] == "random games"
    assert found["rejects"] == {"bad_text": 1}
    assert found["clashes_unresolved"]["value"] == 0
    assert [step["games"] for step in found["scaling"]] == [10, 20]
    assert found["recommend_top3"]["n"] == found["encodings"]["value"]  # each move is held out once
    assert "clashes_ours: 0" in capsys.readouterr().out


def test_varied_games_are_legal_and_different():
    games = [joseki.varied(GAMES, number) for number in range(30)]
    assert walk(games).illegal == []
    assert len({fingerprint(game) for game in games}) == 30


def test_a_folder_without_games_is_named(tmp_path):
    (tmp_path / "a.sgf").write_bytes(b"x")
    with pytest.raises(ZugwerkError, match=r"no usable game of 19x19"):
        joseki.read(tmp_path)

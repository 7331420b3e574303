import json
import sys

import numpy as np
import pytest

from bench.strength import joseki as strength
from bench.strength import joseki_readings as readings
from pipeline_src.errors import ZugwerkError
from pipeline_src.records.sgf import write_sgf
from pipeline_src.report.registry import REGISTRY
from pipeline_src.systems.joseki.build import Builder, tally
from pipeline_src.systems.joseki.corners import PASS
from pipeline_src.systems.joseki.pattern_code import pattern_codes
from pipeline_src.systems.joseki.sequences import fingerprint, walk
from tests.systems.joseki.games import random_record

GAMES = [random_record(seed) for seed in range(15)]


def test_every_figure_is_measured_and_rejects_are_counted(tmp_path, monkeypatch, capsys):
    folder = tmp_path / "games"
    folder.mkdir()
    for number, game in enumerate(GAMES):
        (folder / f"{number}.sgf").write_bytes(write_sgf(game))
    (folder / "bad.sgf").write_bytes(b"(;SZ[19];B[d")
    monkeypatch.setattr(strength, "OUT", tmp_path / "joseki.json")
    words = ["joseki", "--games", str(folder), "--data", "random games", "--scales", "10", "20"]
    monkeypatch.setattr(sys, "argv", words)
    strength.main()
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
    games = [strength.varied(GAMES, number) for number in range(30)]
    assert walk(games).illegal == []
    assert len({fingerprint(game) for game in games}) == 30


def test_a_folder_without_games_is_named(tmp_path):
    (tmp_path / "a.sgf").write_bytes(b"x")
    with pytest.raises(ZugwerkError, match=r"no usable game of 19x19"):
        strength.read(tmp_path)


def test_the_readings_of_the_paper_begin_with_the_products_own():
    steps = walk(GAMES).steps
    played = steps.point != PASS
    codes = np.ones(int(played.sum()), np.uint64)
    for stones in (steps.after[played] == 1, steps.after[played] == 2, steps.after[played] > 0):
        codes *= readings.colour_codes(stones, readings.FIRST, 1)
    assert (codes == pattern_codes(steps.after[played])).all()
    counts, _ = tally(Builder(), GAMES, 1)
    rows = {name: row for name, *row in readings.table(GAMES)}
    own = next(iter(rows.values()))
    assert own[:4] == [counts[name] for name in ("encodings", "patterns", "clashes", "clashing_patterns")]
    empty = rows["the empty corner encoded too"]
    assert empty[0] == own[0] + 4 * len(GAMES)
    assert rows["a pass encoded too, not counted among the 20"][0] == len(played)
    assert rows["21 local moves"][0] == int((walk(GAMES, 21).steps.point != PASS).sum())
    assert all(row[4] <= row[2] and row[5] <= row[3] for row in rows.values())

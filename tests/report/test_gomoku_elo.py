import json
import xml.etree.ElementTree as ET

import pytest

from pipeline_src.errors import ZugwerkError
from pipeline_src.report import gomoku_elo


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "params.yaml").write_text('gomoku_generations: {"02": {before: "01"}, "03": {before: "02"}}\n')
    reports = gomoku_elo.REPORTS / "generations"
    reports.mkdir(parents=True)
    for number in (1, 2, 3):
        (reports / f"{number:02d}.json").write_text(json.dumps({"self_play": {"games": 2}}))
        seconds = {"self_play": 1800.0 * number, "train": 900, "gate": 900}
        (reports / f"{number:02d}.timings.json").write_text(json.dumps({"seconds": seconds}))
    (gomoku_elo.REPORTS / "elo.csv").write_text("generation,elo,low,high\n1,-100.5,-200,0\n3,50,0,100\n")
    return tmp_path


def test_hours_add_up_over_generations_that_are_not_rated_too(project):
    assert gomoku_elo.points() == [(1.0, -100.5, -200.0, 0.0), (4.5, 50.0, 0.0, 100.0)]


def test_both_formats_are_written_and_the_same_again(project):
    gomoku_elo.main()
    first = {path.name: path.read_bytes() for path in gomoku_elo.REPORTS.glob("elo_hours.*")}
    assert set(first) == {"elo_hours.svg", "elo_hours.png"}
    ET.fromstring(first["elo_hours.svg"])
    assert first["elo_hours.png"].startswith(b"\x89PNG")
    gomoku_elo.main()
    assert {path.name: path.read_bytes() for path in gomoku_elo.REPORTS.glob("elo_hours.*")} == first


def test_what_is_missing_or_does_not_fit_is_named(project):
    elo = gomoku_elo.REPORTS / "elo.csv"
    elo.write_text("generation,elo,low,high\n4,1,0,2\n")
    with pytest.raises(ZugwerkError, match="not the evaluation of these generations"):
        gomoku_elo.points()
    elo.unlink()
    with pytest.raises(ZugwerkError, match="dvc repro gomoku_evaluate"):
        gomoku_elo.points()

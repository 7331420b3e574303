import json

import pytest
import yaml

from bench.strength import gomoku_15 as strength
from pipeline_src.report.registry import REGISTRY

SECTION = {
    "opponents": {"mcts1000": {"player": "mcts:playouts=1000", "pairs": 1}},
    "anchor_pairs": 1,
    "table3_games": 2,
    "tables_against": [],
    "best_of": 1,
    "replays": 0,
    "openings": {"count": 2, "plies": 2, "area": 3},
}


@pytest.fixture
def small(tmp_path, monkeypatch):
    """A board of 7x7 and players of a few milliseconds a move, in a folder of their own."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "params.yaml").write_text(yaml.safe_dump({"gomoku_evaluate": SECTION}))
    monkeypatch.setattr(strength, "OUT", tmp_path / "measured.json")
    monkeypatch.setattr(strength, "SIZE", 7)
    monkeypatch.setattr(strength, "NET", "alphabeta:depth=2{model}")
    monkeypatch.setattr(strength, "TOGETHER", "")
    monkeypatch.setattr(strength, "OPPONENTS", dict.fromkeys(strength.OPPONENTS, "random"))
    return tmp_path


def run(monkeypatch, *words):
    monkeypatch.setattr("sys.argv", ["gomoku_15", *words])
    strength.main()


def test_figures_and_matches_are_written_and_the_others_stay(small, monkeypatch):
    (small / "measured.json").write_text(json.dumps({"score_vs_alphabeta2": {"value": 0.5}}))
    run(monkeypatch, "--only", "mcts1000", "--pairs", "2")
    found = json.loads((small / "measured.json").read_text())
    assert found["score_vs_alphabeta2"] == {"value": 0.5}
    assert found["score_vs_mcts1000"]["value"] == 1.0
    assert found["score_vs_mcts1000"]["n"] == found["matches"]["score_vs_mcts1000"]["wins"] == 4
    assert found["score_vs_mcts1000"]["command"] == "make measure-gomoku_15"


def test_at_equal_time_both_sides_have_what_they_do_in_a_turn(small, monkeypatch):
    monkeypatch.setattr(strength, "in_a_turn", lambda _: {"simulations": 7, "nodes": 11})
    monkeypatch.setattr(strength, "NET", "mcts:nodes={simulations}{model}")
    run(monkeypatch, "--only", "equal_time", "--pairs", "1")
    match = json.loads((small / "measured.json").read_text())["matches"]["score_vs_alphabeta_equal_time"]
    assert (match["a"], match["b"]) == ("mcts:nodes=7", "alphabeta:nodes=11")
    assert match["in_a_turn"] == {"simulations": 7, "nodes": 11}


def test_a_turn_is_measured_once(small, monkeypatch):
    monkeypatch.setattr(strength, "NET", "mcts:nodes={simulations}{model}")
    monkeypatch.setattr(strength, "PROBED", 2)
    found = strength.in_a_turn("")
    assert all(count > 0 for count in found.values())
    monkeypatch.setattr(strength, "TURN_MS", 1e6)
    assert strength.in_a_turn("") == found


def test_another_model_writes_nothing(small, monkeypatch, capsys):
    monkeypatch.setattr(strength, "NET", "alphabeta:depth=1,width=0")
    run(monkeypatch, "--model", "other.pt", "--only", "mcts1000", "--pairs", "1")
    assert "score_vs_mcts1000: " in capsys.readouterr().out
    assert not (small / "measured.json").exists()


def test_each_figure_has_its_opponent():
    assert set(strength.OPPONENTS) | {strength.EQUAL} == set(REGISTRY["gomoku_15"])

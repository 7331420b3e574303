import json

import pytest

from bench.strength import amazons_engine, amazons_net
from pipeline_src.arena.result import Standing
from pipeline_src.report.figures import REGISTRY

MATCHES = {
    "one_ply": ("one_ply", "random", 4, 1),
    "doubling_a": ("random", "random", 4, 2),
    "fast": ("random", "random", 2, 3),
    "learned": ("one_ply", "one_ply:noise=9", 4, 4),
}


@pytest.fixture
def play(tmp_path, monkeypatch):
    monkeypatch.setattr(amazons_engine, "MATCHES", MATCHES)
    monkeypatch.setattr(amazons_engine, "WORK", tmp_path / "work")
    monkeypatch.setattr(amazons_engine, "OUT", tmp_path / "measured.json")

    def run(*words):
        monkeypatch.setattr("sys.argv", ["strength", "--workers", "1", "--moves", "20", *words])
        amazons_engine.main()
        return json.loads((tmp_path / "measured.json").read_text())

    return run


def test_chosen_matches_are_played_and_others_read_from_journals(play, capsys):
    first = play("--only", "one_ply", "--games", "2")
    assert list(first["matches"]) == ["one_ply"]
    assert first["score_vs_one_ply"]["n"] == 2
    assert first["score_vs_one_ply"]["value"] == 1.0
    capsys.readouterr()
    both = play("--only", "fast")
    assert capsys.readouterr().out.startswith("fast: random against random")
    assert both["matches"]["one_ply"]["games"] == 2
    assert both["illegal_moves"]["n"] == both["time_losses"]["n"] == 4
    assert both["illegal_moves"]["value"] == 0
    whole = play()
    assert {name: match["games"] for name, match in whole["matches"].items()} == {
        name: games for name, (_, _, games, _) in MATCHES.items()
    }
    assert set(whole) - {"matches"} <= set(REGISTRY["amazons_engine"])
    assert whole["late_moves"]["n"] == 20
    assert whole["learned_evaluation_elo"]["n"] == 4


def test_net_search_is_measured_at_equal_and_at_more_time(tmp_path, monkeypatch):
    monkeypatch.setattr(
        amazons_net, "MATCHES", {"puct_100": ("one_ply", "random", 4), "puct_400": ("one_ply", "random", 2)}
    )
    monkeypatch.setattr(amazons_net, "WORK", tmp_path / "work")
    monkeypatch.setattr(amazons_net, "OUT", tmp_path / "measured.json")
    monkeypatch.setattr("sys.argv", ["strength", "--workers", "1"])
    amazons_net.main()
    found = json.loads((tmp_path / "measured.json").read_text())
    assert set(found) - {"matches"} <= set(REGISTRY["amazons_net"])
    assert found["residual_puct_vs_alphabeta"]["value"] == 1.0
    assert {name: match["games"] for name, match in found["matches"].items()} == {"puct_100": 4, "puct_400": 2}


def test_elo_per_doubling_is_the_mean_of_the_steps():
    class Step:
        standing = Standing(wins=5, draws=2, losses=3)

        def __init__(self, *elo):
            self.score = self
            self.elo = lambda: elo

    found = amazons_engine._mean_elo([Step(100.0, 50.0, 150.0), Step(200.0, 150.0, 250.0)])
    assert found["value"] == 150
    assert found["n"] == 20
    assert found["high"] - 150 == pytest.approx(50 / 2**0.5)

import json
import sys
from pathlib import Path

import pytest

from bench.strength import gomoku_engine
from pipeline_src.report.figures import REGISTRY

PLAYERS = "random", "random"
GOMOKU_MATCHES = {
    "score_vs_previous_15": (*PLAYERS, 7, "freestyle", 4),
    "fifth_of_the_time": (*PLAYERS, 7, "freestyle", 2),
}
WON = {"size": 7, "variant": "freestyle-4", "actions": [24, 31, 23, 30], "plies": 3}


@pytest.fixture
def measure_gomoku(tmp_path, monkeypatch):
    monkeypatch.setattr(gomoku_engine, "MATCHES", GOMOKU_MATCHES)
    monkeypatch.setattr(gomoku_engine, "NAMES", [*GOMOKU_MATCHES, "late_moves", "renju_suite"])
    monkeypatch.setattr(gomoku_engine, "WORK", tmp_path / "work")
    monkeypatch.setattr(gomoku_engine, "OUT", tmp_path / "measured.json")
    monkeypatch.setattr(gomoku_engine, "JUDGE", "engine:nodes=50")
    monkeypatch.setattr(gomoku_engine, "BOUND", 2000.0)
    monkeypatch.setattr(gomoku_engine, "QUICK_GAMES", 0)

    def run(*words):
        monkeypatch.setattr("sys.argv", ["strength", *words])
        gomoku_engine.main()
        return json.loads((tmp_path / "measured.json").read_text())

    return run


def test_partial_runs_add_to_the_file(measure_gomoku, tmp_path, monkeypatch):
    positions = tmp_path / "positions.jsonl"
    positions.write_text("\n".join(json.dumps(WON | {"plies": plies}) for plies in (3, 12)))
    first = measure_gomoku("--positions", str(positions), "--only", "-")
    assert first["forced_wins_9"]["value"] == first["forced_wins_15"]["value"] == 1.0
    assert "forced_wins_25" not in first
    then = measure_gomoku("--only", "15", "--games", "2")
    assert then["score_vs_previous_15"]["n"] == 2
    assert then["forced_wins_9"] == first["forced_wins_9"]
    monkeypatch.setattr(gomoku_engine, "NAMES", [*GOMOKU_MATCHES])
    whole = measure_gomoku()
    games = {name: found["games"] for name, found in whole["matches"].items()}
    assert games == {"score_vs_previous_15": 4, "fifth_of_the_time": 2}
    assert set(whole) - {"matches"} <= set(REGISTRY["gomoku_engine"])


def test_all_known_renju_positions_are_right(measure_gomoku):
    assert measure_gomoku("--only", "renju_suite")["renju_suite"]["value"] == 1.0


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc")
def test_brain_is_timed_while_another_process_is_busy(measure_gomoku):
    brain = f"'{sys.executable}' -m pipeline_src.cli gomoku brain --player random"
    row = measure_gomoku("--only", "late", "--moves", "30", "--brain", brain)["late_moves"]
    assert row["n"] == 30
    assert 0 < row["median_ms"] <= row["p99_ms"] <= row["longest_ms"]
    assert row["most_memory_mib"] > 20

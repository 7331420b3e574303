"""The committed measurement, with a clock of next to nothing and a net that learnt nothing."""

import json

import pytest

from bench.strength import search_depth
from pipeline_src import yaml12
from tests.stages.test_depth_match import PARAMS, project  # noqa: F401, a fixture

DEPTH_MATCHES = {
    "cnn_table": ("cnn", "table", 4),
    "cnn_deepening": ("cnn", "deepening", 2),
    "hand_cnn_halves": ("cnn", "cnn_halves", 2),
    "hand_cnn_steps": ("cnn", "cnn_steps", 4),
}
FIGURES = {"unbeaten_vs_fixed", "wins_vs_fixed", "mean_margin", "time_outs", "score_vs_iterative_deepening"}
PUBLISHED = {"cnn_unbeaten_vs_fixed", "cnn_score_vs_iterative_deepening"}
HAND = {"unbeaten_vs_hand_table", "cnn_unbeaten_vs_hand_table"}


@pytest.fixture
def play_depth(project, monkeypatch):  # noqa: F811
    players = {"cnn": "depth=cnn,model={paper}", "deepening": ""}
    match = PARAMS["depth_match"] | {
        "players": players,
        "matches": {"one": {"a": "cnn", "b": "deepening", "pairs": 1}},
    }
    (project / "params.yaml").write_text(yaml12.dump(PARAMS | {"depth_match": match}))
    monkeypatch.setattr(search_depth, "MATCHES", DEPTH_MATCHES)
    monkeypatch.setattr(search_depth, "PILOT_PAIRS", 1)
    monkeypatch.setattr(search_depth, "HEADLINE", "cnn")

    def run(*words):
        monkeypatch.setattr("sys.argv", ["strength", "--workers", "1", *words])
        search_depth.main()
        return json.loads(search_depth.OUT.read_text())

    return run


def test_figures_come_from_the_matches_and_finished_games_are_kept(play_depth, monkeypatch):
    part = play_depth("--only", "cnn_table", "--games", "2")
    assert set(part["matches"]) == {"cnn_table"}
    assert part["unbeaten_vs_fixed"]["n"] == 2
    whole = play_depth()
    assert set(whole) - {"matches", "tables"} == FIGURES | PUBLISHED | HAND
    assert whole["unbeaten_vs_fixed"]["n"] == whole["time_outs"]["n"] == 4
    assert whole["score_vs_iterative_deepening"]["value"] == whole["matches"]["cnn_deepening"]["score"]["value"]
    assert whole["cnn_unbeaten_vs_hand_table"]["n"] == 2 + 4
    assert whole["tables"]["cnn"]["options"].startswith("depth=table,lowest=3")
    monkeypatch.setattr("pipeline_src.arena.runner.play", None)  # nothing may be played
    assert play_depth() == whole


def test_matches_that_are_not_chosen_stay_in_the_file(play_depth):
    play_depth("--only", "cnn_deepening")
    assert set(play_depth("--only", "cnn_table")["matches"]) == {"cnn_table", "cnn_deepening"}

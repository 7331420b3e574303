import json

import pytest

from bench.strength import gomoku_zero as strength
from pipeline_src import yaml12
from pipeline_src.errors import ZugwerkError
from pipeline_src.records.record import GameRecord, write_records
from pipeline_src.report.figures import REGISTRY

OPPONENTS = {
    "mcts1000": {"player": "mcts:playouts=1000", "pairs": 2},
    "minimax": {"player": "minimax:depth=2", "pairs": 1},
    "alphabeta2": {"player": "alphabeta:depth=2", "pairs": 1},
    "alphabeta4": {"player": "alphabeta:depth=4", "pairs": 1},
}
NAMES = {name for name, figure in REGISTRY["gomoku_zero"].items() if figure.stage != "gomoku_calibration"}
EVALUATE = {"opponents": OPPONENTS, "simulations": 64, "options": "chunk=8", "headline_options": "solver=200"}
ELO = {"value": 100.0, "low": 60.0, "high": 140.0, "n": 10}


def record(gid, winner, names, event):
    first, second = names
    return GameRecord(
        "gomoku", gid, "engine", "freestyle", 9, 9, (), winner, first_name=first, second_name=second, event=event
    )


def run(folder, seed, winners, elo=100.0):
    """A folder as a run leaves it; ``winners`` are those of the games against MCTS, w for ours; all others lost."""
    reports = folder / strength.REPORT.parent / "generations"
    reports.mkdir(parents=True)
    (folder / "params.yaml").write_text(
        yaml12.dump(
            {"seed": seed, "gomoku_generations": {"02": {"before": "01"}}, "gomoku_evaluate": EVALUATE},
            sort_keys=False,
        )
    )
    metrics = {"generations": 2, "elo_last": ELO | {"value": elo}, "best_of_five_won": {"value": 0.5, "n": 4}}
    (folder / strength.REPORT).write_text(json.dumps(metrics))
    for number in (1, 2):
        (reports / f"{number:02d}.json").write_text(json.dumps({"self_play": {"games": 50}}))
        (reports / f"{number:02d}.timings.json").write_text(json.dumps({"seconds": {"self_play": 900, "train": 900}}))
    games = []
    for opponent in OPPONENTS.values():
        for i in range(2 * opponent["pairs"]):
            won = winners[i] if opponent is OPPONENTS["mcts1000"] else "l"
            names = ("zero:x", opponent["player"]) if i % 2 == 0 else (opponent["player"], "zero:x")
            winner = "draw" if won == "d" else "first" if (won == "w") == (i % 2 == 0) else "second"
            games.append(record(len(games) + 1, winner, names, "headline"))
    games.append(record(len(games) + 1, "first", ("zero:x", "zero:y"), "table2"))
    write_records(games, folder / strength.GAMES)
    return folder


def test_runs_are_pooled_into_all_figures(tmp_path):
    found = strength.figures([run(tmp_path / "a", 1, "wwwd"), run(tmp_path / "b", 2, "wlww", 300.0)])
    assert set(found) == NAMES
    assert found["score_vs_mcts1000"]["value"] == 6.5 / 8
    assert found["score_vs_mcts1000"]["n"] == 8
    assert found["score_vs_minimax"]["value"] == 0
    assert found["train_hours"]["value"] == 1.0
    assert found["self_play_games_per_hour"]["value"] == 200
    assert found["best_of_five_won"]["n"] == 8
    assert found["elo_last"]["value"] == 200
    assert found["elo_last"]["high"] - 200 == pytest.approx(1.959964 * 100)  # the runs differ by more than their errors


def test_best_of_five_figure_leaves_out_runs_without_it(tmp_path):
    folder = run(tmp_path / "a", 1, "wwwd")
    report = json.loads((folder / strength.REPORT).read_text())
    del report["best_of_five_won"]
    (folder / strength.REPORT).write_text(json.dumps(report))
    assert set(strength.figures([folder])) == NAMES - {"best_of_five_won"}
    both = strength.figures([folder, run(tmp_path / "b", 2, "wlww")])
    assert both["best_of_five_won"]["n"] == 4


def test_a_collected_run_is_kept_with_the_laptops_run(tmp_path, monkeypatch):
    monkeypatch.setattr(strength, "OUT", tmp_path / "measured.json")
    laptop, paper = run(tmp_path / "a", 1, "wwww"), run(tmp_path / "b", 7, "llll")
    for words in (["--collect", str(laptop)], ["--profile", "paper", "--collect", str(paper), "--hardware", "one GPU"]):
        monkeypatch.setattr("sys.argv", ["strength", *words])
        strength.main()
    found = json.loads((tmp_path / "measured.json").read_text())
    assert found["score_vs_mcts1000"]["value"] == 1.0
    assert found["score_vs_mcts1000"]["profile"] == "laptop"
    assert found["score_vs_mcts1000"]["player"] == "net with solver=200, 64 simulations"
    assert found["best_of_five_won"]["player"] == "bare net, 64 simulations"
    assert found["score_vs_mcts1000"]["code"] is None  # a folder that does not say
    of_paper = found["runs"]["paper"]
    assert of_paper["figures"]["score_vs_mcts1000"]["value"] == 0.0
    assert of_paper["figures"]["score_vs_mcts1000"]["hardware"] == "one GPU"
    assert list(of_paper["seeds"]) == ["7"]


def test_code_digest_is_given_only_if_all_runs_agree(tmp_path):
    folders = [run(tmp_path / "a", 1, "wwww"), run(tmp_path / "b", 7, "llll")]
    (folders[0] / strength.MARK).write_text(json.dumps({"key": "k", "code": "12"}))
    assert strength.evaluated_by(folders[:1]) == "12"
    assert strength.evaluated_by(folders) is None
    (folders[1] / strength.MARK).write_text(json.dumps({"key": "l", "code": "12"}))
    assert strength.evaluated_by(folders) == "12"
    (folders[1] / strength.MARK).write_text(json.dumps({"key": "l", "code": "34"}))
    assert strength.evaluated_by(folders) is None


def test_games_of_other_params_are_refused(tmp_path):
    folder = run(tmp_path / "a", 1, "wwww")
    text = (folder / "params.yaml").read_text().replace("playouts=1000", "playouts=999")
    (folder / "params.yaml").write_text(text)
    with pytest.raises(ZugwerkError, match="not the games of"):
        strength.figures([folder])

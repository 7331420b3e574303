"""The stages of growing boards on 4x4 and 5x5, from fresh weights to the figures."""

import sys

import pytest

from pipeline_src import yaml12
from pipeline_src.errors import ZugwerkError
from pipeline_src.files import read_json, read_table
from pipeline_src.records.record import read_records
from pipeline_src.stages import growing_board, growing_evaluate
from pipeline_src.systems.growing_boards.params import BoardFiles
from tests.stages.killed import check_kill
from tests.systems.gomoku_zero.settings import SECTIONS

CYCLE = {f"growing_{name}": SECTIONS[f"gomoku_{name}"] for name in ("net", "self_play", "train", "gate")}
EVALUATE = {
    "opponent": "mcts:playouts=20",
    "pairs": 2,
    "every": 2,
    "rated_pairs": 1,
    "simulations": 6,
    "openings": {"count": 2, "plies": 2, "area": 0, "judge": "alphabeta:depth=1", "bound": 1000.0},
}


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write()
    return tmp_path


def write(**changed):
    tree = {
        "seed": 3,
        "parallel": {"workers": 1},
        "growing_first": {"size": 5, "variant": "freestyle-4", "generations": 1},
        "growing_larger": {"6": {"before": "5", "generations": 2}},
        "growing_convergence": {"span": 2},
        **CYCLE,
        "growing_evaluate": EVALUATE,
    }
    with open("params.yaml", "w", encoding="utf-8") as file:
        file.write(yaml12.dump({**tree, **changed}))


def board(monkeypatch, *words):
    monkeypatch.setattr(sys, "argv", ["growing_board", *words])
    growing_board.main()


def test_from_fresh_weights_to_the_figures(project, monkeypatch):
    board(monkeypatch, "--size", "5")
    board(monkeypatch, "--size", "6")
    growing_evaluate.main()
    found = read_json("artifacts/reports/growing/evaluate.json")
    boards = [read_json(BoardFiles(size).report) for size in (5, 6)]
    assert (found["sizes"], found["largest"], found["generations"]) == (2, 6, 3)
    assert found["multiply_adds_in_all"] == boards[0]["multiply_adds"] + boards[1]["multiply_adds"]
    assert found["score_vs_mcts1000"]["n"] == 4
    strength = read_table("artifacts/reports/growing/strength.csv")
    assert [row["generation"] for row in strength] == ["0", "2"]
    assert int(strength[0]["multiply_adds"]) == boards[0]["multiply_adds"]
    losses = read_table("artifacts/reports/growing/losses.csv")
    assert [(row["size"], row["generation"]) for row in losses] == [("5", "1"), ("6", "1"), ("6", "2")]
    games = read_records("artifacts/records/growing/matches.parquet")
    assert [game.event for game in games] == ["headline"] * 4 + ["rated"] * 4
    best = read_table("artifacts/reports/growing/strength.csv")
    assert {row["n"] for row in best} == {"2"}

    def evaluate():
        growing_evaluate.main()
        return [
            (project / "artifacts/reports/growing" / name).read_bytes() for name in ("evaluate.json", "strength.csv")
        ]

    before = evaluate()
    check_kill(monkeypatch, evaluate)
    assert evaluate() == before


def test_a_board_that_params_do_not_have(project, monkeypatch):
    with pytest.raises(ZugwerkError, match=r"params\.yaml has no board of size 7; it has: 5, 6"):
        board(monkeypatch, "--size", "7")


def test_at_time_limit_nothing_is_published_and_run_can_resume(project, monkeypatch):
    with pytest.raises(ZugwerkError, match="run the same command again"):
        board(monkeypatch, "--size", "5", "--minutes", "0")
    assert not BoardFiles(5).models.exists()
    board(monkeypatch, "--size", "5")
    assert BoardFiles(5).best.exists()


def test_evaluation_names_its_missing_boards(project, monkeypatch):
    with pytest.raises(ZugwerkError, match=r"boards/5\.csv: no such file; `dvc repro` makes it"):
        growing_evaluate.main()
    board(monkeypatch, "--size", "5")
    board(monkeypatch, "--size", "6")
    BoardFiles(6).best.unlink()
    with pytest.raises(ZugwerkError, match=r"growing/6/best\.pt: no such model; `dvc repro growing_board` makes it"):
        growing_evaluate.main()

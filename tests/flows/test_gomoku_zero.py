import pytest

from flows.gomoku_zero import generations_apart
from flows.targets import read_targets
from pipeline_src.errors import ZugwerkError
from tests.layout.imports import ROOT


def test_each_generation_is_a_target_of_its_own(tmp_path):
    (tmp_path / "params.yaml").write_text('gomoku_generations:\n  "02": {before: "01"}\n  "03": {before: "02"}\n')
    assert generations_apart(["gomoku_first", "gomoku_generation", "gomoku_evaluate"], tmp_path) == [
        "gomoku_first",
        "gomoku_generation@02",
        "gomoku_generation@03",
        "gomoku_evaluate",
    ]


def test_the_graph_s_own_targets_come_in_their_order():
    targets = generations_apart(read_targets(ROOT, "gomoku"), ROOT)
    assert targets[:2] == ["gomoku_first", "gomoku_generation@02"]
    assert targets[-1] == "gomoku_evaluate"


def test_generations_out_of_order_are_refused(tmp_path):
    (tmp_path / "params.yaml").write_text('gomoku_generations:\n  "03": {before: "02"}\n')
    with pytest.raises(ZugwerkError, match="gomoku_generations: expected generations in a row"):
        generations_apart(["gomoku_generation"], tmp_path)

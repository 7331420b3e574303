from pathlib import Path

import pytest

from flows.targets import read_targets
from pipeline_src.errors import ZugwerkError
from tests.layout.imports import ROOT


def test_reads_stages_and_members_of_groups_in_the_order_of_the_file(checkout: Path) -> None:
    assert read_targets(checkout) == ["toy_crawl", "toy_count", "toy_train@a", "toy_train@b"]
    assert read_targets(checkout, "toy") == read_targets(checkout)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, r"dvc.yaml: No such file or directory; give the folder"),
        ("stages: [", r"dvc.yaml: cannot read the stages"),
        ("vars: []", r"dvc.yaml: cannot read the stages: 'stages'"),
        ("stages: {}", r"dvc.yaml: no stage$"),
        ("stages: {amazonsx_a: {}}", r"dvc.yaml: no stage whose name starts with 'amazons_'"),
    ],
)
def test_says_what_is_wrong_with_dvc_yaml(tmp_path: Path, text: str | None, message: str) -> None:
    if text is not None:
        (tmp_path / "dvc.yaml").write_text(text)
    with pytest.raises(ZugwerkError, match=message):
        read_targets(tmp_path, None if text == "stages: {}" else "amazons")


def test_a_group_goes_through_what_params_have(tmp_path: Path) -> None:
    (tmp_path / "dvc.yaml").write_text(
        "stages:\n  a_run: {foreach: '${a_run.models}', do: {}}\n  a_next: {foreach: '${a_generations}', do: {}}\n"
    )
    (tmp_path / "params.yaml").write_text(
        'a_run:\n  models: {smote: {}, ours: {}}\na_generations:\n  "02": {before: "01"}\n  "03": {before: "02"}\n'
    )
    assert read_targets(tmp_path) == ["a_run@smote", "a_run@ours", "a_next@02", "a_next@03"]
    (tmp_path / "params.yaml").write_text("a_run: 3\n")
    with pytest.raises(ZugwerkError, match=r"params.yaml: a_run.models: 'a_run' of dvc.yaml goes through it"):
        read_targets(tmp_path)


@pytest.mark.parametrize(
    ("system", "some"),
    [
        ("gomoku", ["gomoku_first", "gomoku_generation@02", "gomoku_generation@03", "gomoku_evaluate"]),
        ("depth", ["depth_label", "depth_train@smote", "depth_train@ours", "depth_evaluate", "depth_match"]),
        ("joseki", ["joseki_records", "joseki_build", "joseki_evaluate"]),
        ("amazons", ["amazons_archive", "amazons_crawl", "amazons_train@residual", "amazons_match"]),
    ],
)
def test_the_graph_s_own_targets_come_in_their_order(system: str, some: list[str]) -> None:
    targets = read_targets(ROOT, system)
    places = [targets.index(name) for name in some]
    assert places == sorted(places)

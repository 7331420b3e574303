import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pipeline_src import yaml12
from pipeline_src.errors import ZugwerkError
from pipeline_src.project.dvc_run import Children
from pipeline_src.project.graph import reached, read_graph
from pipeline_src.project.schedule import Places, changed_targets, read_places, read_targets, select
from tests.layout.imports import ROOT
from tests.profiles import profile_tree

GRAPH = {"code": set(), "a_train@x": {"code"}, "a_train@y": {"code"}, "b_page": {"a_train@x"}, "b_last": {"b_page"}}


@pytest.fixture
def children() -> Iterator[Children]:
    with Children() as some:
        yield some


def test_reads_dependencies_and_changes(checkout: Path, children: Children) -> None:
    assert read_targets(checkout, children) == {
        "toy_crawl": set(),
        "toy_count": {"toy_crawl"},
        "toy_train@a": {"toy_count"},
        "toy_train@b": {"toy_count"},
    }
    assert changed_targets((), checkout, children) == {"toy_crawl", "toy_count", "toy_train@a", "toy_train@b"}
    assert changed_targets(["toy_train@a"], checkout, children) == {"toy_train@a"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "dvc.yaml: no stage$"),
        ("stages: [", r"`dvc --wait-for-lock dag --dot` failed(.|\n)*dvc.yaml"),
        ("stages: {a: {foreach: '${a}', do: {cmd: ls}}}", r"failed to parse 'stages.a.foreach' in 'dvc.yaml'"),
    ],
)
def test_errors_in_dvc_yaml_are_named(checkout: Path, children: Children, text: str, message: str) -> None:
    (checkout / "dvc.yaml").write_text(text)
    with pytest.raises(ZugwerkError, match=message):
        read_targets(checkout, children)


@pytest.mark.slow
def test_targets_of_the_graph_match_dvc_yaml(children: Children) -> None:
    targets, graph = read_targets(ROOT, children), read_graph(ROOT / "dvc.yaml")
    assert {name.partition("@")[0] for name in targets} == graph.keys()
    some = ["code", "gomoku_first", "gomoku_generation@02", "gomoku_generation@03", "gomoku_evaluate", "report_page"]
    assert [name for name in targets if name in some] == some
    for name, before in targets.items():
        for earlier in before - {"code"}:
            assert name.partition("@")[0] in reached(graph, [earlier.partition("@")[0]])
    assert targets["gomoku_generation@03"] == {"code", "gomoku_generation@02"}
    assert targets["amazons_evaluate@residual"] == {"code", "amazons_samples", "amazons_train@residual"}


def test_targets_are_selected_with_their_dependencies_in_order() -> None:
    assert list(select(GRAPH, ["b_page"])) == ["code", "a_train@x", "b_page"]
    assert list(select(GRAPH, ["a_train"])) == ["code", "a_train@x", "a_train@y"]
    assert list(select(GRAPH, ["a_train@y", "code"])) == ["code", "a_train@y"]
    assert list(select(GRAPH, [])) == list(GRAPH)
    assert list(select(GRAPH, [], "a")) == ["code", "a_train@x", "a_train@y"]
    graph = {**GRAPH, "report_headlines@a": {"a_train@x"}, "report_headlines@b": {"b_page"}}
    assert list(select(graph, [], "a")) == ["code", "a_train@x", "a_train@y", "report_headlines@a"]


def test_an_unknown_target_is_reported_with_the_known_ones() -> None:
    message = "dvc.yaml: no target 'a_train@z'; there are: code, a_train@{x,y}, b_page, b_last"
    with pytest.raises(ZugwerkError, match=f"^{re.escape(message)}$"):
        select(GRAPH, ["code", "a_train@z"])
    with pytest.raises(ZugwerkError, match="no stage whose name starts with 'c_'"):
        select(GRAPH, [], "c")


def places(tmp_path: Path, meta: str, params: dict[str, Any]) -> dict[str, Places]:
    (tmp_path / "dvc.yaml").write_text(
        f"stages: {{one: {{cmd: ls, meta: {meta}}}, some: {{foreach: [x], do: {{cmd: ls, meta: {meta}}}}}}}"
    )
    return read_places(tmp_path, params)


def test_a_stage_declares_its_places(tmp_path: Path) -> None:
    params = {"threads": 2, "parallel": {"workers": 4}}
    assert places(tmp_path, "{}", params) == dict.fromkeys(("one", "some"), Places(1, 1))
    assert places(tmp_path, "{threads: threads}", params)["one"] == Places(2, 1)
    assert places(tmp_path, "{threads: threads, workers: parallel.workers}", params)["some"] == Places(2, 4)
    for wrong in (0, "2", None, [2]):
        with pytest.raises(ZugwerkError, match=r"dvc.yaml: one: meta.threads: .*no whole number above 0 at threads"):
            places(tmp_path, "{threads: threads}", {"threads": wrong})
    with pytest.raises(ZugwerkError, match=r"params.yaml has no whole number above 0 at parallel.workers.all"):
        places(tmp_path, "{workers: parallel.workers.all}", params)


@pytest.mark.parametrize("profile", sorted(path.stem for path in (ROOT / "profiles").glob("*.yaml")))
def test_every_profile_has_the_numbers_of_places(profile: str) -> None:
    params = profile_tree(profile)
    found = read_places(ROOT, params)
    assert found["depth_match"].most == params["parallel"]["workers"]
    assert found["amazons_train"].least == params["torch_threads"]


def test_stages_that_run_tasks_declare_workers() -> None:
    """Else it would take more cores than it is given places for."""
    definitions = yaml12.parse((ROOT / "dvc.yaml").read_text())["stages"]
    for name, stage in read_graph(ROOT / "dvc.yaml").items():
        meta = definitions[name].get("do", definitions[name]).get("meta", {})
        source = (ROOT / f"{stage.module.replace('.', '/')}.py").read_text()
        assert ("Parallel" in source) == ("workers" in meta), name

"""What a change reaches: one system's params and code leave the other systems' stages as they are."""

import json
import subprocess
import sys

import pytest

from pipeline_src import yaml12
from pipeline_src.project.graph import Stage, overlap, reached, read_graph
from pipeline_src.project.params import read_tree
from pipeline_src.reference.stage_code import closure, digests
from tests.layout.imports import ROOT

GRAPH = read_graph(ROOT / "dvc.yaml")
PARAMS = read_tree(ROOT / "params.yaml")
SECTIONS = list(PARAMS)
SYSTEMS = {"amazons", "gomoku", "growing", "joseki", "depth"}
REPORT = {"report", "headlines"}
"""Words of the stages that put figures together."""
PAGE_STAGE = "report_page"
"""The last of them, which comes after everything."""

SHARED_SECTIONS = {
    "profile": set(),
    "parallel": set(),
    "joseki_crawl": set(),  # a stage outside the graph
    "seed": SYSTEMS,
    "torch_threads": {"amazons"},
    "crawl": {"amazons"},
    "calibration": {"amazons", "gomoku"},
    "amazons_engine": {"amazons", "depth"},  # the search depth is that of the Amazons engine
}
"""Systems that a section reaches, where it is not just the one in its name."""

SHARED_CODE = {
    "pipeline_src.files": SYSTEMS,
    "pipeline_src.games.amazons": {"amazons", "depth"},
    "pipeline_src.games.gomoku": {"gomoku", "growing"},
    "pipeline_src.games.go": {"joseki"},
    "pipeline_src.learning.fit": {"amazons", "gomoku", "growing", "depth"},
    "pipeline_src.players.amazons": {"amazons", "depth"},
    "pipeline_src.players.gomoku": {"gomoku", "growing"},
    "pipeline_src.search.amazons.evaluation": {"amazons", "depth"},
    "pipeline_src.search.gomoku.evaluation": {"gomoku", "growing"},
    "pipeline_src.search.gomoku.playouts": {"gomoku", "growing"},
    "pipeline_src.records.sgf": {"joseki"},
    "pipeline_src.selfplay.generation": {"amazons", "gomoku", "growing"},
    "pipeline_src.systems.amazons_net.train": {"amazons"},
    "pipeline_src.systems.amazons_net.nets": {"amazons"},
    "pipeline_src.systems.gomoku_zero.models": {"gomoku", "growing"},
    "pipeline_src.systems.growing_boards.growth": {"growing"},
    "pipeline_src.systems.joseki.library": {"joseki"},
    "pipeline_src.systems.search_depth.net": {"depth"},
    "spiders.spider": {"amazons"},
}
"""Systems that run a module; growing boards are Gomoku's game and generations."""

AMAZONS_AFTER_CRAWL = {
    "amazons_parse", "amazons_samples", "amazons_train", "amazons_baselines", "amazons_evaluate", "amazons_match",
    "amazons_calibration",
}  # fmt: skip
STAGES_REACHED = {
    "crawl": {"amazons_crawl", *AMAZONS_AFTER_CRAWL},
    "amazons_parse": AMAZONS_AFTER_CRAWL,
    "amazons_train": {"amazons_train", "amazons_evaluate", "amazons_match", "amazons_calibration"},
    "amazons_residual": {"amazons_train", "amazons_evaluate", "amazons_match", "amazons_calibration"},
    "amazons_rays": {"amazons_train", "amazons_evaluate", "amazons_match", "amazons_calibration"},
    "amazons_models": {"amazons_train", "amazons_evaluate", "amazons_match", "amazons_calibration"},
    "amazons_match": {"amazons_match"},
    "amazons_zero_train": {"amazons_first", "amazons_generation", "amazons_zero_evaluate"},
    "amazons_zero_evaluate": {"amazons_zero_evaluate"},
    "gomoku_net": {"gomoku_first", "gomoku_generation", "gomoku_evaluate", "gomoku_calibration"},
    "gomoku_generations": {"gomoku_generation", "gomoku_evaluate", "gomoku_calibration"},
    "gomoku_evaluate": {"gomoku_evaluate"},
    "growing_larger": {"growing_board", "growing_evaluate"},
    "joseki_records": {"joseki_records", "joseki_build", "joseki_evaluate"},
    "joseki_build": {"joseki_build", "joseki_evaluate"},
    "depth_label": {"depth_label", "depth_train", "depth_evaluate", "depth_match"},
    "depth_split": {"depth_train", "depth_evaluate", "depth_match"},
    "depth_match": {"depth_match"},
}
"""All stages that some sections reach."""


def reading_key(graph, key):
    """Stages that a change below a key of params.yaml, or of the whole section, runs again by itself."""
    return {name for name, stage in graph.items() if any(overlap(key, own) for own in stage.keys_of())}


def stages(first):
    """Reached stages, those of the report left out."""
    return {name for name in reached(GRAPH, first) if not REPORT & set(name.split("_"))}


def systems(first):
    return {name.split("_")[0] for name in stages(first)}


@pytest.mark.parametrize("section", SECTIONS)
def test_a_section_reaches_its_own_system_alone(section):
    expected = SHARED_SECTIONS.get(section, {section.split("_")[0]})
    assert systems(reading_key(GRAPH, section)) == expected - REPORT


@pytest.mark.parametrize("section", STAGES_REACHED)
def test_a_section_reaches_these_stages(section):
    assert stages(reading_key(GRAPH, section)) == STAGES_REACHED[section]


def running(module):
    """Names of the stages whose code includes a module."""
    return {name for name, stage in GRAPH.items() if module in closure(stage, PARAMS)}


@pytest.mark.parametrize("module", SHARED_CODE)
def test_a_module_reaches_these_systems(module):
    assert systems(running(module)) == SHARED_CODE[module]


def test_a_stages_module_and_system_reach_its_own_stages_alone():
    """A system's word in the names of stages is the first one; growing boards run Gomoku's code."""
    words = {"amazons_net": {"amazons"}, "gomoku_zero": {"gomoku", "growing"}, "growing_boards": {"growing"}}
    words |= {"search_depth": {"depth"}, "joseki": {"joseki"}}
    for name, stage in GRAPH.items():
        if REPORT & set(name.split("_")):
            continue
        for module in closure(stage, PARAMS):
            parts = module.split(".")
            if parts[1:2] == ["systems"] and len(parts) > 3:
                assert name.split("_")[0] in words[parts[2]], f"{name} runs {module}"


def test_a_player_in_the_params_is_part_of_the_code():
    stage, player = GRAPH["amazons_archive"], "pipeline_src.systems.amazons_net.player"
    assert player not in closure(stage, PARAMS)
    section = PARAMS["amazons_archive"]
    more = PARAMS | {"amazons_archive": section | {"players": [*section["players"], "puct:simulations=8"]}}
    assert player in closure(stage, more)
    assert digests(GRAPH, more)["amazons_archive"] != digests(GRAPH, PARAMS)["amazons_archive"]
    assert digests(GRAPH, more)["amazons_train"] == digests(GRAPH, PARAMS)["amazons_train"]


def test_every_stage_watches_its_code():
    """Its params: `tests.reference.test_params`."""
    for name, definition in yaml12.parse((ROOT / "dvc.yaml").read_text())["stages"].items():
        params = definition.get("do", definition)["params"]
        assert {"artifacts/code.json": [f"code.{name}"]} in params, name


def test_spiders_reach_crawl_and_later_stages():
    first = running("spiders.spider")
    assert first == {"amazons_crawl", "amazons_parse"}
    assert stages(first) == {"amazons_crawl", *AMAZONS_AFTER_CRAWL}


@pytest.mark.parametrize("name", [name for name in GRAPH if not REPORT & set(name.split("_"))])
def test_the_report_comes_after_every_stage(name):
    if PAGE_STAGE not in GRAPH:
        pytest.skip(f"dvc.yaml has no stage {PAGE_STAGE}")
    assert PAGE_STAGE in reached(GRAPH, [name])


def test_templated_paths_are_matched_part_by_part():
    stage = Stage("a", "m", {}, {}, {}, ("models/*/nets.pt", "code"), ())
    assert stage.reads("models/residual/nets.pt")
    assert stage.reads("models")
    assert stage.reads("models/*")
    assert stage.reads("code/deep/file.py")
    assert not stage.reads("models/residual/other.pt")
    assert not stage.reads("codes")


def test_params_are_also_those_that_paths_and_foreach_name(tmp_path):
    (tmp_path / "dvc.yaml").write_text(
        "stages:\n"
        "  one:\n    cmd: python -m run ${first.size}\n    outs: ['models/${first.size}']\n"
        "    params: [code.json: [one], seed, other.key]\n"
        "  two:\n    foreach: ${larger}\n    do:\n      cmd: python -m run ${key} ${item.before}\n"
        "      deps: ['models/${item.before}']\n      metrics:\n        - 'reports/${key}.json': {cache: false}\n"
        "  three:\n    cmd: python -m run\n    deps: [reports]\n"
    )
    graph = read_graph(tmp_path / "dvc.yaml")
    assert (graph["one"].listed, graph["one"].filled_in) == ({"one": {"seed", "other.key"}}, {"one": {"first.size"}})
    assert graph["one"].keys_of("one") == graph["one"].keys_of() == {"first.size", "seed", "other.key"}
    assert graph["two"].keys_of() == {"larger.before"}  # without params.yaml, of items unknown
    assert reached(graph, {"one"}) == {"one", "two", "three"}
    assert reached(graph, {"three"}) == {"three"}


def test_a_dependency_that_params_name_is_the_one_they_name(tmp_path):
    (tmp_path / "dvc.yaml").write_text(
        "stages:\n"
        "  one:\n    cmd: python -m run\n    outs: [made.parquet]\n"
        "  two:\n    cmd: python -m run\n    deps: ['${two.source}']\n"
    )
    for source, after in (("made.parquet", {"one", "two"}), ("fetched", {"one"})):
        (tmp_path / "params.yaml").write_text(f"two:\n  source: {source}\n")
        graph = read_graph(tmp_path / "dvc.yaml")
        assert graph["two"].keys_of() == {"two.source"}
        assert reached(graph, {"one"}) == after


def test_each_item_of_a_foreach_depends_on_its_own_keys(tmp_path):
    (tmp_path / "dvc.yaml").write_text(
        "stages:\n"
        "  one:\n    foreach: ${sizes}\n    do:\n      cmd: python -m run ${key} ${item.before}\n"
        "      params: ['sizes.${key}', 'net.${net.kind}']\n"
        "  two:\n    foreach: ${nets}\n    do:\n      cmd: python -m run ${key}\n      params: ['${item}']\n"
        "  three:\n    foreach: ${names}\n    do:\n      cmd: python -m run\n      params: ['all.${item}']\n"
    )
    (tmp_path / "params.yaml").write_text(
        "sizes: {9: {before: '6'}, '11': {before: '9'}}\nnets: {a: small, b: large}\nnames: [x, y]\nnet: {kind: plain}"
    )
    graph = read_graph(tmp_path / "dvc.yaml")
    assert graph["one"].listed == {f"one@{size}": {f"sizes.{size}", "net.plain"} for size in ("9", "11")}
    assert graph["one"].filled_in["one@11"] == {"sizes.11.before", "net.kind"}
    assert graph["two"].listed == {"two@a": {"small"}, "two@b": {"large"}}
    assert graph["two"].filled_in["two@b"] == {"nets.b"}
    assert graph["three"].keys_of("three@y") == {"all.y", "names"}
    assert reading_key(graph, "sizes.9.before") == reading_key(graph, "sizes") == {"one"}
    assert reading_key(graph, "small.width") == {"two"}
    assert reading_key(graph, "net.residual") == set()


@pytest.mark.slow
@pytest.mark.parametrize(("section", "key"), [("joseki_build", "fewest_games"), ("depth_match", "pilot_pairs")])
def test_dvc_itself_sees_the_change_in_these_stages(tmp_path, section, key):
    """In a fresh clone, without any data: the stages of which `dvc status` says that the section has changed."""
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", "--depth", "1", f"file://{ROOT}", clone], check=True)

    def changed():
        command = [sys.executable, "-m", "dvc", "status", "--json"]
        told = json.loads(subprocess.run(command, cwd=clone, capture_output=True, text=True, check=True).stdout)
        return {
            stage.split("@")[0]
            for stage, changes in told.items()
            for change in changes
            if isinstance(change, dict) and section in change.get("changed deps", {}).get("params.yaml", {})
        }

    params = clone / "params.yaml"
    text, value = params.read_text(encoding="utf-8"), read_tree(params)[section][key]
    assert text.count(f"{key}: {value}") == 1
    params.write_text(text.replace(f"{key}: {value}", f"{key}: {value + 1}"), encoding="utf-8")
    assert changed() == reading_key(GRAPH, section)

"""What a change reaches: one system's params and code leave the other systems' stages as they are."""

import json
import subprocess
import sys

import pytest

from pipeline_src.project.graph import PAGE, Stage, page, reached, read_graph, reading_file, reading_section
from pipeline_src.project.params import read_tree
from tests.layout.imports import ROOT

GRAPH = read_graph(ROOT / "dvc.yaml")
SECTIONS = list(read_tree(ROOT / "params.yaml"))
SYSTEMS = {"amazons", "gomoku", "growing", "joseki", "depth"}
REPORT = "report"
"""First word of the stages that put all systems together."""
PAGE_STAGE = "report_page"
"""The last of them, which comes after everything."""

SHARED_SECTIONS = {
    "profile": set(),
    "parallel": set(),
    "joseki_crawl": set(),  # a stage outside the graph
    "seed": SYSTEMS,
    "torch_threads": {"amazons"},
    "crawl": {"amazons"},
    "amazons_engine": {"amazons", "depth"},  # the search depth is that of the Amazons engine
}
"""Systems that a section reaches, where it is not just the one in its name."""

SHARED_FILES = {
    "pipeline_src/files.py": SYSTEMS,
    "pipeline_src/games/amazons": {"amazons", "depth"},
    "pipeline_src/games/gomoku": {"gomoku", "growing"},
    "pipeline_src/games/go": {"joseki"},
    "pipeline_src/cycle": {"gomoku", "growing"},
    "pipeline_src/joseki": {"joseki"},
    "pipeline_src/systems/amazons_net/net.py": {"amazons"},
    "pipeline_src/systems/growing_boards/carry_over.py": {"growing"},
    "pipeline_src/systems/search_depth/net.py": {"depth"},
    "pipeline_src/systems/gomoku_zero/models.py": {"gomoku", "growing"},
    "pipeline_src/players/amazons/alphabeta.py": {"amazons", "depth"},
    "pipeline_src/players/gomoku/alphabeta.py": {"gomoku", "growing"},
    "pipeline_src/systems/search_depth/player.py": {"depth"},
    "pipeline_src/records/sgf.py": {"joseki"},
    "pipeline_src/systems/amazons_net/module.py": {"amazons"},
    "pipeline_src/systems/gomoku_zero/module.py": {"gomoku", "growing"},
    "pipeline_src/systems/search_depth/module.py": {"depth"},
    "spiders": {"amazons"},
}
"""Systems that files and folders reach; growing boards are Gomoku's game and cycle."""

AMAZONS_AFTER_CRAWL = {
    "amazons_parse", "amazons_samples", "amazons_train", "amazons_baselines", "amazons_evaluate", "amazons_match",
}  # fmt: skip
STAGES_REACHED = {
    "crawl": {"amazons_crawl", *AMAZONS_AFTER_CRAWL},
    "amazons_parse": AMAZONS_AFTER_CRAWL,
    "amazons_train": {"amazons_train", "amazons_evaluate", "amazons_match"},
    "amazons_match": {"amazons_match"},
    "gomoku_net": {"gomoku_first", "gomoku_generation", "gomoku_evaluate"},
    "gomoku_generations": {"gomoku_generation", "gomoku_evaluate"},
    "gomoku_evaluate": {"gomoku_evaluate"},
    "growing_larger": {"growing_first", "growing_board", "growing_evaluate"},
    "joseki_records": {"joseki_records", "joseki_build", "joseki_evaluate"},
    "joseki_build": {"joseki_build", "joseki_evaluate"},
    "depth_label": {"depth_label", "depth_train", "depth_evaluate", "depth_match"},
    "depth_split": {"depth_train", "depth_evaluate", "depth_match"},
    "depth_match": {"depth_match"},
}
"""All stages that some sections reach."""


def stages(first):
    """Reached stages, those of the report left out."""
    return {name for name in reached(GRAPH, first) if name.split("_")[0] != REPORT}


def systems(first):
    return {name.split("_")[0] for name in stages(first)}


@pytest.mark.parametrize("section", SECTIONS)
def test_a_section_reaches_its_own_system_alone(section):
    expected = SHARED_SECTIONS.get(section, {section.split("_")[0]})
    assert systems(reading_section(GRAPH, section)) == expected - {REPORT}


@pytest.mark.parametrize("section", STAGES_REACHED)
def test_a_section_reaches_these_stages(section):
    assert stages(reading_section(GRAPH, section)) == STAGES_REACHED[section]


@pytest.mark.parametrize("path", SHARED_FILES)
def test_a_file_reaches_these_systems(path):
    assert (ROOT / path).exists()
    assert systems(reading_file(GRAPH, path)) == SHARED_FILES[path]


@pytest.mark.parametrize("path", sorted((ROOT / "pipeline_src/stages").glob("*_*.py")), ids=lambda path: path.stem)
def test_a_stages_module_reaches_its_own_system_alone(path):
    system = path.stem.split("_")[0]
    assert systems(reading_file(GRAPH, path.relative_to(ROOT).as_posix())) <= {system}


def test_the_spiders_reach_the_crawl_and_what_follows():
    first = reading_file(GRAPH, "spiders/littlegolem.py")
    assert first == {"amazons_crawl"}
    assert stages(first) == {"amazons_crawl", *AMAZONS_AFTER_CRAWL}


@pytest.mark.parametrize("name", [name for name in GRAPH if name.split("_")[0] != REPORT])
def test_the_report_comes_after_every_stage(name):
    if PAGE_STAGE not in GRAPH:
        pytest.skip(f"dvc.yaml has no stage {PAGE_STAGE}")
    assert PAGE_STAGE in reached(GRAPH, [name])


def test_the_page_is_current():
    text = page(GRAPH, SECTIONS)
    assert (ROOT / PAGE).read_text(encoding="utf-8") == text, "python -m pipeline_src.project.graph writes it anew"


def test_paths_with_places_to_fill_in_are_matched_part_by_part():
    stage = Stage("a", frozenset(), ("models/*/nets.pt", "code"), ())
    assert stage.reads("models/residual/nets.pt")
    assert stage.reads("models")
    assert stage.reads("models/*")
    assert stage.reads("code/deep/file.py")
    assert not stage.reads("models/residual/other.pt")
    assert not stage.reads("codes")


def test_params_are_also_those_that_paths_and_foreach_name(tmp_path):
    (tmp_path / "dvc.yaml").write_text(
        "stages:\n"
        "  one:\n    cmd: run ${first.size}\n    outs: ['models/${first.size}']\n    params: [seed, other.key]\n"
        "  two:\n    foreach: ${larger}\n    do:\n      cmd: run ${key} ${item.before}\n"
        "      deps: ['models/${item.before}']\n      metrics:\n        - 'reports/${key}.json': {cache: false}\n"
        "  three:\n    cmd: run\n    deps: [reports]\n"
    )
    graph = read_graph(tmp_path / "dvc.yaml")
    assert graph["one"].sections == {"first", "seed", "other"}
    assert graph["two"].sections == {"larger"}
    assert reached(graph, {"one"}) == {"one", "two", "three"}
    assert reached(graph, {"three"}) == {"three"}


def test_a_dependency_that_params_name_is_the_one_they_name(tmp_path):
    (tmp_path / "dvc.yaml").write_text(
        "stages:\n  one:\n    cmd: run\n    outs: [made.parquet]\n  two:\n    cmd: run\n    deps: ['${two.source}']\n"
    )
    for source, after in (("made.parquet", {"one", "two"}), ("fetched", {"one"})):
        (tmp_path / "params.yaml").write_text(f"two:\n  source: {source}\n")
        graph = read_graph(tmp_path / "dvc.yaml")
        assert graph["two"].sections == {"two"}
        assert reached(graph, {"one"}) == after


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
    assert changed() == reading_section(GRAPH, section)

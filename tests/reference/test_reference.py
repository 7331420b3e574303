"""The reference pages and the generated blocks of pages are up to date, and say what is wrong in a block."""

import json
import re
import shutil
from typing import get_args, get_origin

import jsonschema  # prefect brings it
import pytest

from pipeline_src import yaml12
from pipeline_src.errors import ZugwerkError
from pipeline_src.project.params import Params, build, is_model, unwrapped
from pipeline_src.reference.__main__ import FOLDER, LOCAL, TABLES, filled_pages, outdated, pictures
from pipeline_src.reference.stage_code import SECTIONS, ParamsFile, TopLevel
from pipeline_src.report.figures import SYSTEMS
from tests.layout.imports import ROOT, profile_text, profile_tree

pytestmark = pytest.mark.usefixtures("shipped")


@pytest.fixture
def project(tmp_path):
    for name in ("params.yaml", "dvc.yaml", "prefect.yaml", "Makefile"):
        shutil.copy(ROOT / name, tmp_path)
    for name in ("profiles", ".dvc/plots", FOLDER):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns(*LOCAL))
    return tmp_path


def test_pages_are_up_to_date():
    assert not outdated(ROOT), "run make docs"


def test_a_missing_page_is_out_of_date(project):
    (project / FOLDER / "nets.md").unlink()
    assert {*outdated(project)} == {project / FOLDER / "nets.md"}
    assert {*outdated(project, local=True)} == {project / FOLDER / name for name in {"nets.md", *LOCAL}}


def test_every_section_is_on_the_page():
    tree = profile_tree("laptop")
    assert {*ParamsFile.model_fields} == {*TopLevel.model_fields, *SECTIONS} == {*tree}


def models(kind, name):
    """A model and the models in it, each with the key under which it stands."""
    kind, _ = unwrapped(kind)
    if is_model(kind):
        yield name, kind
        for key, field in kind.model_fields.items():
            yield from models(field.annotation, f"{name}.{key}")
    elif get_args(kind):
        yield from models(get_args(kind)[-1 if get_origin(kind) is dict else 0], name)


def test_every_key_has_a_description_and_section_a_docstring():
    for section, kind in {"": TopLevel, **SECTIONS}.items():
        for name, model in models(kind, section):
            assert model.__doc__ not in (None, Params.__doc__), name
            assert all(field.description for field in model.model_fields.values()), name


def profiles():
    return sorted((ROOT / "profiles").glob("*.yaml"))


def test_params_and_profiles_fit_their_schemas():
    """The schemas are current: `test_pages_are_up_to_date`."""
    assert len(profiles()) >= 3
    for path in (ROOT / "params.yaml", *profiles()):
        first = path.read_text().splitlines()[0]
        schema = json.loads((path.parent / first.removeprefix("# yaml-language-server: $schema=")).read_text())
        assert ("required" in schema) == (path.name in ("params.yaml", "laptop.yaml"))
        validator = jsonschema.Draft202012Validator(schema)
        tree = yaml12.parse(path.read_text())
        assert not [error.message for error in validator.iter_errors(tree)], path
        for wrong in ({"seeds": 1}, {"amazons_train": {"widht": 1}}, {"gomoku_gate": {"games": 3}}, {"seed": "1"}):
            assert not validator.is_valid(tree | wrong)


@pytest.mark.parametrize("name", ["laptop", *(path.stem for path in profiles())])
def test_all_params_of_every_profile_are_read(name):
    found = build(ParamsFile, profile_tree(name), "params", "params.yaml")
    assert found.profile == name
    assert found.amazons_match.loss in found.amazons_models.trained
    assert max(map(int, found.gomoku_generations)) == len(found.gomoku_generations) + 1
    for size, board in found.growing_larger.items():
        assert int(board.before) < int(size)
        assert board.before in {*found.growing_larger, str(found.growing_first.size)}


def test_profile_written_into_params_keeps_schema_line():
    first = (ROOT / "params.yaml").read_text().splitlines()[0]
    assert first == "# yaml-language-server: $schema=docs/reference/params.schema.json"
    assert all(profile_text(path.stem).splitlines()[0] == first for path in profiles())


# Generated blocks of the pages: README.md, docs/results.md and the pages on how the systems work.


BLOCK = "Before.\n\n<!-- made: {} -->\nold\n<!-- made: end -->\n\nAfter.\n"
MATCH = {
    "score": {"value": 0.75, "low": 0.6, "high": 0.86, "n": 40},
    "wins": 30,
    "draws": 0,
    "losses": 10,
    "elo": 190.8,
    "elo_low": 70.4,
    "elo_high": 311.0,
}
ALL_WON = MATCH | {"wins": 40, "losses": 0, "elo": None, "elo_low": 566.2, "elo_high": None}


@pytest.fixture
def measured(tmp_path):
    (tmp_path / "params.yaml").write_text("profile: laptop\n")
    (tmp_path / "docs/measured").mkdir(parents=True)
    measured = {"value": 0.5, "low": 0.4, "high": 0.6, "n": 2000, "command": "make measure-search_depth"}
    (tmp_path / "docs/measured/search_depth.json").write_text(json.dumps({"cnn_unbeaten_vs_depth3": measured}))
    matches = {"matches": {"one_ply": ALL_WON, "a_new_one": MATCH}}
    (tmp_path / "docs/measured/amazons_engine.json").write_text(json.dumps(matches))
    return tmp_path


def filled(measured, block, page="README.md"):
    (measured / page).write_text(BLOCK.format(block))
    (text,) = filled_pages(measured).values()
    return text


def test_the_summary_has_a_verdict_on_each_published_system(measured):
    text = filled(measured, "summary")
    rows = [line for line in text.splitlines() if line.startswith("| [")]
    assert len(rows) == sum(system.claim is not None for system in SYSTEMS.values()) == 5
    depth = "| published net: unbeaten rate against always three plies | - | 0.500 (0.400 to 0.600); measured |"
    assert any(f"{depth} **not reached**: " in row and row.endswith("; `make measure-search_depth` |") for row in rows)
    assert sum("**not measured**" in row for row in rows) == 4
    assert "old" not in text
    assert text.startswith("Before.\n\n<!-- made: summary -->\n\n| system | published |")
    assert text.endswith("|\n\n<!-- made: end -->\n\nAfter.\n")
    (measured / "README.md").write_text(text)
    assert list(filled_pages(measured).values()) == [text]


def test_the_verdicts_are_a_line_for_each_published_system(measured):
    rows = [line for line in filled(measured, "verdicts").splitlines() if line.startswith("- [")]
    assert [row.partition("(docs/")[2][:12] for row in rows] == ["how-it-works"] * 5
    (depth,) = (row for row in rows if "three plies" in row)
    assert "**not reached**. Published net: unbeaten rate" in depth
    assert depth.endswith("0.500 (0.400 to 0.600); measured; `make measure-search_depth`")


def test_blocks_of_a_page_are_written_separately(measured):
    (measured / "README.md").write_text(BLOCK.format("summary") + BLOCK.format("matches amazons_engine"))
    (text,) = filled_pages(measured).values()
    assert text.count("Before.") == text.count("After.") == 2
    assert "old" not in text
    assert text.index("| system |") < text.index("| match |")


@pytest.mark.parametrize("block", ["<!-- made: summary -->\nold\n", "<!-- made:summary -->\nold\n<!-- made: end -->\n"])
def test_unclosed_or_unknown_block_is_an_error(measured, block):
    (measured / "README.md").write_text(block + BLOCK.format("summary"))
    with pytest.raises(ZugwerkError, match=r"README\.md: a block is '<!-- made: NAME WORDS -->'"):
        filled_pages(measured)


def test_a_block_has_the_named_figures(measured):
    assert filled(measured, "figures search_depth unbeaten_vs_fixed time_outs").count("\n| ") == 4


def test_matches_have_wins_draws_losses_score_and_elo(measured):
    text = filled(measured, "matches amazons_engine")
    assert "| 40 | 40/0/0 | 0.750 | 0.600 to 0.860 | above +566 |" in text
    assert "| a new one | 40 | 30/0/10 | 0.750 | 0.600 to 0.860 | +191 (+70 to +311) |" in text


def test_the_results_have_a_section_for_each_system(measured):
    text = filled(measured, "results", "docs/results.md")
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == [system.title for system in SYSTEMS.values()]
    assert "0.400 to 0.600" in text
    assert "time of self-play" not in text  # git has no times of the graph's runs


def test_law_of_boards_has_a_row_for_each_side():
    adds = {"value": 1.12, "low": 1.1, "high": 1.15}
    scratch = {"value": 1.25, "low": 1.2, "high": 1.3, "n": 24, "boards": [11, 13, 15], "of_multiply_adds": adds}
    rows = TABLES["law"][1]({"law": {"alphabeta2": {"grown": scratch, "scratch": scratch}}})
    assert (
        rows[-1]
        == "| alpha-beta, 2 plies | from scratch | 1.25 (1.20 to 1.30) | 1.12 (1.10 to 1.15) | 11, 13, 15 | 24 |"
    )
    assert rows[-2].startswith("| alpha-beta, 2 plies | grown over two boards |")


def test_seconds_of_the_line_net_name_what_bounds_them():
    seconds = {"value": 12.4, "low": None, "high": None, "n": 8, "early": 8, "short": 0}
    rows = TABLES["lines"][1](
        {"lines": {"20": {"mcts1000": {"scratch": seconds, "games": 100, "hardware": "2 cores of A"}}}}
    )
    assert rows[-1] == "| 20 | MCTS, 1,000 playouts | - | 12; at most in 8 | - | - | 8 | 100 | A |"


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ("figure search_depth", r"README\.md: no block 'figure'; there are: summary, verdicts, figures, "),
        ("figures search_depths", "'made: figures search_depths': a system, then figures of it"),
        ("figures search_depth", "'made: figures search_depth': a system, then figures of it"),
        ("figures search_depth wins", "'made: figures search_depth wins'"),
    ],
)
def test_a_block_that_cannot_be_made_is_reported(measured, block, message):
    with pytest.raises(ZugwerkError, match=message):
        filled(measured, block)


def test_departures_from_the_printed_configuration_come_from_the_params(measured):
    for name in ("params.yaml", "profiles"):
        (shutil.copytree if name == "profiles" else shutil.copy)(ROOT / name, measured / name)
    rows = {row.split(" | ")[0]: row.split(" | ")[1:4] for row in filled(measured, "departures").splitlines()}
    assert rows["| `amazons_train.width`"] == ["`1.0`", "`0.25`", "`0.5`"]
    assert rows["| `amazons_archive.games`"] == ["`25000`", "`1200`", ""]
    assert "| `amazons_train.batch_norm`" not in rows  # as printed
    night = measured / "profiles/overnight.yaml"
    night.write_text(night.read_text().replace("width: 0.5", "width: 1.0"))
    assert "| `amazons_train.width` | `1.0` | `0.25` |  | " in filled(measured, "departures")


def test_pages_without_blocks_stay_unchanged(measured):
    (measured / "README.md").write_text("A page.\n")
    assert not filled_pages(measured)


def test_every_published_system_has_a_page_and_its_chart():
    assert {path.stem for path in pictures(ROOT)} == {name for system in SYSTEMS.values() for name in system.pictures}
    for system in SYSTEMS.values():
        page = ROOT / "docs" / system.page
        assert page.is_file()
        if system.claim:
            assert "<!-- made: " in page.read_text()
            assert "](../images/" in page.read_text()

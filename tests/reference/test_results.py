"""Generated blocks of the pages: README.md, docs/results.md and the pages on how the systems work."""

import json
import re
import shutil

import pytest

from pipeline_src.errors import ZugwerkError
from pipeline_src.reference.__main__ import filled_pages, pictures
from pipeline_src.report.figures import SYSTEMS
from tests.layout.imports import ROOT

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
    (tmp_path / "docs/measured/search_depth.json").write_text(json.dumps({"cnn_unbeaten_vs_hand_table": measured}))
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
    depth = (
        "| published net: unbeaten rate against three tables written by hand | - | 0.500 (0.400 to 0.600); measured |"
    )
    assert any(f"{depth} **not reached**: its table is not printed;" in row for row in rows)
    assert sum("**not measured**" in row for row in rows) == 4
    assert "old" not in text
    assert text.startswith("Before.\n\n<!-- made: summary -->\n\n| system | published |")
    assert text.endswith("|\n\n<!-- made: end -->\n\nAfter.\n")
    (measured / "README.md").write_text(text)
    assert list(filled_pages(measured).values()) == [text]


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


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ("figure search_depth", r"README\.md: no block 'figure'; there are: summary, figures, "),
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

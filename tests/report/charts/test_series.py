"""What charts show of the files: ``rows.json`` has the rows of all, and was read by eye when it was last changed."""

import json
from pathlib import Path

import pytest

from pipeline_src.files import finite
from pipeline_src.report.charts import charts, drawn
from pipeline_src.systems.gomoku_zero.charts import rated_hours
from tests.report.charts.project import CHECKOUT, FILES, write
from tests.report.project import report

ROWS = json.loads(Path(__file__).with_name("rows.json").read_text())
FOUND = {chart.name: chart for system in drawn() for chart in charts(system, CHECKOUT)}
GOMOKU = "artifacts/reports/gomoku"


@pytest.mark.parametrize("name", sorted({*ROWS, *FOUND}))
def test_a_chart_shows_the_golden_rows(name):
    assert finite(FOUND[name].rows) == ROWS[name]


def test_axes_have_their_scales_and_units():
    assert FOUND["joseki-scaling"].spec["encoding"]["x"]["scale"]["type"] == "log"
    assert "hours" in FOUND["gomoku-elo-hours"].spec["encoding"]["x"]["title"]


@pytest.mark.parametrize(
    ("player", "words"), [("mcts:playouts=1000", "MCTS with 1,000 playouts"), ("mcts:playouts=64", "mcts:playouts=64")]
)
def test_elo_names_the_player_at_zero(tmp_path, player, words):
    write(tmp_path)
    section = {"anchor": "weak", "opponents": {"weak": {"player": player}}}
    report(tmp_path, "gomoku/evaluate.json", {}, gomoku_evaluate=section)
    captions = {chart.name: chart.caption for chart in charts("gomoku", tmp_path)}
    assert f"; {words} is 0." in captions["gomoku-elo"]
    assert f"; {words} is 0." in captions["gomoku-elo-hours"]


def test_hours_include_unrated_generations():
    assert [(row["hours"], row["elo"]) for row in rated_hours(CHECKOUT)] == [(1.0, -100.5), (4.5, 50.0)]


@pytest.mark.parametrize("rating", ["4,1,0,2\n", ""], ids=["of a removed generation", "without times"])
def test_elo_is_by_generation_alone_without_hours(tmp_path, rating):
    write(tmp_path, [name for name in FILES if rating or not name.endswith("02.timings.json")])
    with open(tmp_path / GOMOKU / "elo.csv", "a") as file:
        file.write(rating)
    names = [chart.name for chart in charts("gomoku", tmp_path)]
    assert "gomoku-elo" in names
    assert "gomoku-elo-hours" not in names


def test_an_empty_cell_is_a_gap(tmp_path):
    write(tmp_path)
    path = tmp_path / "artifacts/reports/amazons/train/residual.csv"
    path.write_text(path.read_text().replace("2.0,0.5,0.5,0.75", "2.0,,0.5,0.75\n,0.5,0.5,0.75"))
    (chart,) = (one for one in charts("amazons", tmp_path) if one.name == "amazons-learning")
    moves = [
        row for row in chart.rows if (row["panel"], row["series"]) == ("top-1 accuracy, move (from, to)", "residual")
    ]
    assert [(row["x"], row["y"]) for row in moves] == [(1, 0.25), (2, None)]

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from pipeline_src import yaml12
from pipeline_src.errors import ZugwerkError
from pipeline_src.files import finite
from pipeline_src.report.charts import SPECS, Metrics, charts, drawn, interactive, png, points, svg, table
from pipeline_src.report.figures import committed_run
from pipeline_src.systems.gomoku_zero.charts import rated_hours
from tests.report.project import CHECKOUT, FILES, report, write_files

ROOT = Path(__file__).parents[3]
NOT_NEEDED = re.compile(r"params\.yaml|evaluate\.json|generations/|one_ply\.phases|train/(soft|gone)|matches")


KINDS = ("gomoku-losses", "amazons-calibration", "amazons-phases", "growing-against-scratch-6-9", "depth-confusion")


@pytest.fixture(scope="module")
def all_charts():
    return [chart for system in drawn() for chart in charts(system, CHECKOUT)]


@pytest.fixture(scope="module")
def pictures(all_charts):
    """Of a chart of each kind."""
    return {chart.name: svg(chart) for chart in all_charts if chart.name in KINDS}


@pytest.fixture(scope="module")
def own_charts():
    """Of the committed run."""
    with committed_run(ROOT) as run:
        return [chart for system in drawn() for chart in charts(system, run)]


def test_no_files_give_no_chart(tmp_path):
    assert [charts(system, tmp_path) for system in drawn()] == [[]] * len(drawn())


def test_nets_outside_the_params_are_left_out(tmp_path):
    write_files(tmp_path)
    for name, shown in (("soft argmax", True), ("cross entropy", False)):
        other = tmp_path / f"artifacts/reports/amazons/train/{name.replace(' ', '_')}.csv"
        other.write_text((tmp_path / "artifacts/reports/amazons/train/residual.csv").read_text())
        (rows,) = (one.rows for one in charts("amazons", tmp_path) if one.name == "amazons-learning")
        assert (name in {row["series"] for row in rows}) == shown


def test_an_unknown_system_is_named(tmp_path):
    with pytest.raises(ZugwerkError, match="no charts of 'hex'"):
        charts("hex", tmp_path)


@pytest.mark.parametrize("name", [name for name in FILES if not NOT_NEEDED.search(name)])
def test_charts_need_only_own_file_and_name_damaged_one(tmp_path, name):
    system = re.search(r"amazons|gomoku|growing|joseki|depth", name)[0]
    write_files(tmp_path, [name, "params.yaml"])
    found = charts(system, tmp_path)
    assert all(one.name.startswith(f"{system}-") for one in found)
    assert found or "train/smote" in name or "search_depth" in name  # which need another one's names
    if "train/smote" in name:
        write_files(tmp_path, ["artifacts/reports/depth/balance.csv"])
    for damage in ("a,b\n1,2\n", "", "\xff") if name.endswith(".csv") else ("{", "[]", "\xff"):
        (tmp_path / name).write_bytes(damage.encode("latin-1"))
        with pytest.raises(ZugwerkError, match=re.escape(Path(name).name)):
            charts(system, tmp_path)


def test_scores_of_a_handful_of_games_are_not_drawn(tmp_path):
    """No interval is narrower than a half: nothing can be read off."""
    path = tmp_path / "artifacts/reports/gomoku/table3.csv"
    path.parent.mkdir(parents=True)
    head = "generation,opponent,wins,draws,losses,points,games,score,low,high\n"
    path.write_text(f"{head}1,minimax,0,0,4,0,4,0,0,0.66\n3,minimax,2,0,2,2,4,0.5,0.09,0.91\n")
    assert charts("gomoku", tmp_path) == []
    path.write_text(f"{head}1,minimax,0,0,4,0,4,0,0,0.66\n3,minimax,0,0,40,0,40,0,0,0.09\n")
    assert [chart.name for chart in charts("gomoku", tmp_path)] == ["gomoku-baselines"]


def test_names_are_unique_and_valid_anchors(all_charts, own_charts):
    for found in (all_charts, own_charts):
        names = [chart.name for chart in found]
        assert len({*names}) == len(names) > 20
        assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", name) for name in names)


def test_captions_have_source_and_command(all_charts):
    stages = yaml12.parse((ROOT / "dvc.yaml").read_text())["stages"]
    targets = re.findall(r"^(measure-%|[\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for chart in all_charts:
        assert re.search(r" From (artifacts/reports|docs/measured)/\S+", chart.caption), chart.name
        commands = chart.caption.partition("made again by: ")[2]
        for stage in re.findall(r"dvc repro ((?:\w+_\w+ ?)+)", commands):
            assert {*stage.split()} <= stages.keys(), chart.name
        for target in re.findall(r"make (measure-\w+)", commands):
            assert target in targets or "measure-%" in targets, chart.name
        assert re.match(r"dvc repro |make measure-", commands), chart.name


def test_svg_is_one_well_formed_scalable_element(all_charts, pictures):
    titles = {chart.name: chart.title for chart in all_charts}
    for name, text in pictures.items():
        assert text.startswith("<svg ")
        root = ElementTree.fromstring(text)
        assert root.get("viewBox")
        assert root.get("width") is root.get("height") is None
        assert (root.get("role"), root.get("aria-label")) == ("img", titles[name])
        assert not [e for e in root.iter() if e.tag.rpartition("}")[2] in ("metadata", "style", "image", "script")]
        assert "var(--" not in text
        words = {word for element in root.iter() for word in (element.text or "").split()}
        assert not {"NaN", "null", "undefined"} & words


def test_text_is_kept_as_text(pictures):
    root = ElementTree.fromstring(pictures["gomoku-losses"])
    words = {element.text for element in root.iter() if element.tag.endswith("text")}
    assert {"policy", "value", "mean", "loss", "training step, over all generations"} <= words


def test_the_same_numbers_give_the_same_picture(all_charts, pictures):
    (losses,) = (chart for chart in all_charts if chart.name == "gomoku-losses")
    assert svg(losses) == pictures[losses.name]
    assert png(all_charts[0], scale=0.5).startswith(b"\x89PNG")


def test_ids_are_unique_to_a_chart_and_references_resolve(pictures):
    seen = set()
    for name, text in pictures.items():
        own = re.findall(r'\bid="([^"]+)"', text)
        assert len(own) == len({*own})
        assert not seen & {*own}
        assert all(one.startswith(f"{name}-") for one in own)
        assert {*re.findall(r"url\(#([^)]+)\)", text)} <= {*own}
        seen |= {*own}


@pytest.mark.slow
def test_every_chart_is_drawn_and_fits_a_phone(all_charts, own_charts):
    for chart in [*all_charts, *own_charts]:
        width = float(ElementTree.fromstring(svg(chart)).get("viewBox").split()[2])
        assert 100 < width < 440, chart.name


def test_an_interactive_chart_is_json_that_ends_no_script(all_charts):
    for chart in all_charts:
        spec = json.loads(interactive(chart._replace(spec=chart.spec | {"description": "</script>"})))
        assert spec["description"] == "</script>"
        assert "<" not in interactive(chart)
        assert spec["data"]["values"] == chart.rows


@pytest.mark.parametrize("template", ["linear", "calibration", "ranked", "heat"])
def test_a_template_has_no_anchor_that_dvc_does_not_know(template):
    text = (SPECS / f"{template}.json").read_text()
    known = r"DATA|TITLE|[XY](_LABEL)?|COLOR|STROKE_DASH|SHAPE|ZOOM_AND_PAN|PLOT_WIDTH|PLOT_HEIGHT"
    assert all(re.fullmatch(known, anchor) for anchor in re.findall(r"<DVC_METRIC_(\w+)>", text))


def test_a_table_is_read_by_column(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("name,x,low,high\na,1,0.5,2\nb,,,nan\n")
    rows = table(path, "x", "low", "high", words=("name",))
    assert finite(rows) == [
        {"name": "a", "x": 1, "low": 0.5, "high": 2},
        {"name": "b", "x": None, "low": None, "high": None},
    ]
    assert points(rows[:1], "x", "x", series="s") == [{"x": 1, "y": 1, "low": 0.5, "high": 2, "series": "s"}]
    assert points(rows[:1], "x", {"low": "l", "high": "h"}) == [
        {"x": 1, "y": 0.5, "series": "l"},
        {"x": 1, "y": 2, "series": "h"},
    ]


def test_a_table_without_rows_counts_as_missing(tmp_path):
    path = tmp_path / "a.csv"
    assert table(path, "x") == []
    path.write_text("x,y\n")
    assert table(path, "x") == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x,y\n1,2\n3\n", "no table \\(line 3: not as many cells as columns"),
        ("x,y\n1,two\n", "no table \\(line 2: y is no number: 'two'"),
        ("x,z\n1,2\n", "no table \\(line 1: no column y"),
        ("y\n1\n", "damaged \\(row 1: 'word'"),
    ],
)
def test_damaged_files_are_named(tmp_path, text, message):
    path = tmp_path / "a.csv"
    path.write_text(text)
    with pytest.raises(ZugwerkError, match=rf"a\.csv: {message}"):
        table(path, "y", words=("word",))


def test_metrics_are_read_by_key(tmp_path):
    path = tmp_path / "a.json"
    assert Metrics(path).keys() == Metrics(path).rows("rows", "x") == []
    estimates = '{"score": {"value": 0.5, "low": null, "high": 0.75, "n": 3}, "later": {"value": null}}'
    path.write_text(f'{{"a": {estimates}, "rows": [{{"x": 1}}]}}')
    found = Metrics(path)
    assert found.keys() == ["a", "rows"]
    assert found.keys("a") == ["score", "later"]
    assert found.keys("b") == []
    assert finite(found.estimate("a", "score")) == {"value": 0.5, "low": None, "high": 0.75}
    assert found.estimate("a", "later") is found.estimate("a", "none") is found.estimate("b", "c") is None
    assert found.rows("rows", "x") == [{"x": 1}]
    assert found.rows("none", "x") == []


@pytest.mark.parametrize(
    "ask",
    [
        lambda found: found.estimate("words"),
        lambda found: found.estimate("words", "more"),
        lambda found: found.estimate("odd"),
        lambda found: found.rows("words", "x"),
        lambda found: found.rows("list", "x"),
        lambda found: found.keys("words"),
    ],
)
def test_metrics_with_other_shape_are_refused(tmp_path, ask):
    path = tmp_path / "a.json"
    path.write_text('{"words": "none", "odd": {"value": "much"}, "list": [1]}')
    with pytest.raises(ZugwerkError, match=r"a\.json: damaged \((row 1|'words)"):
        ask(Metrics(path))


# What charts show of the files: ``rows.json`` has the rows of all, and was read by eye when it was last changed.


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
    write_files(tmp_path)
    section = {"anchor": "weak", "opponents": {"weak": {"player": player}}}
    report(tmp_path, "gomoku/evaluate.json", {}, gomoku_evaluate=section)
    captions = {chart.name: chart.caption for chart in charts("gomoku", tmp_path)}
    assert f"; {words} is 0." in captions["gomoku-elo"]
    assert f"; {words} is 0." in captions["gomoku-elo-hours"]


def test_hours_include_unrated_generations():
    assert [(row["hours"], row["elo"]) for row in rated_hours(CHECKOUT)] == [(1.0, -100.5), (4.5, 50.0)]


@pytest.mark.parametrize("rating", ["4,1,0,2\n", ""], ids=["of a removed generation", "without times"])
def test_elo_is_by_generation_alone_without_hours(tmp_path, rating):
    write_files(tmp_path, [name for name in FILES if rating or not name.endswith("02.timings.json")])
    with open(tmp_path / GOMOKU / "elo.csv", "a") as file:
        file.write(rating)
    names = [chart.name for chart in charts("gomoku", tmp_path)]
    assert "gomoku-elo" in names
    assert "gomoku-elo-hours" not in names


def test_an_empty_cell_is_a_gap(tmp_path):
    write_files(tmp_path)
    path = tmp_path / "artifacts/reports/amazons/train/residual.csv"
    path.write_text(path.read_text().replace("2.0,0.5,0.5,0.75", "2.0,,0.5,0.75\n,0.5,0.5,0.75"))
    (chart,) = (one for one in charts("amazons", tmp_path) if one.name == "amazons-learning")
    moves = [
        row for row in chart.rows if (row["panel"], row["series"]) == ("top-1 accuracy, move (from, to)", "residual")
    ]
    assert [(row["x"], row["y"]) for row in moves] == [(1, 0.25), (2, None)]


def test_line_net_is_drawn_by_board_from_two_boards_on(tmp_path):
    path = tmp_path / "docs/measured/growing_boards.json"
    path.parent.mkdir(parents=True)

    def seconds(value, early=0):
        return {"value": value, "low": None, "high": None, "early": early, "short": 0}

    def drawn_of(lines):
        measured = {boards: {"alphabeta2": sides} for boards, sides in lines.items()}
        path.write_text(json.dumps({"lines": measured}))
        return {one.name: one for one in charts("growing_boards", tmp_path)}

    whole = {"grown": seconds(46.0), "scratch": seconds(146.0)}
    assert drawn_of({"9-15": whole}) == {}
    assert drawn_of({"9-15": whole, "11": {"scratch": seconds(60.0, early=2)}}) == {}, "bounds are not drawn"
    (found,) = drawn_of({"11": {"scratch": seconds(60.0)}, "6-9-15": whole, "9-15": whole}).values()
    assert [(row["x"], row["series"], row["y"]) for row in found.rows] == [
        (11, "from scratch", 60.0),
        (15, "grown from 6, 9", 46.0),
        (15, "from scratch", 146.0),
        (15, "grown from 9", 46.0),
    ]

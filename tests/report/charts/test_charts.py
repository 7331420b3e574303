import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml
from matplotlib.backends.backend_agg import FigureCanvasAgg

from pipeline_src.errors import ZugwerkError
from pipeline_src.report.charts import SYSTEMS, charts, png, svg
from pipeline_src.report.charts.chart import XLINK
from tests.report.charts.project import FILES, write

ROOT = Path(__file__).parents[3]
NOT_NEEDED = re.compile(r"params\.yaml|evaluate\.json|generations/|one_ply\.phases|train/(soft|gone)|matches")


@pytest.fixture(scope="module")
def all_charts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("project")
    write(folder)
    return [chart for system in SYSTEMS for chart in charts(system, folder)]


@pytest.fixture(scope="module")
def pictures(all_charts):
    return {chart.name: svg(chart.figure) for chart in all_charts}


@pytest.fixture(scope="module")
def own_charts():
    """Of this checkout's own reports."""
    return [chart for system in SYSTEMS for chart in charts(system, ROOT)]


def test_nothing_made_yet_is_no_chart(tmp_path):
    assert [charts(system, tmp_path) for system in SYSTEMS] == [[]] * len(SYSTEMS)


def test_nets_that_params_do_not_name_are_of_an_earlier_run(tmp_path):
    write(tmp_path)
    for name, shown in (("soft argmax", True), ("cross entropy", False)):
        other = tmp_path / f"artifacts/reports/amazons/train/{name.replace(' ', '_')}.csv"
        other.write_text((tmp_path / "artifacts/reports/amazons/train/residual.csv").read_text())
        (drawn,) = (svg(one.figure) for one in charts("amazons", tmp_path) if one.name == "amazons-learning")
        assert (name in drawn) == shown


def test_an_unknown_system_is_named(tmp_path):
    with pytest.raises(ZugwerkError, match="no charts of 'hex'"):
        charts("hex", tmp_path)


@pytest.mark.parametrize("name", [name for name in FILES if not NOT_NEEDED.search(name)])
def test_each_file_alone_gives_what_can_be_drawn_of_it_and_damaged_is_named(tmp_path, name):
    system = re.search(r"amazons|gomoku|growing|joseki|depth", name)[0]
    write(tmp_path, [name, "params.yaml"])
    found = charts(system, tmp_path)
    assert all(one.name.startswith(f"{system}-") for one in found)
    assert found or "train/smote" in name or "search_depth" in name  # which need another one's names
    if "train/smote" in name:
        write(tmp_path, ["artifacts/reports/depth/balance.csv"])
    for damage in ("a,b\n1,2\n", "", "\xff") if name.endswith(".csv") else ("{", "[]", "\xff"):
        (tmp_path / name).write_bytes(damage.encode("latin-1"))
        with pytest.raises(ZugwerkError, match=re.escape(Path(name).name)):
            charts(system, tmp_path)


def test_names_are_fit_for_anchors_and_no_two_are_the_same(all_charts, own_charts):
    for found in (all_charts, own_charts):
        names = [chart.name for chart in found]
        assert len({*names}) == len(names) > 20
        assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", name) for name in names)


def test_captions_say_where_the_numbers_are_from_and_how_to_make_them_again(all_charts):
    stages = yaml.safe_load((ROOT / "dvc.yaml").read_text())["stages"]
    targets = re.findall(r"^(measure-%|[\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for chart in all_charts:
        assert re.search(r" From (artifacts/reports|docs/measured)/\S+", chart.caption), chart.name
        commands = chart.caption.partition("made again by: ")[2]
        for stage in re.findall(r"dvc repro ((?:\w+_\w+ ?)+)", commands):
            assert {*stage.split()} <= stages.keys(), chart.name
        for target in re.findall(r"make (measure-\w+)", commands):
            assert target in targets or "measure-%" in targets, chart.name
        assert re.match(r"dvc repro |make measure-", commands), chart.name


def test_svg_is_one_well_formed_element_that_stretches(all_charts, pictures):
    for chart in all_charts:
        text = pictures[chart.name]
        assert text.startswith("<svg ")
        root = ElementTree.fromstring(text)
        assert root.get("viewBox")
        assert root.get("width") is root.get("height") is None
        assert (root.get("role"), root.get("aria-label")) == ("img", chart.title)
        assert not [e for e in root.iter() if e.tag.rpartition("}")[2] in ("metadata", "style", "image", "script")]


def test_text_is_kept_as_text(pictures):
    root = ElementTree.fromstring(pictures["gomoku-losses"])
    words = {element.text for element in root.iter() if element.tag.endswith("text")}
    assert {"policy", "value", "mean", "loss", "training step, over all generations"} <= words


def test_the_same_numbers_give_the_same_picture(pictures, tmp_path):
    write(tmp_path)
    again = [chart for system in SYSTEMS for chart in charts(system, tmp_path)]
    for chart in again:
        assert png(chart.figure, dpi=40).startswith(b"\x89PNG")
        assert svg(chart.figure) == pictures[chart.name]
    assert len(again) == len(pictures)


def test_ids_are_the_charts_own_and_references_lead_to_them(pictures):
    seen = set()
    for name, text in pictures.items():
        root = ElementTree.fromstring(text)
        own = [element.get("id") for element in root.iter() if element.get("id")]
        assert len(own) == len({*own})
        assert not seen & {*own}
        assert all(one.startswith(f"{name}-") for one in own)
        references = [element.get(f"{{{XLINK}}}href") for element in root.iter() if element.get(f"{{{XLINK}}}href")]
        references += re.findall(r"url\((#[^)]+)\)", text)
        assert references
        assert {one.removeprefix("#") for one in references} <= {*own}
        seen |= {*own}


def test_nothing_is_cut_off_and_no_legend_covers_a_panel(all_charts, own_charts):
    for chart in [*all_charts, *own_charts]:
        renderer = FigureCanvasAgg(chart.figure).get_renderer()
        drawn, (width, height) = chart.figure.get_tightbbox(renderer), chart.figure.get_size_inches()
        assert min(drawn.x0, drawn.y0, width - drawn.x1, height - drawn.y1) > -0.02, chart.name
        for legend in chart.figure.legends:
            box = legend.get_window_extent(renderer)
            assert not [axes for axes in chart.figure.axes if box.overlaps(axes.bbox)], chart.name

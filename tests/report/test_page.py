import json
import re
from html.parser import HTMLParser

import pytest

from pipeline_src.errors import ZugwerkError
from pipeline_src.report import page
from pipeline_src.report.registry import REGISTRY
from pipeline_src.report.systems import SYSTEMS

VOID = {"meta", "link", "br", "hr", "img", "input", "path", "circle", "rect", "use", "line"}


class Checked(HTMLParser):
    """Every element is closed where it has to be; ids and what the page loads are kept."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.loads, self.text = [], [], [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.ids += [found["id"]] if "id" in found else []
        self.loads += [value for key, value in attributes if key in ("src", "href") and not value.startswith("#")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_data(self, data):
        self.text.append(data)


@pytest.fixture
def checkout(tmp_path):
    (tmp_path / "params.yaml").write_text("profile: laptop\nseed: 7\n")
    reports = tmp_path / "artifacts/reports/joseki"
    reports.mkdir(parents=True)
    (reports / "build.json").write_text(json.dumps({"games": 500, "patterns": 30_000}))
    return tmp_path


def test_a_checkout_without_results_gets_a_page_that_says_so(tmp_path):
    (tmp_path / "params.yaml").write_text("profile: laptop\nseed: 7\n")
    page.write_report(tmp_path / "out", tmp_path)
    text = (tmp_path / "out/index.html").read_text()
    assert text.count("not made yet") == sum(len(rows) for rows in REGISTRY.values())
    assert all(system.title in text for system in SYSTEMS.values())


def test_the_page_holds_all_it_shows_and_every_id_once(checkout):
    page.write_report(checkout / "out", checkout)
    found = Checked((checkout / "out/index.html").read_text())
    assert found.loads == []
    assert len(found.ids) == len(set(found.ids))
    assert "30,000" in " ".join(found.text)
    assert "1.08" in " ".join(found.text)  # of 27,686 published patterns


def test_json_and_markdown_have_the_pages_figures(checkout):
    page.write_report(checkout / "out", checkout)
    assert json.loads((checkout / "out/figures.json").read_text())["joseki"]["patterns"]["ours"] == 30_000
    assert re.search(r"\| corner patterns \| 27,686 \| 30,000 \|", (checkout / "out/figures.md").read_text())


def test_text_of_a_file_is_no_markup(checkout):
    measured = checkout / "docs/measured"
    measured.mkdir(parents=True)
    row = {"value": 0, "data": "<script>alert(1)</script>", "command": "make <b>", "hardware": '"><img src=x>'}
    (measured / "amazons_engine.json").write_text(json.dumps({"time_losses": row}))
    page.write_report(checkout / "out", checkout)
    text = (checkout / "out/index.html").read_text()
    assert "<script" not in text
    assert "<img" not in text
    assert "&lt;script&gt;alert(1)" in text


def test_a_damaged_metrics_file_is_named_and_the_old_page_stays(checkout):
    page.write_report(checkout / "out", checkout)
    before = (checkout / "out/index.html").read_bytes()
    (checkout / "artifacts/reports/joseki/build.json").write_text('{"games": 5')
    with pytest.raises(ZugwerkError, match=r"build\.json"):
        page.write_report(checkout / "out", checkout)
    assert (checkout / "out/index.html").read_bytes() == before

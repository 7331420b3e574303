import json
import re
from html.parser import HTMLParser

import pytest

from pipeline_src.errors import ZugwerkError
from pipeline_src.report import page
from pipeline_src.report.figures import REGISTRY, SYSTEMS
from tests.report.charts.project import write
from tests.web.conftest import PHONE, browser, fits, violations  # noqa: F401 - a fixture

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


def test_the_page_is_self_contained_and_ids_are_unique(checkout):
    page.write_report(checkout / "out", checkout)
    found = Checked((checkout / "out/index.html").read_text())
    assert found.loads == []
    assert len(found.ids) == len(set(found.ids))
    assert "30,000" in " ".join(found.text)
    assert "1.08" in " ".join(found.text)  # of 27,686 published patterns


def test_the_page_opens_with_the_verdict_and_folds_the_tables(checkout):
    page.write_report(checkout / "out", checkout)
    text = (checkout / "out/index.html").read_text()
    body = text[text.index("<main>") :]
    assert body.index('id="verdict"') < body.index("not measured") < body.index('<section id="amazons_net">')
    assert body.count("<tr><td><a href=") == 5
    for table in re.finditer("<table>", body):
        assert body.rfind("<details>", 0, table.start()) > body.rfind("</details>", 0, table.start())


@pytest.mark.slow
def test_charts_have_offline_tooltips_and_text_alternatives(browser, tmp_path):  # noqa: F811
    write(tmp_path)
    page.write_report(tmp_path / "out", tmp_path)
    complaints = []
    with browser.new_context(viewport=PHONE, offline=True) as context:
        shown = context.new_page()
        shown.on("console", lambda message: complaints.append(message.text))
        shown.on("pageerror", lambda error: complaints.append(str(error)))
        shown.goto(f"file://{tmp_path / 'out/index.html'}")
        figure = shown.locator("figure", has_text="Elo by generation")
        figure.locator(".vega-embed .mark-symbol path").last.hover()
        tip = shown.locator("#vg-tooltip-element.visible")
        tip.wait_for()
        assert {"3", "50", "100"} <= {*tip.inner_text().split()}  # generation, Elo, end of its interval
        assert shown.locator('figure [role="img"][aria-label="Elo by generation"]').count() == 1
        shown.locator(".vega-embed").last.wait_for()
        assert fits(shown)
        shown.mouse.move(0, 0)
        tip.wait_for(state="hidden")
        assert violations(shown) == []
    assert complaints == []


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


def test_damaged_metrics_file_is_named_and_old_page_kept(checkout):
    page.write_report(checkout / "out", checkout)
    before = (checkout / "out/index.html").read_bytes()
    (checkout / "artifacts/reports/joseki/build.json").write_text('{"games": 5')
    with pytest.raises(ZugwerkError, match=r"build\.json"):
        page.write_report(checkout / "out", checkout)
    assert (checkout / "out/index.html").read_bytes() == before

import re

import pytest

from tests.docs.pages import PAGES, anchors, name, prose
from tests.layout.imports import ROOT

LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
MADE = ("artifacts/reports/index.html",)
"""Made by the graph, and in no fresh clone."""


def relative_links(path):
    return [link for link in LINK.findall(prose(path)) if not re.match(r"[a-z]+:", link)]


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_relative_link_leads_somewhere(page):
    for link in relative_links(page):
        file, _, anchor = link.partition("#")
        target = page if not file else (page.parent / file).resolve()
        assert target.is_relative_to(ROOT), f"{link} leads out of the project"
        assert target.exists() or target.relative_to(ROOT).as_posix() in MADE, f"no such file: {link}"
        if anchor:
            assert anchor in anchors(target), f"no such heading: {link}"


def test_the_index_has_every_page():
    index = ROOT / "docs" / "README.md"
    linked = {(index.parent / link.partition("#")[0]).resolve() for link in relative_links(index)}
    assert not {page for page in PAGES if page != index} - linked - {ROOT / "README.md"}

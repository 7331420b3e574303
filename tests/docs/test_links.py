import re

import pytest

from pipeline_src import yaml12
from pipeline_src.players.registry import makers_of, open_maker
from tests.docs.pages import PAGES, anchors, name, prose
from tests.layout.imports import ROOT

LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)|<img src=\"([^\"]+)\"")
MADE = ("artifacts/reports/index.html",)
"""Made by the graph, and in no fresh clone."""


def relative_links(path):
    found = [link or picture for link, picture in LINK.findall(prose(path))]
    return [link for link in found if not re.match(r"[a-z]+:", link)]


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


def test_every_model_that_is_named_is_made():
    locked = yaml12.parse((ROOT / "dvc.lock").read_text())["stages"].values()
    made = [out["path"] for stage in locked for out in stage["outs"]]
    night = yaml12.parse((ROOT / "profiles/overnight.yaml").read_text())["gomoku_generations"]
    made.append(f"artifacts/models/gomoku/{max(night)}")
    sources = [page.read_text() for page in PAGES if page.name != "experiments.md"]
    sources += [path.read_text() for path in (ROOT / "pipeline_src/cli").glob("*.py")]
    sources += [open_maker(where)[1].EXAMPLE for game in ("amazons", "gomoku") for where in makers_of(game).values()]
    named = {
        model for text in sources for model in re.findall(r"artifacts/models/[\w/]+\.\w+", text) if "NN" not in model
    }
    assert len(named) > 5
    assert not {model for model in named if not any(f"{model}/".startswith(f"{out}/") for out in made)}

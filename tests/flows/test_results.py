import json
from pathlib import Path

import pytest

from flows.results import REPORTS_URL, page_link, results_table


@pytest.fixture
def measured(checkout: Path) -> Path:
    """A checkout with a metrics file of one system and a measurement of another."""
    (checkout / "artifacts" / "reports" / "joseki").mkdir(parents=True)
    metrics = {"games": 1_000, "patterns": 13_843, "clashes_ours": 0}
    (checkout / "artifacts" / "reports" / "joseki" / "build.json").write_text(json.dumps(metrics))
    (checkout / "docs" / "measured").mkdir(parents=True)
    doubling = {"elo_per_doubling": {"value": 104.28333, "low": 61.5, "high": 147.068433, "n": 300}}
    (checkout / "docs" / "measured" / "amazons_engine.json").write_text(json.dumps(doubling))
    return checkout


def test_a_row_has_published_ours_interval_and_ratio(measured: Path) -> None:
    rows = {(row["system"], row["figure"]): row for row in results_table(measured)}

    def shown(system: str, figure: str) -> list[str]:
        return [rows[system, figure][column] for column in ("published", "ours", "interval", "ratio")]

    assert shown("joseki", "games") == ["507", "1,000", "-", "1.97"]
    assert shown("joseki", "patterns") == ["27,686", "13,843", "-", "0.5"]
    assert shown("joseki", "clashes_ours") == ["-", "0", "-", "-"]
    assert shown("amazons_engine", "elo_per_doubling") == ["-", "104", "61.5 to 147", "-"]
    assert shown("search_depth", "positions") == ["81,742,572", "not made yet", "-", "-"]
    assert rows["joseki", "games"]["command"] == "dvc repro joseki_build"


@pytest.mark.parametrize(
    ("system", "headings"),
    [
        ("amazons", {"amazons_net", "amazons_engine"}),
        ("gomoku", {"gomoku_zero", "gomoku_engine"}),
        ("growing", {"growing_boards"}),
        ("joseki", {"joseki"}),
        ("depth", {"search_depth"}),
    ],
)
def test_a_system_s_flow_has_the_figures_that_its_stages_make(measured: Path, system: str, headings: set[str]) -> None:
    assert {row["system"] for row in results_table(measured, system)} == headings


def test_the_link_is_to_the_page_of_the_checkout(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert page_link(checkout) is None
    page = checkout / "artifacts" / "reports" / "index.html"
    page.parent.mkdir(parents=True)
    page.touch()
    monkeypatch.setenv(REPORTS_URL, "http://127.0.0.1:4201")
    assert page_link(checkout) == page.as_uri()  # `make serve` shows the reports of its own checkout alone
    monkeypatch.setattr("flows.results.CHECKOUT", checkout)
    assert page_link(checkout) == "http://127.0.0.1:4201/index.html"

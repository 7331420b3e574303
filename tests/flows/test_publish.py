import base64
import re
from pathlib import Path

import pytest

from flows import publish
from flows.targets import Outcome
from pipeline_src.errors import ZugwerkError

REPORTS = """
  {system}_report:
    cmd: "true"
    metrics:
      - artifacts/reports/{system}/evaluate/a.json: {{cache: false}}
      - artifacts/reports/{system}/later.json: {{cache: false}}
    plots:
      - artifacts/reports/{system}/loss.csv: {{cache: false, x: epoch, y: loss, title: Training loss}}
      - artifacts/reports/{system}/board.png: {{cache: false}}
      - artifacts/reports/{system}/later.csv: {{cache: false}}
"""
PNG = b"\x89PNG" + bytes(20)


@pytest.fixture
def reported(checkout: Path) -> Path:
    """A checkout in which two systems have reported, each with a metric and a plot still missing."""
    for system in ("hex", "nim"):
        with open(checkout / "dvc.yaml", "a") as file:
            file.write(REPORTS.format(system=system))
        folder = checkout / "artifacts" / "reports" / system
        (folder / "evaluate").mkdir(parents=True)
        (folder / "evaluate" / "a.json").write_text('{"games": 12, "score": {"value": 0.123456789, "low": null}}')
        (folder / "loss.csv").write_text("epoch,loss\n0,2.0\n1,1.0\n")
        (folder / "board.png").write_bytes(PNG)
    return checkout


def test_metrics_are_the_ones_of_dvc_yaml_that_exist(reported: Path) -> None:
    tables = publish.metrics_tables(reported)
    assert set(tables) == {"hex", "nim"}
    assert tables["hex"] == [
        {"report": "evaluate/a", "metric": "games", "value": 12},
        {"report": "evaluate/a", "metric": "score.value", "value": 0.123457},
    ]


def test_plots_are_pictures_inside_the_page(reported: Path) -> None:
    pages = publish.plots_pages(reported)
    assert set(pages) == {"hex", "nim"}
    titles = re.findall(r"^### (.+)$", pages["nim"], re.MULTILINE)
    pictures = re.findall(r"^!\[.+\]\(data:image/png;base64,(.+)\)$", pages["nim"], re.MULTILINE)
    assert dict(zip(titles, map(base64.b64decode, pictures), strict=True)).keys() == {"Training loss", "board"}
    assert PNG in map(base64.b64decode, pictures)


def test_a_graph_that_cannot_be_read_is_an_error(checkout: Path) -> None:
    (checkout / "dvc.yaml").write_text("stages: [")
    with pytest.raises(ZugwerkError, match=r"(?s)`dvc metrics show --json` failed: .*dvc.yaml"):
        publish.metrics_tables(checkout)


def test_the_run_table_says_what_ran() -> None:
    outcomes = [Outcome("toy_train", ["toy_train@a", "toy_train@b"], 12.345), Outcome("toy_count", [], 0.5)]
    assert publish.run_table(outcomes) == [
        {"target": "toy_train", "ran": "toy_train@a, toy_train@b", "seconds": 12.3},
        {"target": "toy_count", "ran": "up to date", "seconds": 0.5},
    ]

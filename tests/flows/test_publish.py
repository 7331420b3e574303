import base64
import re
from pathlib import Path

import pytest

from flows import publish
from pipeline_src.errors import ZugwerkError
from pipeline_src.project.schedule import Outcome

REPORTS = """
  {system}_report:
    cmd: "true"
    metrics:
      - artifacts/reports/{system}/evaluate/a.json: {{cache: false}}
      - artifacts/reports/{system}/later.json: {{cache: false}}
"""


@pytest.fixture
def reported(checkout: Path) -> Path:
    """A checkout in which two systems have reported, each with a metric still missing."""
    for system in ("hex", "nim"):
        with open(checkout / "dvc.yaml", "a") as file:
            file.write(REPORTS.format(system=system))
        folder = checkout / "artifacts" / "reports" / system
        (folder / "evaluate").mkdir(parents=True)
        (folder / "evaluate" / "a.json").write_text('{"games": 12, "score": {"value": 0.123456789, "low": null}}')
    return checkout


def test_metrics_are_the_ones_of_dvc_yaml_that_exist(reported: Path) -> None:
    tables = publish.metrics_tables(reported)
    assert set(tables) == {"hex", "nim"}
    assert tables["hex"] == [
        {"report": "evaluate/a", "metric": "games", "value": 12},
        {"report": "evaluate/a", "metric": "score.value", "value": 0.123457},
    ]


def test_charts_are_pictures_inside_the_page(tmp_path: Path) -> None:
    reports = tmp_path / "artifacts" / "reports" / "gomoku"
    reports.mkdir(parents=True)
    (reports / "losses.csv").write_text(
        "generation,iteration,policy,value,mean\n1,20,4.5,1.0,2.75\n1,40,4.0,0.9,2.45\n"
    )
    page = publish.charts_page(tmp_path, "gomoku")
    assert re.findall(r"^### (.+)$", page, re.MULTILINE) == ["Losses over all generations"]
    (picture,) = re.findall(r"^!\[.+\]\(data:image/png;base64,(.+)\)$", page, re.MULTILINE)
    assert base64.b64decode(picture).startswith(b"\x89PNG")
    assert r"dvc repro gomoku\_evaluate" in page
    assert publish.charts_page(tmp_path, "joseki") == ""


def test_a_graph_that_cannot_be_read_is_an_error(checkout: Path) -> None:
    (checkout / "dvc.yaml").write_text("stages: [")
    with pytest.raises(ZugwerkError, match=r"(?s)`dvc metrics show` failed: .*dvc.yaml"):
        publish.metrics_tables(checkout)


def test_the_run_table_says_what_ran() -> None:
    outcomes = [Outcome("toy_train@a", "ran", 12.345), Outcome("toy_count", "up to date", 0.0)]
    assert publish.run_table(outcomes) == [
        {"target": "toy_train@a", "state": "ran", "seconds": 12.3},
        {"target": "toy_count", "state": "up to date", "seconds": 0.0},
    ]

import copy
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from flows.draw import draw

LINES = ["linear", "simple", "smooth", "scatter"]
BARS = ["bar_horizontal", "bar_horizontal_sorted"]
LEFT = ["scatter_jitter", "confusion", "confusion_normalized"]


@pytest.fixture(scope="module")
def specs(empty_checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What DVC makes of one table with each of its templates, and of two columns of it in one plot."""
    table = "epoch,train,test,seen\n0,2,2.5,a\n1,1,,b\n2,0.5,1.5,a\n"
    checkout = shutil.copytree(empty_checkout, tmp_path_factory.mktemp("plots") / "checkout")
    for name in ("loss.csv", "more.csv"):
        (checkout / name).write_text(table)
    plots: list[Any] = [
        *({name: {"template": name, "x": "epoch", "y": {"loss.csv": "train"}}} for name in LINES),
        *({name: {"template": name, "x": "train", "y": {"loss.csv": "seen"}}} for name in BARS),
        *({name: {"template": name, "x": "seen", "y": {"loss.csv": "epoch"}}} for name in LEFT),
        {"both": {"x": "epoch", "y": {"loss.csv": ["train", "test"]}}},
        {"two files": {"template": "bar_horizontal", "x": "train", "y": {"loss.csv": "seen", "more.csv": "seen"}}},
    ]
    (checkout / "dvc.yaml").write_text(yaml.safe_dump({"plots": plots}))
    command = [sys.executable, "-m", "dvc", "plots", "show", "--json"]
    shown = subprocess.run(command, cwd=checkout, capture_output=True, check=True).stdout
    return {name: entries[0]["content"] for name, entries in json.loads(shown)["data"].items()}


@pytest.mark.parametrize("template", [*LINES, *BARS, "both", "two files"])
def test_draws_lines_points_and_bars(specs: dict[str, dict[str, Any]], template: str) -> None:
    picture = draw(specs[template])
    assert picture is not None
    assert picture.startswith(b"\x89PNG")


@pytest.mark.parametrize("template", LEFT)
def test_leaves_other_kinds_alone(specs: dict[str, dict[str, Any]], template: str) -> None:
    assert draw(specs[template]) is None


def test_each_series_and_each_value_matters(specs: dict[str, dict[str, Any]]) -> None:
    pictures = {draw(specs["both"]), draw(specs["linear"])}
    for row in range(2):
        changed = copy.deepcopy(specs["both"])
        changed["data"]["values"][-row]["dvc_inferred_y_value"] = "7"
        pictures.add(draw(changed))
    assert len(pictures) == 4


def test_intervals_are_drawn_and_decoration_is_not(specs: dict[str, dict[str, Any]]) -> None:
    spec = copy.deepcopy(specs["linear"])
    plain = draw(spec)
    even = {"x": {"field": "even", "type": "quantitative"}, "y": {"field": "even", "type": "quantitative"}}
    spec["layer"].insert(0, {"data": {"values": [{"even": 0}]}, "mark": "line", "encoding": even})
    assert draw(spec) == plain
    ends = {"y": {"field": "train", "type": "quantitative"}, "y2": {"field": "epoch"}}
    spec["layer"].insert(0, {"mark": {"type": "rule"}, "encoding": ends})
    assert draw(spec) != plain

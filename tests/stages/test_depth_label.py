"""Label, as `dvc repro` runs it, with a clock of next to nothing."""

import numpy as np
import pytest

from pipeline_src import yaml12
from pipeline_src.errors import ZugwerkError
from pipeline_src.files import read_json
from pipeline_src.systems.search_depth import label
from pipeline_src.systems.search_depth.label import Labelled
from pipeline_src.systems.search_depth.positions import open_positions
from tests.run_stage import check_kill
from tests.systems.search_depth.players import GAME

LABEL = {"games": 4, "spent": 0.4, "judge_depth": 1, "tolerance": 0.25}
PARAMS = {
    "seed": 1,
    "parallel": {"workers": 1},
    "amazons_engine": {},
    "depth_game": GAME.model_dump(),
    "depth_label": LABEL,
}


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "params.yaml").write_text(yaml12.dump(PARAMS))
    return tmp_path


def made(folder):
    report = (folder / label.REPORT).read_bytes()
    return {path.name: path.read_bytes() for path in sorted((folder / label.OUT).iterdir())}, report


def test_the_positions_are_counted_and_clipped_into_the_classes(project):
    label.main()
    positions, report = open_positions(label.OUT), read_json(label.REPORT)
    assert len(positions) == report["positions"] == sum(report["reached"].values()) == sum(report["needed"].values())
    assert positions.classes == (GAME.lowest, GAME.highest)
    assert report["games"] == len(np.unique(positions.game)) == 4
    found = {int(depth): count for depth, count in report["reached"].items()}
    assert report["clipped_up"] == sum(count for depth, count in found.items() if depth < GAME.lowest) > 0
    assert report["clipped_down"] == sum(count for depth, count in found.items() if depth > GAME.highest)
    lowest = int((positions.reached == GAME.lowest).sum())
    assert lowest == report["clipped_up"] + found.get(GAME.lowest, 0)
    assert report["left_out"]["closed"] > 0
    assert positions.manifest["simulations"] == GAME.simulations
    assert (project / "artifacts/reports/depth/label.timings.json").exists()
    assert not label.WORK.exists()


def test_killed_run_resumes_to_the_same_bytes(project, monkeypatch):
    def run():
        label.main()
        return made(project)

    check_kill(monkeypatch, run)


def test_games_without_a_choice_are_an_error(project, monkeypatch):
    monkeypatch.setattr(label, "label_games", lambda _game, _params, games, _seed: [Labelled(closed=1)] * len(games))
    with pytest.raises(ZugwerkError, match=r"raise depth_label\.games"):
        label.main()

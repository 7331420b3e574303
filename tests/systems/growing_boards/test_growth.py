import dataclasses
import shutil
from pathlib import Path

import pytest
import torch
import yaml

from pipeline_src.errors import ZugwerkError
from pipeline_src.files import read_json, read_table
from pipeline_src.parallel import Parallel
from pipeline_src.records.parquet import read_records
from pipeline_src.systems.gomoku_zero.models import load_model
from pipeline_src.systems.gomoku_zero.params import setting_for
from pipeline_src.systems.growing_boards.growth import grow, multiply_adds
from pipeline_src.systems.growing_boards.params import CURVE, BoardFiles, GrowingBoard, GrowingConvergence
from tests.systems.gomoku_zero.settings import SECTIONS
from tests.systems.gomoku_zero.test_generation import contents

ONE, TWO = Parallel(workers=1), Parallel(workers=2)
SMALL, LARGE = GrowingBoard(4, None, 2, "freestyle-3"), GrowingBoard(5, 4, 2, "freestyle-3")
NEVER, AT_ONCE = GrowingConvergence(span=9), GrowingConvergence(span=1, loss_drop=1.0, score_gain=0.5)
GENERATION = ("net", "self_play", "train", "gate")


def settings(folder, **changed):
    """Settings of both boards."""
    sections = {f"growing_{name}": {**SECTIONS[f"gomoku_{name}"], **changed.get(name, {})} for name in GENERATION}
    path = folder / "params.yaml"
    path.write_text(yaml.safe_dump({"seed": 3, **sections}))
    return [setting_for(board.size, board.variant, path) for board in (SMALL, LARGE)]


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """Both boards, made in one go."""
    folder = tmp_path_factory.mktemp("undisturbed")
    for board, setting in zip((SMALL, LARGE), settings(folder), strict=True):
        assert grow(board, setting, NEVER, ONE, folder / "artifacts", folder / "work")
    assert not list((folder / "work").iterdir())
    return folder / "artifacts"


def test_a_board_leaves_models_games_and_its_computing(undisturbed):
    small, large = (BoardFiles(board.size, undisturbed) for board in (SMALL, LARGE))
    spent = 0
    for files in (small, large):
        report, rows = read_json(files.report), read_table(files.curve, CURVE)
        assert tuple(rows[0]) == CURVE
        assert [int(row["generation"]) for row in rows] == [1, 2]
        assert report["generations"] == 2
        assert report["converged"] == 0
        models = [load_model(files.model(number)) for number in (1, 2)]
        assert {model.config.height for model in models} == {files.size}
        assert files.best.read_bytes() in {p.read_bytes() for p in files.models.glob("*.pt") if p != files.best} or (
            load_model(files.best).config.kind == "uniform"
        )
        each, total = multiply_adds(models[0].net), 0
        for row, number in zip(rows, (1, 2), strict=True):
            games = read_records(files.games / f"{number:02d}.parquet")
            assert len(games) == int(row["games"]) == 10
            steps = max(1, round(2.0 * int(row["positions"]) / 16))
            total += each * (int(row["evaluations"]) + 3 * 16 * steps)
            assert int(row["multiply_adds"]) == total
            assert int(row["multiply_adds_in_all"]) == spent + total
        spent += total
        assert report["multiply_adds_in_all"] == spent
    first, *rest = read_table(small.curve) + read_table(large.curve)
    assert first["evaluations"] == "0"  # nobody is asked before there is a net
    assert all(int(row["evaluations"]) > 0 for row in rest)


def test_the_larger_board_begins_with_the_smaller_one_s_hidden_layers(undisturbed):
    last, start = (
        load_model(path).net.state_dict()
        for path in (BoardFiles(4, undisturbed).model(2), BoardFiles(5, undisturbed).model(0))
    )
    hidden = [name for name in last if name.startswith("trunk.")]
    assert hidden
    assert all(torch.equal(last[name], start[name]) for name in hidden)


@pytest.mark.parametrize("parallel", [ONE, TWO])
def test_stopped_after_each_generation_it_ends_in_the_same_bytes(undisturbed, project, parallel):
    for board, setting in zip((SMALL, LARGE), settings(project), strict=True):
        asked = iter([True, False])  # for the second generation
        assert not grow(board, setting, NEVER, parallel, go_on=lambda asked=asked: next(asked))
        assert not BoardFiles(board.size).models.exists()
        assert grow(board, setting, NEVER, parallel)
    assert contents("artifacts") == contents(undisturbed)


def test_a_board_that_has_converged_ends_and_one_that_has_not_goes_on(project):
    setting, _ = settings(project)
    long = dataclasses.replace(SMALL, generations=4)
    grow(long, setting, AT_ONCE, ONE)
    report = read_json(BoardFiles(4).report)
    assert (report["generations"], report["converged"]) == (2, 1)
    assert not BoardFiles(4).model(3).exists()
    grow(long, setting, NEVER, ONE)
    report = read_json(BoardFiles(4).report)
    assert (report["generations"], report["converged"]) == (4, 0)
    assert BoardFiles(4).model(4).exists()


def test_a_board_without_the_one_before_it_says_so(project):
    _, setting = settings(project)
    with pytest.raises(ZugwerkError, match=r"reports/growing/boards/4\.json: no such file; `dvc repro` makes it"):
        grow(LARGE, setting, NEVER, ONE)


def test_another_net_does_not_grow(undisturbed, project):
    shutil.copytree(undisturbed, "artifacts")
    _, setting = settings(project, net={"plain": {"filters": [9]}})
    with pytest.raises(ZugwerkError, match="another shape than on the smaller board"):
        grow(LARGE, setting, NEVER, ONE)
    assert Path("artifacts/models/growing/5/best.pt").exists()  # what was there is left alone

import dataclasses
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml

from pipeline_src.errors import ZugwerkError
from pipeline_src.files import read_json
from pipeline_src.project.params import load
from pipeline_src.records.parquet import write_records
from pipeline_src.stages import amazons_samples
from pipeline_src.systems.amazons_net.dataset import open_dataset
from pipeline_src.systems.amazons_net.params import AmazonsSamplesParams
from tests.systems.amazons_net.positions import random_records

SECTION = {"size": 6, "variants": ["standard"], "split": {"train": 7, "validation": 2, "test": 1}}


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(**section):
        Path("params.yaml").write_text(yaml.safe_dump({"seed": 1, "amazons_samples": {**SECTION, **section}}))

    write()
    return write


def test_records_to_data_set_and_report(project):
    write_records(random_records(12, size=6), amazons_samples.GAMES)
    amazons_samples.main()
    dataset, report = open_dataset(amazons_samples.OUT), read_json(amazons_samples.REPORT)
    assert report["samples"] == len(dataset)
    assert report["games"] == 12
    assert report["splits"]["train"] == {
        "games": 8,
        **{key: dataset.manifest["splits"]["train"][key] for key in ("samples", "dropped", "positions")},
    }
    assert report["sources"]["engine"] == 12


def test_the_teachers_turns_are_marked(project):
    project(teachers="^master")
    games = [
        dataclasses.replace(game, first_name="a master", second_name="master") for game in random_records(12, size=6)
    ]
    write_records(games, amazons_samples.GAMES)
    amazons_samples.main()
    dataset = open_dataset(amazons_samples.OUT)
    assert dataset.teacher.tolist() == (np.asarray(dataset.ply) % 2).tolist()


def test_as_a_command_it_ends_in_one_line_without_records(project):
    root = str(Path(__file__).parents[3])
    ended = subprocess.run(
        [sys.executable, "-m", "pipeline_src.stages.amazons_samples"],
        env={"PYTHONPATH": root, "PATH": ""},
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 1
    assert ended.stderr == f"error: {amazons_samples.GAMES}: no such file; `dvc repro` makes it\n"
    assert not Path("artifacts").exists()


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ({"size": 7}, "amazons_samples.size: 7 is not one of 6, 8, 10"),
        ({"size": 8, "variants": ["cross"]}, "the cross start is for size 10, not 8"),
        ({"variants": ["torus"]}, r"amazons_samples.variants\[0\]: 'torus' is not one of standard, cross"),
        ({"variants": []}, "variants must name at least one, each once"),
        ({"variants": ["standard", "standard"]}, "variants must name at least one, each once"),
        ({"split": {"train": 7, "validation": 0, "test": 1}}, r"amazons_samples\.split: validation must be above 0"),
        ({"split": {"train": 7, "test": 1}}, r"amazons_samples\.split\.validation: missing"),
        ({"teachers": "(master"}, r"amazons_samples: teachers '\(master' is no regular expression: missing \)"),
        ({"ratio": 3}, "unknown key"),
    ],
)
def test_bad_params_name_the_key(project, section, message):
    project(**section)
    with pytest.raises(ZugwerkError, match=message):
        load(AmazonsSamplesParams, "amazons_samples")

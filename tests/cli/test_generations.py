import subprocess
from pathlib import Path

import pytest

from pipeline_src import yaml12
from pipeline_src.cli.games import files_beyond, set_generations
from pipeline_src.errors import ZugwerkError
from pipeline_src.project.profile import profile_tree
from pipeline_src.systems.gomoku_zero.files import GenerationFiles
from pipeline_src.systems.gomoku_zero.params import read_numbers
from tests.layout.imports import ROOT

TEXT = """seed: 1 # of all
gomoku_generations: # each from the one before
  "02": {before: "01"}
  "03": {before: "02"}
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "params.yaml").write_text(TEXT)
    for number in (1, 2, 3):
        files = GenerationFiles(number, tmp_path / "artifacts")
        for path in (files.model, files.games, files.report, files.curves):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("here")
    return tmp_path


def test_generations_are_appended_and_comments_stay(folder):
    set_generations(12, folder)
    assert read_numbers(folder / "params.yaml") == list(range(1, 13))
    text = (folder / "params.yaml").read_text()
    assert text.startswith(TEXT)
    assert '  "12": {before: "11"}\n' in text
    set_generations(3, folder)
    assert (folder / "params.yaml").read_text() == TEXT
    assert GenerationFiles(3, folder / "artifacts").model.exists()


def test_fewer_generations_keep_all_files(folder):
    before = sorted((folder / "artifacts").rglob("*"))
    set_generations(2, folder)
    assert read_numbers(folder / "params.yaml") == [1, 2]
    assert sorted((folder / "artifacts").rglob("*")) == before


def test_files_beyond_are_those_of_later_generations(folder):
    files = GenerationFiles(3, folder / "artifacts")
    assert files_beyond(2, folder) == [files.models, files.games, files.report, files.curves]
    files.window.mkdir(parents=True)
    files.gate_games.parent.mkdir(parents=True)
    files.gate_games.touch()
    files.timings.touch()
    assert {path.name for path in files_beyond(2, folder)} == {
        "03", "03.parquet", "03.json", "03.csv", "03.timings.json",
    }  # fmt: skip
    assert len(files_beyond(2, folder)) == 7
    assert not files_beyond(3, folder)


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="needs git")
def test_committed_reports_match_the_committed_params():
    numbers = {"01", *profile_tree("laptop", ROOT)["gomoku_generations"]}
    command = ["git", "ls-files", "artifacts/reports/gomoku/generations"]
    tracked = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    assert {Path(name).stem for name in tracked} <= numbers


@pytest.mark.parametrize("count", [1, 100])
def test_a_count_out_of_range_changes_nothing(folder, count):
    with pytest.raises(ZugwerkError, match=f"2 to 99 generations, not {count}"):
        set_generations(count, folder)
    assert (folder / "params.yaml").read_text() == TEXT


@pytest.mark.parametrize(
    "section", ["{}", '{"03": {before: "02"}}', '{"02": {before: "01"}, "04": {before: "03"}}', "[2, 3]"]
)
def test_generations_with_a_gap_are_refused(tmp_path: Path, section):
    (tmp_path / "params.yaml").write_text(f"gomoku_generations: {section}\n")
    with pytest.raises(ZugwerkError, match="`zugwerk gomoku generations N` writes them"):
        read_numbers(tmp_path / "params.yaml")


def test_committed_generations_have_no_gap():
    assert len(read_numbers(ROOT / "params.yaml")) >= 2
    for name, count in (("smoke", 3), ("paper", 28)):
        section = yaml12.parse((ROOT / f"profiles/{name}.yaml").read_text())["gomoku_generations"]
        assert len(section) == count - 1

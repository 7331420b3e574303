from pathlib import Path

import pytest
import yaml

from pipeline_src.errors import ZugwerkError
from pipeline_src.project.generations import set_generations
from pipeline_src.systems.gomoku_zero.files import GenerationFiles
from pipeline_src.systems.gomoku_zero.params import read_numbers

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


def test_more_generations_are_added_behind_and_comments_stay(folder):
    set_generations(12, folder)
    assert read_numbers(folder / "params.yaml") == list(range(1, 13))
    text = (folder / "params.yaml").read_text()
    assert text.startswith(TEXT)
    assert '  "12": {before: "11"}\n' in text
    set_generations(3, folder)
    assert (folder / "params.yaml").read_text() == TEXT
    assert GenerationFiles(3, folder / "artifacts").model.exists()


def test_going_back_forgets_the_files_of_the_rest(folder):
    set_generations(2, folder)
    assert read_numbers(folder / "params.yaml") == [1, 2]
    assert not list((folder / "artifacts").rglob("*03*"))
    assert GenerationFiles(2, folder / "artifacts").games.exists()


@pytest.mark.parametrize("count", [1, 100])
def test_a_count_out_of_range_changes_nothing(folder, count):
    with pytest.raises(ZugwerkError, match=f"2 to 99 generations, not {count}"):
        set_generations(count, folder)
    assert (folder / "params.yaml").read_text() == TEXT


@pytest.mark.parametrize(
    "section", ["{}", '{"03": {before: "02"}}', '{"02": {before: "01"}, "04": {before: "03"}}', "[2, 3]"]
)
def test_a_section_that_is_no_unbroken_row_is_refused(tmp_path: Path, section):
    (tmp_path / "params.yaml").write_text(f"gomoku_generations: {section}\n")
    with pytest.raises(ZugwerkError, match="`zugwerk gomoku generations N` writes them"):
        read_numbers(tmp_path / "params.yaml")


def test_the_committed_params_and_profiles_are_unbroken_rows():
    root = Path(__file__).parents[2]
    assert len(read_numbers(root / "params.yaml")) >= 2
    for name, count in (("smoke", 3), ("paper", 28)):
        section = yaml.safe_load((root / f"profiles/{name}.yaml").read_text())["gomoku_generations"]
        assert len(section) == count - 1

import os
import shutil
import sys
from pathlib import Path

import pytest

from pipeline_src.cli.project import verify as command
from pipeline_src.errors import ZugwerkError
from pipeline_src.project.dvc_run import ask_dvc
from pipeline_src.project.verify import verify

DVC_YAML = f"""
stages:
  made:
    cmd: {sys.executable} make.py
    outs: [file.txt, folder]
    metrics: [report.json: {{cache: false}}]
"""
MAKE = """
from pathlib import Path
Path("folder/deep").mkdir(parents=True, exist_ok=True)
for name in ("file.txt", "folder/a.txt", "folder/deep/b.txt", "report.json"):
    Path(name).write_text(f'"{name}"')
"""
FILES = 4 + 4  # in the cache: a file, a folder's two and its list; and the outputs


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    (folder / "dvc.yaml").write_text(DVC_YAML)
    (folder / "make.py").write_text(MAKE)
    ask_dvc(folder, "init", "--no-scm", "--quiet")
    ask_dvc(folder, "repro", "--quiet")
    return folder


@pytest.fixture
def project(made, tmp_path):
    """A copy with its times, and with the state by which DVC knows it."""
    return Path(shutil.copytree(made, tmp_path / "project"))


def turn_a_bit(path):
    """As a disk does: neither time, nor size, nor mode change."""
    status, content = path.stat(), bytearray(path.read_bytes())
    content[2] ^= 1
    path.chmod(0o644)
    path.write_bytes(content)
    path.chmod(status.st_mode)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def in_cache(folder, text):
    (found,) = (path for path in (folder / ".dvc/cache/files/md5").glob("*/*") if path.read_text() == text)
    return found


def test_new_outputs_are_undamaged(project):
    assert verify(project) == (FILES, [], [])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["report.json", "folder/deep/b.txt"])
def test_output_with_flipped_bit_is_named_and_dvc_notices(project, name):
    ask_dvc(project, "status")  # so that DVC has all of the copy's files in mind
    turn_a_bit(project / name)
    assert "up to date" in ask_dvc(project, "status")  # which is why there is this check
    assert verify(project) == (FILES, [], [Path(name)])
    assert name.partition("/")[0] in ask_dvc(project, "status")
    ask_dvc(project, "repro", "--quiet")
    assert verify(project) == (FILES, [], [])
    assert (project / name).read_text() == f'"{name}"'


@pytest.mark.slow
def test_a_damaged_file_of_the_cache_is_removed(project):
    damaged = in_cache(project, '"folder/a.txt"')
    turn_a_bit(damaged)
    assert verify(project) == (FILES, [damaged.relative_to(project)], [])
    assert not damaged.exists()
    ask_dvc(project, "repro", "--quiet")
    assert verify(project) == (FILES, [], [])
    assert damaged.read_text() == '"folder/a.txt"'


def test_files_of_a_folder_with_damaged_list_are_skipped(project):
    (listing,) = (project / ".dvc/cache/files/md5").glob("*/*.dir")
    turn_a_bit(listing)
    assert verify(project) == (FILES - 2, [listing.relative_to(project)], [])


def test_missing_files_are_left_to_dvc(project):
    (project / "file.txt").unlink()
    assert verify(project) == (FILES - 1, [], [])


def test_the_command_names_the_files_and_fails(project, monkeypatch, capsys):
    monkeypatch.chdir(project)
    command()
    assert capsys.readouterr().out == f"{FILES} files read, all as DVC knows them\n"
    damaged = in_cache(project, '"file.txt"')
    turn_a_bit(damaged)
    turn_a_bit(project / "report.json")
    with pytest.raises(
        ZugwerkError, match=f"2 of {FILES} files differ from the hashes that DVC has; `dvc repro` restores them"
    ):
        command()
    assert capsys.readouterr().out.splitlines() == [
        f"{damaged.relative_to(project)}: damaged; removed from the cache",
        "report.json: not the bytes in dvc.lock",
    ]


def test_outside_of_a_project(tmp_path):
    with pytest.raises(ZugwerkError, match=r"dvc\.lock: no such file; run in the project's folder"):
        verify(tmp_path)
    (tmp_path / "dvc.lock").write_text("stages: {a: {}}\n")
    with pytest.raises(ZugwerkError, match=r"\.dvc: no such folder, so there is no cache; run in a clone"):
        verify(tmp_path)


def test_a_lock_without_stages(project):
    (project / "dvc.lock").write_text("schema: '2.0'\n")
    with pytest.raises(ZugwerkError, match=r"dvc\.lock: no stages; `git checkout dvc.lock` restores it"):
        verify(project)

import subprocess

from pipeline_src.report.provenance import commit, hardware


def git(folder, *words):
    identity = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
    return subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True, text=True).stdout


def test_only_changed_code_marks_the_commit(tmp_path):
    assert commit(tmp_path) is None
    git(tmp_path, "init")
    (tmp_path / "params.yaml").write_text("seed: 1\n")
    (tmp_path / "dvc.lock").write_text("a")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-m", "x")
    head = git(tmp_path, "rev-parse", "--short=10", "HEAD").strip()
    assert commit(tmp_path) == head
    (tmp_path / "dvc.lock").write_text("b")
    assert commit(tmp_path) == head
    (tmp_path / "params.yaml").write_text("seed: 2\n")
    assert commit(tmp_path) == f"{head}+"


def test_hardware_counts_the_cores():
    cores, words = hardware().split(" ", 1)
    assert int(cores) >= 1
    assert words.startswith("core")

import subprocess

from pipeline_src.report import page
from pipeline_src.report.page import commit, hardware


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


def test_hardware_counts_cores_and_gpus(tmp_path, monkeypatch):
    monkeypatch.setattr(page, "GPUS", tmp_path)
    cores, words = hardware().split(" ", 1)
    assert int(cores) >= 1
    assert words.startswith("core")
    for bus, name in (("a", "NVIDIA L4"), ("b", "NVIDIA H100 80GB HBM3"), ("c", "NVIDIA L4")):
        (tmp_path / bus).mkdir()
        (tmp_path / bus / "information").write_text(f"Model: \t\t {name}\nIRQ:   \t\t 99\n")
    assert hardware() == f"2 NVIDIA L4 and 1 NVIDIA H100 80GB HBM3 and {cores} {words}"

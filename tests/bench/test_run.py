import json
import subprocess
import sys

import pytest

from bench import run
from bench.measure import changes, committed, notable
from pipeline_src.errors import ZugwerkError

ROW = {"ours": 2.0, "ratio": None, "reference": None, "reference_name": None, "unit": "s"}


def row(name, ours, ratio=None, unit="games/s"):
    return ROW | {"name": name, "ours": ours, "ratio": ratio, "unit": unit}


def test_committed_rows_belong_to_benchmarks():
    sources = "".join((run.FOLDER / f"{name}.py").read_text() for name in run.benches())
    for one in json.loads((run.FOLDER / "results.json").read_text()):
        assert f'"{one["name"]}"' in sources or one["name"].startswith("selfplay_")


def test_words_choose_benchmarks():
    assert run.benches(["gomoku_r", "s_eng"]) == ["amazons_engine", "gomoku_rules"]
    with pytest.raises(ZugwerkError, match=r"no benchmark with 'chess' in its name; there are: amazons_data, "):
        run.benches(["s_eng", "chess"])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A bench folder with earlier results and three benchmarks, of which ``two`` fails."""
    package = tmp_path / "bench"
    package.mkdir()
    (package / "one.py").write_text(f"\ndef measure():\n    return [{ROW | {'name': 'new'}}]\n")
    (package / "two.py").write_text("\ndef measure():\n    raise OSError('no compiler')\n")
    (package / "absent.py").write_text(f"\ndef measure():\n    return [{ROW | {'name': 'old', 'ours': None}}]\n")
    (package / "helper.py").write_text("\ndef helper():\n    pass\n")
    (package / "results.json").write_text(json.dumps([ROW | {"name": "old"}]))
    monkeypatch.setattr(run, "FOLDER", package)
    monkeypatch.setattr("bench.__path__", [str(package)])
    for name in ("one", "two", "absent"):
        monkeypatch.delitem(sys.modules, f"bench.{name}", raising=False)
    yield package
    for name in ("one", "two", "absent"):
        sys.modules.pop(f"bench.{name}", None)


def rows(folder):
    return [row["name"] for row in json.loads((folder / "results.json").read_text())]


def test_rows_measured_before_a_failure_are_kept(folder, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["run"])
    with pytest.raises(OSError, match="no compiler"):
        run.main()
    assert rows(folder) == ["new", "old"]


def test_partial_run_keeps_other_rows_and_full_run_drops_them(folder, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["run", "one"])
    run.main()
    assert rows(folder) == ["new", "old"]
    monkeypatch.setattr(sys, "argv", ["run", "absent"])
    run.main()
    assert json.loads((folder / "results.json").read_text())[1]["ours"] == 2
    (folder / "two.py").unlink()
    (folder / "absent.py").unlink()
    monkeypatch.setattr(sys, "argv", ["run"])
    run.main()
    assert rows(folder) == ["new"]
    assert "new" in capsys.readouterr().out


def test_change_above_one_means_faster():
    found = changes([row("rate", 30.0), row("time", 2.0, unit="ms")], [row("rate", 10.0), row("time", 6.0, unit="ms")])
    assert found == {"rate": 3, "time": 3}


def test_slower_machine_is_no_change_given_a_reference():
    found = changes([row("a", 5.0, ratio=2.0)], [row("a", 10.0, ratio=2.1)])
    assert found == {"a": pytest.approx(2.0 / 2.1)}
    assert notable(found) == ["nothing changed by more than 20 % since the committed results"]


def test_committed_rows_are_read_from_git(tmp_path):
    assert committed(tmp_path) == []
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.org"]
    subprocess.run([*git, "init", "-q"], cwd=tmp_path, check=True)
    (tmp_path / "results.json").write_text(json.dumps([row("a", 1.0)]))
    subprocess.run([*git, "add", "."], cwd=tmp_path, check=True)
    subprocess.run([*git, "commit", "-qm", "x"], cwd=tmp_path, check=True)
    (tmp_path / "results.json").write_text("[]")
    assert committed(tmp_path) == [row("a", 1.0)]

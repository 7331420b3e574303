import importlib
import json
import sys

import pytest

from bench import run
from pipeline_src.errors import ZugwerkError

ROW = {"ours": 2.0, "ratio": None, "reference": None, "reference_name": None, "unit": "s"}


def test_every_benchmark_can_be_loaded_and_measures():
    assert {"amazons_perft", "gomoku_tree", "replica"} < set(run.benches())
    for name in run.benches():
        assert callable(importlib.import_module(f"bench.{name}").measure)


def test_words_pick_some():
    assert run.benches(["gomoku_r", "perft"]) == ["amazons_perft", "gomoku_rules"]
    with pytest.raises(ZugwerkError, match=r"no benchmark with 'chess' in its name; there are: amazons_alphabeta, "):
        run.benches(["perft", "chess"])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Of two benchmarks, the second of which fails, and of earlier results."""
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


def test_what_was_measured_before_a_failure_is_kept(folder, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["run"])
    with pytest.raises(OSError, match="no compiler"):
        run.main()
    assert rows(folder) == ["new", "old"]


def test_some_leave_the_others_and_all_leave_nothing_old(folder, monkeypatch, capsys):
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

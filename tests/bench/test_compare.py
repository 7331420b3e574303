import json
import subprocess

from bench.compare import committed, moves, summary


def row(name, ours, ratio=None, unit="games/s"):
    return {"name": name, "ours": ours, "ratio": ratio, "reference": None, "reference_name": None, "unit": unit}


def test_a_rate_and_a_time_are_both_faster_above_one():
    found = moves([row("rate", 30.0), row("time", 2.0, unit="ms")], [row("rate", 10.0), row("time", 6.0, unit="ms")])
    assert found["rate"].factor == found["time"].factor == 3


def test_a_slower_machine_is_no_move_where_there_is_a_reference():
    found = moves([row("a", 5.0, ratio=2.0)], [row("a", 10.0, ratio=2.1)])
    assert found["a"].beside_reference
    assert not found["a"].notable
    assert summary(found.values()) == ["nothing moved by more than 20 % since the committed results"]


def test_what_moved_is_told_slowest_first_and_new_rows_are_not():
    rows = [row("faster", 13.0), row("slower", 7.0), row("same", 9.0), row("new", 1.0)]
    before = [row("faster", 10.0), row("slower", 10.0), row("same", 10.0), row("gone", 1.0)]
    lines = summary(moves(rows, before).values())
    assert [line.split(":")[0] for line in lines] == ["slower", "faster"]
    assert "0.70 times" in lines[0]


def test_the_committed_rows_come_from_git(tmp_path):
    assert committed(tmp_path) == []
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.org"]
    subprocess.run([*git, "init", "-q"], cwd=tmp_path, check=True)
    (tmp_path / "results.json").write_text(json.dumps([row("a", 1.0)]))
    subprocess.run([*git, "add", "."], cwd=tmp_path, check=True)
    subprocess.run([*git, "commit", "-qm", "x"], cwd=tmp_path, check=True)
    (tmp_path / "results.json").write_text("[]")
    assert committed(tmp_path) == [row("a", 1.0)]

import tracemalloc

import numpy as np
import pytest

from pipeline_src.arena.journal import Journal, each_kept, pack, stage_journal, unpack
from pipeline_src.errors import ZugwerkError
from pipeline_src.parallel import Parallel
from pipeline_src.project.code import Code

ALONE = Parallel(workers=1)
RAN = []


def double(tasks):
    RAN.extend(number for (number,) in tasks)
    return [(2 * number,) for (number,) in tasks]


@pytest.fixture(autouse=True)
def nothing_ran():
    RAN.clear()


def test_added_tasks_are_read_back(tmp_path):
    path = tmp_path / "folder" / "journal.jsonl"
    with Journal(path, {"seed": 1}) as kept:
        kept.add("a", [1, 2])
        kept.add("b", {"x": None})
    path.write_bytes(path.read_bytes() + b'{"key":"c","val')  # torn by a kill
    with Journal(path, {"seed": 1}) as kept:
        assert kept.entries == {"a": [1, 2], "b": {"x": None}}
        kept.add("c", 3)
    with Journal(path, {"seed": 1}) as kept:
        assert list(kept.entries) == ["a", "b", "c"]
    with Journal(path, {"seed": 1}, resume=False) as kept:
        assert not kept.entries


def test_another_journal_is_refused_or_replaced(tmp_path):
    path = tmp_path / "journal.jsonl"
    with Journal(path, {"seed": 1, "b": 2}) as kept:
        kept.add("a", 1)
        with pytest.raises(ZugwerkError, match="another match is writing it"):
            Journal(path, {"seed": 1, "b": 2})
    with pytest.raises(ZugwerkError, match=r"the journal of another match \(b differs\); choose another --out"):
        Journal(path, {"seed": 1, "b": 3})
    with Journal(path, {"seed": 1, "b": 2}) as kept:
        assert kept.entries == {"a": 1}
    with Journal(path, {"seed": 1, "b": 3}, replace=True) as kept:
        assert not kept.entries
    assert path.read_bytes().count(b"\n") == 1
    path.write_text('{"format":1,"seed":1}\n{"pair":0,"games":[]}\n')  # of an earlier version
    with pytest.raises(ZugwerkError, match="format differs"):
        Journal(path, {"seed": 1})
    for damage in ("nonsense\n", path.read_text().splitlines()[0].replace("1,", "2,", 1) + "\n{}\n"):
        path.write_text(damage)
        with pytest.raises(ZugwerkError, match="damaged"):
            Journal(path, {"seed": 1})


def test_only_tasks_that_are_missing_run(tmp_path):
    tasks = {str(number): (number,) for number in range(4)}
    path, twice = tmp_path / "journal.jsonl", [(0,), (2,), (4,), (6,)]
    with Journal(path, {}) as kept:
        found = list(each_kept(double, tasks, ALONE, "doubles", kept, kind=tuple[int]))
        assert found == twice  # tuples, as they were returned
        assert RAN == [0, 1, 2, 3]
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:2] + lines[3:]))
    with Journal(path, {}) as kept:
        assert list(each_kept(double, tasks, ALONE, "doubles", kept, kind=tuple[int])) == twice
        assert RAN == [0, 1, 2, 3, 1]
    assert list(each_kept(double, {"7": (7,)}, ALONE, "doubles")) == [(14,)]


def test_results_wait_on_disk_not_in_memory(tmp_path):
    def peak(count):
        tasks = {str(number): (number,) for number in range(count)}
        tracemalloc.start()
        with Journal(tmp_path / f"{count}.jsonl", {}) as kept:
            for key in tasks:
                kept.add(key, key * 4_000)
        with Journal(tmp_path / f"{count}.jsonl", {}) as kept:
            assert sum(len(text) for text in each_kept(double, tasks, ALONE, "texts", kept)) >= 4_000 * count
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    peak(10)
    assert peak(400) - peak(100) < 300 * 1_000  # bytes; a text has 4,000 and more


def test_packed_arrays_round_trip():
    arrays = {"a": np.arange(6, dtype=np.int16).reshape(2, 3), "b": np.float16([]), "c": 7}
    found = unpack(pack(arrays))
    assert found.keys() == arrays.keys()
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array, strict=name != "c")


def test_changed_code_or_params_start_a_new_journal(tmp_path, monkeypatch):
    monkeypatch.setattr(Code, "digest_of_all", lambda _: "code")

    def entries(stage="some_stage", **identity):
        with stage_journal(tmp_path, stage, identity) as kept:
            found = dict(kept.entries)
            kept.add("group", 1)
        return found

    entries(seed=1)
    assert entries(seed=1) == {"group": 1}
    assert entries(seed=2) == {}
    assert entries("other_stage", seed=2) == {}
    monkeypatch.setattr(Code, "digest_of_all", lambda _: "edited")
    assert entries("other_stage", seed=2) == {}
    assert [path.name for path in tmp_path.iterdir()] == ["journal.jsonl"]

import errno
import json
import math
import os
import shutil
import subprocess
import sys
import threading

import numpy as np
import pytest

from pipeline_src.errors import ZugwerkError, run_main
from pipeline_src.files import read_json, read_table, why_no_model, write_json, write_table, written_aside


def test_failed_block_leaves_old_file_only(tmp_path):
    target = tmp_path / "a" / "out.txt"
    with written_aside(target) as aside:
        aside.write_text("old")

    def fail():
        with written_aside(target) as aside:
            aside.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert target.read_text() == "old"
    assert [p.name for p in target.parent.iterdir()] == ["out.txt"]


def test_folders_are_replaced_whole_and_leftovers_removed(tmp_path):
    target = tmp_path / "out"
    target.mkdir()
    (target / "stale").touch()
    with written_aside(target) as aside:
        aside.mkdir()
        (aside / "new").write_text("x")
    assert [p.name for p in target.iterdir()] == ["new"]
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    left, running = (tmp_path / f".out.{pid}-7.part" for pid in (process.pid, os.getppid()))
    left.mkdir()  # as if the process had been killed here
    (left / "half").touch()
    running.touch()
    with written_aside(target) as aside:
        assert not aside.exists()
        aside.mkdir()
    assert sorted(p.name for p in tmp_path.iterdir()) == [running.name, "out"]


def test_several_threads_write_one_file(tmp_path):
    target, failed = tmp_path / "out", list[BaseException]()

    def write(letter):
        try:
            for _ in range(100):
                with written_aside(target) as aside:
                    aside.write_text(letter * 1000)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=write, args=(letter,)) for letter in "abc"]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        if target.exists():
            text = target.read_text()
            assert text == text[0] * 1000
    for thread in threads:
        thread.join()
    assert failed == []
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_devices_and_pipes_are_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    (tmp_path / "link").symlink_to(pipe)
    for target in (pipe, tmp_path / "link"):
        with pytest.raises(OSError, match="no regular file"), written_aside(target):
            pass
    assert pipe.is_fifo()


def test_json_round_trip_is_sorted_and_has_no_nan(tmp_path):
    path = tmp_path / "x.json"
    write_json(path, {"b": [1, math.nan, math.inf], "a": {"c": (0.5,)}})
    assert path.read_text().index('"a"') < path.read_text().index('"b"')
    assert read_json(path) == {"a": {"c": [0.5]}, "b": [1, None, None]}
    json.loads(path.read_text(), parse_constant=pytest.fail)


def test_a_table_comes_back(tmp_path):
    path = tmp_path / "table.csv"
    write_table(path, [{"step": 1, "loss": 0.5}, {"step": 2, "loss": math.nan}])
    assert read_table(path, ("loss", "step")) == [{"step": "1", "loss": "0.5"}, {"step": "2", "loss": ""}]


def test_a_table_without_rows_comes_back(tmp_path):
    write_table(tmp_path / "table.csv", [])
    assert read_table(tmp_path / "table.csv", ("step", "loss")) == []


def test_expected_errors_become_one_line(tmp_path):
    def user_error():
        raise ZugwerkError("params.yaml: seed: missing")

    def os_error():
        (tmp_path / "none").read_text()

    with pytest.raises(SystemExit, match=r"error: params\.yaml: seed: missing"):
        run_main(user_error)
    with pytest.raises(SystemExit, match="none: No such file"):
        run_main(os_error)
    with pytest.raises(SystemExit, match=r"error: too little memory: Unable to allocate .*; ask for a smaller"):
        run_main(lambda: np.empty(1 << 59))
    with pytest.raises(ZeroDivisionError):
        run_main(lambda: 1 // 0)


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, "No space left on device"),
        OSError("Error writing bytes to file. Detail: [errno 28] No space left on device"),  # pyarrow's
        OSError("100000 requested and 31968 written"),  # numpy's
        shutil.Error([("a", "b", "[Errno 28] No space left on device: 'a' -> 'b'")]),
    ],
    ids=["system", "pyarrow", "numpy", "copytree"],
)
def test_full_disk_names_file_and_remedy(tmp_path, error):
    def main():
        with written_aside(tmp_path / "out.bin") as aside:
            aside.write_bytes(b"half")
            raise error

    with pytest.raises(SystemExit, match=r"^error: \S+/out\.bin: the disk is full; free some of it"):
        run_main(main)
    assert not list(tmp_path.iterdir())


def test_failed_move_names_both_paths(tmp_path):
    """Lightning writes a checkpoint to the temporary folder and moves it to where the disk is full."""
    with pytest.raises(SystemExit, match=r"none -> \S+/there: No such file or directory"):
        run_main(lambda: (tmp_path / "none").rename(tmp_path / "there"))


def test_torch_s_advice_is_left_out():
    script = RuntimeError(
        "Cannot use ``weights_only=True`` with TorchScript archives. Set weights_only=False, if trusted"
    )
    assert why_no_model(script) == "it holds other things than weights and plain values"
    assert why_no_model(RuntimeError("size mismatch for a\nfor b")) == "size mismatch for a"
    assert why_no_model(KeyError("kind")) == "without 'kind'"
    assert why_no_model(EOFError()) == "other contents, EOFError"

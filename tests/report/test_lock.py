"""A figure is of a profile if its stage, and every stage behind it, last ran with that profile's params."""

import copy
import hashlib
import os
import threading
import time

import pytest

from pipeline_src import yaml12
from pipeline_src.errors import ZugwerkError
from pipeline_src.report import figures as module
from pipeline_src.report.figures import Lock

PARAMS = {"seed": 1, "samples": {"size": 10}, "train": {"steps": 5}}


def stage(deps, outs, **params):
    return {
        "deps": [{"path": path} for path in deps],
        "outs": [{"path": path} for path in outs],
        "params": {"params.yaml": params},
    }


STAGES = {
    "samples": stage(["raw/games"], ["artifacts/samples"], seed=1, samples={"size": 10}),
    "train@a": stage(["artifacts/samples"], ["artifacts/models/a/nets.pt"], train={"steps": 5}),
    "train@b": stage(["artifacts/samples"], ["artifacts/models/b/nets.pt"], train={"steps": 9}),
    "evaluate@a": stage(["artifacts/models/a/nets.pt"], ["reports/a.json"]),
    "evaluate@b": stage(["artifacts/models/b/nets.pt"], ["reports/b.json"]),
    "draw": stage(["artifacts/models"], ["reports/all.svg"]),
}


@pytest.fixture
def lock(tmp_path):
    (tmp_path / "dvc.lock").write_text(yaml12.dump({"stages": STAGES}, sort_keys=True))
    return lambda **changes: Lock(tmp_path, PARAMS | changes)


def test_a_stage_without_params_is_as_current_as_its_inputs(lock):
    assert lock().is_current("reports/a.json", "evaluate")
    assert not lock().is_current("reports/b.json", "evaluate")  # its nets had nine steps
    assert not lock(samples={"size": 8}).is_current("reports/a.json", "evaluate")
    assert not lock(seed=2).is_current("reports/a.json", "evaluate")
    assert lock(train={"steps": 9}).is_current("reports/b.json", "evaluate")


def test_a_file_rewritten_after_it_was_read_is_not_current(tmp_path):
    stages = copy.deepcopy(STAGES)
    for read, made in (("1", "1"), ("1", "2")):
        stages["evaluate@a"]["deps"][0]["md5"], stages["train@a"]["outs"][0]["md5"] = read, made
        (tmp_path / "dvc.lock").write_text(yaml12.dump({"stages": stages}))
        assert Lock(tmp_path, PARAMS).is_current("reports/a.json", "evaluate") == (read == made)


def test_a_file_of_another_run_is_not_current(tmp_path):
    """As after params.yaml and dvc.lock are restored, before `dvc repro` restores the reports too."""
    stages = copy.deepcopy(STAGES)
    (tmp_path / "reports").mkdir()
    (tmp_path / "reports/a.json").write_text("{}")
    for text, ours in (("{}", True), ("[]", False)):
        stages["evaluate@a"]["outs"][0]["md5"] = hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()
        stages["evaluate@a"]["params"]["params.yaml"] = {"seed": 1}
        (tmp_path / "dvc.lock").write_text(yaml12.dump({"stages": stages}))
        lock = Lock(tmp_path, PARAMS)
        assert lock.is_current("reports/a.json", "evaluate") == ours
        assert lock.params_of("reports/a.json", "evaluate") == (PARAMS if ours else {})


def test_a_folder_as_input_includes_all_outputs_in_it(lock):
    assert not lock().is_current("reports/all.svg", "draw")


def test_file_is_current_if_all_items_of_stage_are(lock):
    assert lock().is_current("reports/samples.timings.json", "samples")
    assert not lock().is_current("reports/times.json", "train")
    assert not lock().is_current("", "unknown")


def test_removed_items_of_the_graph_do_not_count(tmp_path, lock):
    (tmp_path / "dvc.yaml").write_text("stages: {train: {foreach: '${models}', do: {cmd: x}}}")
    assert lock(models=["a"]).is_current("reports/all.svg", "draw")
    assert not lock(models=["a", "b"]).is_current("reports/all.svg", "draw")


def test_numbers_are_read_as_dvc_writes_them(tmp_path):
    (tmp_path / "dvc.lock").write_text("stages: {train: {params: {params.yaml: {train: {epsilon: 1e-06}}}}}")
    assert Lock(tmp_path, {"train": {"epsilon": 1e-6}}).is_current("", "train")


def test_without_a_lock_nothing_is_known(tmp_path):
    assert not Lock(tmp_path, PARAMS).is_current("reports/a.json", "evaluate")


def test_a_lock_is_read_when_it_is_whole(tmp_path, lock, monkeypatch):
    """DVC rewrites it in place, and until then it is empty, broken or without its last stages."""
    monkeypatch.setattr(module, "BETWEEN_S", 0.1)
    text = (tmp_path / "dvc.lock").read_text()
    part = text[: text.index("  samples:")]
    assert yaml12.parse(part)["stages"]

    def write():
        for piece in ("", text[:20], part, text):
            (tmp_path / "dvc.lock").write_text(piece)
            time.sleep(0.03)

    (tmp_path / "dvc.lock").write_text("")
    writer = threading.Thread(target=write)
    writer.start()
    assert lock().is_current("reports/samples.timings.json", "samples")
    writer.join()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("stages:\n<<<<<<< HEAD\n  a: {}\n", "line 2 has the marker of a merge conflict; keep one side"),
        ("stages: [", r"not valid YAML: .*; `git checkout` it"),
        ("schema: '2.0'\n", "no stages; `git checkout` it"),
        ("stages: {a: 1}\n", "no stages; `git checkout` it"),
    ],
)
def test_a_lock_that_stays_broken_is_named(tmp_path, text, words):
    (tmp_path / "dvc.lock").write_text(text)
    os.utime(tmp_path / "dvc.lock", (0, 0))
    with pytest.raises(ZugwerkError, match=rf"dvc\.lock: {words}"):
        Lock(tmp_path, PARAMS)

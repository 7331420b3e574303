"""How much memory a run takes, and what is said where there is less."""

import logging
from collections import namedtuple

import pytest

from pipeline_src.errors import ZugwerkError
from pipeline_src.project import disk, memory
from pipeline_src.project.memory import DVC, MIB, OTHER, WORKER, available, check, needed, of_process
from pipeline_src.project.schedule import Places
from pipeline_src.project.targets import read_places
from tests.layout.imports import ROOT
from tests.profiles import profile_tree

LAPTOP = profile_tree("laptop")
PROFILES = {name: profile_tree(name) for name in ("smoke", "overnight", "paper")}
BATCH = {"batch": 128}
MEASURED = PROFILES["paper"] | {
    "amazons_archive": {"games": 40},
    **{name: PROFILES["paper"][name] | BATCH for name in ("amazons_train", "amazons_residual")},
}
"""Params of the runs behind docs/costs.md."""
PLACES = read_places(ROOT, LAPTOP)


@pytest.mark.parametrize(
    ("params", "target", "mib"),
    [
        (MEASURED, "amazons_train@cross_entropy", 1318),
        (MEASURED, "amazons_train@residual", 1687),
        (PROFILES["overnight"], "amazons_samples", 872),
        (PROFILES["overnight"], "amazons_train@cross_entropy", 1339),
        (PROFILES["overnight"], "amazons_train@residual", 1392),
        (PROFILES["overnight"], "gomoku_generation@02", 820),
        (PROFILES["overnight"], "depth_train@smote", 635),
        (PROFILES["smoke"], "amazons_train@cross_entropy", 862),
        (PROFILES["smoke"], "amazons_train@residual", 695),
    ],
)
def test_estimates_are_near_the_measurements(params, target, mib):
    assert of_process(target, params) == pytest.approx(mib * MIB, rel=0.15)


def test_training_memory_grows_with_batch_and_convolutions():
    """13.0 MiB a position of the published net in memory of a CPU: 911 MiB at 32, 1,747 MiB at 96."""
    paper = PROFILES["paper"]
    half = paper | {"gomoku_train": paper["gomoku_train"] | {"batch": paper["gomoku_train"]["batch"] - 64}}
    more = of_process("gomoku_generation@02", paper) - of_process("gomoku_generation@02", half)
    assert more == pytest.approx((1747 - 911) * MIB, rel=0.1)
    assert of_process("gomoku_generation@02", paper, gpu=True) < 1 << 30 < 12 << 30 < of_process("gomoku_first", paper)


def test_a_net_without_convolutions_needs_little_memory():
    net = {"kind": "lines", "lines": {"window": 9, "units": 96}}
    assert of_process("gomoku_first", LAPTOP | {"gomoku_net": net}) < 800 * MIB


def test_parallel_targets_are_estimated_by_their_largest_sum():
    places = {"a_one": Places(1, 2), "b_two": Places(2, 1), "depth_train": Places()}
    alone = (DVC + OTHER) * MIB

    def of(*targets, jobs):
        return needed(targets, LAPTOP, jobs, places)

    assert of("a_one", jobs=1) == alone
    assert of("a_one", jobs=2) == of("a_one", jobs=9) == alone + 2 * WORKER * MIB
    assert of("a_one", "b_two", jobs=2) == alone + 2 * WORKER * MIB
    assert of("a_one", "b_two", jobs=4) == 2 * alone + 2 * WORKER * MIB
    assert of("a_one", "a_other", "c_one", jobs=2) == max(2 * alone, alone + 2 * WORKER * MIB)  # one a system at a time
    assert of("depth_train@none", "depth_train@ours", jobs=2) > 1.9 * of("depth_train@none", jobs=2)
    assert of(jobs=2) == 0


@pytest.mark.parametrize("name", ["laptop", *sorted(path.stem for path in (ROOT / "profiles").glob("*.yaml"))])
def test_more_jobs_take_more_memory_in_every_profile(name):
    params = profile_tree(name)
    sizes = [needed(disk.graph_targets(params), params, jobs, PLACES) for jobs in (1, 2, 3, 4, 8)]
    assert sizes == sorted(sizes)
    assert 500 * MIB < sizes[0] < 1 << 36


def test_target_too_large_is_refused_and_too_many_jobs_warn(monkeypatch, caplog):
    monkeypatch.setattr(memory, "has_gpu", lambda: False)
    targets = disk.graph_targets(LAPTOP)

    def with_gib(size):
        monkeypatch.setattr(memory, "available", lambda: round(size * (1 << 30)))

    with_gib(8)
    check(targets, LAPTOP, 2, PLACES)
    assert not caplog.records
    with_gib(1.3)
    with caplog.at_level(logging.WARNING):
        check(targets, LAPTOP, 2, PLACES)
    assert "GiB needed with --jobs 2, 1.3 GiB available; fewer jobs at a time take less" in caplog.text
    with_gib(0.8)
    with pytest.raises(
        ZugwerkError, match=r"amazons_train@cross_entropy: about 0\.9 GiB of memory needed, but 0\.8 GiB"
    ):
        check(targets, LAPTOP, 1, PLACES)
    with_gib(8)
    with pytest.raises(ZugwerkError, match=r"gomoku_first: about 13\.\d GiB of memory needed, but 8\.0 GiB available"):
        check(["gomoku_first"], PROFILES["paper"], 1, PLACES)
    monkeypatch.setattr(memory, "has_gpu", lambda: True)
    check(["gomoku_first"], PROFILES["paper"], 1, PLACES)


def test_params_that_lack_sizes_are_an_error():
    with pytest.raises(
        ZugwerkError, match=r"params\.yaml: the size of the run cannot be estimated \(KeyError: 'batch'\)"
    ):
        of_process("gomoku_first", LAPTOP | {"gomoku_train": {}})


Memory = namedtuple("Memory", "available free")


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, 1300),
        ({"memory.max": "max", "memory.current": "10"}, 1300),
        ({"memory.max": "1000", "memory.current": "400"}, 900),
        ({"memory.max": "1000", "memory.current": "2000"}, 0),
        ({"memory.max": "9000", "memory.current": "10"}, 1300),
        ({"memory/memory.limit_in_bytes": "1000", "memory/memory.usage_in_bytes": "900"}, 400),
        ({"memory.max": "no number", "memory.current": "10"}, 1300),
    ],
)
def test_cached_files_of_a_container_count_as_available(tmp_path, monkeypatch, files, expected):
    monkeypatch.setattr(memory.psutil, "virtual_memory", lambda: Memory(1000, 0))
    monkeypatch.setattr(memory.psutil, "swap_memory", lambda: Memory(0, 300))
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"{text}\n")
        (tmp_path / name).with_name("memory.stat").write_text("anon 5\ninactive_file 200\nactive_file 100\n")
    assert available(tmp_path) == expected

import copy

import pytest
import yaml

from bench.costs.__main__ import ONE_CORE, bytes_under, row
from bench.costs.chains import CHAINS, Step
from bench.costs.table import BEGIN, END, put_table
from pipeline_src.project.profile import merge, merged_text
from tests.layout.imports import ROOT


@pytest.fixture(scope="module")
def published():
    return yaml.safe_load(merged_text("paper", ROOT))


@pytest.mark.parametrize("chain", CHAINS, ids=lambda chain: chain.name)
def test_units_grow_with_the_size_up_to_the_published_one(published, chain):
    for step in chain.steps:
        units = []
        for size in chain.sizes:
            params = copy.deepcopy(published)
            merge(params, ONE_CORE, "one core")
            merge(params, chain.params(size), chain.name)  # an unknown key would be an error
            units.append((step.measured or step.count)(params))
        assert 0 < units[0] < units[1] < units[2] <= step.count(published), step.name


def test_units_of_the_published_sizes(published):
    steps = {step.name: step for chain in CHAINS for step in chain.steps}
    assert len(steps) == sum(len(chain.steps) for chain in CHAINS)
    assert steps["gomoku_generation, self-play"].count(published) == 28 * (200 + 20) * 300
    assert steps["growing_board@15, self-play"].count(published) == 60 * (200 * 800 + 20 * 300)
    assert steps["depth_train@smote"].count(published) == 16_000 * 65_536


def test_costs_are_extrapolated_by_a_straight_line():
    step = Step("stage", "game", lambda params: params["games"])
    runs = [
        {"units": n, "seconds": 3 + 2 * n, "wall_s": 1.0, "peak_mib": 10.0, "bytes": 100.0 * n} for n in (10, 20, 40)
    ]
    found = row(step, runs, {"games": 1000})
    assert found["seconds_a_unit"] == pytest.approx(2)
    assert found["published_hours"] == pytest.approx(2003 / 3600)
    assert found["published_bytes"] == pytest.approx(100_000)
    assert found["off_the_line"] == pytest.approx(0, abs=1e-9)


def test_a_new_table_replaces_the_old_one(tmp_path):
    page = tmp_path / "costs.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    runs = [{"units": n, "seconds": 7200 * n, "wall_s": 1.0, "peak_mib": 2048.0, "bytes": 0.0} for n in (1, 2, 3)]
    rows = [row(Step("stage", "game", lambda _: 240), runs, {})]
    put_table({"stages": {"chain": rows}, "about": {"hardware": "a core", "date": "today", "command": "it"}}, page)
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "old" not in text
    assert "| `stage` | game | 1 / 2 / 3 | 7,200 / 14,400 / 21,600 | 2 h | 240 | 20 days | 2 GiB |  |" in text


def test_bytes_under_counts_a_file_and_a_folder(tmp_path):
    (tmp_path / "a").write_bytes(b"123")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/b").write_bytes(b"12")
    assert (bytes_under(tmp_path / "a"), bytes_under(tmp_path), bytes_under(tmp_path / "none")) == (3, 5, 0)

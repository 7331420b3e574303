import pytest

from pipeline_src.report.figures import REGISTRY, SYSTEMS, number, with_unit
from pipeline_src.report.page import lines

ROW = {
    "words": "score | of a match", "unit": "score", "published": 0.5, "ours": 0.75, "low": 0.6, "high": 0.85,
    "n": 1200, "ratio": 1.5, "from": "graph", "profile": "laptop", "seed": 1, "data": "engine games",
    "hardware": None, "date": None, "command": "dvc repro amazons_match", "label": "laptop", "others": [],
    "player": None,
}  # fmt: skip


def test_every_system_of_the_registry_has_a_summary():
    assert set(SYSTEMS) == set(REGISTRY)


def test_a_line_has_the_interval_the_ratio_and_the_command():
    (line,) = lines({"score": ROW})
    assert line[:9] == (
        ROW["words"], "0.500", "0.750", "0.600 to 0.850", "1.5", "1,200", "score", "laptop", "dvc repro amazons_match"
    )  # fmt: skip
    assert line.where == "engine games"


def test_smaller_measurements_come_below_the_first():
    measured = ROW | {
        "ours": 0.7,
        "from": "measured",
        "hardware": "one core",
        "date": "2026-01-02",
        "label": "measured",
    }
    first, second = lines({"score": measured | {"others": [ROW]}})
    assert (first.made, first.profile, first.ours, first.below) == ("measured", "measured", "0.700", False)
    assert first.where == "engine games, one core, 2026-01-02"
    assert (second.made, second.profile, second.ours, second.below) == ("graph", "laptop", "0.750", True)


def test_committed_run_equal_to_own_one_is_left_out():
    kept = ROW | {"from": "measured", "label": "laptop, committed"}
    assert len(lines({"score": ROW | {"others": [kept]}})) == 1
    assert len(lines({"score": ROW | {"others": [kept | {"ours": 0.7}]}})) == 2


def test_missing_figures_are_marked():
    nothing = dict.fromkeys(("ours", "low", "high", "n", "ratio", "from", "profile", "label"))
    line = lines({"a": ROW | nothing})[0]
    assert (line.ours, line.profile, line.where) == ("not made yet", "-", "")


def test_the_unit_is_shown_if_the_description_lacks_it():
    assert with_unit("score against random", "score") == "score against random"
    assert with_unit("time to encode", "microseconds") == "time to encode, microseconds"


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (None, "", "-"),
        (0.5, "score", "0.500"),
        (1, "games", "1"),
        (25_000.0, "games", "25,000"),
        (0.0616, "hours", "0.0616"),
        (450.1, "Elo", "450"),
        (2690, "microseconds", "2,690"),
    ],
)
def test_numbers(value, unit, text):
    assert number(value, unit) == text

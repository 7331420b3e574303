"""The verdict on a system follows from the interval of a measurement and the published value."""

import json
from dataclasses import replace

import pytest

from pipeline_src.report.figures import REGISTRY, SYSTEMS, figures
from pipeline_src.report.page import verdicts


def told(folder, system, profile=None):
    return next(one for one in verdicts(figures(folder), profile) if one.system == system)


@pytest.fixture
def project(tmp_path):
    (tmp_path / "params.yaml").write_text("profile: laptop\n")
    (tmp_path / "docs/measured").mkdir(parents=True)
    return tmp_path


def measure(project, system, name="overnight", **figures):
    rows = {
        figure: dict(zip(("ours", "low", "high"), values, strict=True)) | {"n": 10, "date": "2026-01-02"}
        for figure, values in figures.items()
    }
    (project / f"docs/measured/{name}.json").write_text(json.dumps({system: rows}))


def test_every_claim_uses_registry_figures_and_shows_published_value():
    claims = {name: system.claim for name, system in SYSTEMS.items() if system.claim}
    assert len(claims) == 5
    for name, claim in claims.items():
        assert {claim.figure, claim.run or claim.figure} <= REGISTRY[name].keys()
        if isinstance(claim.bar, str):
            assert claim.bar in REGISTRY[name]
        elif (published := REGISTRY[name][claim.figure].published) is not None:
            assert published == claim.bar


@pytest.mark.parametrize(
    ("value", "outcome"),
    [
        ((0.8, 0.74, 0.85), "beaten"),
        ((0.7, 0.65, 0.74), "reproduced"),
        ((0.734, None, None), "reproduced"),
        ((0.5, 0.4, 0.6), "not reached"),
    ],
)
def test_a_value_beyond_at_or_below_the_published_one(project, value, outcome):
    measure(project, "search_depth", cnn_unbeaten_vs_hand_table=value)
    verdict = told(project, "search_depth")
    assert verdict.outcome == outcome
    assert verdict.best.endswith("; overnight")
    assert ("loses to those" in verdict.reason) == (outcome == "not reached")


@pytest.mark.parametrize(("value", "outcome"), [((0.5, 0.2, 0.9), "reproduced"), ((0.9, 0.7, 1.1), "not reached")])
def test_less_compute_than_from_scratch_reproduces_growth(project, value, outcome):
    measure(project, "growing_boards", time_to_scratch_strength=value)
    assert told(project, "growing_boards").outcome == outcome


@pytest.mark.parametrize(
    ("nets", "outcome"),
    [((0.2, 0.1, 0.25), "beaten"), ((0.3, 0.2, 0.4), "reproduced"), ((0.5, 0.4, 0.6), "not reached")],
)
def test_where_nothing_is_printed_the_published_nets_are_the_bar(project, nets, outcome):
    measure(project, "amazons_net", residual_turn_top1=(0.3, 0.28, 0.32), turn_top1=nets)
    verdict = told(project, "amazons_net")
    assert verdict.outcome == outcome
    assert verdict.best == f"0.300 (0.280 to 0.320); published nets {nets[0]:.3f}; overnight"


def test_without_a_measurement_nothing_is_claimed(project):
    measure(project, "amazons_net", residual_turn_top1=(0.3, 0.28, 0.32))  # and not of the nets that are the bar
    assert {one.outcome for one in verdicts(figures(project))} == {"not measured"}


def test_own_run_is_shown_with_best_measurement_of_larger_profile(project):
    measure(project, "joseki", "laptop", clashes_unresolved=(0, None, None))
    (project / "artifacts/reports/joseki").mkdir(parents=True)
    (project / "artifacts/reports/joseki/build.json").write_text(json.dumps({"clashes_unresolved": 44}))
    verdict = told(project, "joseki")
    assert (verdict.run, verdict.best, verdict.outcome) == ("44; other params", "0; laptop", "beaten")
    measure(project, "joseki", "paper", clashes_unresolved=(43, None, None))
    verdict = told(project, "joseki")
    assert (verdict.best, verdict.outcome) == ("43; paper", "reproduced")
    (project / "artifacts/reports/joseki/build.json").unlink()
    assert told(project, "joseki").run == "-"
    assert told(project, "joseki", "laptop").run == "0"


def test_a_run_without_the_deciding_figure_shows_another_by_name(project):
    (project / "artifacts/reports/depth").mkdir(parents=True)
    score = {"value": 0.4, "low": 0.2, "high": 0.6, "n": 16}
    (project / "artifacts/reports/depth/match.json").write_text(json.dumps({"cnn_table": {"score": score}}))
    verdict = told(project, "search_depth")
    assert verdict.run == (
        "0.400 (0.200 to 0.600); published net: unbeaten rate against a fixed table of equal compute; other params"
    )
    assert verdict.outcome == "not measured"


def test_figures_of_our_own_net_show_no_published_value():
    ours = [figure for figure in REGISTRY["search_depth"].values() if figure.words.startswith("our net")]
    assert len(ours) > 4
    assert all(replace(figure, published=None) == figure for figure in ours)

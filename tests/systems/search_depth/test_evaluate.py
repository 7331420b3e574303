"""Figures of chosen depths; train and evaluate, as `dvc repro` runs them, on made-up positions."""

import csv
import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline_src import yaml12
from pipeline_src.arena.score import clustered_mean
from pipeline_src.errors import ZugwerkError
from pipeline_src.files import read_json, write_json
from pipeline_src.systems.search_depth import evaluate, train
from pipeline_src.systems.search_depth.evaluate import g_mean, jackknife, layer_growth, macro_f1, nodes_to_depth
from pipeline_src.systems.search_depth.net import load_depth_net
from tests.layout.imports import ROOT
from tests.systems.search_depth.synthetic import write_synthetic

DEPTHS = st.lists(st.tuples(st.integers(3, 7), st.integers(3, 7)), min_size=1, max_size=60)


@given(DEPTHS)
def test_means_over_depths_count_only_those_that_are_labelled(pairs):
    matrix = np.zeros((5, 5), np.int64)
    for label, chosen in pairs:
        matrix[label - 3, chosen - 3] += 1
    present = matrix.sum(1) > 0
    right, labelled, chosen = (counts[present] for counts in (matrix.diagonal(), matrix.sum(1), matrix.sum(0)))
    assert macro_f1(matrix) == pytest.approx((2 * right / (labelled + chosen)).mean())
    assert g_mean(matrix) == pytest.approx((right / labelled).prod() ** (1 / present.sum()))


SEARCHES = np.array([[10, 40, 160, 0], [5, 5, 20, 80]])


def test_growth_is_the_geometric_mean_of_a_layer_more():
    assert layer_growth(SEARCHES[:1]) == pytest.approx(4)
    assert layer_growth(SEARCHES) == pytest.approx(4 ** (4 / 5))
    assert layer_growth(np.array([[7, 0, 0]])) == 1.0


def test_completed_layers_cost_their_nodes_and_others_are_extrapolated():
    costs = [nodes_to_depth(SEARCHES, np.full(2, depth), 4.0).tolist() for depth in (1, 3, 4, 5)]
    assert costs == [[10, 5], [160, 20], [640, 80], [2560, 320]]
    assert nodes_to_depth(SEARCHES, np.array([2, 4]), 3.0).tolist() == [40, 80]


def mean(sums):
    return float(sums[0] / sums[1])


def test_interval_of_a_mean_is_between_clusters():
    """For games of one length the jackknife's variance is that of the games' means, which is known in closed form."""
    rng = np.random.default_rng(1)
    values = rng.normal(3.0, 1.0, (40, 5))
    parts = np.stack([values.sum(1), np.full(40, 5.0)], axis=1)
    found = jackknife(parts, mean, values.size)
    expected = clustered_mean(values.ravel(), np.repeat(np.arange(40), 5))
    assert found.value == pytest.approx(expected.value)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    assert found.n == 200


def test_stays_in_bounds_and_is_nan_where_undefined():
    parts = np.array([[1.0, 1.0], [0.0, 1.0], [1.0, 1.0]])
    found = jackknife(parts, mean, 3, 0.0, 1.0)
    assert 0.0 <= found.low < found.value < found.high == 1.0
    alone = jackknife(parts[:1], mean, 1)
    assert alone.value == 1.0
    assert math.isnan(alone.low)
    assert math.isnan(alone.high)
    broken = jackknife(np.array([[1.0, 1.0], [0.0, 0.0]]), lambda s: s[0] / s[1] if s[1] else math.nan, 1)
    assert math.isnan(broken.low)


PARAMS = {
    "seed": 1,
    "depth_split": {"train": 75, "validation": 10, "test": 15},
    "depth_train": {
        "balancing": {"k_neighbors": 2, "ratio": 2.0},
        "training": {"steps": 60, "batch": 64, "learning_rate": 0.02, "log_steps": 30},
        "models": {
            "smote": {"label": "reached", "balance": "smote", "filters": 4},
            "none": {"label": "reached", "balance": "none", "filters": 4},
            "needed": {"label": "needed", "balance": "none", "head": "classes", "filters": 4},
            "costs": {"label": "reached", "balance": "none", "head": "costs", "filters": 4},
        },
    },
    "depth_evaluate": {"confidences": [0.5, 0.9]},
}
REPORTS = "artifacts/reports/depth"


def write_params(folder, **changed):
    (folder / "params.yaml").write_text(yaml12.dump(PARAMS | changed))


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """A folder in which both stages ran."""
    folder = tmp_path_factory.mktemp("project")
    write_params(folder)
    write_synthetic(folder / "artifacts/samples/depth")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name in PARAMS["depth_train"]["models"]:
            train.main("--model", name)
        evaluate.main()
    return folder


def test_models_are_written_with_their_settings(done):
    for name, label in (("smote", "reached"), ("needed", "needed")):
        load_depth_net(done / f"artifacts/models/depth/{name}/model.pt", label=label, classes=(3, 7))
    report = read_json(done / REPORTS / "train/smote.json")
    rarest, most = (choose(report["before"], key=report["before"].get) for choose in (min, max))
    assert report["after"][rarest] > report["before"][rarest]
    assert report["after"][most] == round(report["before"][most] / 2)
    assert read_json(done / REPORTS / "train/none.json")["before"] == report["before"]
    with open(done / REPORTS / "train/smote.csv") as file:
        assert [row["step"] for row in csv.DictReader(file)] == ["30.0", "60.0"]
    assert not list((done / "work/depth_train").iterdir())


def test_a_stage_run_again_writes_the_same(done, monkeypatch):
    monkeypatch.chdir(done)
    names = [f"{REPORTS}/train/none.json", f"{REPORTS}/train/none.csv", "artifacts/models/depth/none/model.pt"]
    names += [f"{REPORTS}/{name}" for name in ("evaluate.json", "balance.csv", "confusion.csv")]
    before = [(done / name).read_bytes() for name in names]
    train.main("--model", "none")
    evaluate.main()
    assert [(done / name).read_bytes() for name in names] == before


def test_figures_fit_together(done):
    report = read_json(done / REPORTS / "evaluate.json")
    assert report["positions"] == 1200
    assert report["growth"] > 1
    assert set(report["models"]) == set(PARAMS["depth_train"]["models"])
    with open(done / REPORTS / "confusion.csv") as file:
        cells = list(csv.DictReader(file))
    for name, found in report["models"].items():
        own = [cell for cell in cells if cell["model"] == name]
        assert len(own) == 25
        total = sum(float(cell["count"]) for cell in own)
        right = sum(float(cell["count"]) for cell in own if cell["label"] == cell["chosen"])
        assert total == report["test_positions"] == found["accuracy"]["n"]
        assert found["accuracy"]["value"] == pytest.approx(right / total)
        assert found["accuracy"]["low"] < found["accuracy"]["value"] < found["accuracy"]["high"]
        assert abs(found["bias"]["value"]) <= found["mean_error"]["value"]
        recalls = np.array([*found["recall"].values()], float)
        assert found["g_mean"]["value"] == pytest.approx(np.nanprod(recalls) ** (1 / np.isfinite(recalls).sum()))
        for name in ("macro_f1", "g_mean", "mean_depth", "nodes", "nodes_of_iterative_deepening"):
            assert found[name]["low"] <= found[name]["value"] <= found[name]["high"]
    with open(done / REPORTS / "balance.csv") as file:
        assert [row["model"] for row in csv.DictReader(file)] == list(PARAMS["depth_train"]["models"])


def test_more_layers_cost_more_and_suffice_more_often(done):
    report = read_json(done / REPORTS / "evaluate.json")
    plain = [report["plain"][str(depth)]["needed"] for depth in range(3, 8)]
    confident = [report["models"]["needed"]["confidence"][c] for c in ("50%", "90%")]
    for figures in (plain, confident):
        for lesser, greater in pairwise(figures):
            assert lesser["nodes"]["value"] < greater["nodes"]["value"]
            assert lesser["deep_enough"]["value"] <= greater["deep_enough"]["value"]
    assert plain[-1]["deep_enough"]["value"] == 1.0


def test_a_model_for_other_classes_is_refused_with_its_file(done, tmp_path, monkeypatch):
    monkeypatch.chdir(done)
    manifest = done / "artifacts/samples/depth/manifest.json"
    before = read_json(manifest)
    write_json(manifest, before | {"lowest": 2})
    with pytest.raises(ZugwerkError, match=r"smote/model\.pt: trained for classes 3 to 7, not 2 to 7"):
        evaluate.main()
    write_json(manifest, before)


def test_an_unknown_model_is_named(done, monkeypatch):
    monkeypatch.chdir(done)
    with pytest.raises(ZugwerkError, match=r"depth_train\.models: no model 'smoke'; there are: smote, none, needed"):
        train.main("--model", "smoke")


def test_the_graph_evaluates_the_models_it_trains():
    """dvc.yaml cannot make a list of deps from params."""
    models = yaml12.parse((ROOT / "params.yaml").read_text())["depth_train"]["models"]
    deps = yaml12.parse((ROOT / "dvc.yaml").read_text())["stages"]["depth_evaluate"]["deps"]
    for pattern in ("artifacts/models/depth/{}/model.pt", "artifacts/reports/depth/train/{}.json"):
        head, _, tail = pattern.partition("{}")
        assert [d for d in deps if d.startswith(head) and d.endswith(tail)] == [pattern.format(m) for m in models]

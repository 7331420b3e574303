from flows.search_depth import models_apart
from flows.targets import read_targets
from tests.layout.imports import ROOT


def test_each_model_is_a_target_of_its_own(tmp_path):
    (tmp_path / "params.yaml").write_text("depth_train:\n  models:\n    smote: {}\n    ours: {}\n")
    assert models_apart(["depth_label", "depth_train", "depth_evaluate"], tmp_path) == [
        "depth_label",
        "depth_train@smote",
        "depth_train@ours",
        "depth_evaluate",
    ]


def test_the_graph_s_own_targets_come_in_their_order():
    targets = models_apart(read_targets(ROOT, "depth"), ROOT)
    places = [targets.index(name) for name in ("depth_train@smote", "depth_train@ours", "depth_evaluate")]
    assert places == sorted(places)

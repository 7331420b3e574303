"""Balanced classes, batches, and trainings that are killed and resumed."""

import numpy as np
import pytest
import torch

from pipeline_src.errors import ZugwerkError
from pipeline_src.learning.symmetry import board_maps
from pipeline_src.systems.search_depth.net import SEARCHES, save_depth_net
from pipeline_src.systems.search_depth.params import DepthBalancing, DepthModelParams, DepthTraining
from pipeline_src.systems.search_depth.positions import open_positions, split_by_game, write_positions
from pipeline_src.systems.search_depth.train import (
    DepthBatches,
    DepthModule,
    balance,
    class_counts,
    cost_losses,
    cost_targets,
    train_depth_net,
    turned,
)
from tests.run_stage import KilledError, stop_in_step
from tests.systems.search_depth.synthetic import CLOCK_MS, HIGHEST, LOWEST, NODES_PER_MS, synthetic, write_synthetic

STEPS = 16
SHARES = (75.0, 10.0, 15.0)
TRAINING = {"steps": STEPS, "batch": 64, "learning_rate": 0.02, "log_steps": 6, "checkpoint_steps": 5}


def run(positions, folder, *, training=None, balancing=None, seed=1, **model):
    """Train with some params other than usual."""
    return train_depth_net(
        positions,
        split_by_game(positions, SHARES, 1),
        DepthModelParams(**{"label": "reached", "balance": "smote", "filters": 4, **model}),
        DepthTraining(**(TRAINING | (training or {}))),
        DepthBalancing(**({"k_neighbors": 2, "ratio": 2.0} | (balancing or {}))),
        seed=seed,
        folder=folder,
    )


COUNTS = [544, 261, 163, 29, 3]  # The paper's shares, of 1,000
FEW = DepthBalancing(k_neighbors=2)


def labelled(folder, counts=COUNTS):
    arrays = synthetic(games=sum(counts) // 20, plies=20)
    arrays["reached"] = np.random.default_rng(1).permutation(np.repeat(np.arange(LOWEST, HIGHEST + 1), counts))
    arrays["nodes_by_depth"][:] = 1
    write_positions(folder, arrays, {"lowest": LOWEST, "highest": HIGHEST})
    return open_positions(folder)


@pytest.fixture(scope="module")
def uneven(tmp_path_factory):
    return labelled(tmp_path_factory.mktemp("balance") / "depth")


def balanced_by(uneven, method, params=FEW, seed=1, rows=None):
    return balance(uneven, np.arange(len(uneven)) if rows is None else rows, "reached", method, params, seed)


def counted(balanced):
    return class_counts(balanced.labels, LOWEST, HIGHEST).tolist()


@pytest.mark.parametrize("method", ["smote", "oversample", "augment"])
def test_majority_is_halved_and_rarest_raised_to_one_tenth(uneven, method):
    balanced = balanced_by(uneven, method)
    assert counted(balanced) == [272, 261, 163, 29, 28]
    real = balanced.rows
    np.testing.assert_array_equal(balanced.labels[: len(real)], uneven.reached[real])
    assert (balanced.weights == 1).all()
    for depth, count in zip(range(LOWEST, HIGHEST + 1), COUNTS, strict=True):
        seen = set(real[uneven.reached[real] == depth].tolist())
        assert len(seen) == (272 if depth == LOWEST else count)
    again, other = balanced_by(uneven, method), balanced_by(uneven, method, seed=2)
    assert all(map(np.array_equal, balanced, again))
    assert not all(map(np.array_equal, balanced, other))


def test_smote_makes_rows_between_rows_of_the_class(uneven):
    balanced = balanced_by(uneven, "smote")
    assert balanced.made.shape == (25, 100)
    assert balanced.made.dtype == np.float32
    assert (balanced.labels[len(balanced.rows) :] == HIGHEST).all()
    sevens = np.flatnonzero(uneven.reached == HIGHEST)
    planes = (uneven.n[sevens] * (1 - uneven.used[sevens])[:, None, None]).reshape(3, -1)
    for made in balanced.made:  # on the line between two of the three: distances add up
        a, b, c = (np.linalg.norm(made - plane) for plane in planes)
        sides = [(a + b, 0, 1), (a + c, 0, 2), (b + c, 1, 2)]
        assert any(total == pytest.approx(np.linalg.norm(planes[i] - planes[j]), rel=1e-4) for total, i, j in sides)


def test_copies_by_symmetry_are_all_different_while_they_can_be(uneven):
    balanced = balanced_by(uneven, "augment", DepthBalancing(ratio=11.4))  # 24 sevens: each of the three in all eight
    added = balanced.symmetry > 0
    images = set(zip(balanced.rows[added].tolist(), balanced.symmetry[added].tolist(), strict=True))
    assert len(images) == added.sum() == 21
    assert set(balanced.symmetry[added]) == set(range(1, 8))
    assert (uneven.reached[balanced.rows[added]] == HIGHEST).all()


def test_weights_give_each_class_the_same_part_of_the_loss(uneven):
    balanced = balanced_by(uneven, "class_weights")
    assert counted(balanced) == COUNTS
    np.testing.assert_allclose(balanced.weights * COUNTS, 200, rtol=1e-5)


def test_only_rows_of_the_split_are_drawn(uneven):
    """The test split must stay unseen, in SMOTE's neighbours too."""
    rows = np.flatnonzero(np.arange(len(uneven)) % 2 == 0)
    for method in ("oversample", "augment"):
        assert set(balanced_by(uneven, method, rows=rows).rows.tolist()) <= set(rows.tolist())
    unchanged = balanced_by(uneven, "none", rows=rows)
    np.testing.assert_array_equal(unchanged.rows, rows)
    np.testing.assert_array_equal(unchanged.labels, uneven.reached[rows])
    counts = class_counts(uneven.reached[rows], LOWEST, HIGHEST)
    assert counted(balanced_by(uneven, "class_weights", rows=rows)) == counts.tolist()


def test_a_class_too_small_for_smote_names_stage_and_file(uneven):
    with pytest.raises(ZugwerkError, match=r"depth_train: .*depth: class 7 has 3 positions .* the 6 that SMOTE needs"):
        balanced_by(uneven, "smote", DepthBalancing())
    left = balanced_by(uneven, "smote", DepthBalancing(few="leave"))
    assert counted(left) == [272, 261, 163, 29, 3]


def test_no_positions_at_all(uneven):
    with pytest.raises(ZugwerkError, match=r"depth_train: .*no positions in the training split"):
        balanced_by(uneven, "none", rows=np.empty(0, np.int64))


@pytest.mark.parametrize("counts", [[1000, 0, 0, 0, 0], [0, 500, 500, 0, 0], [0, 1, 0, 0, 999]])
@pytest.mark.parametrize("method", ["smote", "oversample", "augment", "class_weights"])
def test_classes_may_be_missing(tmp_path, counts, method):
    balanced = balanced_by(labelled(tmp_path / "depth", counts), method, DepthBalancing(few="leave"))
    found = counted(balanced)
    assert [bool(c) for c in found] == [bool(c) for c in counts]
    weights = balanced.weights[balanced.labels - LOWEST]
    assert weights.mean() == pytest.approx(1, rel=1e-5)


ROWS = np.arange(0, 1200, 2)


@pytest.fixture(scope="module")
def positions(tmp_path_factory):
    folder = tmp_path_factory.mktemp("depth") / "samples"
    write_synthetic(folder)
    return open_positions(folder)


def batches(positions, method="none", inputs="published", symmetries=False, batch=128, seed=1):
    balanced = balance(positions, ROWS, "reached", method, DepthBalancing(k_neighbors=2, ratio=2.0), seed)
    return DepthBatches(positions, balanced, inputs=inputs, batch=batch, symmetries=symmetries, seed=seed)


@pytest.mark.parametrize("method", ["none", "smote", "augment", "class_weights"])
def test_all_rows_come_once_before_one_comes_again(positions, method):
    drawn = batches(positions, method, batch=100)
    steps = [drawn.step(number) for number in range(len(drawn) // 100 * 2)]
    for step in steps:
        assert len(step.labels) == 100
        np.testing.assert_array_equal(step.weights.numpy(), drawn.balanced.weights[step.labels.numpy() - 3])
    labels = np.concatenate([step.labels.numpy() for step in steps])[: len(drawn)]
    np.testing.assert_array_equal(np.sort(labels), np.sort(drawn.balanced.labels))


def test_planes_and_labels_belong_together(positions):
    drawn = batches(positions, "smote", batch=len(batches(positions, "smote")))
    step = drawn.step(0)
    balanced = drawn.balanced
    known = [(positions.planes("published", ROWS), positions.reached[ROWS])]
    known.append((balanced.made, balanced.labels[len(balanced.rows) :]))
    key = {row.tobytes(): label for rows, labels in known for row, label in zip(rows, labels, strict=True)}
    assert len(balanced.made) > 0
    for planes, label in zip(step.planes.numpy(), step.labels.numpy(), strict=True):
        assert key[planes.tobytes()] == label


def test_each_position_has_its_own_symmetry(positions):
    planes = positions.planes("full", np.arange(8))
    found = turned(planes, np.arange(8))
    for g in range(8):
        for plane in range(7):
            np.testing.assert_array_equal(found[g, plane].ravel(), planes[g, plane].ravel()[board_maps(10)[g]])


def test_drawn_symmetries_leave_the_label(positions):
    plain, symmetric = (batches(positions, inputs="full", symmetries=s).step(3) for s in (False, True))
    assert plain.labels.equal(symmetric.labels)
    assert not plain.planes.equal(symmetric.planes)
    assert plain.planes.sum((2, 3)).allclose(symmetric.planes.sum((2, 3)), rtol=1e-4)


def test_costs_are_those_of_the_search(positions):
    targets, least = np.moveaxis(cost_targets(positions), 2, 0)
    assert targets.shape == least.shape == (len(positions), 6)
    clock = CLOCK_MS * NODES_PER_MS
    for row in range(0, 1200, 111):
        spent = positions.nodes_by_depth[row, 2:7]
        done = spent > 0
        np.testing.assert_array_equal(np.isfinite(targets[row, :5]), done)
        np.testing.assert_allclose(np.exp(np.cumsum(targets[row, :5][done])), spent[done] / clock, rtol=1e-5)
        bounded = np.flatnonzero(np.isfinite(least[row]))
        assert bounded.tolist() == ([int(done.sum())] if done.sum() < 5 else [])  # the layer that it was stopped in
        np.testing.assert_allclose(
            np.exp(least[row, bounded] + np.sum(targets[row, :5][done])), positions.nodes[row] / clock, rtol=1e-5
        )
        mine = (positions.game == positions.game[row]) & (positions.to_play == positions.to_play[row])
        assert targets[row, 5] * SEARCHES == (mine & (positions.ply >= positions.ply[row])).sum()
    balanced = balance(positions, ROWS, "reached", "none", DepthBalancing(), 1)
    drawn = DepthBatches(positions, balanced, inputs="full", batch=300, symmetries=True, seed=1, costs=True).step(1)
    assert {row.tobytes() for row in drawn.costs.numpy()} <= {row.tobytes() for row in cost_targets(positions)[ROWS]}


def test_costs_need_a_clock_of_nodes(tmp_path):
    write_synthetic(tmp_path / "samples", {"nodes_per_ms": 0.0})
    with pytest.raises(ZugwerkError, match="head: costs needs a clock of nodes; set depth_game"):
        cost_targets(open_positions(tmp_path / "samples"))


MODELS = {
    "smote": {},
    "augment": {"balance": "augment", "head": "sigmoid", "shrink": "pooling"},
    "ours": {
        "label": "needed",
        "balance": "class_weights",
        "inputs": "full",
        "net": "residual",
        "head": "classes",
        "symmetries": True,
    },
    "costs": {"balance": "none", "inputs": "full", "net": "residual", "head": "costs"},
}


def content(trained, folder):
    folder.mkdir(parents=True, exist_ok=True)
    save_depth_net(folder / "model.pt", trained.model)
    return (folder / "model.pt").read_bytes(), trained.rows, trained.before, trained.after


@pytest.fixture(scope="module")
def undisturbed(positions, tmp_path_factory):
    root = tmp_path_factory.mktemp("whole")
    return {name: content(run(positions, root / name, **how), root / name) for name, how in MODELS.items()}


def killed_in(positions, folder, number, **how):
    with pytest.MonkeyPatch.context() as killing:
        stop_in_step(killing, DepthModule, number)
        with pytest.raises(KilledError):
            run(positions, folder, **how)
    return next(folder.glob("train-*"), None)


@pytest.mark.parametrize("name", MODELS)
def test_trains_the_same_again_and_measures(positions, tmp_path, undisturbed, name):
    trained = run(positions, tmp_path, **MODELS[name])
    assert content(trained, tmp_path) == undisturbed[name]
    assert [row["step"] for row in trained.rows] == [6, 12, STEPS]
    assert set(trained.rows[0]) == {
        *("step", "loss", "validation_accuracy", "validation_macro_f1", "validation_mean_error")
    }
    assert sum(trained.before) < len(positions)
    assert not trained.model.net.training
    assert (trained.model.lowest, trained.model.highest) == (LOWEST, HIGHEST)


def test_learns_from_clock_and_squares(positions, tmp_path):
    """The labels do, except for noise: the paper's net has to beat the likeliest class by far."""
    trained = run(positions, tmp_path, balance="none", filters=8, training={"steps": 400, "checkpoint_steps": 400})
    likeliest = np.bincount(positions.reached).max() / len(positions)
    assert trained.rows[-1]["validation_accuracy"] > likeliest + 0.15
    assert trained.rows[-1]["validation_mean_error"] < trained.rows[0]["validation_mean_error"]


@pytest.mark.parametrize("head", ["linear", "sigmoid", "classes"])
def test_every_head_overfits_one_batch(tmp_path, head):
    arrays = synthetic(games=20, plies=4)
    write_positions(tmp_path / "depth", arrays, {"lowest": LOWEST, "highest": HIGHEST})
    positions = open_positions(tmp_path / "depth")
    how = {"inputs": "full", "net": "residual", "balance": "none", "filters": 16, "head": head}
    trained = run(positions, tmp_path / "work", **how, training={"steps": 120, "checkpoint_steps": 120})
    assert trained.rows[-1]["loss"] < 0.1 * trained.rows[0]["loss"]


def test_other_seeds_and_params_train_otherwise(positions, tmp_path, undisturbed):
    others = [
        {"seed": 2},
        {"balance": "oversample"},
        {"filters": 5},
        {"label": "needed"},
        {"training": {"batch": 32}},
        {"balancing": {"ratio": 3.0}},
    ]
    for number, how in enumerate(others):
        folder = tmp_path / str(number)
        assert content(run(positions, folder, **how), folder)[0] != undisturbed["smote"][0]


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(("number", "left"), [(3, STEPS), (5, 11), (12, 6)])
def test_a_killed_training_ends_in_the_same_bytes(positions, tmp_path, undisturbed, name, number, left):
    killed_in(positions, tmp_path, number, **MODELS[name])
    trained = run(positions, tmp_path, **MODELS[name])
    assert (trained.timings["resumed"], trained.timings["steps"]) == (number >= 5, left)
    assert content(trained, tmp_path) == undisturbed[name]


def test_a_finished_training_is_not_trained_further(positions, tmp_path, undisturbed):
    run(positions, tmp_path)
    trained = run(positions, tmp_path)
    assert trained.timings["steps"] == 0
    assert content(trained, tmp_path) == undisturbed["smote"]


def test_after_a_damaged_checkpoint_is_deleted_training_begins_again(positions, tmp_path, undisturbed):
    last = killed_in(positions, tmp_path, 12) / "last.ckpt"
    last.write_bytes(last.read_bytes()[:1000])
    with pytest.raises(ZugwerkError, match=r"last.ckpt: damaged .*; delete it"):
        run(positions, tmp_path)
    last.unlink()
    assert content(run(positions, tmp_path), tmp_path) == undisturbed["smote"]


@pytest.mark.parametrize("other", [{"seed": 2}, {"training": {"learning_rate": 0.01}}, {"balance": "none"}])
def test_checkpoint_of_a_different_training_is_dropped(positions, tmp_path, undisturbed, other):
    stale = killed_in(positions, tmp_path, 7, **other)
    trained = run(positions, tmp_path)
    assert trained.timings["resumed"] is False
    assert content(trained, tmp_path) == undisturbed["smote"]
    assert not stale.exists()


def test_diverging_training_is_an_error(positions, tmp_path):
    with pytest.raises(ZugwerkError, match=r"step \d+: the loss is not a number; lower learning_rate"):
        run(positions, tmp_path, training={"learning_rate": 1e30})


def test_heads_start_at_their_means(positions, tmp_path):
    """Also that of the costs of a layer which a single search has completed."""
    trained = run(positions, tmp_path / "linear", training={"steps": 1, "learning_rate": 1e-9})
    with torch.inference_mode():
        first = trained.model.net(torch.zeros(1, 1, 10, 10))
    assert float(first) == pytest.approx(positions.reached.mean(), abs=1.0)
    write_synthetic(tmp_path / "all")
    (first, *_) = split_by_game(open_positions(tmp_path / "all"), SHARES, 1).train
    arrays = synthetic()
    arrays["nodes_by_depth"][:, HIGHEST - 1] = 0
    arrays["nodes_by_depth"][first, :HIGHEST] = 100 * 4 ** np.arange(HIGHEST)
    about = {"lowest": LOWEST, "highest": HIGHEST, "clock_ms": 1000.0, "nodes_per_ms": 1000.0}
    write_positions(tmp_path / "samples", arrays, about)
    positions = open_positions(tmp_path / "samples")
    known = cost_targets(positions)[split_by_game(positions, SHARES, 1).train, :, 0]
    assert np.isfinite(known).sum(0)[-2] == 1  # behind the layers stand the searches to come
    trained = run(positions, tmp_path, **MODELS["costs"], training={"steps": 1, "learning_rate": 1e-9})
    last = [m for m in trained.model.net.modules() if isinstance(m, torch.nn.Conv2d | torch.nn.Linear)][-1]
    np.testing.assert_allclose(last.bias.detach().numpy(), np.nanmean(known, 0), atol=1e-4)


def test_unfinished_layer_teaches_a_lower_bound():
    numbers = torch.tensor([[[1.0, -torch.inf]], [[torch.nan, 1.0]], [[torch.nan, -torch.inf]]])
    below, right, above = (cost_losses(torch.full((3, 1), value), numbers).tolist() for value in (0.0, 1.0, 2.0))
    assert below[0] == above[0] == 1 > right[0] == 0  # known
    assert below[1] > right[1] > above[1]  # at least that much
    assert below[1] == pytest.approx(1, abs=0.5)
    assert above[1] == pytest.approx(0, abs=1e-3)
    assert below[2] == right[2] == above[2] == 0  # nothing is known

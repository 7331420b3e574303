import numpy as np
import pytest

from pipeline_src.errors import ZugwerkError
from pipeline_src.learning.symmetry import board_maps
from pipeline_src.systems.search_depth.net import SEARCHES
from pipeline_src.systems.search_depth.params import DepthBalancing
from pipeline_src.systems.search_depth.positions import open_positions, write_positions
from pipeline_src.systems.search_depth.train import (
    DepthBatches,
    balance,
    class_counts,
    cost_targets,
    read_planes,
    smote_in_blocks,
    turned,
)
from tests.systems.search_depth.synthetic import CLOCK_MS, HIGHEST, LOWEST, NODES_PER_MS, synthetic, write_synthetic

COUNTS = [544, 261, 163, 29, 3]
"""The paper's shares, of 1,000."""
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


def run(uneven, method, params=FEW, seed=1, rows=None):
    return balance(uneven, np.arange(len(uneven)) if rows is None else rows, "reached", method, params, seed)


def counted(balanced):
    return class_counts(balanced.labels, LOWEST, HIGHEST).tolist()


@pytest.mark.parametrize("method", ["smote", "oversample", "augment"])
def test_majority_is_halved_and_rarest_raised_to_one_tenth(uneven, method):
    balanced = run(uneven, method)
    assert counted(balanced) == [272, 261, 163, 29, 28]
    real = balanced.rows
    np.testing.assert_array_equal(balanced.labels[: len(real)], uneven.reached[real])
    assert (balanced.weights == 1).all()
    for depth, count in zip(range(LOWEST, HIGHEST + 1), COUNTS, strict=True):
        seen = set(real[uneven.reached[real] == depth].tolist())
        assert len(seen) == (272 if depth == LOWEST else count)
    again, other = run(uneven, method), run(uneven, method, seed=2)
    assert all(map(np.array_equal, balanced, again))
    assert not all(map(np.array_equal, balanced, other))


def test_smote_makes_rows_between_rows_of_the_class(uneven):
    balanced = run(uneven, "smote")
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
    balanced = run(uneven, "augment", DepthBalancing(ratio=11.4))  # 24 sevens: each of the three in all eight
    added = balanced.symmetry > 0
    images = set(zip(balanced.rows[added].tolist(), balanced.symmetry[added].tolist(), strict=True))
    assert len(images) == added.sum() == 21
    assert set(balanced.symmetry[added]) == set(range(1, 8))
    assert (uneven.reached[balanced.rows[added]] == HIGHEST).all()


def test_weights_give_each_class_the_same_part_of_the_loss(uneven):
    balanced = run(uneven, "class_weights")
    assert counted(balanced) == COUNTS
    np.testing.assert_allclose(balanced.weights * COUNTS, 200, rtol=1e-5)


def test_none_leaves_the_split_unchanged(uneven):
    rows = np.arange(5, 700, 3)
    balanced = run(uneven, "none", rows=rows)
    np.testing.assert_array_equal(balanced.rows, rows)
    np.testing.assert_array_equal(balanced.labels, uneven.reached[rows])
    assert not len(balanced.made)


def test_only_rows_of_the_split_are_drawn(uneven):
    """The test split must stay unseen, in SMOTE's neighbours too."""
    rows = np.flatnonzero(np.arange(len(uneven)) % 2 == 0)
    for method in ("oversample", "augment"):
        assert set(run(uneven, method, rows=rows).rows.tolist()) <= set(rows.tolist())
    counts = class_counts(uneven.reached[rows], LOWEST, HIGHEST)
    assert counted(run(uneven, "class_weights", rows=rows)) == counts.tolist()


def test_a_class_too_small_for_smote_names_stage_and_file(uneven):
    with pytest.raises(ZugwerkError, match=r"depth_train: .*depth: class 7 has 3 positions .* the 6 that SMOTE needs"):
        run(uneven, "smote", DepthBalancing())
    left = run(uneven, "smote", DepthBalancing(few="leave"))
    assert counted(left) == [272, 261, 163, 29, 3]


def test_no_positions_at_all(uneven):
    with pytest.raises(ZugwerkError, match=r"depth_train: .*no positions in the training split"):
        run(uneven, "none", rows=np.empty(0, np.int64))


@pytest.mark.parametrize("counts", [[1000, 0, 0, 0, 0], [0, 500, 500, 0, 0], [0, 1, 0, 0, 999]])
@pytest.mark.parametrize("method", ["smote", "oversample", "augment", "class_weights"])
def test_classes_may_be_missing(tmp_path, counts, method):
    balanced = run(labelled(tmp_path / "depth", counts), method, DepthBalancing(few="leave"))
    found = counted(balanced)
    assert [bool(c) for c in found] == [bool(c) for c in counts]
    weights = balanced.weights[balanced.labels - LOWEST]
    assert weights.mean() == pytest.approx(1, rel=1e-5)


def test_blocks_make_equal_rows_from_their_own_rows(monkeypatch):
    monkeypatch.setattr("pipeline_src.systems.search_depth.train.BLOCK", 30)
    rng = np.random.default_rng(0)
    planes = rng.random((100, 4), np.float32)
    made = smote_in_blocks(planes, 57, DepthBalancing(), [1])
    assert made.shape == (57, 4)
    assert (made >= 0).all()
    assert (made <= 1).all()
    np.testing.assert_array_equal(made, smote_in_blocks(planes, 57, DepthBalancing(), [1]))
    assert not np.array_equal(made, smote_in_blocks(planes, 57, DepthBalancing(), [2]))
    assert len(smote_in_blocks(planes, 1, DepthBalancing(), [1])) == 1


ROWS = np.arange(0, 1200, 2)


@pytest.fixture(scope="module")
def positions(tmp_path_factory):
    folder = tmp_path_factory.mktemp("depth") / "samples"
    write_synthetic(folder)
    return open_positions(folder)


def batches(positions, method="none", inputs="published", symmetries=False, batch=128, seed=1):
    balanced = balance(positions, ROWS, "reached", method, DepthBalancing(k_neighbors=2, ratio=2.0), seed)
    return DepthBatches(positions, balanced, inputs=inputs, batch=batch, symmetries=symmetries, seed=seed)


@pytest.mark.parametrize("method", ["none", "smote", "augment"])
def test_all_rows_come_once_before_one_comes_again(positions, method):
    drawn = batches(positions, method, batch=100)
    steps = [drawn.step(number) for number in range(len(drawn) // 100 * 2)]
    assert all(len(step.labels) == 100 for step in steps)
    labels = np.concatenate([step.labels.numpy() for step in steps])[: len(drawn)]
    np.testing.assert_array_equal(np.sort(labels), np.sort(drawn.balanced.labels))


def test_a_step_is_a_function_of_seed_and_number(positions):
    a, b, other = (batches(positions, symmetries=True, seed=seed) for seed in (1, 1, 2))
    late = b.step(9)
    for number in (9, 0, 4):
        first, second = a.step(number), (late if number == 9 else b.step(number))
        assert all(x.equal(y) for x, y in zip(first, second, strict=True))
        assert not first.planes.equal(other.step(number).planes)


def test_planes_and_labels_belong_together(positions):
    drawn = batches(positions, "smote", batch=len(batches(positions, "smote")))
    step = drawn.step(0)
    balanced = drawn.balanced
    known = [(read_planes(positions, ROWS, "published"), positions.reached[ROWS])]
    known.append((balanced.made, balanced.labels[len(balanced.rows) :]))
    key = {row.tobytes(): label for rows, labels in known for row, label in zip(rows, labels, strict=True)}
    assert len(balanced.made) > 0
    for planes, label in zip(step.planes.numpy(), step.labels.numpy(), strict=True):
        assert key[planes.tobytes()] == label


def test_each_position_has_its_own_symmetry(positions):
    planes = read_planes(positions, np.arange(8), "full")
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


def test_weights_are_those_of_the_class(positions):
    drawn = batches(positions, "class_weights")
    step = drawn.step(0)
    np.testing.assert_array_equal(step.weights.numpy(), drawn.balanced.weights[step.labels.numpy() - 3])

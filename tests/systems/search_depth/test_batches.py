import numpy as np
import pytest

from pipeline_src.errors import ZugwerkError
from pipeline_src.learning.symmetry import board_maps
from pipeline_src.systems.search_depth.balance import balance
from pipeline_src.systems.search_depth.batches import DepthBatches, cost_targets, read_planes, turned
from pipeline_src.systems.search_depth.head import SEARCHES
from pipeline_src.systems.search_depth.params import DepthBalancing
from pipeline_src.systems.search_depth.positions import open_positions
from tests.systems.search_depth.synthetic import CLOCK_MS, NODES_PER_MS, write_synthetic

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

import numpy as np
import pytest

from pipeline_src.errors import ZugwerkError
from pipeline_src.systems.search_depth.balance import balance, class_counts, smote_in_blocks
from pipeline_src.systems.search_depth.params import DepthBalancing
from pipeline_src.systems.search_depth.positions import open_positions, write_positions
from tests.systems.search_depth.synthetic import HIGHEST, LOWEST, synthetic

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
def positions(tmp_path_factory):
    return labelled(tmp_path_factory.mktemp("balance") / "depth")


def run(positions, method, params=FEW, seed=1, rows=None):
    return balance(positions, np.arange(len(positions)) if rows is None else rows, "reached", method, params, seed)


def counted(balanced):
    return class_counts(balanced.labels, LOWEST, HIGHEST).tolist()


@pytest.mark.parametrize("method", ["smote", "oversample", "augment"])
def test_half_of_the_most_frequent_goes_and_the_rarest_are_filled_up_to_ten_to_one(positions, method):
    balanced = run(positions, method)
    assert counted(balanced) == [272, 261, 163, 29, 28]
    real = balanced.rows
    np.testing.assert_array_equal(balanced.labels[: len(real)], positions.reached[real])
    assert (balanced.weights == 1).all()
    for depth, count in zip(range(LOWEST, HIGHEST + 1), COUNTS, strict=True):
        seen = set(real[positions.reached[real] == depth].tolist())
        assert len(seen) == (272 if depth == LOWEST else count)
    again, other = run(positions, method), run(positions, method, seed=2)
    assert all(map(np.array_equal, balanced, again))
    assert not all(map(np.array_equal, balanced, other))


def test_smote_makes_rows_between_rows_of_the_class(positions):
    balanced = run(positions, "smote")
    assert balanced.made.shape == (25, 100)
    assert balanced.made.dtype == np.float32
    assert (balanced.labels[len(balanced.rows) :] == HIGHEST).all()
    sevens = np.flatnonzero(positions.reached == HIGHEST)
    planes = (positions.n[sevens] * (1 - positions.used[sevens])[:, None, None]).reshape(3, -1)
    for made in balanced.made:  # on the line between two of the three: distances add up
        a, b, c = (np.linalg.norm(made - plane) for plane in planes)
        sides = [(a + b, 0, 1), (a + c, 0, 2), (b + c, 1, 2)]
        assert any(total == pytest.approx(np.linalg.norm(planes[i] - planes[j]), rel=1e-4) for total, i, j in sides)


def test_copies_by_symmetry_are_all_different_while_they_can_be(positions):
    balanced = run(positions, "augment", DepthBalancing(ratio=11.4))  # 24 sevens: each of the three in all eight
    added = balanced.symmetry > 0
    images = set(zip(balanced.rows[added].tolist(), balanced.symmetry[added].tolist(), strict=True))
    assert len(images) == added.sum() == 21
    assert set(balanced.symmetry[added]) == set(range(1, 8))
    assert (positions.reached[balanced.rows[added]] == HIGHEST).all()


def test_weights_give_each_class_the_same_part_of_the_loss(positions):
    balanced = run(positions, "class_weights")
    assert counted(balanced) == COUNTS
    np.testing.assert_allclose(balanced.weights * COUNTS, 200, rtol=1e-5)


def test_none_is_the_split_as_it_is(positions):
    rows = np.arange(5, 700, 3)
    balanced = run(positions, "none", rows=rows)
    np.testing.assert_array_equal(balanced.rows, rows)
    np.testing.assert_array_equal(balanced.labels, positions.reached[rows])
    assert not len(balanced.made)


def test_only_rows_of_the_split_are_drawn(positions):
    """The test split must stay unseen, in SMOTE's neighbours too."""
    rows = np.flatnonzero(np.arange(len(positions)) % 2 == 0)
    for method in ("oversample", "augment"):
        assert set(run(positions, method, rows=rows).rows.tolist()) <= set(rows.tolist())
    counts = class_counts(positions.reached[rows], LOWEST, HIGHEST)
    assert counted(run(positions, "class_weights", rows=rows)) == counts.tolist()


def test_a_class_too_small_for_smote_names_stage_and_file(positions):
    with pytest.raises(ZugwerkError, match=r"depth_train: .*depth: class 7 has 3 positions .* the 6 that SMOTE needs"):
        run(positions, "smote", DepthBalancing())
    left = run(positions, "smote", DepthBalancing(few="leave"))
    assert counted(left) == [272, 261, 163, 29, 3]


def test_no_positions_at_all(positions):
    with pytest.raises(ZugwerkError, match=r"depth_train: .*no positions in the training split"):
        run(positions, "none", rows=np.empty(0, np.int64))


@pytest.mark.parametrize("counts", [[1000, 0, 0, 0, 0], [0, 500, 500, 0, 0], [0, 1, 0, 0, 999]])
@pytest.mark.parametrize("method", ["smote", "oversample", "augment", "class_weights"])
def test_classes_may_be_missing(tmp_path, counts, method):
    balanced = run(labelled(tmp_path / "depth", counts), method, DepthBalancing(few="leave"))
    found = counted(balanced)
    assert [bool(c) for c in found] == [bool(c) for c in counts]
    weights = balanced.weights[balanced.labels - LOWEST]
    assert weights.mean() == pytest.approx(1, rel=1e-5)


def test_blocks_make_as_many_rows_and_each_from_its_own_block():
    rng = np.random.default_rng(0)
    planes = rng.random((100, 4), np.float32)
    made = smote_in_blocks(planes, 57, DepthBalancing(block=30), [1])
    assert made.shape == (57, 4)
    assert (made >= 0).all()
    assert (made <= 1).all()
    np.testing.assert_array_equal(made, smote_in_blocks(planes, 57, DepthBalancing(block=30), [1]))
    assert not np.array_equal(made, smote_in_blocks(planes, 57, DepthBalancing(block=30), [2]))
    assert len(smote_in_blocks(planes, 1, DepthBalancing(block=30), [1])) == 1

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline_src.systems.search_depth.scores import accuracy, confusion, f1_scores, macro_f1

DEPTHS = st.lists(st.tuples(st.integers(3, 7), st.integers(3, 7)), min_size=1, max_size=60)


def test_counts_by_label_and_choice():
    matrix = confusion(np.array([3, 3, 5, 4]), np.array([3, 5, 5, 3]), 3, 5)
    assert matrix.tolist() == [[1, 0, 1], [1, 0, 0], [0, 0, 1]]
    assert accuracy(matrix) == 0.5
    assert f1_scores(matrix).tolist() == pytest.approx([0.5, 0.0, 2 / 3])
    assert macro_f1(matrix) == pytest.approx((0.5 + 2 / 3) / 3)


@given(DEPTHS)
def test_agrees_with_scikit_learn(pairs):
    from sklearn.metrics import accuracy_score, confusion_matrix, f1_score

    labels, chosen = map(np.array, zip(*pairs, strict=True))
    matrix = confusion(labels, chosen, 3, 7)
    np.testing.assert_array_equal(matrix, confusion_matrix(labels, chosen, labels=range(3, 8)))
    assert accuracy(matrix) == pytest.approx(accuracy_score(labels, chosen))
    present = sorted(set(labels.tolist()))
    assert macro_f1(matrix) == pytest.approx(f1_score(labels, chosen, labels=present, average="macro", zero_division=0))

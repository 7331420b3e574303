import numpy as np
import pytest

from pipeline_src.systems.search_depth.costs import layer_growth, nodes_to_depth

SEARCHES = np.array([[10, 40, 160, 0], [5, 5, 20, 80]])


def test_growth_is_the_geometric_mean_of_a_layer_more():
    assert layer_growth(SEARCHES[:1]) == pytest.approx(4)
    assert layer_growth(SEARCHES) == pytest.approx(4 ** (4 / 5))
    assert layer_growth(np.array([[7, 0, 0]])) == 1.0


def test_completed_layers_cost_what_they_did_and_others_are_reckoned():
    costs = [nodes_to_depth(SEARCHES, np.full(2, depth), 4.0).tolist() for depth in (1, 3, 4, 5)]
    assert costs == [[10, 5], [160, 20], [640, 80], [2560, 320]]
    assert nodes_to_depth(SEARCHES, np.array([2, 4]), 3.0).tolist() == [40, 80]

import numpy as np
import pytest

from pipeline_src.learning.symmetry import transform_boards
from pipeline_src.systems.search_depth.planes import PLANES, depth_planes
from tests.systems.search_depth.synthetic import synthetic

NAMES = ("n", "used", "board", "to_play", "expandable")
ROWS = synthetic(games=2, plies=20)


def planes(inputs, **changed):
    return depth_planes(inputs, *({**ROWS, **changed}[name] for name in NAMES))


def test_the_paper_s_plane_is_time_left_times_layers():
    found = planes("published")
    assert found.dtype == np.float32
    for row in (0, 7, 33):
        expected = [[(1 - ROWS["used"][row]) * n for n in line] for line in ROWS["n"][row]]
        np.testing.assert_allclose(found[row, 0], expected, rtol=1e-6)


@pytest.mark.parametrize("inputs", PLANES)
def test_there_are_as_many_as_the_table_says(inputs):
    assert planes(inputs).shape == (40, PLANES[inputs], 10, 10)


def test_both_sides_see_their_own_amazons_alike():
    swapped = np.array([0, 1, 3, 2], np.int8)[ROWS["board"]]
    np.testing.assert_array_equal(planes("full"), planes("full", board=swapped, to_play=1 - ROWS["to_play"]))
    assert (planes("full")[:, 2:4].sum((2, 3)) == 4).all()
    assert not np.array_equal(planes("full"), planes("full", to_play=1 - ROWS["to_play"]))


@pytest.mark.parametrize("inputs", PLANES)
def test_they_turn_with_the_board(inputs):
    which = np.arange(40) % 8
    turned = planes(inputs, n=transform_boards(ROWS["n"], which), board=transform_boards(ROWS["board"], which))
    for plane in range(PLANES[inputs]):
        np.testing.assert_array_equal(turned[:, plane], transform_boards(planes(inputs)[:, plane], which))

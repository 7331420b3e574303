import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline_src.errors import ZugwerkError
from pipeline_src.systems.search_depth.choices import TableDepth, read_table
from pipeline_src.systems.search_depth.tables import DepthCosts, fit_costs, fit_table, table_within

COSTS = DepthCosts(((0.0, 1.0), (1.0, 0.3), (0.5, 0.2), (1.0, 0.1), (0.5, 0.2)))
"""Depth 1 takes as many nodes as there are legal turns."""


def positions(rows, seed=0):
    """Legal turns and the nodes by depth that `COSTS` gives, each search ending somewhere."""
    rng = np.random.default_rng(seed)
    legal = rng.integers(2, 2000, rows).astype(np.int32)
    nodes = np.zeros((rows, 8), np.int64)
    nodes[:, :5] = np.maximum(1, COSTS.nodes(legal).round()).astype(np.int64)
    nodes[np.arange(8)[None] >= rng.integers(3, 6, rows)[:, None]] = 0
    return legal, nodes


def test_costs_are_found_again():
    legal, nodes = positions(500)
    found = fit_costs(legal, nodes, 5).nodes([10, 100, 1000])
    np.testing.assert_allclose(found, COSTS.nodes([10, 100, 1000]), rtol=0.1)


def test_a_depth_that_nobody_reached_grows_as_the_last_one_did():
    legal, nodes = positions(500)
    found = fit_costs(legal, nodes, 7).powers
    assert found[5] == found[6] == found[4]


def test_too_few_positions_are_refused():
    legal, nodes = positions(5)
    with pytest.raises(ZugwerkError, match="there are 5; raise depth_label"):
        fit_costs(legal, nodes, 5)


@given(st.floats(1, 1e9), st.integers(1, 5000))
def test_a_table_keeps_within_its_budget(budget, legal):
    depth = table_within(COSTS, 2, 5, budget).depth_of(legal)
    expected = COSTS.nodes([legal])[0]
    assert 2 <= depth <= 5
    if depth > 2:
        assert expected[depth - 1] <= budget * (1 + 1e-9)
    if depth < 5 and legal < 4 * 35 * 35:
        assert expected[depth] > budget


@pytest.mark.parametrize("wanted", [5e4, 2e5, 1e6])
def test_a_table_is_fitted_to_what_it_is_to_spend(wanted):
    legal, _ = positions(400)
    expected = COSTS.nodes(legal)

    def spend(table):
        """The clock of a game takes something off the deepest searches."""
        return sum(min(3e5, expected[i, table.depth_of(n) - 1]) for i, n in enumerate(legal)) / 20

    table, spent = fit_table(COSTS, 1, 5, wanted, wanted / 20, spend, rounds=8)
    assert spend(table) == spent
    assert abs(np.log(spent / wanted)) < 0.1


def test_a_table_is_written_and_read():
    table = TableDepth(3, (900, 400, 150))
    assert read_table(str(table), 3) == table
    assert [table.depth_of(n) for n in (2000, 900, 899, 400, 151, 150, 149, 1)] == [3, 3, 4, 4, 5, 5, 6, 6]
    assert read_table("", 4).depth_of(1) == 4


@pytest.mark.parametrize(("text", "lowest"), [("1/2", 3), ("a", 3), ("-5", 3), ("9//3", 3), ("", 0)])
def test_what_is_no_table_is_refused(text, lowest):
    with pytest.raises(ZugwerkError, match="depth table"):
        read_table(text, lowest)

import numpy as np
import pytest

from pipeline_src.games.kernels import below, seeded
from pipeline_src.search.mcts.uct import SURE, best_first, new_tree, refresh, win_rate


@pytest.mark.parametrize("levels", [3, 50, 100_000])
def test_the_best_come_first_and_equal_ones_in_their_order(levels):
    rng = np.random.default_rng(levels)
    for n in (1, 2, 7, 60, 500):
        values = rng.integers(0, levels, n).astype(np.float32)
        for keep in (1, 2, 31, n, n + 5):
            order = np.empty(n + 5, np.int32)
            held = best_first(values, n, keep, order)
            expected = sorted(range(n), key=lambda i, values=values: (-values[i], i))[:keep]
            assert order[:held].tolist() == expected


def node_of(worths, tries, rest=-np.inf, reached=None):
    tree = new_tree(2, 8, 0)
    tree.first[0], tree.branches[0], tree.closed[0], tree.rest[0] = 0, len(worths), 0, rest
    tree.reached[0] = len(worths) if reached is None else reached
    tree.worth[: len(worths)], tree.tries[: len(worths)] = worths, tries
    tree.child[: len(worths)] = -1
    refresh(tree, 0)
    return float(tree.value[0]), int(tree.closed[0])


def test_a_node_is_worth_its_best_searched_edge():
    assert node_of([5, 4, 3], [0, 0, 0], reached=0) == (5, 0)
    assert node_of([5, 4, 3], [1, 0, 0], reached=1) == (5, 0)
    assert node_of([1, 4, 3], [1, 1, 0], reached=2) == (4, 0)
    assert node_of([1, 4, 3], [1, 0, 0], reached=1) == (1, 0)


def test_exact_values_decide():
    win, loss = SURE + 10, -SURE - 10
    assert node_of([win, 3], [0, 0]) == (win, 1)
    assert node_of([3, win], [1, 1]) == (win, 1)
    assert node_of([loss, 3], [1, 0], reached=1) == (3, 0)
    assert node_of([loss, 3], [1, 1]) == (3, 0)
    assert node_of([loss, loss + 5], [1, 1]) == (loss + 5, 1)
    assert node_of([loss, loss + 5], [1, 1], rest=-2.0) == (-2.0, 1)  # of the others nothing is proven
    assert node_of([loss, loss + 5], [1, 1], rest=loss - 1) == (loss + 5, 1)


def test_win_rates_are_logistic_odd_and_certain_for_exact_values():
    values = np.linspace(-30, 30, 61)
    rates = np.array([win_rate(value, 4.0) for value in values])
    np.testing.assert_allclose(rates, 2 / (1 + np.exp(-values / 4)) - 1)
    np.testing.assert_allclose(rates, -rates[::-1], atol=1e-15)
    assert (np.diff(rates) > 0).all()
    assert win_rate(SURE, 4.0) == 1
    assert win_rate(-SURE - 1, 4.0) == -1


def test_random_numbers_are_even_and_follow_the_seed():
    def drawn(seed):
        state = seeded(seed)
        return [below(state, 10) for _ in range(20_000)]

    assert drawn(1) == drawn(1) != drawn(2)
    counts = np.bincount(drawn(3), minlength=10)
    assert len(counts) == 10
    assert abs(counts - 2000).max() < 200

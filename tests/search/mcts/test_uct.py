from functools import cache

import numpy as np
import pytest

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import amazons
from pipeline_src.games.kernels import below, seeded
from pipeline_src.search.amazons.evaluation import make_evaluator
from pipeline_src.search.limits import Limit
from pipeline_src.search.mcts.uct import NODES, SURE, Uct, UctOptions, best_first, new_tree, refresh, win_rate

VARIANTS = [
    UctOptions(),
    UctOptions(prior=0.0, minimax=0.0),
    UctOptions(minimax=1.0, widen=1.0),
]


def uct(options=None, nodes=1 << 12):
    return Uct(make_evaluator(), options, nodes)


@cache
def wins(fen):
    """Whether the side to move wins, by searching everything."""
    state = amazons.from_fen(fen)
    return any(not wins(amazons.to_fen(amazons.play(state, int(a)))) for a in amazons.legal_actions(state))


def small_states(n):
    """Unfinished 4x4 positions with two amazons a side and few squares left."""
    rng, found = np.random.default_rng(5), []
    while len(found) < n:
        cells = rng.permutation(16)
        squares = np.full(16, amazons.EMPTY, np.int8)
        squares[cells[:2]], squares[cells[2:4]] = amazons.WHITE, amazons.BLACK
        squares[cells[4 : 4 + int(rng.integers(4, 8))]] = amazons.ARROW
        state = amazons.from_board(squares.reshape(4, 4), int(rng.integers(2)))
        if amazons.winner(state) is None:
            found.append(state)
    return found


@pytest.mark.parametrize("options", VARIANTS)
def test_small_boards_are_solved_as_plain_search_solves_them(options):
    states = small_states(20)
    expected = [wins(amazons.to_fen(state)) for state in states]
    assert 2 < sum(expected) < 18
    searcher = uct(options._replace(keep=400), nodes=40_000)
    for state, won in zip(states, expected, strict=True):
        found = searcher.search(state, Limit(nodes=20_000))
        assert (found.value >= SURE) == won
        assert (found.value <= -SURE) == (not won)
        if won:
            assert not wins(amazons.to_fen(amazons.play(state, found.action)))


@pytest.mark.parametrize("options", VARIANTS)
def test_a_full_tree_is_searched_on(options):
    searcher = uct(options, nodes=30)
    found = searcher.search(amazons.initial_state(6), Limit(nodes=2000))
    assert found.nodes == 2000
    assert searcher.tree is not None
    assert searcher.tree.used[NODES] == 30


def add_up(tree):
    for node in range(tree.used[NODES]):
        edges = slice(tree.first[node], tree.first[node] + tree.branches[node])
        assert tree.tries[edges].sum() == tree.visits[node]
        assert (np.abs(tree.total[edges]) <= tree.tries[edges] + 1e-9).all()
        for edge in range(edges.start, edges.stop):
            child = tree.child[edge]
            if child >= 0:
                assert tree.visits[child] == tree.tries[edge] - 1
                assert tree.worth[edge] == -tree.value[child]


def test_visits_add_up():
    searcher = uct()
    searcher.search(amazons.initial_state(6), Limit(nodes=700))
    add_up(searcher.tree)


@pytest.mark.parametrize("options", [UctOptions(), UctOptions(breadth=4)])
def test_timed_search_reuses_tree_of_two_turns_before(options):
    searcher, clocked = uct(options), Limit(nodes=700, movetime_ms=1e7)
    found = searcher.search(amazons.initial_state(6), clocked)
    state = amazons.initial_state(6)
    for action in found.pv[:2]:
        state = amazons.play(state, action)
    tree = searcher.tree
    child = tree.child[list(tree.action[: tree.branches[0]]).index(found.pv[0])]
    replies = slice(tree.first[child], tree.first[child] + tree.branches[child])
    known = tree.visits[tree.child[replies.start + list(tree.action[replies]).index(found.pv[1])]]
    again = searcher.search(state, clocked)
    assert again.nodes == 700
    assert known > 20
    assert tree.visits[0] == 700 + known
    add_up(tree)
    anew = uct(options).search(state, Limit(nodes=700))
    assert searcher.search(state, Limit(nodes=700)).pv == anew.pv
    assert tree.visits[0] == 700


def test_depth_bounds_the_longest_line():
    for depth in (1, 2, 4):
        found = uct().search(amazons.initial_state(6), Limit(nodes=5000, depth=depth))
        assert found.depth == depth
        assert found.nodes < 5000


def test_unsearchable_positions_are_refused():
    with pytest.raises(ZugwerkError, match="over"):
        uct().search(amazons.from_fen("Q**/***/2q w"), Limit(nodes=1))
    for bad in ({"c": -1.0}, {"keep": 0}, {"scale": 0.0}, {"minimax": 1.5}, {"alpha": float("nan")}):
        with pytest.raises(ZugwerkError, match=next(iter(bad))):
            uct(UctOptions()._replace(**bad))


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
    tree = new_tree(2, 8)
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

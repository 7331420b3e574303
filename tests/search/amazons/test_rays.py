"""Keys of squares against slow ones, and a net of rays in play: its kernel, its file, its trees."""

import numpy as np
import pytest

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import amazons, kernels, rules
from pipeline_src.jit import njit, plainly
from pipeline_src.search.amazons import ray_keys
from pipeline_src.search.amazons.ray_keys import KEYS, LINES, PAIRS, PLACES, RAYS, ROWS, STRIDE, row_inputs, write_keys
from pipeline_src.search.amazons.rays import (
    CHANNELS,
    WEIGHTS,
    RayEvaluator,
    RayTable,
    evaluate_position,
    make_ray_net,
    read_table,
    see,
    write_table,
)
from pipeline_src.search.limits import Limit
from pipeline_src.search.mcts.puct import PuctOptions
from pipeline_src.search.mcts.puct_search import Puct
from pipeline_src.search.mcts.puct_trees import PuctTrees
from tests.search.amazons.test_evaluation import FAR, distances, look


def random_table(seed=0, scale=0.2):
    rng = np.random.default_rng(seed)
    heads = {name: (rng.normal(size=count) * scale).astype(np.float32) for name, count in WEIGHTS.items()}
    return RayTable((rng.normal(size=(ROWS, CHANNELS)) * 300).astype(np.int16), heads)


def walk(size, games=1, seed=0):
    """Positions of random games, before moves and before arrows; the last ones are all but closed."""
    rng = np.random.default_rng(seed)
    for _ in range(games):
        state = amazons.initial_state(size)
        steps = np.empty(kernels.max_steps(state), np.int32)
        while count := kernels.write_steps(state, steps):
            yield rules.copy_state(state)
            kernels.play_step(state, int(rng.choice(steps[:count])))


def steps_of(state):
    steps = np.empty(kernels.max_steps(state), np.int32)
    return steps[: kernels.write_steps(state, steps)].copy()


def asked(net, state):
    """Value and priors by the kernel."""
    steps = steps_of(state)
    priors = np.empty(len(steps), np.float32)
    return evaluate_position(net, state, steps, len(steps), priors), priors


@njit(cache=True)
def compiled_keys(kinds, opens, keys):
    write_keys(kinds, opens, keys)


def keys_of(state, write=compiled_keys):
    net = make_ray_net(random_table(), state)
    see(state, net.place, net.kinds, net.opens, net.live)
    keys = np.zeros(KEYS * PLACES, np.uint16)
    write(net.kinds, net.opens, keys)
    height, width = state.board.shape
    return keys.reshape(KEYS, -1, STRIDE)[:, 1 : height + 1, 1 : width + 1]


def slow_keys(state):
    """Rows by square, from the definitions; 0 on arrows."""
    cells, (height, width), mover = state.board, state.board.shape, amazons.COLOUR[rules.to_play(state)]
    shooter = divmod(int(state.turn[1]), width) if state.turn[1] >= 0 else None
    empty = cells == amazons.EMPTY

    def kind(r, c):
        if not (0 <= r < height and 0 <= c < width) or cells[r, c] in (amazons.ARROW, amazons.EMPTY):
            return 0
        return 3 if (r, c) == shooter else 1 if cells[r, c] == mover else 2

    sides = [[(int(r), int(c)) for r, c in np.argwhere(cells == of)] for of in (mover, 5 - mover)]
    moves = [[distances(empty, side, queen) for queen in (True, False)] for side in sides]
    found = np.zeros((KEYS, height, width), int)
    for r, c in np.argwhere(cells != amazons.ARROW):
        for line, (dr, dc) in enumerate(((0, 1), (1, 0), (1, 1), (1, -1))):
            seen = []
            for y, x in ((dr, dc), (-dr, -dc)):
                free = len(look(empty, r, c, y, x))
                seen.append(4 * free + kind(r + (free + 1) * y, c + (free + 1) * x))
            found[line, r, c] = (line > 1) * PAIRS + (kind(r, c) * RAYS + min(seen)) * RAYS + max(seen)
        code = 0
        for queen, king in moves:
            code = code * 5 + (4 if queen[r, c] == FAR else min(queen[r, c] - 1, 3))
            code = code * 7 + (6 if king[r, c] == FAR else min(king[r, c] - 1, 5))
        found[LINES, r, c] = 2 * PAIRS + (code if empty[r, c] else 35**2 - 1 + kind(r, c))
    return found


@pytest.mark.parametrize("size", [6, 8, 10])
def test_keys_are_those_of_a_slow_reference(size):
    seen = set()
    for state in walk(size, games=3):
        live, expected = state.board != amazons.ARROW, slow_keys(state)
        found = keys_of(state)
        np.testing.assert_array_equal(found[:, live], expected[:, live])
        seen |= set(found[:, live].ravel().tolist())
        if state.turn[2] % 8 == 0:  # the same in plain Python, which waits for no compiler
            np.testing.assert_array_equal(keys_of(state, ray_keys.write_keys)[:, live], expected[:, live])
    assert len(seen) > 400


def test_the_perceptron_reads_what_the_key_says():
    seen = row_inputs()
    pair = seen[PAIRS + (2 * RAYS + 7) * RAYS + 38]
    assert np.flatnonzero(pair).tolist() == [2, 4 + 7, 4 + 38, 4 + RAYS + 1]
    assert seen[(2 * RAYS + 7) * RAYS + 7, 4 + 7] == 2
    reached = seen[2 * PAIRS + (3 * 7 + 6) * 35 + 4 * 7 + 5]
    assert np.flatnonzero(reached).tolist() == [46 + 3, 51 + 6, 58 + 4, 63 + 5]
    assert (seen.sum(1)[: 2 * PAIRS] == 4).all()
    assert (seen[-3:].argmax(1) == [70, 71, 72]).all()


@pytest.mark.parametrize("size", [6, 10])
def test_the_answer_does_not_depend_on_the_positions_before(size):
    made = random_table()
    states = list(walk(size, games=2))
    used = make_ray_net(made, states[0])
    for state in states[:: max(1, len(states) // 40)] + states[::-9]:
        value, priors = asked(used, state)
        expected, fresh = asked(make_ray_net(made, state), state)
        assert value == expected
        np.testing.assert_array_equal(priors, fresh)
        assert priors.sum() == pytest.approx(1, abs=1e-5)
    assert used.evaluated[0] > 40


def test_a_small_board_is_a_large_one_amid_arrows():
    made = random_table()
    for state in list(walk(8))[::5]:
        wide = np.zeros((10, 10), np.int8)
        wide[1:9, 1:9] = state.board
        large = amazons.from_board(wide, rules.to_play(state))
        if state.turn[1] >= 0:
            large.turn[1] = (state.turn[1] // 8 + 1) * 10 + state.turn[1] % 8 + 1
        value, priors = asked(make_ray_net(made, state), state)
        expected, others = asked(make_ray_net(made, large), large)
        assert value == pytest.approx(expected, abs=1e-6)
        np.testing.assert_allclose(priors, others, atol=1e-6)


def test_plain_python_answers_as_the_kernel():
    made = random_table()
    for state in list(walk(6))[:6:2]:
        expected = asked(make_ray_net(made, state), state)
        with plainly():
            value, priors = asked(make_ray_net(made, state), state)
        assert value == pytest.approx(expected[0], abs=1e-4)
        np.testing.assert_allclose(priors, expected[1], atol=1e-4)


def test_counted_endings_are_certain_and_nothing_else_is():
    sure = random_table(scale=5.0)  # values near 1
    for side, expected in (("w", 1), ("b", -1)):  # 7 squares against 3
        state = amazons.from_fen(f"Q3/4/****/q3 {side}")
        assert asked(make_ray_net(sure, state, settles=True), state)[0] == expected
        assert abs(asked(make_ray_net(sure, state), state)[0]) < 1
    values = {abs(asked(make_ray_net(sure, state, settles=True), state)[0]) for state in list(walk(10))[:20]}
    assert max(values) == pytest.approx(0.9999)


def test_trees_search_with_the_kernel_as_with_its_answers():
    evaluator, state = RayEvaluator(random_table()), amazons.initial_state(6)
    inside = PuctTrees(state, 1, evaluator, PuctOptions(), nodes=80)
    outside = PuctTrees(state, 1, lambda *leaves: evaluator(*leaves), PuctOptions(), nodes=80)
    for trees in (inside, outside):
        trees.plant(0, state)
        trees.simulate(np.array([60], np.int32))
    assert inside.net is not None
    assert outside.net is None
    np.testing.assert_array_equal(inside.visits(0), outside.visits(0))


def test_searches_play_a_game_to_its_end_on_any_board():
    searcher = Puct(RayEvaluator(random_table(), settles=True), PuctOptions(solve=True), nodes=34)
    for fen in ("3q/4/4/Q3 w", "1q2q1/q4q/6/6/Q4Q/1Q2Q1 w"):
        state = amazons.from_fen(fen)
        while amazons.winner(state) is None:
            state = amazons.play(state, searcher.search(state, Limit(nodes=32)).action)


def test_a_table_comes_back_as_it_was_written(tmp_path):
    made = random_table()
    for name in ("a", "b"):
        write_table(tmp_path / f"{name}.rays", made, 10)
    assert (tmp_path / "a.rays").read_bytes() == (tmp_path / "b.rays").read_bytes()
    again, size = read_table(tmp_path / "a.rays")
    assert size == 10
    assert (again.table == made.table).all()
    assert all((again.heads[name] == made.heads[name]).all() for name in WEIGHTS)


def test_weights_that_are_no_numbers_or_too_few_are_refused(tmp_path):
    made, mix = random_table(), np.where(np.arange(528), 0, np.nan)
    with pytest.raises(ZugwerkError, match=r"layer mix .* not 527 of 528"):
        write_table(tmp_path / "net.rays", made._replace(heads=made.heads | {"mix": mix}), 10)
    with pytest.raises(ZugwerkError, match=r"int16 \(14028, 32\)"):
        make_ray_net(made._replace(table=made.table[1:]), amazons.initial_state())

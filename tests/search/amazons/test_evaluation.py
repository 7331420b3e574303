import numpy as np
import pytest

from pipeline_src.games import amazons
from pipeline_src.games import amazons as board
from pipeline_src.games.amazons import buffers
from pipeline_src.search import evaluator as generic
from pipeline_src.search.amazons.evaluation import (
    BOTH,
    FIRST,
    NOBODY,
    PARITY,
    SECOND,
    AmazonsEngine,
    Phase,
    make_evaluator,
    rank_all,
    territory,
    value_of,
)
from pipeline_src.search.amazons.terms import LANES, terms
from pipeline_src.search.evaluator import WIN


def positions(count):
    rng = np.random.default_rng(5)
    for number in range(count):
        state = amazons.initial_state(10, amazons.VARIANTS[number % 2])
        for _ in range(int(rng.integers(60))):
            if amazons.winner(state) is not None:
                break
            state = amazons.play(state, int(rng.choice(amazons.legal_actions(state))))
        yield state


@pytest.mark.parametrize("tempo", [0.0, 0.25])
def test_owners_sum_up_to_the_terms_of_the_evaluation(tempo):
    for state in positions(30):
        found, sign = terms(state, tempo), 1 if amazons.to_play(state) == 0 else -1
        for owners, term in zip(territory(state), (found.t1, found.t2), strict=True):
            lead = int((owners == FIRST).sum()) - int((owners == SECOND).sum())
            assert sign * lead + tempo * int((owners == BOTH).sum()) == pytest.approx(term)


def test_enclosed_or_occupied_squares_have_no_owner():
    state = amazons.from_fen("Q**/***/**q w")
    assert not territory(state).queen.any()
    state = amazons.from_fen("Q1*/***/*1q w")
    owners = territory(state)
    assert owners.queen.tolist() == owners.king.tolist() == [0, SECOND, 0, 0, 0, 0, 0, FIRST, 0]
    assert NOBODY == 0


# The terms of the Amazons evaluation square by square, slow and obvious; and positions to try them on.


FAR = 999
RAYS = [(r, c) for r in (-1, 0, 1) for c in (-1, 0, 1) if (r, c) != (0, 0)]


def look(empty, r, c, dr, dc):
    """Empty squares from (r, c) on in a direction, up to the first that is not."""
    seen = []
    while 0 <= r + dr < empty.shape[0] and 0 <= c + dc < empty.shape[1] and empty[r + dr, c + dc]:
        r, c = r + dr, c + dc
        seen.append((r, c))
    return seen


def distances(empty, amazons, queen):
    """Moves needed to each square, breadth first; FAR where there is no way."""
    found = np.full(empty.shape, FAR)
    frontier, steps = amazons, 0
    while frontier:
        steps, reached = steps + 1, []
        for r, c in frontier:
            for dr, dc in RAYS:
                for square in look(empty, r, c, dr, dc)[: None if queen else 1]:
                    if found[square] == FAR:
                        found[square] = steps
                        reached.append(square)
        frontier = reached
    return found


def mobility(empty, amazons, reached):
    """Of one side; ``reached`` are the squares that the other side reaches."""
    padded = np.pad(empty, 1)
    total = 0.0
    for r, c in amazons:
        for dr, dc in RAYS:
            for distance, (y, x) in enumerate(look(empty, r, c, dr, dc), 1):
                if reached[y, x]:
                    total += 2.0**-distance * padded[y : y + 3, x : x + 3].sum() - 2.0**-distance
    return total


def enclosed(shared, amazons):
    """Of one side; ``shared`` are the squares that both sides reach."""
    padded = np.pad(shared, 1)
    beside = [padded[r : r + 3, c : c + 3].sum() for r, c in amazons]
    return beside.count(0) + beside.count(1) / 4


def slow_terms(state, tempo):
    """t1, t2, c1, c2, w, m, e."""
    empty, width = state.board == board.EMPTY, state.board.shape[1]
    sides = [[divmod(int(s), width) for s in row if s >= 0] for row in state.amazons]
    own, other = sides[board.to_play(state)], sides[1 - board.to_play(state)]
    territory = []
    for queen in (True, False):
        a, b = distances(empty, own, queen), distances(empty, other, queen)
        territory.append((a < b).sum() - 1.0 * (a > b).sum() + tempo * ((a == b) & (a < FAR)).sum())
        if queen:
            both = (a < FAR) & (b < FAR)
            c1 = 2 * ((2.0**-a)[a < FAR].sum() - (2.0**-b)[b < FAR].sum())
            w = (2.0 ** -np.abs(a - b))[both].sum()
            m = mobility(empty, own, b < FAR) - mobility(empty, other, a < FAR)
            e = enclosed(both, own) - enclosed(both, other)
        else:
            c2 = np.clip((b - a) / 6, -1, 1).sum()
    return (*territory, c1, c2, w, m, e)


def games(size, count, greedy, seed):
    """Positions of random games (``greedy``: games one ply deep from four random plies), the last ones finished."""
    rng, evaluator = np.random.default_rng([seed, size]), make_evaluator()
    for _ in range(count):
        state = board.initial_state(size)
        yield state
        while board.winner(state) is None:
            actions = board.legal_actions(state)
            if greedy and state.turn[2] >= 4:
                values = np.empty(4 * 35 * 35 + 9, np.float32)
                rank_all(state, evaluator, np.empty(values.size, np.int32), values)
                action = actions[np.argmax(values[: actions.size])]
            else:
                action = rng.choice(actions)
            state = board.play(state, int(action))
            yield state


SNAKE = "Q9/*********1/10/1*********/10/*********1/10/1*********/10/*********q w"


def phase(*weights, **more):
    return Phase(**dict(zip(Phase.model_fields, weights, strict=False)), **more)


MOBILE = AmazonsEngine(
    phases=(phase(0, 1), phase(1, 0.2, 0.3, 0.3, 0.2, 0.1, -0.4, 0.3), phase(40, 0.1, 0.4, 0.2, 0.3, 0.3, -1, 0.5))
)
"""Weights under which every term counts."""


def ranked(state, evaluator, stop_at=np.inf):
    _, actions = buffers(state)
    values = np.full(actions.size, np.nan, np.float32)
    n = generic.rank(state, evaluator, actions, values, stop_at)
    return actions[:n], values[:n]


def slow_value(state, engine):
    """The weighted terms, the weights by numpy's interpolation."""
    if amazons.winner(state) is not None:
        return -WIN
    t1, t2, c1, c2, w, m, e = slow_terms(state, engine.tempo)
    table = engine.table()
    table[0, 7] = -PARITY
    weights = [np.interp(w, table[:, 0], table[:, j]) for j in range(1, 8)]
    return np.dot(weights, [t1, t2, c1, c2, m, e, 1])


def test_start_position_has_the_known_terms():
    expected = (9.6, 3.2, 0.0, 0.0, 70.0, 0.0, 0.0)
    assert slow_terms(amazons.initial_state(), 0.2) == pytest.approx(expected)
    assert terms(amazons.initial_state(), 0.2) == pytest.approx(expected)


@pytest.mark.parametrize("greedy", [False, True])
@pytest.mark.parametrize(("size", "count"), [(6, 12), (8, 5), (10, 3)])
def test_terms_against_the_slow_reference(size, count, greedy):
    checked = 0
    for state in games(size, count, greedy, 1):
        assert terms(state, 0.2) == pytest.approx(slow_terms(state, 0.2), abs=1e-9), amazons.to_fen(state)
        checked += 1
    assert checked > 100


@pytest.mark.parametrize("fen", [SNAKE, "Q1*q/4/**2/q2Q b", "Q*q/***/3 w", "3/1Q1/3 w", "3/1Q1/3 b", "Q9/q9/10 w"])
def test_long_ways_closed_areas_and_few_amazons(fen):
    state = amazons.from_fen(fen)
    assert terms(state, 0.2) == pytest.approx(slow_terms(state, 0.2), abs=1e-9)
    check_children(state, AmazonsEngine())
    check_children(state, MOBILE)


def check_children(state, engine, every=1):
    evaluator = make_evaluator(engine, state.amazons.shape[1])
    actions, values = ranked(state, evaluator)
    np.testing.assert_array_equal(actions, amazons.legal_actions(state))
    for i in range(0, len(actions), every):
        child = amazons.play(state, int(actions[i]))
        assert values[i] == -np.float32(generic.evaluate(child, evaluator))
        assert values[i] == pytest.approx(-slow_value(child, engine), abs=1e-5), amazons.to_fen(child)


@pytest.mark.parametrize(
    "engine", [AmazonsEngine(), AmazonsEngine(weights="hand"), MOBILE], ids=["learned", "hand", "mobility"]
)
@pytest.mark.parametrize("size", [6, 8, 10])
def test_rank_writes_the_value_of_every_child(size, engine):
    for i, state in enumerate(games(size, 3, size == 10, 2)):
        if i % 7 == 0:
            check_children(state, engine, every=max(1, len(amazons.legal_actions(state)) // 8))


@pytest.mark.parametrize(
    "phases",
    [
        (phase(0, 1),),
        (phase(0, 1), phase(30, 0.5, m=0.5)),
        (phase(0, 1), phase(5, 0.4, 0.6), phase(20, 0.5, 0.1, c2=0.4), phase(40, 0, 0, 0.5, 0.5)),
    ],
)
def test_terms_left_out_where_they_weigh_nothing_change_nothing(phases):
    engine = AmazonsEngine(tempo=0.3, phases=phases)
    for i, state in enumerate(games(6, 2, False, 3)):
        if i % 3 == 0:
            check_children(state, engine, every=max(1, len(amazons.legal_actions(state)) // 8))


def test_rank_stops_once_a_value_is_high_enough():
    evaluator = make_evaluator()
    state = list(games(10, 1, False, 4))[6]
    actions, values = ranked(state, evaluator)
    assert len(actions) > 4 * LANES
    for stop_at in np.quantile(values, [0.1, 0.5, 0.9, 0.99, 1.0]):
        some, found = ranked(state, evaluator, float(stop_at))
        np.testing.assert_array_equal(some, actions[: len(some)])
        np.testing.assert_array_equal(found, values[: len(some)])
        first = int(np.argmax(values >= stop_at))
        assert first < len(some) <= first + LANES
    assert len(ranked(state, evaluator, float(values.max()) + 1)[0]) == len(actions)


@pytest.mark.parametrize("breadth", [1, 5, 1000])
def test_shortlist_has_turns_of_moves_best_before_their_arrow(breadth):
    """A move without its arrow is worth what its position is, the other side to move."""
    evaluator = make_evaluator()
    for state in list(games(8, 1, True, 5))[1:33:8]:
        actions, values = ranked(state, evaluator)
        squares = state.board.size
        moves, before = np.unique(actions // squares), {}
        for move in moves.tolist():
            shot = amazons.play(state, move * squares + move // squares)  # back at the square it came from
            shot.board.flat[move // squares] = amazons.EMPTY
            before[move] = -slow_value(shot, AmazonsEngine())
        some, found = np.empty(actions.size + 9, np.int32), np.empty(actions.size + 9, np.float32)
        n, looked = generic.shortlist(state, evaluator, breadth, some, found, np.inf)
        assert looked == (moves.size if breadth < moves.size else 0)
        likely = set((some[:n] // squares).tolist())
        others = [before[move] for move in before.keys() - likely]
        assert len(likely) == min(breadth, moves.size)
        assert min(before[move] for move in likely) >= max(others, default=-np.inf) - 1e-4  # of equal ones, any
        expected = [i for i, action in enumerate(actions) if action // squares in likely]
        assert dict(zip(some[:n].tolist(), found[:n].tolist(), strict=True)) == {
            int(actions[i]): float(values[i]) for i in expected
        }


def test_a_turn_that_leaves_the_opponent_none_wins():
    state = amazons.from_fen("q*2/**2/4/3Q w")
    evaluator = make_evaluator()
    actions, values = ranked(state, evaluator)
    assert (values == WIN).all()
    assert len(actions) > 10
    assert ranked(amazons.play(state, int(actions[0])), evaluator)[0].size == 0
    assert value_of(amazons.play(state, int(actions[0])), evaluator) == -WIN


def test_closed_areas_are_worth_the_squares_and_half_a_move():
    evaluator = make_evaluator()
    even, behind = "Q1*1q w", "Q1*2q w"
    for text, value in ((even, -0.5), (behind, -1.5), (behind[:-1] + "b", 0.5)):
        rank, side = text.split()
        state = amazons.from_fen(f"{rank}/{'*' * (6 if '2' in rank else 5)}/{'*' * (6 if '2' in rank else 5)} {side}")
        assert value_of(state, evaluator) == pytest.approx(value)


def test_position_and_arrays_are_left_as_they_were():
    state = amazons.initial_state(6)
    before = [array.copy() for array in state]
    _, actions = buffers(state)
    rank_all(state, make_evaluator(), actions, np.empty(actions.size, np.float32))
    assert all(np.array_equal(a, b) for a, b in zip(before, state, strict=True))


@pytest.mark.parametrize(
    ("phases", "message"),
    [
        ((phase(1, 1),), "w = 0"),
        ((phase(0, 1), phase(0, 1)), "rising"),
        ((phase(0, 0.5, 0.5),), "t1 = 1"),
    ],
)
def test_phases_are_checked(phases, message):
    with pytest.raises(ValueError, match=message):
        AmazonsEngine(phases=phases)


@pytest.mark.parametrize(
    "engine", [AmazonsEngine(tempo=0), AmazonsEngine(tempo=0, weights="hand")], ids=["learned", "hand"]
)
def test_other_side_has_negated_value_except_for_tempo(engine):
    evaluator = make_evaluator(engine)
    still = evaluator._replace(
        knots=np.column_stack([evaluator.knots[:, :7], np.zeros(len(evaluator.knots)), evaluator.knots[:, 8]])
    )
    for state in list(games(8, 2, True, 6))[:70:3]:
        if amazons.winner(state) is not None:
            continue
        swapped = state._replace(turn=state.turn.copy())
        swapped.turn[0] = 1 - state.turn[0]
        if amazons.winner(swapped) is None:
            assert value_of(swapped, still) == pytest.approx(-value_of(state, still), abs=1e-9)

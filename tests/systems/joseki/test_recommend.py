from collections import Counter
from itertools import product

import numpy as np
import pytest

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import go
from pipeline_src.systems.joseki.accuracy import is_held_out, name_moves, point_counts
from pipeline_src.systems.joseki.recommend import rank_moves, recommend, recommend_in_corner
from pipeline_src.systems.joseki.sequences import walk
from tests.systems.joseki.games import N, at, random_record, record, symmetric_record
from tests.systems.joseki.test_library import built

OPENING = [at(4, 4), at(3, 6)]
LIBRARY = built(
    [
        record([*OPENING, at(6, 3), at(9, 3)], 1, "first"),
        record([*OPENING, at(6, 3), at(8, 3)], 2, "second"),
        record([*OPENING, at(3, 9)], 3, "first"),
        record([*OPENING, at(5, 5)], 4, None),
        record([*OPENING, at(4, 4, 3), at(3, 9), at(4, 4, 2)], 5, "second"),
    ]
)
"""After the approach Black plays (6, 3) twice, (3, 9) and (5, 5) once, elsewhere once, and White then (3, 9)."""


def position(*actions):
    state = go.initial_state(19)
    for action in actions:
        state = go.play(state, action)
    return state


def test_candidates_come_by_frequency_with_results_and_games():
    found = recommend_in_corner(LIBRARY, position(*OPENING), 0)
    assert [(one.actions, one.played, one.wins, one.losses) for one in found] == [
        ((at(6, 3),), 2, 1, 1),
        ((at(3, 9),), 1, 1, 0),
        ((at(5, 5),), 1, 0, 0),
        ((), 1, 0, 1),
    ]
    assert [one.share for one in found] == [0.4, 0.2, 0.2, 0.2]
    assert [one.win_rate for one in found] == [0.5, 1.0, None, 0.0]
    assert {gid for gid, _ in found[0].samples} == {1, 2}
    assert {ply for _, ply in found[0].samples} == {2}


@pytest.mark.parametrize("corner", range(4))
@pytest.mark.parametrize("mirrored", [False, True])
def test_they_are_mapped_back_to_every_corner_form_and_colour(corner, mirrored):
    def there(r, c):
        return at(c, r, corner) if mirrored else at(r, c, corner)

    black = position(there(4, 4), there(3, 6))
    white = position(N, there(4, 4), there(3, 6))
    for state in (black, white):
        found = recommend_in_corner(LIBRARY, state, corner)
        assert [one.actions for one in found] == [(there(6, 3),), (there(3, 9),), (there(5, 5),), ()]


def test_the_position_decides_and_not_its_history():
    state = position(at(10, 9, 3), at(3, 6), at(4, 4), at(9, 10, 3))
    unknown_history = go.from_fen(go.to_fen(state))
    expected = [(at(6, 3),), (at(3, 9),), (at(5, 5),), ()]
    for some in (state, unknown_history):
        assert [one.actions for one in recommend_in_corner(LIBRARY, some, 0)] == expected


def test_a_corner_that_is_its_own_mirror_image_offers_both_points():
    library = built([record([at(3, 4)])])
    found = recommend(library, position(), [1])
    assert [set(one.actions) for one in found] == [{at(3, 4, 1), at(4, 3, 1)}]


def test_the_whole_board_names_each_point_once_and_tenuki_last():
    state = position(*OPENING)
    found = recommend(LIBRARY, state)
    actions = [action for one in found for action in one.actions]
    assert len(actions) == len(set(actions))
    assert {one.corner for one in found} == {0, 1, 2, 3}
    assert [bool(one.actions) for one in found] == sorted((bool(one.actions) for one in found), reverse=True)
    assert all(go.is_legal(state, action) for action in actions)


def test_a_point_of_the_middle_line_is_named_by_the_better_corner():
    library = built([record([at(3, 10)], 1), record([at(4, 4)], 2), record([at(9, 9, 1), at(4, 4, 3), at(3, 10)], 3)])
    found = [one for one in recommend(library, position(at(9, 9, 1), at(4, 4, 3)), [0, 1]) if one.actions]
    assert [(one.corner, one.share) for one in found if at(3, 10) in one.actions] == [(1, 1.0)]


def test_two_corners_that_are_equal_both_name_their_point():
    library = built([record([at(3, 10)])])
    found = recommend(library, position(), [0, 1])
    assert [one.corner for one in found if at(3, 10) in one.actions] == [0, 1]


SYMMETRIES = list(product(range(4), (False, True), (False, True)))
"""Quarter turns, mirrored or not, recoloured or not."""


def rows_of(library, actions, symmetry):
    """What is recommended after moves on a board that was turned, mirrored, and recoloured, told on the first board."""
    turned = symmetric_record(record(actions), symmetry, 1).actions
    back = dict(zip(symmetric_record(record(range(N)), symmetry, 1).actions, range(N), strict=True))
    found = recommend(library, position(*([N] if symmetry[2] else []), *turned))
    return Counter(
        (frozenset(back[action] for action in one.actions), one.played, one.share, one.wins, one.losses)
        for one in found
    )


@pytest.mark.parametrize("plies", [0, 1, 2, 3, 6, 40])
def test_every_form_of_a_position_has_the_same_rows(plies):
    """On a middle line, too, which in many of these positions two equal corners share."""
    games = [random_record(seed, plies=60) for seed in range(40)]
    library = built([*games, *(record([at(3, 10), at(10, 3, 3), at(10, 10)], 500 + i) for i in range(3))])
    for game in games[:6]:
        rows = rows_of(library, game.actions[:plies], SYMMETRIES[0])
        for symmetry in SYMMETRIES[1:]:
            assert rows_of(library, game.actions[:plies], symmetry) == rows


def test_illegal_points_are_left_out():
    ko = [at(1, 2), at(1, 3), at(2, 1), at(2, 4), at(3, 2), at(3, 3), at(9, 9, 3), at(2, 2), at(2, 3)]
    state = position(*ko)
    with_ko = record([*ko, at(8, 8, 3), at(7, 7, 3), at(2, 2)])
    library = built([with_ko])
    assert not go.is_legal(state, at(2, 2))
    moves = rank_moves(library, walk([with_ko]).steps.before[-1], 2)
    assert [one.points for one in moves] == [(11,)]
    assert recommend_in_corner(library, state, 0) == []


def test_an_unknown_pattern_has_no_candidates():
    assert recommend_in_corner(LIBRARY, position(at(9, 9)), 0) == []


def test_small_boards_are_refused():
    with pytest.raises(ZugwerkError, match="not of 9x9"):
        recommend(LIBRARY, go.initial_state(9))


def test_accuracy_counts_a_mirror_image_where_the_pattern_has_one():
    steps = walk([record([at(4, 3), at(6, 4)])]).steps
    library = built([record([at(3, 4), at(4, 6)], gid, "first") for gid in (1,)])
    named = name_moves(library, point_counts(walk([record([at(3, 4), at(4, 6)])]).steps, 20), steps)
    assert named.known.tolist() == [True, True]
    assert named.rank.tolist() == [0, 0]
    assert named.baseline.tolist() == [0, 1]  # (4, 6), as often played at that number, comes first and is another move
    assert named.number.tolist() == [1, 2]


def test_what_is_unknown_is_not_named_but_has_a_baseline():
    steps = walk([record([at(9, 9), at(3, 6)])]).steps
    named = name_moves(LIBRARY, point_counts(walk([record(OPENING)]).steps, 20), steps)
    assert named.known.tolist() == [True, False]
    assert named.rank.tolist() == [-1, -1]
    assert named.baseline.tolist() == [-1, 0]


def test_the_baseline_skips_points_that_are_taken():
    counts = point_counts(walk([record([at(4, 4), at(4, 4, 3), at(4, 4, 1), at(3, 6)])]).steps, 20)
    counts[2] = counts[1]
    named = name_moves(LIBRARY, counts, walk([record([at(4, 4), at(1, 1)])]).steps)
    assert named.baseline.tolist()[0] == 0
    assert named.baseline.tolist()[1] == 0  # (1, 1) is the first empty point, all others having been played as little


def test_equal_games_fall_on_one_side_and_shares_are_about_right():
    games = [random_record(seed, plies=8) for seed in range(200)]
    held = [is_held_out(game, 0.25, 3) for game in games]
    assert 25 <= sum(held) <= 75
    assert held == [is_held_out(record(game.actions, 9, None), 0.25, 3) for game in games]
    assert held != [is_held_out(game, 0.25, 4) for game in games]
    assert not np.any([is_held_out(game, 0.0, 3) for game in games])

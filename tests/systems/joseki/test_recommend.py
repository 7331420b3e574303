"""Recommendations, both look-ups, and their picture."""

import xml.etree.ElementTree as ET
from collections import Counter

import numpy as np
import pytest

from pipeline_src.games import go
from pipeline_src.systems.joseki.build import clashing_states
from pipeline_src.systems.joseki.evaluate import (
    Named,
    compare,
    is_held_out,
    name_moves,
    point_counts,
    rates,
    spread,
    timings,
)
from pipeline_src.systems.joseki.patterns import (
    PASS,
    canonical_key,
    canonical_keys,
    canonical_move,
    count_unresolved,
    each_steps,
    earlier_codes,
    gu_code,
    pattern_codes,
    walk,
    zobrist_code,
)
from pipeline_src.systems.joseki.recommend import (
    NO_MASK,
    NOT_FOUND,
    Recommendation,
    board_svg,
    code_index,
    look_up,
    look_up_paper,
    point_layer,
    rank_moves,
    recommend,
    recommend_in_corner,
    recommendation_rows,
)
from tests.systems.joseki.games import (
    GOLDEN,
    SYMMETRIES,
    TWINS,
    N,
    at,
    forms,
    random_record,
    record,
    symmetric_record,
    window_of,
)
from tests.systems.joseki.test_library import built

GAMES = [random_record(seed) for seed in range(40)]


@pytest.fixture(scope="module")
def library():
    return built(GAMES)


def test_played_moves_are_found_in_every_form(library):
    steps = walk(GAMES[:4]).steps
    for before, played, point in zip(steps.before, steps.colour.tolist(), steps.point.tolist(), strict=True):
        for number, form in enumerate(forms(before)):
            colour = 3 - played if number & 2 else played
            image = point if point == PASS or not number & 1 else point % 10 * 10 + point // 10
            found = look_up(library, form, colour)
            assert image in found.points
            assert canonical_move(image, colour, canonical_key(form)[1]) in library.move[found.transitions]


def test_unseen_pattern_is_not_found(library):
    window = window_of([(1, 1), (10, 10), (5, 9)], [(9, 5), (2, 8), (1, 10)])
    found = look_up(library, window, 1)
    assert (found.state, len(found.transitions), found.points.shape) == (-1, 0, (0, 2))
    assert look_up_paper(code_index(library), window, 1).tolist() == []


@pytest.mark.parametrize(
    ("point", "layer"),
    [((3, 6), 0), ((2, 5), 1), ((1, 1), 2), ((8, 10), 2), ((9, 4), 2), ((10, 10), 3), ((4, 4), -1), ((5, 5), -2)],
)
def test_layers_count_from_the_border_of_the_mask(point, layer):
    window = window_of([(3, 3), (7, 8)], [])
    assert point_layer(window, (point[0] - 1) * 10 + point[1] - 1) == layer
    assert point_layer(window_of([], []), 44) == NO_MASK


def test_papers_search_finds_moves_inside_and_outside_mask():
    game = record([at(4, 4), at(6, 3), at(3, 8), at(5, 6)])
    index, steps = code_index(built([game])), walk([game]).steps
    for before, colour, played in zip(steps.before, steps.colour.tolist(), steps.point.tolist(), strict=True):
        (point,) = look_up_paper(index, before, colour).tolist()
        found, wanted = (canonical_move(one, colour, canonical_key(before)[1]) for one in (point, played))
        assert found == wanted


def test_papers_search_misses_capturing_moves_and_ours_does_not():
    game = record([at(1, 2), at(1, 1), at(2, 1)])
    library, window = built([game]), window_of([(1, 2)], [(1, 1)])
    assert look_up(library, window, 1).points.tolist() == [[10, 10]]
    assert look_up(library, window, 2).points.tolist() == []  # moves of the other colour are left out
    assert look_up_paper(code_index(library), window, 1).tolist() == [NOT_FOUND]


def test_twin_matches_golden_joseki_by_code_but_not_by_key():
    stones = [at(3, 5), at(3, 6), at(4, 4), at(4, 6), at(7, 3), at(3, 9), at(6, 6)]
    library = built([record(stones)])
    index = code_index(library)
    assert look_up(library, GOLDEN, 1).points.tolist() == [[55, 55]]
    assert len(look_up_paper(index, GOLDEN, 1)) == 1
    for twin in TWINS:
        assert look_up(library, twin, 1).state == -1
        assert len(look_up_paper(index, twin, 1)) == 1


def test_both_look_ups_side_by_side(library):
    steps = walk(GAMES).steps
    moves = int((steps.point != PASS).sum())
    some = spread(each_steps(GAMES), moves, 200)
    assert len(some.ply) == 200
    assert (some.point != PASS).all()
    compared = compare(library, code_index(library), some)
    assert compared.asked == compared.found == 200
    assert 0 < compared.strangers < compared.named_by_paper
    assert 100 < compared.found_by_paper < 200  # captures are lost, and moves that share a hint and a code
    assert set(timings(library, code_index(library), some)) == {
        "encode_us", "encode_ours_us", "canonical_us", "lookup_us", "lookup_paper_us",
    }  # fmt: skip


def test_steps_in_parts_are_those_of_all_games():
    many = (GAMES * 20)[:600]
    whole, parts = walk(many).steps, list(each_steps(many))
    assert len(parts) == 3
    for name, column in whole._asdict().items():
        assert np.array_equal(np.concatenate([getattr(part, name) for part in parts]), column), name
    moves = int((whole.point != PASS).sum())
    for name, column in spread([whole], moves, 70)._asdict().items():
        assert np.array_equal(getattr(spread(parts, moves, 70), name), column), name


def test_a_state_clashes_where_its_code_was_first_another_ones():
    codes, states = np.array([5, 7, 5, 5, 9], np.uint64), np.array([0, 1, 2, 3, 4], np.int32)
    assert clashing_states(codes, states, np.array([30, 1, 10, 20, 2])).tolist() == [3, 0]
    windows = np.array([GOLDEN, *TWINS])
    assert len(clashing_states(pattern_codes(windows), np.arange(5, dtype=np.int32), np.arange(5))) == 4


def test_key_that_contradicts_its_pattern_is_noticed():
    steps = walk(GAMES[:3]).steps
    keys = canonical_keys(steps.after)
    assert count_unresolved(steps.after, keys) == 0
    keys[3, 2] ^= np.uint64(1)
    keys[7, 0] ^= np.uint64(1 << 49)
    assert count_unresolved(steps.after, keys) == 2


def test_earlier_codes_of_whole_games_are_those_of_their_sequences():
    steps = walk(GAMES[:3]).steps
    zobrist, gu = earlier_codes(steps)
    for i in range(len(steps.ply)):
        mine = (steps.game == steps.game[i]) & (steps.corner == steps.corner[i]) & (np.arange(len(steps.ply)) <= i)
        assert gu[i] == gu_code(steps.after[i], steps.point[mine], steps.colour[mine])
        assert zobrist[i] == zobrist_code(steps.after[i], steps.corner[i], 0)


OPENING = [at(4, 4), at(3, 6)]
LIBRARY = built(
    [
        record([*OPENING, at(6, 3), at(9, 3)], 1, "first"),
        record([*OPENING, at(6, 3), at(8, 3)], 2, "second"),
        record([*OPENING, at(3, 9)], 3, "first"),
        record([*OPENING, at(5, 5)], 4, None),
        record([*OPENING, at(4, 4, 3), at(3, 9), at(4, 4, 2)], 5, "second"),
    ]
)  # After the approach Black plays (6, 3) twice, (3, 9) and (5, 5) once, elsewhere once, and White then (3, 9)


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


def test_mirror_symmetric_corner_offers_both_points():
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


def test_middle_line_point_is_recommended_by_the_better_corner():
    library = built([record([at(3, 10)], 1), record([at(4, 4)], 2), record([at(9, 9, 1), at(4, 4, 3), at(3, 10)], 3)])
    found = [one for one in recommend(library, position(at(9, 9, 1), at(4, 4, 3)), [0, 1]) if one.actions]
    assert [(one.corner, one.share) for one in found if at(3, 10) in one.actions] == [(1, 1.0)]


def test_two_corners_that_are_equal_both_name_their_point():
    library = built([record([at(3, 10)])])
    found = recommend(library, position(), [0, 1])
    assert [one.corner for one in found if at(3, 10) in one.actions] == [0, 1]


def rows_of(library, actions, symmetry):
    """Recommendations on a board that was turned, mirrored and recoloured, mapped back to the first board."""
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


def test_legal_mirror_image_of_an_illegal_point_is_kept():
    white = [at(9, 2), at(10, 1), at(10, 3), at(2, 9), at(1, 10), at(3, 10)]
    actions = [action for pair in zip([at(4, 4, 3), at(4, 5, 3), at(4, 6, 3), at(5, 4, 3), at(5, 5, 3), at(5, 6, 3)],
               white, strict=True) for action in pair]  # fmt: skip
    library = built([record([*actions, at(2, 10)])])
    open_state = position(*actions)
    closed = position(*actions, at(6, 6, 3), at(9, 2, 2))
    assert not go.is_legal(closed, at(10, 2))
    for state, points in ((open_state, {at(2, 10), at(10, 2)}), (closed, {at(2, 10)})):
        (found,) = [one for one in recommend_in_corner(library, state, 0) if one.actions]
        assert (set(found.actions), found.played) == (points, 1)


def test_accuracy_counts_a_mirror_image_where_the_pattern_has_one():
    steps = walk([record([at(4, 3), at(6, 4)])]).steps
    library = built([record([at(3, 4), at(4, 6)], gid, "first") for gid in (1,)])
    named = name_moves(library, point_counts(walk([record([at(3, 4), at(4, 6)])]).steps, 20), steps)
    assert named.known.tolist() == [True, True]
    assert named.rank.tolist() == [0, 0]
    assert named.baseline.tolist() == [0, 1]  # (4, 6), as often played at that number, comes first and is another move
    assert named.number.tolist() == [1, 2]


def test_unknown_pattern_has_only_a_baseline_rank():
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


def test_equal_games_share_a_split_of_about_the_right_size():
    games = [random_record(seed, plies=8) for seed in range(200)]
    held = [is_held_out(game, 0.25, 3) for game in games]
    assert 25 <= sum(held) <= 75
    assert held == [is_held_out(record(game.actions, 9, None), 0.25, 3) for game in games]
    assert held != [is_held_out(game, 0.25, 4) for game in games]
    assert not np.any([is_held_out(game, 0.0, 3) for game in games])


def test_rates_count_moves_named_first_or_in_top_three():
    known, rank, baseline = [True, True, True, False], [0, 2, -1, -1], [-1, 0, 0, 2]
    named = Named(*(np.array(column) for column in ([1, 1, 2, 2], [0, 1, 0, 1], known, rank, baseline)))
    assert {name: score.value for name, score in rates(named).items()} == {
        "hit_rate": 0.75,
        "recommend_top1": 0.25,
        "recommend_top3": 0.5,
        "baseline_top1": 0.5,
        "baseline_top3": 0.75,
        "either_top3": 0.75,
    }


FOUND = [
    Recommendation(0, (72, 60), 6, 0.6, 0.3, 2, 1, ((11, 4), (12, 6))),
    Recommendation(3, (), 4, 0.4, 0.1, 0, 0, ()),
]


def test_rows_have_moves_shares_and_games():
    assert recommendation_rows(FOUND) == [
        {"rank": 1, "corner": "top-left", "move": "Q16 D16", "count": 6, "share": 0.6, "win_rate": 0.6667,
         "games": "11:4 12:6"},
        {"rank": 2, "corner": "bottom-right", "move": "elsewhere", "count": 4, "share": 0.4, "win_rate": "",
         "games": ""},
    ]  # fmt: skip


def test_the_picture_has_stones_last_move_and_shares():
    board = np.zeros((19, 19), np.int8)
    board[3, 3], board[15, 15] = 1, 2
    picture = board_svg(board, FOUND, last=15 * 19 + 15, title="Black & White <3")
    ET.fromstring(picture)
    assert picture.count('fill="#111" stroke') == 1
    assert picture.count('fill="#fff" stroke') == 1
    assert picture.count("#d01010") == 1
    assert picture.count(">60</text>") == 2
    assert "Black &amp; White &lt;3" in picture
    assert picture == board_svg(board, FOUND, last=15 * 19 + 15, title="Black & White <3")

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline_src.errors import ZugwerkError
from pipeline_src.systems.joseki.patterns import (
    BLACK,
    BOTH,
    CORNERS,
    PASS,
    WHITE,
    canonical_key,
    canonical_keys,
    canonical_move,
    colour_code,
    corner_window,
    factors,
    format_pattern,
    gu_code,
    key_text,
    move_images,
    parse_pattern,
    pattern_code,
    pattern_codes,
    symmetric_code,
    symmetric_codes,
    window_of,
    window_of_key,
    zobrist_code,
)
from tests.systems.joseki import reference
from tests.systems.joseki.patterns import GOLDEN, SMALL, TWINS, WINDOWS
from tests.systems.joseki.reference import forms, same_pattern


@given(SMALL, SMALL)
def test_two_patterns_share_a_key_only_if_equal(a, b):
    assert (key_text(canonical_key(a)[0]) == key_text(canonical_key(b)[0])) == same_pattern(a, b)


@given(WINDOWS)
def test_reported_forms_match_the_key_pattern(window):
    key, found = canonical_key(window)
    pattern = np.empty((10, 10), np.int8)
    window_of_key(key, pattern)
    assert {form for form in range(4) if found >> form & 1} == {
        number for number, form in enumerate(forms(window)) if (form == pattern).all()
    }
    np.testing.assert_array_equal(canonical_keys(window[None])[0], key)


@given(WINDOWS, st.integers(0, PASS), st.integers(1, 2))
def test_a_move_has_the_same_canonical_move_in_every_form(window, point, colour):
    moves = set()
    for number, form in enumerate(forms(window)):
        image = point if point == PASS or not number & 1 else point % 10 * 10 + point // 10
        moves.add(canonical_move(image, 3 - colour if number & 2 else colour, canonical_key(form)[1]))
    assert len(moves) == 1


@given(WINDOWS, st.integers(0, PASS), st.integers(1, 2))
def test_a_canonical_move_leads_back_to_the_move(window, point, colour):
    found = canonical_key(window)[1]
    out = np.empty(2, np.int16)
    count = move_images(canonical_move(point, colour, found), colour, found, out)
    assert point in out[:count]
    for image in out[:count].tolist():
        assert canonical_move(image, colour, found) == canonical_move(point, colour, found)


def test_3_4_points_of_an_empty_corner_are_one_move():
    found = canonical_key(window_of([], []))[1]
    assert found == 0b1111
    assert len({canonical_move(point, colour, found) for point in (23, 32) for colour in (1, 2)}) == 1
    out = np.empty(2, np.int16)
    assert move_images(canonical_move(23, 1, found), 2, found, out) == 2
    assert set(out.tolist()) == {23, 32}


def test_asymmetric_pattern_has_one_place_for_a_move():
    found = canonical_key(GOLDEN)[1]
    out = np.empty(2, np.int16)
    move = canonical_move(55, 1, found)
    assert move_images(move, 1, found, out) == 1
    assert out[0] == 55
    assert move_images(move, 2, found, out) == 0


def test_lone_3_3_stone_differs_from_lone_4_4_stone():
    assert key_text(canonical_key(window_of([(3, 3)], []))[0]) != key_text(canonical_key(window_of([(4, 4)], []))[0])


@pytest.mark.parametrize("bad", [np.zeros((9, 9), np.int8), np.zeros((10, 10), int), np.full((10, 10), 3, np.int8)])
def test_bad_windows_are_refused(bad):
    with pytest.raises(ZugwerkError, match="int8 array of 10x10"):
        canonical_key(bad)


@pytest.mark.parametrize(
    ("colours", "a", "b", "c", "k"),
    [
        (BLACK, 1, 22**2 * 23**2 * 24 * 26, 15, 159766479),
        (WHITE, 4, 22 * 23 * 25 * 28, 8, 1416808),
        (BOTH, 12, 22**3 * 23**2 * 25 * 26 * 28, 35, 1230201772835),
    ],
)
def test_the_paper_s_joseki_has_the_printed_numbers(colours, a, b, c, k):
    assert factors(GOLDEN, colours) == (a, b, c)
    assert colour_code(GOLDEN, colours) == k


def test_the_paper_s_joseki_has_the_printed_code():
    assert pattern_code(GOLDEN) == 3483223225763992904


@pytest.mark.parametrize("twin", TWINS)
def test_four_patterns_share_the_papers_code_but_not_ours(twin):
    assert pattern_code(twin) == pattern_code(GOLDEN)
    assert symmetric_code(twin) != symmetric_code(GOLDEN)
    assert canonical_key(twin)[0].tolist() != canonical_key(GOLDEN)[0].tolist()


def test_without_stones_k_is_1():
    assert colour_code(window_of([], []), BLACK) == 1
    lone = [pattern_code(window_of([point], [])) for point in ((3, 3), (4, 4), (3, 4))]
    assert len(set(lone)) == 3


def test_64_factors_of_two_zero_the_product():
    strips = np.zeros((10, 10), np.int8)
    strips[[1, 2, 4, 5, 7, 8], 1:] = BLACK  # three strips, two wide: most points have three neighbours, 4 = 2 * 2
    a, b, c = reference.factors(reference.points_of(strips, (BLACK,)))
    assert a * b % 2**64 == 0
    assert colour_code(strips, BLACK) == c == 8 * 9
    holed = strips.copy()
    holed[1, 3] = 0
    assert pattern_code(holed) == pattern_code(strips)  # they share a code, not a key
    assert canonical_key(holed)[0].tolist() != canonical_key(strips)[0].tolist()


@given(WINDOWS)
def test_the_kernel_agrees_with_the_words_of_the_paper(window):
    assert pattern_code(window) == reference.pattern_code(window)
    for colours, name in ((BLACK, (1,)), (WHITE, (2,)), (BOTH, (1, 2))):
        found = tuple(int(x) for x in factors(window, colours))
        assert found == tuple(x % 2**64 for x in reference.factors(reference.points_of(window, name)))
    assert pattern_codes(window[None]).tolist() == [pattern_code(window)]
    assert symmetric_codes(window[None]).tolist() == [symmetric_code(window)]


@given(WINDOWS, st.integers(0, CORNERS - 1), st.sampled_from(reference.SYMMETRIES))
def test_all_16_symmetries_have_the_same_codes_and_key(window, corner, symmetry):
    board = np.zeros((19, 19), np.int8)
    for r, c in np.argwhere(window):
        board[18 - r if corner & 2 else r, 18 - c if corner & 1 else c] = window[r, c]
    image = reference.on_board(board, symmetry)
    marks = np.zeros((19, 19), np.int8)
    marks[18 if corner & 2 else 0, 18 if corner & 1 else 0] = 1
    row, column = np.argwhere(reference.on_board(marks, (*symmetry[:2], False)))[0]
    there = corner_window(image, 2 * (row > 0) + (column > 0))
    np.testing.assert_array_equal(corner_window(board, corner), window)
    assert pattern_code(there) == pattern_code(window)
    assert symmetric_code(there) == symmetric_code(window)
    np.testing.assert_array_equal(canonical_key(there)[0], canonical_key(window)[0])


@given(WINDOWS, st.randoms(use_true_random=False))
def test_code_is_independent_of_move_order(window, random):
    stones = [(point, int(window.flat[point])) for point in np.flatnonzero(window).tolist()]
    random.shuffle(stones)
    other = np.zeros(100, np.int8)
    for point, colour in stones:
        other[point] = colour
    assert symmetric_code(other.reshape(10, 10)) == symmetric_code(window)
    assert pattern_code(other.reshape(10, 10)) == pattern_code(window)


def test_zobrist_code_differs_by_corner_and_form():
    names = {int(zobrist_code(GOLDEN, corner, form)) for corner in range(4) for form in range(4)}
    assert len(names) == 16


def test_code_of_gu_et_al_depends_on_move_order():
    window = window_of([(4, 4), (3, 6)], [(6, 3), (3, 3)])
    black, white = [33, 25], [52, 22]
    colours = np.array([1, 2, 1, 2], np.int8)
    one = np.array([black[0], white[0], black[1], white[1]], np.int8)
    other = np.array([black[0], white[1], black[1], white[0]], np.int8)
    white_first = np.array([white[0], black[0], white[1], black[1]], np.int8)
    names = {int(gu_code(window, one, colours)), int(gu_code(window, other, colours))}
    assert len(names) == 2
    assert int(gu_code(window, white_first, 3 - colours)) not in names
    mirrored = np.array([point % 10 * 10 + point // 10 for point in one], np.int8)
    assert gu_code(np.ascontiguousarray(window.T), mirrored, colours) == gu_code(window, one, colours)


@given(WINDOWS)
def test_a_pattern_s_text_is_read_back(window):
    np.testing.assert_array_equal(parse_pattern(format_pattern(window)), window)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("X 3,5 P", "'P' is neither X, O nor a point"),
        ("3,5", "X or O has to come before 3,5"),
        ("X 0,5", "0,5 is outside the corner"),
        ("X 3,11", "3,11 is outside"),
        ("X 3,5 O 3,5", "3,5 has two stones"),
        ("X 3.5", "neither"),
    ],
)
def test_bad_patterns_are_named(text, complaint):
    with pytest.raises(ZugwerkError, match=complaint):
        parse_pattern(text)


def test_a_corner_is_of_a_19x19_board():
    with pytest.raises(ZugwerkError, match="not of 13x13"):
        corner_window(np.zeros((13, 13), np.int8), 0)
    with pytest.raises(ZugwerkError, match="no corner 4"):
        corner_window(np.zeros((19, 19), np.int8), 4)

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline_src.errors import ZugwerkError
from pipeline_src.systems.joseki.canonical import (
    canonical_key,
    canonical_keys,
    canonical_move,
    key_text,
    move_images,
    window_of_key,
)
from pipeline_src.systems.joseki.corners import PASS, window_of
from tests.systems.joseki.patterns import GOLDEN, SMALL, WINDOWS
from tests.systems.joseki.reference import forms, same_pattern


@given(SMALL, SMALL)
def test_two_patterns_have_one_key_just_if_they_are_the_same(a, b):
    assert (key_text(canonical_key(a)[0]) == key_text(canonical_key(b)[0])) == same_pattern(a, b)


@given(WINDOWS)
def test_the_forms_named_are_those_that_are_the_key_s_pattern(window):
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


def test_the_3_4_points_of_an_empty_corner_are_one_move_of_either_colour():
    found = canonical_key(window_of([], []))[1]
    assert found == 0b1111
    assert len({canonical_move(point, colour, found) for point in (23, 32) for colour in (1, 2)}) == 1
    out = np.empty(2, np.int16)
    assert move_images(canonical_move(23, 1, found), 2, found, out) == 2
    assert set(out.tolist()) == {23, 32}


def test_a_pattern_that_is_not_symmetric_has_one_place_for_a_move_of_one_colour():
    found = canonical_key(GOLDEN)[1]
    out = np.empty(2, np.int16)
    move = canonical_move(55, 1, found)
    assert move_images(move, 1, found, out) == 1
    assert out[0] == 55
    assert move_images(move, 2, found, out) == 0


def test_a_lone_3_3_stone_is_not_a_lone_4_4_stone():
    assert key_text(canonical_key(window_of([(3, 3)], []))[0]) != key_text(canonical_key(window_of([(4, 4)], []))[0])


@pytest.mark.parametrize("bad", [np.zeros((9, 9), np.int8), np.zeros((10, 10), int), np.full((10, 10), 3, np.int8)])
def test_what_is_not_a_window_is_refused(bad):
    with pytest.raises(ZugwerkError, match="int8 array of 10x10"):
        canonical_key(bad)

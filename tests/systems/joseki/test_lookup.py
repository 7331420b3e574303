import numpy as np
import pytest

from pipeline_src.systems.joseki.canonical import canonical_key, canonical_move
from pipeline_src.systems.joseki.clashes import Comparison, count_clashes
from pipeline_src.systems.joseki.corners import PASS, window_of
from pipeline_src.systems.joseki.earlier_codes import earlier_codes, gu_code, zobrist_code
from pipeline_src.systems.joseki.lookup import look_up
from pipeline_src.systems.joseki.lookup_paper import NO_MASK, NOT_FOUND, code_index, look_up_paper, point_layer
from pipeline_src.systems.joseki.pattern_code import pattern_codes
from pipeline_src.systems.joseki.sequences import walk
from pipeline_src.systems.joseki.side_by_side import compare, spread, timings
from tests.systems.joseki.games import at, random_record, record
from tests.systems.joseki.patterns import GOLDEN, TWINS
from tests.systems.joseki.reference import forms
from tests.systems.joseki.test_library import built

GAMES = [random_record(seed) for seed in range(40)]


@pytest.fixture(scope="module")
def library():
    return built(GAMES)


def test_what_was_played_is_found_in_every_form(library):
    steps = walk(GAMES[:4]).steps
    for i in range(len(steps.ply)):
        for number, form in enumerate(forms(steps.before[i])):
            colour = int(3 - steps.colour[i] if number & 2 else steps.colour[i])
            point = int(steps.point[i])
            image = point if point == PASS or not number & 1 else point % 10 * 10 + point // 10
            found = look_up(library, form, colour)
            assert image in found.points
            after = canonical_key(form)[1]
            assert canonical_move(image, colour, after) in library.move[found.transitions]


def test_a_pattern_nobody_had_is_not_found(library):
    window = window_of([(1, 1), (10, 10), (5, 9)], [(9, 5), (2, 8), (1, 10)])
    found = look_up(library, window, 1)
    assert (found.state, len(found.transitions)) == (-1, 0)
    assert look_up_paper(code_index(library), window, 1)[1].tolist() == []


def test_moves_of_the_other_colour_are_left_out():
    library = built([record([at(4, 4), at(3, 6), at(6, 3)])])
    window = window_of([(4, 4)], [(3, 6)])
    assert look_up(library, window, 1).points.tolist() == [[52, 52]]
    assert look_up(library, window, 2).points.tolist() == []


@pytest.mark.parametrize(
    ("point", "layer"),
    [((3, 6), 0), ((2, 5), 1), ((1, 1), 2), ((8, 10), 2), ((9, 4), 2), ((10, 10), 3), ((4, 4), -1), ((5, 5), -2)],
)
def test_layers_count_from_the_border_of_the_mask(point, layer):
    window = window_of([(3, 3), (7, 8)], [])
    assert point_layer(window, (point[0] - 1) * 10 + point[1] - 1) == layer


def test_without_stones_there_is_no_mask():
    assert point_layer(window_of([], []), 44) == NO_MASK


def test_the_paper_s_search_finds_moves_outside_the_mask_and_inside():
    game = record([at(4, 4), at(6, 3), at(3, 8), at(5, 6)])
    library = built([game])
    index, steps = code_index(library), walk([game]).steps
    for i in range(4):
        points = look_up_paper(index, steps.before[i], int(steps.colour[i]))[1].tolist()
        assert len(points) == 1
        forms_found = canonical_key(steps.before[i])[1]
        colour = int(steps.colour[i])
        assert canonical_move(points[0], colour, forms_found) == canonical_move(
            int(steps.point[i]), colour, forms_found
        )


def test_a_capturing_move_is_lost_to_the_paper_s_search_and_not_to_ours():
    game = record([at(1, 2), at(1, 1), at(2, 1)])
    library, window = built([game]), window_of([(1, 2)], [(1, 1)])
    assert look_up(library, window, 1).points.tolist() == [[10, 10]]
    assert look_up_paper(code_index(library), window, 1)[1].tolist() == [NOT_FOUND]


def test_a_twin_takes_the_golden_joseki_s_moves_by_code_and_not_by_key():
    stones = [at(3, 5), at(3, 6), at(4, 4), at(4, 6), at(7, 3), at(3, 9), at(6, 6)]
    library = built([record(stones)])
    index = code_index(library)
    assert look_up(library, GOLDEN, 1).points.tolist() == [[55, 55]]
    assert len(look_up_paper(index, GOLDEN, 1)[1]) == 1
    for twin in TWINS:
        assert look_up(library, twin, 1).state == -1
        assert len(look_up_paper(index, twin, 1)[1]) == 1


def test_both_look_ups_side_by_side(library):
    steps = walk(GAMES).steps
    some = spread(steps, 200)
    assert len(some.ply) == 200
    assert (some.point != PASS).all()
    compared = compare(library, code_index(library), some)
    assert compared.asked == compared.found == 200
    assert 100 < compared.found_by_paper < 200  # captures are lost, and moves that share a hint and a code
    assert set(timings(library, code_index(library), some)) == {
        "encode_us", "encode_ours_us", "canonical_us", "lookup_us", "lookup_paper_us",
    }  # fmt: skip


def test_clashes_are_counted_by_encoding_and_by_pattern():
    codes = np.array([5, 5, 7, 5, 5, 7], np.uint64)
    states = np.array([0, 1, 2, 1, 0, 2], np.int32)
    found = count_clashes(codes, states)
    assert (found.encodings, found.patterns, found.by_encoding.tolist()) == (2, 1, [0, 1, 0, 1, 0, 0])
    windows = np.array([GOLDEN, *TWINS])
    assert count_clashes(pattern_codes(windows), np.arange(5, dtype=np.int32))[:2] == (4, 4)


def test_a_comparison_notices_a_state_of_two_patterns_and_a_pattern_of_two_states():
    windows = np.array([GOLDEN, GOLDEN.T, TWINS[0], GOLDEN])
    good = Comparison()
    good.add(windows, np.array([0, 0, 1, 0], np.int32))
    assert good.unresolved == 0
    mixed = Comparison()
    mixed.add(windows, np.array([0, 0, 0, 2], np.int32))
    assert mixed.unresolved == 2


def test_earlier_codes_of_whole_games_are_those_of_their_sequences():
    steps = walk(GAMES[:3]).steps
    zobrist, gu = earlier_codes(steps)
    for i in range(len(steps.ply)):
        mine = (steps.game == steps.game[i]) & (steps.corner == steps.corner[i]) & (np.arange(len(steps.ply)) <= i)
        assert gu[i] == gu_code(steps.after[i], steps.point[mine], steps.colour[mine])
        assert zobrist[i] == zobrist_code(steps.after[i], steps.corner[i], 0)

"""Corners, sequences, keys and codes."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import go
from pipeline_src.games.go import replay
from pipeline_src.records.record import GameRecord
from pipeline_src.systems.joseki.params import MadeGames
from pipeline_src.systems.joseki.patterns import (
    BLACK,
    BOTH,
    CORNERS,
    LONGEST,
    PASS,
    WHITE,
    canonical_key,
    canonical_keys,
    canonical_move,
    colour_code,
    corner_window,
    exact_fingerprint,
    factors,
    fingerprint,
    format_pattern,
    gu_code,
    key_text,
    move_images,
    parse_pattern,
    pattern_code,
    pattern_codes,
    symmetric_code,
    symmetric_codes,
    walk,
    window_of_key,
    zobrist_code,
)
from pipeline_src.systems.joseki.records import ELSEWHERE, make_games, textbook
from tests.systems.joseki import games
from tests.systems.joseki.games import (
    GOLDEN,
    SMALL,
    TWINS,
    WINDOWS,
    N,
    at,
    forms,
    random_record,
    record,
    same_pattern,
    window_of,
)  # fmt: skip

MADE = MadeGames(games=60, plies=100, tenuki=0.15, transposed=0.1, mistakes=0.04)
FAITHFUL = MadeGames(games=40, plies=120, tenuki=0.2, transposed=0.0, mistakes=0.0)


def textbook_position(sequence):
    """Board of a sequence in the upper right corner, sides in turn; a tenuki is a pass."""
    state = go.initial_state()
    for row, column in sequence:
        state = go.play(state, 361 if (row, column) == ELSEWHERE else (row - 1) * 19 + 19 - column)
    return state.board


def test_a_few_dozen_different_joseki_all_legal():
    sequences = textbook()
    assert len(sequences) >= 36
    assert len(set(sequences)) == len(sequences)
    for sequence in sequences:
        assert 2 < len(sequence) <= 20
        assert sequence[0] != ELSEWHERE
        assert sequence[-1] != ELSEWHERE
        assert all(point == ELSEWHERE or 1 <= min(point) <= max(point) <= 10 for point in sequence)
        textbook_position(sequence)
    assert {sequence[0] for sequence in sequences} == {(4, 4), (4, 3), (3, 3), (3, 5), (4, 5)}


def test_the_golden_joseki_of_the_paper_is_among_them():
    board = textbook_position(((4, 4), (6, 3), (5, 3), (6, 4), (3, 7), (9, 3)))
    assert any((textbook_position(sequence) == board).all() for sequence in textbook())


def test_games_say_that_they_are_made_and_are_legal():
    games = make_games(MADE, 5, 0, MADE.games)
    assert [game.gid for game in games] == list(range(1, 61))
    for game in games:
        assert (game.game, game.source, game.event, game.variant) == ("go", "engine", "made", "standard")
        assert (game.first_name, game.second_name) == ("", "")
        assert 50 <= len(game.actions) <= 100
        assert len(replay(go.initial_state(), game.actions)) == len(game.actions) + 1
    winners = Counter(game.winner for game in games)
    assert winners["first"] > 10
    assert winners["second"] > 10


def test_a_game_depends_on_seed_and_number_alone():
    whole = make_games(MADE, 5, 0, 8)
    assert make_games(MADE, 5, 4, 4) == whole[4:]
    assert make_games(MADE, 6, 0, 8) != whole


def reflected(corner):
    return np.fliplr(np.fliplr(corner).T)


def met(made):
    """How often games go through whole textbook joseki of five stones or more, by (corner, colour, reflected)."""
    known = {}
    for sequence in textbook():
        shown = textbook_position(sequence)[:10, 9:]
        if (shown != 0).sum() >= 5:
            for colour, corner in ((1, shown), (2, np.where(shown > 0, 3 - shown, 0).astype(np.int8))):
                known[corner.tobytes()] = colour, False
                known[reflected(corner).tobytes()] = colour, True
    found = Counter()
    for game in make_games(made, 5, 0, made.games):
        for board in replay(go.initial_state(), game.actions)[10:]:
            for corner in range(4):
                kind = known.get(np.rot90(board, corner)[:10, 9:].tobytes())
                if kind:
                    found[corner, *kind] += 1
    return found


def test_joseki_come_in_all_corners_orientations_and_colours():
    assert len(met(FAITHFUL)) == 16


def test_mistakes_leave_known_joseki():
    wrong = MadeGames(games=40, plies=120, tenuki=0.2, transposed=0.0, mistakes=1.0)
    assert met(wrong).total() < met(FAITHFUL).total() / 20


def told(game, longest=LONGEST):
    """(ply, corner, number, point, colour) of each step, points as (r, c)."""
    steps = walk([game], longest).steps
    return [
        (
            int(ply),
            int(corner),
            int(number),
            "pass" if point == PASS else (point // 10 + 1, point % 10 + 1),
            int(colour),
        )
        for ply, corner, number, point, colour in zip(*steps[1:6], strict=True)
    ]


def test_each_corner_counts_its_own_moves():
    game = record([at(4, 4), at(4, 4, 3), at(3, 4, 1), at(6, 3), at(3, 6)])
    assert told(game) == [
        (0, 0, 1, (4, 4), BLACK),
        (1, 3, 1, (4, 4), WHITE),
        (2, 1, 1, (3, 4), BLACK),
        (3, 0, 2, (6, 3), WHITE),
        (4, 0, 3, (3, 6), BLACK),
    ]


def test_tenuki_precedes_second_move_of_one_colour():
    game = record([at(4, 4), at(4, 4, 3), at(6, 3), at(4, 4, 1), at(3, 6)])
    assert [step for step in told(game) if step[1] == 0] == [
        (0, 0, 1, (4, 4), BLACK),
        (2, 0, 2, "pass", WHITE),
        (2, 0, 2, (6, 3), BLACK),
        (4, 0, 3, "pass", WHITE),
        (4, 0, 3, (3, 6), BLACK),
    ]
    steps = walk([game]).steps
    for i in np.flatnonzero(steps.point == PASS):
        np.testing.assert_array_equal(steps.before[i], steps.after[i])
    assert [step[3] for step in told(record([at(4, 4), N, at(3, 3)]))] == [(4, 4), "pass", (3, 3)]


def test_middle_lines_belong_to_both_corners_and_centre_to_all():
    steps = told(record([at(3, 10), at(10, 10)]))
    assert [(step[1], step[3]) for step in steps if step[0] == 0] == [(0, (3, 10)), (1, (3, 10))]
    assert [step[1] for step in steps if step[0] == 1] == [0, 1, 2, 3]


def test_a_clock_stops():
    row = [at(r, c) for r in (2, 5) for c in range(1, 10)]
    assert len([step for step in told(record(row), longest=7) if step[3] != "pass"]) == 7
    assert told(record(row), longest=7) == told(record(row))[:7]


def test_patterns_are_those_of_the_board_after_captures():
    game = record([at(1, 2), at(1, 1), at(2, 1), at(9, 9, 3)])
    steps = walk([game]).steps
    assert format_pattern(steps.before[2]) == "X 1,2 O 1,1"
    assert format_pattern(steps.after[2]) == "X 1,2 2,1"


def test_a_capture_from_outside_changes_the_pattern_without_a_move():
    chain = [at(1, 9), at(1, 10), at(1, 9, 1)]  # of White, from one corner into the other
    around = [at(2, 9), at(2, 10), at(2, 9, 1), at(1, 8)]
    plies = [p for pair in zip(around, [*chain, at(5, 5, 3)], strict=True) for p in pair]
    steps = walk([record([*plies, at(1, 8, 1), at(6, 6, 3), at(3, 3)])]).steps
    last = np.flatnonzero(steps.corner == 0)[-1]
    assert format_pattern(steps.before[last]) == "X 1,8 2,9 2,10"


def test_corner_starts_with_its_handicap_stones():
    steps = walk([record([at(6, 3)], variant="handicap-2:dd,pp")]).steps
    assert steps.colour.tolist() == [WHITE]
    np.testing.assert_array_equal(steps.before[0], window_of([(4, 4)], []))


@pytest.mark.parametrize("other", [("go", 13), ("gomoku", 19)])
def test_other_games_and_sizes_are_refused(other):
    name, size = other
    with pytest.raises(ZugwerkError, match=f"game 7 is {name} on {size}x{size}"):
        walk([GameRecord(name, 7, "file", "standard", size, size, (), None)])


def test_a_fingerprint_is_of_the_start_and_the_moves():
    game = random_record(3)
    assert fingerprint(game) == fingerprint(record(game.actions, 99, None))
    assert fingerprint(game) != fingerprint(record(game.actions[:59]))
    handicap = fingerprint(record(game.actions, variant="handicap-2:dd,pp"))
    assert handicap != fingerprint(game)
    for komi in ("komi-6.5", "komi-unknown", "komi-0"):
        assert fingerprint(record(game.actions, variant=komi)) == fingerprint(game)
        assert fingerprint(record(game.actions, variant=f"{komi}/handicap-2:dd,pp")) == handicap


def test_copies_that_end_otherwise_share_a_fingerprint():
    for game in (random_record(3), random_record(4, plies=20)):
        assert fingerprint(record([*game.actions, N, N])) == fingerprint(game)
        assert exact_fingerprint(record([*game.actions, N, N])) != exact_fingerprint(game)
    assert fingerprint(record(random_record(3).actions[:100])) == fingerprint(random_record(3))


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


def test_a_move_has_two_places_in_a_symmetric_pattern():
    found = canonical_key(window_of([], []))[1]
    assert found == 0b1111
    assert len({canonical_move(point, colour, found) for point in (23, 32) for colour in (1, 2)}) == 1
    out = np.empty(2, np.int16)
    assert move_images(canonical_move(23, 1, found), 2, found, out) == 2
    assert set(out.tolist()) == {23, 32}
    found = canonical_key(GOLDEN)[1]
    move = canonical_move(55, 1, found)
    assert move_images(move, 1, found, out) == 1
    assert out[0] == 55
    assert move_images(move, 2, found, out) == 0


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


@pytest.mark.parametrize("twin", TWINS)
def test_four_patterns_share_the_papers_code_but_not_ours(twin):
    assert pattern_code(twin) == pattern_code(GOLDEN) == 3483223225763992904  # as printed
    assert symmetric_code(twin) != symmetric_code(GOLDEN)
    assert canonical_key(twin)[0].tolist() != canonical_key(GOLDEN)[0].tolist()


def test_64_factors_of_two_zero_the_product():
    strips = np.zeros((10, 10), np.int8)
    strips[[1, 2, 4, 5, 7, 8], 1:] = BLACK  # three strips, two wide: most points have three neighbours, 4 = 2 * 2
    a, b, c = games.factors(games.points_of(strips, (BLACK,)))
    assert a * b % 2**64 == 0
    assert colour_code(strips, BLACK) == c == 8 * 9
    holed = strips.copy()
    holed[1, 3] = 0
    assert pattern_code(holed) == pattern_code(strips)  # they share a code, not a key
    assert canonical_key(holed)[0].tolist() != canonical_key(strips)[0].tolist()


@given(WINDOWS)
def test_the_kernel_agrees_with_the_words_of_the_paper(window):
    assert pattern_code(window) == games.pattern_code(window)
    for colours, name in ((BLACK, (1,)), (WHITE, (2,)), (BOTH, (1, 2))):
        found = tuple(int(x) for x in factors(window, colours))
        assert found == tuple(x % 2**64 for x in games.factors(games.points_of(window, name)))
    assert pattern_codes(window[None]).tolist() == [pattern_code(window)]
    assert symmetric_codes(window[None]).tolist() == [symmetric_code(window)]


@given(WINDOWS, st.integers(0, CORNERS - 1), st.sampled_from(games.SYMMETRIES))
def test_all_16_symmetries_have_the_same_codes_and_key(window, corner, symmetry):
    board = np.zeros((19, 19), np.int8)
    for r, c in np.argwhere(window):
        board[18 - r if corner & 2 else r, 18 - c if corner & 1 else c] = window[r, c]
    image = games.on_board(board, symmetry)
    marks = np.zeros((19, 19), np.int8)
    marks[18 if corner & 2 else 0, 18 if corner & 1 else 0] = 1
    row, column = np.argwhere(games.on_board(marks, (*symmetry[:2], False)))[0]
    there = corner_window(image, 2 * (row > 0) + (column > 0))
    np.testing.assert_array_equal(corner_window(board, corner), window)
    assert pattern_code(there) == pattern_code(window)
    assert symmetric_code(there) == symmetric_code(window)
    np.testing.assert_array_equal(canonical_key(there)[0], canonical_key(window)[0])


def test_earlier_codes_depend_on_move_order_or_corner_and_form():
    assert len({int(zobrist_code(GOLDEN, corner, form)) for corner in range(4) for form in range(4)}) == 16
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

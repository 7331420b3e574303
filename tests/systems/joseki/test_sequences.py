import numpy as np
import pytest

from pipeline_src.errors import ZugwerkError
from pipeline_src.records.record import GameRecord
from pipeline_src.systems.joseki.corners import BLACK, PASS, WHITE, window_of
from pipeline_src.systems.joseki.pattern_text import format_pattern
from pipeline_src.systems.joseki.sequences import LONGEST, chunks, fingerprint, walk
from tests.systems.joseki.games import N, at, random_record, record


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


def test_each_corner_has_its_own_clock():
    game = record([at(4, 4), at(4, 4, 3), at(3, 4, 1), at(6, 3), at(3, 6)])
    assert told(game) == [
        (0, 0, 1, (4, 4), BLACK),
        (1, 3, 1, (4, 4), WHITE),
        (2, 1, 1, (3, 4), BLACK),
        (3, 0, 2, (6, 3), WHITE),
        (4, 0, 3, (3, 6), BLACK),
    ]


def test_a_tenuki_stands_before_the_second_move_of_one_colour():
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


def test_a_pass_of_the_game_is_played_elsewhere():
    assert [step[3] for step in told(record([at(4, 4), N, at(3, 3)]))] == [(4, 4), "pass", (3, 3)]


def test_middle_lines_belong_to_both_corners_and_the_centre_to_all():
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


def test_handicap_stones_are_what_a_corner_begins_with():
    steps = walk([record([at(6, 3)], variant="handicap-2:dd,pp")]).steps
    assert steps.colour.tolist() == [WHITE]
    np.testing.assert_array_equal(steps.before[0], window_of([(4, 4)], []))


def test_games_with_an_illegal_move_are_named_and_leave_nothing():
    good, bad = random_record(1), record([at(4, 4), at(4, 4)])
    walked = walk([bad, good, bad])
    assert walked.illegal == [(0, 1), (2, 1)]
    assert set(walked.steps.game) == {1}


@pytest.mark.parametrize("other", [("go", 13), ("gomoku", 19)])
def test_other_games_and_sizes_are_refused(other):
    name, size = other
    with pytest.raises(ZugwerkError, match=f"game 7 is {name} on {size}x{size}"):
        walk([GameRecord(name, 7, "file", "standard", size, size, (), None)])


def test_a_fingerprint_is_of_the_start_and_the_moves():
    game = random_record(3)
    assert fingerprint(game) == fingerprint(record(game.actions, 99, None))
    assert fingerprint(game) != fingerprint(record(game.actions[:-1]))
    assert fingerprint(game) != fingerprint(record(game.actions, variant="handicap-2:dd,pp"))


def test_chunks():
    assert list(chunks(range(5), 2)) == [[0, 1], [2, 3], [4]]

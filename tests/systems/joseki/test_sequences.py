from collections import Counter

import numpy as np
import pytest

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import go
from pipeline_src.games.go import replay
from pipeline_src.records.record import GameRecord
from pipeline_src.systems.joseki.params import MadeGames
from pipeline_src.systems.joseki.patterns import (
    BLACK,
    LONGEST,
    PASS,
    WHITE,
    chunks,
    exact_fingerprint,
    fingerprint,
    format_pattern,
    walk,
    window_of,
)
from pipeline_src.systems.joseki.records import ELSEWHERE, make_games, textbook
from tests.systems.joseki.games import N, at, random_record, record

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


def test_different_orders_lead_to_one_position():
    """Enclosures from either of their stones: a library has to let such games meet."""
    found = Counter()
    for sequence in textbook():
        boards = [
            np.rot90(b, t) for b in (textbook_position(sequence), textbook_position(sequence).T) for t in range(4)
        ]
        found[min(board.tobytes() for board in boards)] += 1
    assert max(found.values()) > 1


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


@pytest.mark.parametrize(
    ("changed", "message"),
    [({"games": 0}, "games"), ({"plies": 1}, "plies"), ({"tenuki": 1.5}, "tenuki"), ({"mistakes": -0.1}, "mistakes")],
)
def test_bad_params_are_named(changed, message):
    with pytest.raises(ValueError, match=message):
        MadeGames(**{**vars(MADE), **changed})


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


def test_a_pass_of_the_game_is_played_elsewhere():
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
    assert fingerprint(game) != fingerprint(record(game.actions[:59]))
    assert fingerprint(game) != fingerprint(record(game.actions, variant="handicap-2:dd,pp"))


def test_copies_that_end_otherwise_share_a_fingerprint():
    for game in (random_record(3), random_record(4, plies=20)):
        assert fingerprint(record([*game.actions, N, N])) == fingerprint(game)
        assert exact_fingerprint(record([*game.actions, N, N])) != exact_fingerprint(game)
    assert fingerprint(record(random_record(3).actions[:100])) == fingerprint(random_record(3))


def test_a_fingerprint_does_not_depend_on_the_komi():
    game = random_record(3)
    for komi in ("komi-6.5", "komi-unknown", "komi-0"):
        assert fingerprint(record(game.actions, variant=komi)) == fingerprint(game)
        both = f"{komi}/handicap-2:dd,pp"
        assert fingerprint(record(game.actions, variant=both)) == fingerprint(
            record(game.actions, variant="handicap-2:dd,pp")
        )


def test_chunks():
    assert list(chunks(range(5), 2)) == [[0, 1], [2, 3], [4]]

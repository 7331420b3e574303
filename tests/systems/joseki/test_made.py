from collections import Counter

import numpy as np
import pytest

from pipeline_src.games import go
from pipeline_src.games.go.replay import replay
from pipeline_src.systems.joseki.made import make_games
from pipeline_src.systems.joseki.params import MadeGames
from pipeline_src.systems.joseki.textbook import ELSEWHERE, textbook

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


def test_mistakes_leave_the_textbook():
    wrong = MadeGames(games=40, plies=120, tenuki=0.2, transposed=0.0, mistakes=1.0)
    assert met(wrong).total() < met(FAITHFUL).total() / 20


@pytest.mark.parametrize(
    ("changed", "message"),
    [({"games": 0}, "games"), ({"plies": 1}, "plies"), ({"tenuki": 1.5}, "tenuki"), ({"mistakes": -0.1}, "mistakes")],
)
def test_bad_params_are_named(changed, message):
    with pytest.raises(ValueError, match=message):
        MadeGames(**{**vars(MADE), **changed})

import dataclasses
import json

import pytest

from pipeline_src.arena.game import Fixture, PlayedGame
from pipeline_src.arena.result import Match, Sprt

FIXTURE = Fixture("A", "B", (), ())


def test_points_go_to_the_right_player():
    games = [
        PlayedGame(FIXTURE, (1,), "first"),  # a moves first in even games
        PlayedGame(FIXTURE, (2,), "second"),
        PlayedGame(FIXTURE, (3,), "draw"),
        PlayedGame(FIXTURE, (4,), "first", "illegal"),
        PlayedGame(FIXTURE, (5,), "second", "illegal"),
        PlayedGame(FIXTURE, (6,), "second"),
    ]
    match = Match.of("a", "b", games)
    assert match.games == games
    assert match.points == [(1.0, 1.0), (0.5, 0.0), (0.0, 1.0)]
    assert (match.standing.wins, match.standing.draws, match.standing.losses) == (3, 1, 2)
    assert (match.forfeits(0), match.forfeits(1)) == ({"illegal": 2}, {})
    assert match.score.value == pytest.approx(3.5 / 6)
    both = Match.of("a", "b", [PlayedGame(FIXTURE, (1,), "first", "illegal")] * 2)
    assert (both.forfeits(0).total(), both.forfeits(1).total()) == (1, 1)


def test_a_match_counts_for_the_right_player():
    def game(winner, times, ended="board", mover=0):
        fixture = dataclasses.replace(FIXTURE, opening=(1,) * mover)
        return PlayedGame(fixture, (1,) * (len(times) + mover), winner, ended, "", mover, times)

    played = {
        2: (game("second", (7.0, 30.0), "time"), game("second", (40.0, 9.0), "crash", 1)),
        0: (game("first", (1.0, 10.0, 3.0)), game("second", (20.0, 5.0))),
    }
    match = Match("a", "b", played, sprt=Sprt(0, 10))
    assert (match.standing.wins, match.standing.draws, match.standing.losses) == (3, 0, 1)
    assert match.pentanomial == (0, 0, 1, 0, 1)
    a, b = match.side(0), match.side(1)
    assert (a.mean_ms, a.max_ms) == (pytest.approx((1 + 3 + 5 + 7 + 40) / 5), 40)
    assert (b.mean_ms, b.max_ms) == (pytest.approx((10 + 20 + 30 + 9) / 4), 30)
    assert (a.first_max_ms, b.first_max_ms) == (40, 30)
    assert (a.moves_per_game, b.moves_per_game) == (5 / 4, 1)
    assert (a.forfeits, b.forfeits) == ({"time": 1}, {"crash": 1})
    assert match.first_side_score == 0.25
    assert match.test.pairs == 1  # pair 1 is missing, so that 2 cannot count yet
    found = json.loads(json.dumps(match.as_json(), allow_nan=False))
    assert found["sides"]["a"]["forfeits"] == {"time": 1}
    assert (found["games"], found["wins"], found["sprt"]["pairs"]) == (4, 3, 1)


@pytest.mark.parametrize(
    ("games", "words"),
    [
        ([("first", "illegal")] * 3 + [("second", "board")], "3 of 4 games were lost by forfeit by b (3 illegal)"),
        ([("second", "time"), ("second", "crash")], "2 of 2 games were lost by forfeit by a (1 crash, 1 time)"),
        ([("first", "time")] + [("first", "board")] * 3, ""),  # b would have lost without it
        ([("first", "board"), ("second", "board")], ""),
    ],
)
def test_deciding_forfeits_are_reported(games, words):
    def game(number, winner, ended):
        swapped = {"first": "second", "second": "first"}
        return PlayedGame(FIXTURE, (1,), swapped[winner] if number % 2 else winner, ended)  # the winner is a, or b

    match = Match.of("a", "b", [game(number, *one) for number, one in enumerate(games)])
    assert match.by_forfeit == words
    assert match.as_json()["by_forfeit"] == (words or None)


def test_empty_result_has_no_means():
    found = Match("a", "b", {}).as_json()
    assert found["sides"]["a"] == {
        "mean_ms": None,
        "max_ms": None,
        "first_max_ms": None,
        "moves_per_game": None,
        "forfeits": {},
    }
    assert (found["first_side_score"], found["plies_per_game"], found["games"]) == (None, None, 0)


def test_the_first_to_move_may_be_the_second_side():
    start = dataclasses.replace(FIXTURE, start="Q1*/q2/*** b", opening=(1, 2, 3))
    games = [PlayedGame(start, (1, 2, 3, 4), winner, mover=0) for winner in ("second", "second")]
    assert Match.of("a", "b", games).first_side_score == 1


def test_a_game_survives_the_journal():
    game = PlayedGame(Fixture("A", "B", (1, 2), (3, 4)), (1, 2, 5), "draw", "time", "x", 1, (1.5,), ((1, 0.5),))
    row = json.loads(json.dumps(dataclasses.asdict(game)))
    assert PlayedGame.from_json(row) == game

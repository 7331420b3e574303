import dataclasses
from itertools import product

import numpy as np
import pytest

from pipeline_src.arena.game import Fixture, PlayedGame
from pipeline_src.arena.result import Match, Standing, first_side_share
from pipeline_src.arena.runner import BestOf, Board, Event, Pairing, Rules, cross_table, pairings, records
from pipeline_src.parallel import Parallel
from tests.arena.gomoku_stubs import stubs  # noqa: F401

OPENINGS = [(i,) for i in range(8)]
RULES = Rules(5, 4)


@pytest.fixture
def event(tmp_path, stubs):  # noqa: F811
    (tmp_path / "m.pt").write_text("1.0")
    texts = {"strong": f"zero:{tmp_path / 'm.pt'},search=puct", "weak": "random", "other": "random"}
    return Event(Board("gomoku", 4, "freestyle-3"), texts, OPENINGS, [1, 2], Parallel(workers=1))


def test_match_is_independent_of_other_matches(event):
    pairing = Pairing("t", "strong", "weak", 4)
    (alone,) = event.play([pairing])
    both = event.play([Pairing("t", "other", "weak", 3), pairing])
    assert both[1] == alone
    assert event.play([Pairing("u", "strong", "weak", 4)])[0].games != alone.games


def test_pairs_share_openings_and_matches_repeat_none(event):
    (played,) = event.play([Pairing("t", "strong", "weak", 8)])
    openings = [game.actions[0] for game in played.games]
    assert openings[::2] == openings[1::2]
    assert sorted(openings[::2]) == list(range(8))
    assert openings[::2] != list(range(8))
    assert played.standing.games == 16
    assert played.standing.wins >= 12
    assert played.score.value == played.standing.points / 16


def best_of(winners, a_begins=True, rules=RULES):
    """A match whose games are won by those sides; how many games each round asked for."""
    rounds = []

    class Told(Event):
        def _play(self, fixtures):
            rounds.append(len(fixtures))
            numbers = [one.seed[-1] for one in fixtures]
            return [PlayedGame(one, (n,), winners[n]) for one, n in zip(fixtures, numbers, strict=True)]

    seed = next(seed for seed in range(99) if lot(seed) == a_begins)
    event = Told(Board("gomoku", 4, "freestyle-3"), {"a": "A", "b": "B"}, OPENINGS, [seed])
    (match,) = event.play_best_of("t", [("a", "b")], rules)
    assert match.a_begins == a_begins
    assert [game.actions[0] for game in match.games] == list(range(len(match.games)))
    firsts = ["A" if a_begins == (number % 2 == 0) else "B" for number in range(len(match.games))]
    assert [game.fixture.first for game in match.games] == firsts
    return match, rounds


def lot(seed):
    """Who begins, of an event with that seed."""
    return bool(np.random.default_rng([seed, *b"t/a/b", 0]).integers(2))


@pytest.mark.parametrize(("results", "won", "games"), [
    ("aaa", True, 3), ("bbb", False, 3), ("abab" "a", True, 5), ("daadb" "a", True, 6), ("ddddddddd", None, 9),
    ("abdddddab", None, 9), ("ddaabb" "b", False, 7),
])  # fmt: skip
def test_play_stops_when_decided_and_draws_are_replayed_to_limit(results, won, games):
    for a_begins in (True, False):
        sides = []
        for number, one in enumerate(results.ljust(9, "a")):
            first = a_begins == (number % 2 == 0)
            sides.append("draw" if one == "d" else "first" if (one == "a") == first else "second")
        match, rounds = best_of(sides, a_begins)
        assert len(match.games) == games
        assert match.won(RULES) is won
        assert sum(rounds) == games
        assert rounds[0] == 3


def test_only_games_needed_by_the_protocol_are_played():
    """All results of a best of three: a game is asked for only while nobody has two wins."""
    for results in product(["first", "second", "draw"], repeat=5):
        match, _ = best_of(results, rules=Rules(3, 2))
        wins, losses = 0, 0
        for number, game in enumerate(match.games):
            assert max(wins, losses) < 2
            if game.winner != "draw":
                ahead = (game.winner == "first") == (number % 2 == 0)
                wins, losses = wins + ahead, losses + (not ahead)
        assert max(wins, losses) == 2 or len(match.games) == 5


def test_best_of_matches_of_an_event_swap_sides_within_openings(event):
    matches = event.play_best_of("t4", [("strong", "weak"), ("weak", "other")], RULES)
    assert matches == event.play_best_of("t4", [("strong", "weak"), ("weak", "other")], RULES)
    assert matches[0].won(RULES) is True
    openings = [game.actions[0] for game in matches[0].games]
    assert openings[0] == openings[1] != openings[2]
    assert event.play_best_of("t4", [("weak", "other")], RULES) == matches[1:]


def test_cross_table_has_both_ways_and_totals():
    names = ["1", "2", "3"]
    assert pairings(names) == [("1", "2"), ("1", "3"), ("2", "3")]
    standings = {("1", "2"): Standing(1, 0, 1), ("1", "3"): Standing(0, 1, 1), ("2", "3"): Standing(2, 0, 0)}
    rows = {(a, b): standing for a, b, standing in cross_table(names, standings)}
    assert rows["3", "1"] == Standing(1, 1, 0)
    assert rows["1", "all"] == Standing(1, 1, 2)
    assert rows["2", "all"].points == 3
    assert len(rows) == 9
    assert sum(rows[name, "all"].points for name in names) == 6


def test_records_name_who_moved_first():
    a_first, b_first = Fixture("A", "B", (), ()), Fixture("B", "A", (), ())
    match = Match.of("a", "b", [PlayedGame(a_first, (1,), "first"), PlayedGame(b_first, (2,), "second")])
    best = BestOf("b", "a", False, [PlayedGame(a_first, (3,), "draw"), PlayedGame(b_first, (4,), "first")])
    games = [("t", match.games), ("table4", best.games)]
    found = [
        (one.gid, one.event, one.first_name, one.second_name, one.actions)
        for one in records(Board("gomoku", 4, "freestyle-3"), games)
    ]
    assert found == [
        (1, "t", "A", "B", (1,)),
        (2, "t", "B", "A", (2,)),
        (3, "table4", "A", "B", (3,)),
        (4, "table4", "B", "A", (4,)),
    ]
    assert first_side_share(match.games + best.games) == pytest.approx(2.5 / 4)
    assert dataclasses.asdict(match.standing) == {"wins": 2, "draws": 0, "losses": 0}
    assert dataclasses.asdict(best.standing) == {"wins": 1, "draws": 1, "losses": 0}

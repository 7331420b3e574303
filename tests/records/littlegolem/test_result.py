import itertools

import pytest

from pipeline_src.records.littlegolem.text import ParsedRecord, find_winner, match_players
from pipeline_src.records.raw import RawGame, Seat
from pipeline_src.records.record import RecordError

ANN, BOB = Seat(7, "ann", "won"), Seat(3, "bob", "lost")


def match(seats, pb="ann", pw="bob", order_known=False):
    raw = RawGame(1, "/servlet/sgf/1/game1.txt", 200, b"", order_known=order_known, seats=tuple(seats))
    return raw, match_players(raw, ParsedRecord({"PB": pb, "PW": pw}, (), ""))


def plids(players):
    return tuple(seat.plid if seat else 0 for seat in players[:2])


@pytest.mark.parametrize(
    ("seats", "pb", "pw", "expected", "evidence"),
    [
        ([BOB, ANN], "ann", "bob", (7, 3), "names"),
        ([BOB, ANN], "bob", "ann", (3, 7), "names"),
        ([ANN], "ann", "bob", (7, 0), "names"),
        ([ANN], "bob", "ann", (0, 7), "names"),
        ([BOB, ANN], "ann", "renamed", (7, 3), "names"),
        ([BOB, ANN], "renamed", "ann", (3, 7), "names"),
        ([BOB, ANN], "these", "those", (0, 0), "names"),
        ([BOB, ANN], "xxx", "xxx", (0, 0), "names"),
        ([BOB, ANN], "ann", "ann", (0, 0), "names"),
        ([ANN, Seat(9, "ann", "lost")], "ann", "bob", (0, 0), "names"),
        ([], "ann", "bob", (0, 0), "names"),
        ([Seat(5, "ivy \u2605", "won")], "ivy ?", "bob", (5, 0), "names"),
        ([Seat(5, "J\xf6rg\xa0", "won")], "bob", "J\xf6rg", (0, 5), "names"),
        ([ANN, BOB], "ann", "bob", (7, 3), "order"),
        ([ANN, BOB], "renamed", "too", (7, 3), "order"),
        ([ANN, BOB], "xxx", "xxx", (7, 3), "order"),
        ([ANN, BOB], "ann", "ann", (7, 3), "order"),
        ([ANN], "", "", (7, 0), "order"),
    ],
)
def test_players(seats, pb, pw, expected, evidence):
    _, players = match(seats, pb, pw, order_known=evidence == "order")
    assert plids(players) == expected
    assert players.evidence == evidence


@pytest.mark.parametrize(
    ("seats", "order_known", "message"),
    [
        ([BOB, ANN], True, "one order"),
        ([BOB], True, "one order"),
        ([Seat(4, "renamed", "won"), ANN], True, "one order"),
        ([ANN, BOB, ANN], False, "3 players"),
        ([ANN, BOB, BOB], True, "3 players"),
    ],
)
def test_players_that_contradict(seats, order_known, message):
    with pytest.raises(RecordError, match=message) as caught:
        match(seats, order_known=order_known)
    assert caught.value.reason == "contradiction"


def by_hand(first_said, second_said, of_record):
    """The rule as a table, for two players whose seats are known."""
    if "draw" in (first_said, second_said) or first_said == second_said != "":
        return "contradiction"
    of_lists = {("won", ""), ("won", "lost"), ("", "lost")}
    lists = "first" if (first_said, second_said) in of_lists else "second" if first_said or second_said else None
    if lists and of_record and lists != of_record:
        return "contradiction"
    return lists or of_record or "unfinished"


@pytest.mark.parametrize("resigned", [True, False])
@pytest.mark.parametrize("order_known", [True, False])
def test_winner_of_every_combination(order_known, resigned):
    results = ("won", "lost", "draw", "")
    for first_said, second_said, of_record in itertools.product(results, results, ("first", "second", None)):
        seats = [Seat(7, "ann", first_said), Seat(3, "bob", second_said)]
        raw, players = match(seats if order_known else seats[::-1], order_known=order_known)
        expected = by_hand(first_said, second_said, of_record)
        if expected in ("contradiction", "unfinished"):
            with pytest.raises(RecordError) as caught:
                find_winner(raw, players, 40, resigned, of_record)
            assert caught.value.reason == expected
        else:
            outcome = find_winner(raw, players, 40, resigned, of_record)
            own = "resignation" if resigned else "position"
            assert outcome == (expected, own if of_record else "order" if order_known else "names")


@pytest.mark.parametrize(("plies", "winner"), [(41, "first"), (40, "second")])
def test_last_mover_won_where_players_cannot_be_matched(plies, winner):
    raw, players = match([BOB, ANN], "these", "those")
    assert find_winner(raw, players, plies, False, None) == (winner, "last_mover")
    assert find_winner(raw, players, plies, True, "first") == ("first", "resignation")


def test_game_in_progress_is_unfinished():
    raw, players = match([Seat(7, "ann", ""), Seat(3, "bob", "")])
    with pytest.raises(RecordError, match="no result") as caught:
        find_winner(raw, players, 12, False, None)
    assert (caught.value.reason, caught.value.ply) == ("unfinished", 12)

from dataclasses import replace

from pipeline_src.records.raw import RawGame, Seat
from spiders.pages import has_record, merge

EMPTY = RawGame(7, "", -1, b"")
OF_ONE = replace(EMPTY, variant="Cross", seats=(Seat(9, "ann", "won"),))
OF_OTHER = replace(EMPTY, seats=(Seat(4, "bob", "lost"),))
OF_API = replace(EMPTY, variant="CROSS", order_known=True, seats=(Seat(9, "ann b", "won"), Seat(4, "bob", "lost")))


def test_two_lists_make_two_seats_by_plid_whatever_the_order():
    merged = merge(OF_ONE, OF_OTHER)
    assert merged.seats == (*OF_OTHER.seats, *OF_ONE.seats)
    assert merged.variant == "Cross"
    assert merge(OF_OTHER, OF_ONE) == merged


def test_api_order_wins_and_first_name_is_kept():
    for merged in (merge(OF_ONE, OF_API), merge(merge(OF_ONE, OF_OTHER), OF_API)):
        assert merged.order_known
        assert merged.seats == (Seat(9, "ann", "won"), Seat(4, "bob", "lost"))
    assert merge(OF_API, merge(OF_ONE, OF_OTHER)).seats == OF_API.seats


def test_a_later_result_counts():
    running = replace(OF_ONE, seats=(Seat(9, "ann", ""),))
    assert not running.finished
    assert merge(running, OF_ONE).finished
    assert merge(OF_ONE, running) == OF_ONE


def test_the_record_stays():
    stored = replace(OF_ONE, status=200, body=b"(;)", path="/p")
    assert merge(stored, OF_OTHER).body == b"(;)"
    assert has_record(stored)
    assert has_record(replace(stored, status=0))
    assert not has_record(replace(stored, status=500))
    assert not has_record(replace(stored, body=b"<html>"))
    assert not has_record(EMPTY)

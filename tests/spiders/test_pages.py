import asyncio
import contextlib
import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline_src.records.raw import RawGame, Seat, read_raw, write_raw
from spiders import pages
from spiders.pages import GameList, PageError, Row

PLAYERS = """<html><body><div class="portlet-body"><table>
<tr><td><a href="player.jsp?plid=2674">Alan Hensel</a></td><td>US</td><td><span title="2235.3">1. kyu</span></td></tr>
<tr><td><a href='/jsp/info/player.jsp?plid=17'>lazy\\player &#9733;</a></td><td>&nbsp;</td><td>1653.0</td></tr>
</table><a href="/jsp/info/player.jsp?plid=1">outside the table</a></div></body></html>"""

NEW_ROW = """<tr>
  <td align="left" bgcolor="#E9D101"><b><a href="/jsp/game/game.jsp?gid=2296844">#2296844</a></b>&nbsp;</td>
  <td bgcolor="#E9D101">Mirko Rahn&nbsp;</td>
  <td align="middle" nowrap="">&nbsp;<span title="2364.6">4. dan</span>&nbsp;</td>
  <td align="left" bgcolor="#E9D101">Twixt PP <span class="small">Size 24</span>&nbsp;</td>
  <td align="right">20&nbsp;</td>
  <td align="center">lost&nbsp;</td>
</tr>"""
OLD_ROW = (
    "<tr><td bgcolor='#E9D101'><b><a href='/jsp/game/game.jsp?gid=77'>#77</a></b>&nbsp;</td>"
    "<td bgcolor='#E9D101'>Shumacher;]&nbsp;</td><td>&nbsp;</td><td>Connect6&nbsp;</td>"
    "<td align='right'>9&nbsp;</td><td align=center>{}&nbsp;</td></tr>"
)


def listing(*rows, caption="List of games [gzero_bot] [Connect6]"):
    return f"<h2>List of games</h2><div>{caption}</div><table>{''.join(rows)}</table>".encode()


@pytest.mark.parametrize(
    ("body", "players"),
    [
        (PLAYERS.encode(), {2674: "Alan Hensel", 17: "lazy\\player \N{BLACK STAR}"}),
        ("<table><td><a href='player.jsp?plid=3'>J\xfcrgen</a></table>".encode("latin-1"), {3: "J\xfcrgen"}),
        (b"<table><tr><th>Player</th></tr></table>", {}),
    ],
)
def test_players(body, players):
    assert pages.read_players(body) == players


@pytest.mark.parametrize(
    ("read", "bodies"),
    [
        (pages.read_players, (b"", b" \r\n", b"<html><h1>maintenance</h1></html>", b"\x00", b"500")),
        (lambda body: pages.read_game_list(body, 5), (b"", b"<html><title>Error</title></html>")),
        (pages.first_json, (b"", b"<html>", b"{", b"[" * 100_000)),
        (pages.check_record, (b"", b"\r\n", b" <!DOCTYPE html>", b"<html>", b'{"error": 1}')),
    ],
)
def test_other_answers_are_refused(read, bodies):
    for body in bodies:
        with pytest.raises(PageError):
            read(body)


def test_game_list():
    assert pages.read_game_list(listing(), 5).rows == ()
    listed = pages.read_game_list(
        listing(NEW_ROW, OLD_ROW.format("win"), caption="List of games [a [b]] [Twixt PP]"), 5
    )
    assert (listed.plid, listed.name) == (5, "a [b]")
    assert listed.rows == (Row(2296844, "Mirko Rahn", "Size 24", 20, "lost"), Row(77, "Shumacher;]", "", 9, "won"))


@pytest.mark.parametrize(("cell", "result"), [("win", "won"), ("lost", "lost"), ("draw", "draw"), ("", ""), ("?", "")])
def test_results(cell, result):
    (row,) = pages.read_game_list(listing(OLD_ROW.format(cell)), 5).rows
    assert row.result == result


def test_games_of_a_list():
    (game,) = pages.games_of(pages.read_game_list(listing(NEW_ROW), 5))
    assert (game.gid, game.variant, game.order_known, game.body) == (2296844, "Size 24", False, b"")
    assert game.seats == (Seat(5, "gzero_bot", "lost"),)


def test_bad_rows_are_skipped():
    rows = ("<tr><td>a</td></tr>", OLD_ROW.format("win").replace("gid=77", "gid=" + "7" * 30), "<tr></tr>")
    assert pages.read_game_list(listing(*rows, NEW_ROW), 5).rows[0].gid == 2296844


def api_game(**changes):
    players = [{"player": {"plid": plid, "real_name": name}, "rating": 1.5} for plid, name in ((2, "b"), (1, "a ★"))]
    game = {"gid": 9, "variant": "CROSS", "players": players, "status": 1, "results": [0, 2], "onmove": 2}
    return game | changes


def test_api_games_have_an_order():
    (game,) = pages.read_api_games(json.dumps({"games": [api_game()]}).encode())
    assert (game.gid, game.variant, game.order_known) == (9, "CROSS", True)
    assert game.seats == (Seat(2, "b", "lost"), Seat(1, "a ★", "won"))


@pytest.mark.parametrize(
    ("changes", "results"),
    [
        ({"results": [2, 0]}, ["won", "lost"]),
        ({"results": [1, 1]}, ["draw", "draw"]),
        ({"status": 0, "results": [0, 2]}, ["", ""]),
        ({"results": [0, 0]}, ["", ""]),
        ({"results": None}, ["", ""]),
    ],
)
def test_api_results(changes, results):
    (game,) = pages.read_api_games(json.dumps([api_game(**changes)]).encode())
    assert [seat.result for seat in game.seats] == results


def test_first_of_two_json_objects_counts():
    assert pages.first_json(b'{"games": []}{"games": []}') == {"games": []}


@pytest.mark.parametrize(
    "value",
    [
        {"games": {"gid": 1}},
        {"error": "too many requests"},
        {},
        3,
        [api_game(gid="x")],
        [api_game(gid=10**40)],
        [api_game(players=[{}])],
        [api_game(results=3)],
        [7],
    ],
)
def test_other_json_is_refused(value):
    with pytest.raises(PageError):
        pages.read_api_games(json.dumps(value).encode())


@given(st.binary(max_size=300))
def test_any_bytes_are_a_page_or_an_error(body):
    for read in (pages.read_players, lambda b: pages.read_game_list(b, 1), pages.read_api_games, pages.check_record):
        with contextlib.suppress(PageError):
            read(body)


@pytest.mark.parametrize("body", [b"(;EV[null])", b'[Event "null"]', b" \r\n(;\xe9", b"1. a2-a3", b"\xef\xbb\xbf(;"])
def test_records_of_any_game_pass(body):
    assert pages.check_record(body) == body


def test_lone_surrogates_in_json_names_are_replaced(tmp_path):
    game = {"gid": 5, "status": 1, "variant": "\ud800", "players": [{"player": {"plid": 1, "real_name": "a\udc00"}}]}
    (found,) = pages.read_api_games(json.dumps([game]).encode())
    assert (found.variant, found.seats[0].name) == ("?", "a?")
    write_raw(tmp_path, [found])
    assert list(read_raw(tmp_path)) == [found]


def test_count_of_thousands_of_digits_is_ignored():
    row = NEW_ROW.replace(">20&nbsp;<", f">{'9' * 5000}<")
    assert pages.read_game_list(listing(row), 5).rows[0].plies == -1


def match(listed, bodies):
    return asyncio.run(pages.match_records(listed, bodies))


def record(first, second, plies, resigned=False):
    nodes = "".join(f";{'WB'[i % 2]}[a1-a2/a1]" for i in range(plies))
    end = f";{'WB'[plies % 2]}[resign]" if resigned else ""
    return f"(;EV[null]PB[{first}]PW[{second}]SO[http://www.littlegolem.com]{nodes}{end})".encode("latin-1", "replace")


def rows(*of):
    return GameList(1, "me ★", tuple(Row(gid, name, "", plies, "won") for gid, name, plies in of))


def test_unique_games_are_matched_and_others_left():
    listed = rows((1, "ann", 10), (2, "ann", 12), (3, "bob", 10), (4, "bob", 10))
    bodies = [
        record("me ★", "bob", 10),
        record("ann", "me ★", 12),
        record("bob", "me ★", 10),
        record("me ★", "ann", 10),
    ]
    assert match(listed, bodies) == {1: bodies[3], 2: bodies[1]}


def test_names_outside_latin_1_or_unescaped_are_matched():
    listed = rows((1, "安 x", 3), (2, "lazy\\player", 4), (3, "Shumacher;]", 5))
    bodies = [record("安 x", "me ★", 3), record("lazy\\player", "me ★", 4), record("me ★", "Shumacher;]", 5)]
    assert match(listed, bodies) == dict(enumerate(bodies, 1))


@pytest.mark.parametrize("counted", [0, 1])
def test_resignations_may_count_as_plies_or_not(counted):
    listed = rows((1, "ann", 10 + counted), (2, "ann", 20))
    bodies = [record("me ★", "ann", 10, resigned=True), record("ann", "me ★", 20)]
    assert match(listed, bodies) == {1: bodies[0], 2: bodies[1]}


def test_page_lacking_a_game_gives_no_match_for_opponent():
    """Else a record of 11 nodes might be given to the game of 11 plies, being that of 10 plies and a resignation."""
    listed = rows((1, "ann", 10), (2, "ann", 11), (3, "bob", 5))
    bodies = [record("me ★", "ann", 10, resigned=True), record("bob", "me ★", 5)]
    assert match(listed, bodies) == {3: bodies[1]}


def test_strangers_and_rubbish_match_nothing():
    assert match(rows((1, "ann", 2)), [record("ann", "zoe", 2), b"<html>", b"", b"(;EV["]) == {}


def test_a_list_that_shows_no_plies_matches_nothing():
    assert match(rows((1, "ann", -1)), [record("ann", "me ★", 2)]) == {}


def test_opponent_with_a_game_in_progress_is_not_matched():
    """It may have grown since the list came: 11 plies then, 12 now, where another game has 12, and a third 11."""
    listed = rows((1, "ann", 12), (2, "ann", 11), (3, "bob", 5))
    going = replace(listed, rows=(*listed.rows, Row(4, "ann", "", 10, "")))
    bodies = [record("me ★", "ann", plies, resigned=plies < 12) for plies in (12, 10, 11)] + [record("bob", "me ★", 5)]
    assert match(going, bodies) == {3: bodies[3]}


EMPTY = RawGame(7, "", -1, b"")
OF_ONE = replace(EMPTY, variant="Cross", seats=(Seat(9, "ann", "won"),))
OF_OTHER = replace(EMPTY, seats=(Seat(4, "bob", "lost"),))
OF_API = replace(EMPTY, variant="CROSS", order_known=True, seats=(Seat(9, "ann b", "won"), Seat(4, "bob", "lost")))


def test_two_lists_make_two_seats_by_plid_whatever_the_order():
    merged = pages.merge(OF_ONE, OF_OTHER)
    assert merged.seats == (*OF_OTHER.seats, *OF_ONE.seats)
    assert merged.variant == "Cross"
    assert pages.merge(OF_OTHER, OF_ONE) == merged


def test_api_order_wins_and_first_name_is_kept():
    for merged in (pages.merge(OF_ONE, OF_API), pages.merge(pages.merge(OF_ONE, OF_OTHER), OF_API)):
        assert merged.order_known
        assert merged.seats == (Seat(9, "ann", "won"), Seat(4, "bob", "lost"))
    assert pages.merge(OF_API, pages.merge(OF_ONE, OF_OTHER)).seats == OF_API.seats


def test_a_later_result_counts():
    running = replace(OF_ONE, seats=(Seat(9, "ann", ""),))
    assert not running.finished
    assert pages.merge(running, OF_ONE).finished
    assert pages.merge(OF_ONE, running) == OF_ONE


def test_the_record_stays():
    stored = replace(OF_ONE, status=200, body=b"(;)", path="/p")
    assert pages.merge(stored, OF_OTHER).body == b"(;)"
    assert pages.has_record(stored)
    assert pages.has_record(replace(stored, status=0))
    assert not pages.has_record(replace(stored, status=500))
    assert not pages.has_record(replace(stored, body=b"<html>"))
    assert not pages.has_record(EMPTY)

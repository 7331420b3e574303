import asyncio
from dataclasses import replace

import pytest

from spiders.pages import GameList, Row, match_records


def match(listed, bodies):
    return asyncio.run(match_records(listed, bodies))


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

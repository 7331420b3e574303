"""Texts as the site writes them, names and moves made up."""

import pytest

from pipeline_src.games import go
from pipeline_src.records.littlegolem.go import read_go
from pipeline_src.records.raw import RawGame, Seat
from pipeline_src.records.record import Reject

HEAD = "(;FF[4]EV[null]PB[ann]PW[bob]KM[6.5]SZ[19]SO[http://www.littlegolem.com]"
HANDICAP = (
    "(;FF[4]EV[go19.mc.2010.mar.1.21]PB[ann]PW[bob]KM[0.5]SZ[19]SO[http://www.littlegolem.com]HA[3]AB[pd]AB[dp]AB[pp]"
)


def raw(text, *, results=(), status=200, engine=False):
    seats = tuple(Seat(10 + i, name, result) for i, (name, result) in enumerate(results))
    body = text if isinstance(text, bytes) else text.encode("latin-1")
    return RawGame(7, "/servlet/sgf/7/game7.txt", status, body, "DEFAULT", seats=seats, engine=engine)


def points(record):
    return [go.format_move(action) for action in record.actions]


def test_a_game_with_its_result_from_the_lists():
    game = read_go(raw(f"{HEAD};B[pd];W[pp];B[tt];W[tt];B[tt])", results=[("ann", "lost"), ("bob", "won")]))
    record = game.record
    assert points(record) == ["Q16", "Q4", "pass", "pass"]
    assert (record.winner, record.resigned, record.variant, record.event) == ("second", False, "komi-6.5", "")
    assert (record.source, record.gid, record.first_plid, record.second_plid) == ("littlegolem", 7, 10, 11)
    assert game.cut == 1
    assert game.name == "/servlet/sgf/7/game7.txt"


def test_handicap_stones_as_separate_properties():
    record = read_go(raw(f"{HANDICAP};W[fq];B[fp])")).record
    assert record.variant == "komi-0.5/handicap-3:pd,dp,pp"
    assert points(record) == ["F3", "F4"]
    assert record.event == "go19.mc.2010.mar.1.21"
    assert read_go(raw(f"{HANDICAP.replace('HA[3]', 'HA[1]').split('AB')[0]}AB[pd];W[fq])")).record.variant == (
        "komi-0.5/handicap-1:pd"
    )


def test_a_komi_that_is_not_stated_is_unknown():
    assert "KM[6.5]" in HEAD
    for komi in ("", "KM[]", "KM[lots]"):
        assert read_go(raw(f"{HEAD.replace('KM[6.5]', komi)};B[pd])")).record.variant == "komi-unknown"


def test_another_record_on_the_same_line_is_several():
    reject = read_go(raw(f"{HEAD};B[pd]){HEAD};B[dd])"))
    assert (reject.reason, reject.detail) == ("several_records", "another record follows the first")
    assert points(read_go(raw(f"{HEAD};B[pd])(;)")).record) == ["Q16"]


def test_names_that_are_not_escaped():
    text = HEAD.replace("ann", "lazy\\player").replace("bob", "x;]")
    record = read_go(raw(f"{text};B[pd];W[pp])", results=[("lazy\\player", "won")])).record
    assert (record.first_name, record.second_name, record.winner) == ("lazy\\player", "x;]", "first")


def test_resignation_gives_the_winner():
    game = read_go(raw(f"{HEAD};B[pd];W[pp];B[resign])"))
    assert (game.record.winner, game.record.resigned, len(game.record.actions)) == ("second", True, 2)
    agreed = read_go(raw(f"{HEAD};B[pd];W[resign])", results=[("ann", "won"), ("bob", "lost")]))
    assert agreed.record.winner == "first"


def test_winner_is_unknown_where_no_source_states_it():
    assert read_go(raw(f"{HEAD};B[pd];W[pp])")).record.winner is None
    assert read_go(raw(f"{HEAD};B[pd];W[pp])", results=[("ann", "draw"), ("bob", "draw")])).record.winner == "draw"


def test_who_played():
    text = f"{HEAD};B[pd];W[pp])"
    assert read_go(raw(text, engine=True)).record.source == "engine"
    assert read_go(raw(text, status=0)).record.source == "file"


def test_agreeing_on_the_score_is_no_move():
    game = read_go(raw(f"{HEAD};B[pd];W[pass];B[pass];W[scorefe];B[accept])"))
    assert points(game.record) == ["Q16", "pass", "pass"]


@pytest.mark.parametrize(
    ("text", "options", "reason", "ply"),
    [
        (f"{HEAD};B[pd])", {"status": 500}, "http_status", -1),
        ("", {}, "empty", -1),
        ("<html><body>error</body></html>", {}, "bad_text", -1),
        (f"{HEAD};B[pd];W[pp]", {}, "bad_text", 2),
        (f"{HEAD};B[pd];W[zz])", {}, "bad_text", 1),
        (f"{HEAD};B[j10];W[j9l11])", {}, "bad_text", 0),
        (f"{HEAD};B[pd];R[pp])", {}, "other_game", 1),
        (HEAD.replace("SZ[19]", "SZ[9]") + ";B[cc])", {}, "other_variant", -1),
        (f"{HEAD};B[pd];W[pp];B[pd])", {}, "illegal_move", 2),
        (f"{HANDICAP};W[pd])", {}, "illegal_move", 0),
        (HANDICAP.replace("AB[dp]", "AB[pd]") + ";W[fq])", {}, "bad_text", 0),
        (f"{HEAD};B[pd])\n\n{HEAD};B[dd])", {}, "several_records", -1),
        (f"{HEAD};B[pd];W[resign])", {"results": [("ann", "lost"), ("bob", "won")]}, "contradiction", -1),
        (f"{HEAD};B[pd];W[pp])", {"results": [("ann", "won"), ("bob", "won")]}, "contradiction", -1),
    ],
)
def test_unusable_records_are_named(text, options, reason, ply):
    reject = read_go(raw(text, **options))
    assert isinstance(reject, Reject)
    assert (reject.gid, reject.reason, reject.ply) == (7, reason, ply)

import gzip
import itertools
import json
import random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pipeline_src.games import go
from pipeline_src.records.go_games import read_go
from pipeline_src.records.littlegolem.text import (
    Node,
    ParsedRecord,
    decode,
    find_winner,
    is_empty,
    join_text,
    match_players,
    only_text,
    parse_text,
    pick_legal,
    readings,
    split_file,
    split_records,
)
from pipeline_src.records.raw import RawGame, Seat
from pipeline_src.records.record import RecordError, Reject
from tests.records.amazons_games import DATA, HEADER, needs_data


def read_connect6():
    with gzip.open(DATA / "littlegolem_connect6_records.jsonl.gz", "rt") as lines:
        return [json.loads(line) for line in lines]


@needs_data
def test_12000_real_records():
    rows = read_connect6()
    assert len(rows) == 12_000
    for row in rows:
        text, url = row["kifu"], row["url"]
        record = parse_text(text.encode())
        assert list(record.header) == ["FF", "EV", "PB", "PW", "SO"], url
        assert record.header["PB"].strip(), url
        assert record.header["PW"].strip(), url
        assert record.header["SO"] == "http://www.littlegolem.com", url
        assert len(record.nodes) == text.count(";B[") + text.count(";W["), url
        assert [node.colour for node in record.nodes] == ["BW"[i % 2] for i in range(len(record.nodes))], url
        assert all(node.value.isalnum() for node in record.nodes), url
        assert record.trailing == "", url
        assert join_text(record.header, record.nodes) == text, url


@needs_data
def test_a_page_of_real_records_splits_into_them():
    texts = [row["kifu"].encode() for row in random.Random(6).sample(read_connect6(), 300)]
    assert split_records(b"\r\n\r\n".join(texts) + b"\r\n\r\n") == texts
    assert split_records(b"\n \n\n".join(texts)) == texts


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("lazy\\player", "Shumacher;]"),
        ("[o]", "(;x"),
        ("a]b", "]"),
        ("];", ":-)"),
        ("])", ";B[]"),
        ("", " "),
        ("x]A[", "x; W[y"),
        ("x];W[a4-a5/a6", "y"),
        ("x", "x];W[a4-a5/a6"),
        ("x];W[a4-a5/a6", "x];W[a4-a5/a6"),
        ("x];W[a4-a5/a6])", "y"),
        ("x", "y];W[d1-d2/d3])"),
        ("x]PB[y", "z]SO[http://www.littlegolem.com];W[d1-d2/d3"),
        ("x]SO[y];W[d1-d2/d3];B[", "z"),
    ],
)
def test_names_are_not_escaped(first, second):
    record = parse_text(f"(;FF[4]EV[null]PB[{first}]PW[{second}]SO[x];W[j4-g7/d7])".encode())
    assert record.header == {"FF": "4", "EV": "null", "PB": first, "PW": second, "SO": "x"}
    assert record.nodes == (Node("W", "j4-g7/d7"),)


def test_site_text_between_name_and_moves_is_not_the_name():
    body = b"(;FF[4]EV[null]PB[x];W[aa]PW[y]KM[0.5]SZ[19]SO[z]HA[2]AB[pd];B[qq];W[dd])"
    (record,) = readings(body)
    assert list(record.header) == ["FF", "EV", "PB", "PW", "KM", "SZ", "SO", "HA", "AB"]
    assert (record.header["PB"], record.header["PW"], record.header["SZ"]) == ("x];W[aa", "y", "19")
    assert record.nodes == (("B", "qq"), ("W", "dd"))


@pytest.mark.parametrize("after", ["]", " ]", ")", "(", " more", "(;)", "\r\n\r\n(;)\r\n", "( ; )(;)", "])"])
def test_a_hostile_name_is_read_whatever_follows_the_record(after):
    body = f"(;EV[null]PB[x];W[a4-a5/a6]PW[y]SO[z];W[j4-g7/d7]){after}".encode()
    record = parse_text(only_text(body))
    assert (record.header["PB"], record.header["PW"]) == ("x];W[a4-a5/a6", "y")
    assert record.nodes == (("W", "j4-g7/d7"),)


def test_a_text_after_an_honest_record_makes_no_second_reading():
    for after in (b"]", b" the end", b"(;)"):
        assert len(readings(b"(;EV[null]PB[a]PW[b]SO[z];W[1])" + after)) == 1


def test_empty_records_are_ignored():
    record = b"(;EV[null]PB[a]PW[b]SO[z];W[1])"
    for body in (record + b"(;)", record + b"\n\n(;)\n", b"(;)\n\n" + record, record + b"\n(;)(;)"):
        assert parse_text(only_text(body))[:2] == parse_text(record)[:2]
        assert split_file(body) == [record]
    assert is_empty(b" ( ;\n)")
    assert not is_empty(b"(;PB[a])")
    with pytest.raises(RecordError, match="several_records"):
        only_text(record + b"\n\n" + record.replace(b"1", b"2"))


@pytest.mark.parametrize("between", ["", " ", "\n", "\r\n", "\r\n\r\n", "\n(;)\n"])
def test_a_file_splits_into_its_records_whatever_is_between_them(between):
    records = [f"(;EV[null]PB[{name}]PW[b]SO[z];W[1];B[2])" for name in ("a", "lazy\\player", "c;]", "é")]
    texts = split_file(between.join(records).encode())
    assert [text.decode() for text in texts] == records


def test_name_that_imitates_record_end_does_not_split_file():
    for name in ("x)(;EV[y", "x])(;", "x];W[1])(;PB[q", "(;)"):
        record = f"(;EV[null]PB[{name}]PW[y]SO[z];W[1])".encode()
        assert split_file(record + b"\n\n" + record) == [record, record]


TWO_WAYS = b"(;EV[null]PB[x];W[1])]PW[y]SO[z];W[2];B[3])"


def test_a_text_that_can_be_read_in_two_ways():
    whole, short = readings(TWO_WAYS)
    assert (whole.header["PB"], whole.nodes, whole.trailing) == ("x];W[1])", (("W", "2"), ("B", "3")), "")
    assert (short.header["PB"], short.nodes) == ("x", (("W", "1"),))
    assert parse_text(TWO_WAYS) == whole


@pytest.mark.parametrize("legal", [{"2"}, {"1"}])
def test_reading_with_legal_moves_is_picked(legal):
    assert pick_legal(readings(TWO_WAYS), only(legal)).nodes[0].value in legal


@pytest.mark.parametrize(("legal", "which"), [({"1", "2"}, "each"), (set(), "none")])
def test_text_with_no_or_several_legal_readings_is_ambiguous(legal, which):
    with pytest.raises(RecordError, match=f"read in 2 ways, and the moves of {which} are legal") as caught:
        pick_legal(readings(TWO_WAYS), only(legal))
    assert caught.value.reason == "ambiguous"


def test_single_reading_needs_no_replay():
    (record,) = readings(b"(;EV[null]PB[x]PW[y]SO[z];W[1])")
    assert pick_legal((record,), only(set())) == record


def only(legal):
    """Plays records whose first move is one of these."""

    def replay(record):
        if record.nodes[0].value not in legal:
            raise RecordError("illegal_move", "not one of these", 0)

    return replay


def test_headers_of_the_sites_other_games():
    body = b"(;FF[CONHEX]VA[CONHEX]EV[null]PB[a]PW[b]SO[https://www.littlegolem.net];B[A1];W[r8];r[resign])"
    record = parse_text(body)
    assert record.header["VA"] == "CONHEX"
    assert record.nodes[-1] == ("r", "resign")


def test_white_space_line_ends_and_trailing_text():
    record = parse_text(b"\xef\xbb\xbf\r\n(;EV[null]\r\nPB[a] PW[b]\r\nSO[x]\r\n;W[1]\r\n ; B[2]\r\n)\r\nthe end\r\n")
    assert record.header == {"EV": "null", "PB": "a", "PW": "b", "SO": "x"}
    assert record.nodes == (("W", "1"), ("B", "2"))
    assert record.trailing == "\r\nthe end\r\n"


@pytest.mark.parametrize("text", [f"(;{HEADER})", f"(;{HEADER}\r\n)", f"(;{HEADER}) more"])
def test_a_game_without_moves(text):
    record = parse_text(text.encode())
    assert record.header["SO"] == "http://www.littlegolem.com"
    assert record.nodes == ()


def test_no_header():
    assert parse_text(b"(;W[a];B[b])") == ({}, (("W", "a"), ("B", "b")), "")


def test_charset_is_utf8_or_latin1_of_the_whole_body():
    assert decode("安 é".encode()) == "安 é"
    assert decode(b"J\xf6rg") == "Jörg"
    assert decode(bytes(range(256))) == bytes(range(256)).decode("latin-1")


@pytest.mark.parametrize(
    ("body", "reason", "ply", "message"),
    [
        (b"", "empty", -1, "nothing"),
        (b" \r\n\t\n", "empty", -1, "nothing"),
        (b"\xef\xbb\xbf", "empty", -1, "nothing"),
        (b"<!DOCTYPE html><html><body>no such game</body></html>", "bad_text", -1, "HTML page"),
        (b"\n\n<html>", "bad_text", -1, "HTML page"),
        (b'[Event "brkthr.ch.1"]\r\n[White "a"]\r\n\r\n1. a2a3 b7b6', "other_game", -1, "PGN"),
        (b"1. d2d3 d7d6 2. resign 0-1", "other_game", -1, "PGN"),
        (b'{"error": 404}', "bad_text", -1, "not a record"),
        (b"(;GM[Amazons]PC[GGS/ams]PB[a]PW[b] B[D1-D7-G7/11.50/5.04])", "bad_text", -1, "GGF"),
        (b"(;EV[null]PB[a", "bad_text", -1, "the value of PB does not end"),
        (b"(;EV[null]PB[a]PB[b];W[x])", "bad_text", -1, "PB stands twice"),
        (b"(;EV[null];W[x];B[", "bad_text", 1, "cannot read on at ';B['"),
        (b"(;EV[null];W[x];B[y]", "bad_text", 2, "cut off: the closing parenthesis"),
        (b"(;EV[null];W[x](;B[y])(;B[z]))", "bad_text", 1, "cannot read on"),
        (b"(", "bad_text", -1, "not a record"),
        (b"(;", "bad_text", 0, "cannot read on at ';'"),
    ],
)
def test_text_that_is_no_record_is_refused(body, reason, ply, message):
    with pytest.raises(RecordError) as caught:
        parse_text(body)
    assert (caught.value.reason, caught.value.ply) == (reason, ply)
    assert message in caught.value.detail


def test_splitting_keeps_records_in_other_formats_whole():
    pgn = b'[Event "x"]\r\n\r\n1. a2a3 b7b6'
    assert split_records(pgn) == [pgn]
    assert split_records(b"(;A[1])\r\n\r\n\r\n(;B[2])\n") == [b"(;A[1])", b"(;B[2])"]
    assert split_records(b"(;A[1])\n(;B[2])") == [b"(;A[1])\n(;B[2])"]
    assert split_records(b"") == split_records(b"\n\r\n \n") == []


PIECES = ("(; ; ( ) [ ] EV[ PB[ PW[x] SO[ ;W[ ;B[ j4-g7/d7 resign ];W[ ]) é \0 <html> 1." + " \r\n" * 2).split(" ")


def read_or_reason(body):
    """The record in a body, or why there is none."""
    try:
        return parse_text(body)
    except RecordError as error:
        return error


@given(
    st.binary(max_size=200) | st.lists(st.sampled_from(PIECES), max_size=30).map(lambda parts: "".join(parts).encode())
)
@example(b"\x01" * 60)  # each is four letters where it is shown
def test_any_bytes_are_a_record_or_a_reasoned_error(body):
    found = read_or_reason(body)
    if isinstance(found, RecordError):
        assert found.reason in ("empty", "bad_text", "other_game")
        assert found.detail.isprintable()
        assert len(found.detail) < 120
    else:
        again = parse_text(join_text(found.header, found.nodes).encode())
        assert (again.header, again.nodes) == (found.header, found.nodes)
    assert b"".join(b"".join(split_records(body)).split()) == b"".join(body.split())


WORDS = "[ ] ( ; ]; ]A ]AB ]AAAAAAAA AB[ ]KM[ ]PW[ ]SO[ ]SO[];W[ (;PB[ (;PB[x] ;W[ ;W[] 1 1."
UNITS = [" ", "\n", "\r\n\r\n", "] ", *WORDS.split()]


@pytest.mark.timeout(60)
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize(
    "head", ["", "(;", "(;PB[]PW[", "(;EV[", "(;EV[x]", "(;EV[x];W[", "(;EV[x];W[y]", "(;EV[x];W[y])"]
)
def test_hostile_bodies_take_linear_time(unit, head):
    body = (head + unit * (200_000 // len(unit))).encode()
    assert len(getattr(read_or_reason(body), "detail", "")) < 120
    assert sum(map(len, split_records(body))) <= len(body)
    assert sum(map(len, split_file(body))) <= len(body)


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


# Texts as the site writes them, names and moves made up.

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

import gzip
import json
import random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pipeline_src.records.littlegolem.text import (
    Node,
    decode,
    is_empty,
    join_text,
    only_text,
    parse_text,
    pick_legal,
    readings,
    split_file,
    split_records,
)
from pipeline_src.records.record import RecordError
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


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "unit",
    [
        "[",
        "]",
        "(",
        ";",
        " ",
        "\n",
        "\r\n\r\n",
        "] ",
        "];",
        "]A",
        "]AB",
        "]AAAAAAAA",
        "AB[",
        "]KM[",
        "]PW[",
        "]SO[",
        "]SO[];W[",
        "(;PB[",
        "(;PB[x]",
        ";W[",
        ";W[]",
        "1",
        "1.",
    ],
)
@pytest.mark.parametrize(
    "head", ["", "(;", "(;PB[]PW[", "(;EV[", "(;EV[x]", "(;EV[x];W[", "(;EV[x];W[y]", "(;EV[x];W[y])"]
)
def test_hostile_bodies_take_linear_time(unit, head):
    body = (head + unit * (200_000 // len(unit))).encode()
    assert len(getattr(read_or_reason(body), "detail", "")) < 120
    assert sum(map(len, split_records(body))) <= len(body)
    assert sum(map(len, split_file(body))) <= len(body)

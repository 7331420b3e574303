import dataclasses
import re

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import amazons
from pipeline_src.records.littlegolem.amazons import (
    Kept,
    Usable,
    parse_text,
    read_amazons,
    read_game,
    site_variant,
    split_records,
    write_record,
)
from pipeline_src.records.raw import RESULTS, RawGame, Seat
from pipeline_src.records.record import REASONS, RecordError, Reject
from tests.records.amazons_games import DATA, HEADER, game_records, needs_data, random_game, record_of

FIXTURE = (
    "W[j4-g7/d7];B[g10-h9/g8];W[g7-h8/g9];B[a7-b8/c8];W[d1-i6/j6];B[j7-i7/h7];W[h8-g7/h6];B[b8-b7/c7];W[g7-f8/f10];"
    "B[h9-h8/i8];W[f8-e9/g7]"
)


def read(moves, variant=""):
    return read_amazons(parse_text(f"(;{HEADER};{moves})".encode()), variant)


@pytest.mark.parametrize(
    "moves", [FIXTURE, FIXTURE.upper(), FIXTURE.replace(";", "\r\n;"), FIXTURE.replace("W[", "W[ ").replace("B[", "b[")]
)
def test_dialect_forms_of_moves(moves):
    assert read(moves) == read(FIXTURE)
    assert len(read(moves).actions) == 11


@pytest.mark.parametrize("token", ["B[resign]", "r[resign]", "b[RESIGN]", "R[resign ]"])
def test_resignation_is_by_the_side_to_move(token):
    game = read(f"{FIXTURE};{token}")
    assert (game.resigned, game.winner, len(game.actions)) == (True, "first", 11)


def test_resignation_at_once():
    assert read("W[resign]") == ("standard", (), True, "second")


def test_final_position_gives_the_winner():
    actions, state = random_game(3)
    nodes = ";".join(f"{'WB'[ply % 2]}[{amazons.format_move(a)}]" for ply, a in enumerate(actions))
    game = read(nodes)
    assert not game.resigned
    assert game.winner == amazons.winner(state) is not None


def test_variant_is_found_by_legality_of_moves():
    cross, _ = random_game(5, 30, "cross")
    nodes = ";".join(f"{'WB'[ply % 2]}[{amazons.format_move(a)}]" for ply, a in enumerate(cross))
    assert read(nodes).variant == read(nodes, "cross").variant == "cross"
    assert read("W[d1-d5/d6]").variant == "standard"  # legal from either start
    assert read("W[d1-d5/d6]", "cross").variant == "cross"
    with pytest.raises(RecordError, match="legal from the cross start only") as caught:
        read(nodes, "standard")
    assert caught.value.reason == "contradiction"


@pytest.mark.parametrize(
    ("moves", "variant", "reason", "ply"),
    [
        ("W[j10];B[j12k9]", "", "other_game", 0),
        ("B[j10];W[j12k9]", "", "other_game", 0),
        ("W[swap]", "", "other_game", 0),
        ("W[k4-g7/d7]", "", "other_game", 0),
        ("W[]", "", "other_game", 0),
        ("B[j4-g7/d7]", "", "bad_text", 0),
        ("W[j4-g7/d7];W[g10-h9/g8]", "", "bad_text", 1),
        ("W[j4-g7/d7];B[g10-h9]", "", "bad_text", 1),
        ("W[j4-g7/d7];B[g10-h9/g11]", "", "bad_text", 1),
        ("W[j4-g7/d7];C[nice]", "", "bad_text", 1),
        ("W[j4g7d7]", "", "bad_text", 0),
        ("W[j4-g7d7]", "", "bad_text", 0),
        ("W[j4-g7/d7];B[g10h9/g8]", "", "bad_text", 1),
        ("W[j4-g7/d7];B[g10-h9(g8)]", "", "bad_text", 1),
        ("W[j4-g7/d7];W[resign]", "", "bad_text", 1),
        ("W[resign];B[g10-h9/g8]", "", "bad_text", 0),
        ("W[j4-g7/d7];C[resign]", "", "bad_text", 1),
        ("W[j4-g7/d7];B[g10-h9/g10];W[g7-g6/d7]", "", "illegal_move", 2),
        ("W[j4-j8/j5]", "standard", "illegal_move", 0),
        ("W[j4-g7/g7]", "standard", "illegal_move", 0),
        ("W[j4-g7/j4];B[j7-g7/g8]", "standard", "illegal_move", 1),
        ("W[a1-a2/a3]", "", "illegal_move", 0),
    ],
)
def test_unusable_moves(moves, variant, reason, ply):
    with pytest.raises(RecordError) as caught:
        read(moves, variant)
    assert (caught.value.reason, caught.value.ply) == (reason, ply)


def test_illegal_move_names_the_start_that_goes_furthest():
    with pytest.raises(RecordError, match="d6-d5/d5 is not legal from either start") as caught:
        read("W[j4-g7/d7];B[g10-h9/g8];W[d6-d5/d5]")
    assert caught.value.ply == 2


@given(st.integers(0, 10**6), st.integers(1, 60), st.integers(0, 10**6 - 1), st.data())
def test_first_illegal_turn_is_located(seed, plies, action, data):
    actions, _ = random_game(seed, plies)
    at = data.draw(st.integers(0, len(actions) - 1))
    _, before = random_game(seed, at)
    assume(not amazons.is_legal(before, action))
    changed = [*actions[:at], action, *actions[at + 1 :]]
    nodes = ";".join(f"{'WB'[ply % 2]}[{amazons.format_move(a)}]" for ply, a in enumerate(changed))
    with pytest.raises(RecordError) as caught:
        read(nodes, "standard")
    assert caught.value.reason in ("illegal_move", "contradiction")
    assert caught.value.ply == at


@pytest.mark.parametrize(
    ("words", "variant"),
    [
        ("", ""),
        ("Amazons", ""),
        ("Size 10", "standard"),
        ("Amazons-Size 10", "standard"),
        ("Amazons :: Size\xa010", "standard"),
        ("DEFAULT", "standard"),
        ("Cross", "cross"),
        ("CROSS", "cross"),
        ("Amazons Cross", "cross"),
    ],
)
def test_variants_in_the_sites_words(words, variant):
    assert site_variant(words) == variant


@pytest.mark.parametrize("words", ["Size 8", "Size 24", "Mini Shogi", "crossing"])
def test_unknown_variant(words):
    with pytest.raises(RecordError, match="the site calls it") as caught:
        site_variant(words)
    assert caught.value.reason == "other_variant"


def test_writes_the_sites_dialect_to_the_byte():
    actions = read(FIXTURE).actions
    record = record_of(
        actions[:2], first_name="lazy\\player", second_name="Shumacher;]", winner="second", resigned=True
    )
    assert write_record(record) == (
        b"(;EV[null]PB[lazy\\player]PW[Shumacher;]]SO[http://www.littlegolem.com];W[j4-g7/d7];B[g10-h9/g8];W[resign])"
    )
    named = dataclasses.replace(record, first_name="J\xf6rg \u2605", second_name="\u5b89", event="amzn.ch.1.2.3")
    assert write_record(named).startswith(b"(;EV[amzn.ch.1.2.3]PB[J\xf6rg ?]PW[?]SO[")


def test_unwritable_records_are_refused():
    with pytest.raises(ZugwerkError, match="game 1: gomoku"):
        write_record(record_of((), game="gomoku"))
    with pytest.raises(ZugwerkError, match="cannot have resigned"):
        write_record(record_of((), winner="first", resigned=True))


@given(game_records())
def test_round_trip(record):
    body = write_record(record)
    assert split_records(body) == [body]
    parsed = parse_text(body)
    shown = body.decode("utf-8" if body.decode("utf-8", "replace").encode() == body else "latin-1")
    assert f"PB[{parsed.header['PB']}]PW[{parsed.header['PW']}]SO[" in shown
    assert parsed.header["EV"] == record.event or (parsed.header["EV"], record.event) == ("null", "")
    game = read_amazons(parsed, record.variant)
    assert game == (record.variant, record.actions, record.resigned, record.winner)
    inferred = read_amazons(parsed)
    assert inferred.actions == record.actions
    assert inferred.variant == record.variant or len(record.actions) < 10


ALL = Usable(1, ("standard", "cross"))
ACTIONS, _ = random_game(1)
WINNER = "first" if len(ACTIONS) % 2 else "second"
BODY = write_record(record_of(ACTIONS, first_name="ann", second_name="bob", event="amzn.ch.1.1.1"))
HALF = write_record(record_of(ACTIONS[:30], first_name="ann", second_name="bob"))
SEATS = (Seat(3, "bob", "lost"), Seat(7, "ann", "won"))
CROSS = write_record(record_of(random_game(2, variant="cross")[0]))


def raw(body, **fields):
    return RawGame(**{"gid": 5, "path": "/servlet/sgf/5/game5.txt", "status": 200, "body": body, **fields})


def test_a_whole_game_becomes_its_record():
    seats = (Seat(3, "bob", "won" if WINNER == "second" else "lost"), Seat(7, "ann", ""))
    kept = read_game(raw(BODY + b"\r\n", variant="Size 10", seats=seats), ALL)
    assert isinstance(kept, Kept)
    assert kept.evidence == "position"
    assert kept.record == record_of(
        ACTIONS,
        gid=5,
        winner=WINNER,
        first_name="ann",
        second_name="bob",
        first_plid=7,
        second_plid=3,
        event="amzn.ch.1.1.1",
    )


@pytest.mark.parametrize(
    ("first", "second"), [("x];W[a4-a5/a6", "bob"), ("ann", "x];W[a4-a5/a6"), ("x];W[a1-a5/a6])", "]PW[")]
)
def test_player_name_that_reads_like_a_turn(first, second):
    seats = (Seat(3, second, "lost"), Seat(7, first, "won"))
    body = write_record(record_of(ACTIONS[:30], first_name=first, second_name=second))
    kept = read_game(raw(body, seats=seats), ALL)
    assert isinstance(kept, Kept), kept
    assert kept.record.actions == ACTIONS[:30]
    assert (kept.record.first_name, kept.record.second_name) == (first, second)
    assert (kept.record.winner, kept.evidence) == ("first", "names")


def test_name_that_is_a_legal_game_makes_record_ambiguous():
    body = write_record(record_of(ACTIONS[:30], first_name="x];W[d1-d7/g7])", second_name="bob"))
    reject = read_game(raw(body, seats=SEATS), ALL)
    assert (reject.reason, reject.ply) == ("ambiguous", -1)


@pytest.mark.parametrize(
    ("fields", "winner", "evidence"),
    [
        ({"seats": SEATS}, "first", "names"),
        ({"seats": SEATS, "order_known": False, "variant": "DEFAULT"}, "first", "names"),
        ({"seats": SEATS[::-1], "order_known": True}, "first", "order"),
        ({"seats": (Seat(1, "renamed", "lost"),)}, "second", "last_mover"),
        ({"body": HALF[:-1] + b";W[resign])"}, "second", "resignation"),
        ({"seats": SEATS, "body": HALF + b"\r\n\r\n" + HALF}, "first", "names"),
        ({"seats": SEATS, "body": HALF + b"\r\n\r\nthat was it"}, "first", "names"),
    ],
)
def test_a_game_that_stops(fields, winner, evidence):
    kept = read_game(raw(**{"body": HALF, **fields}), ALL)
    assert isinstance(kept, Kept), kept
    assert (kept.record.winner, kept.evidence, kept.record.event) == (winner, evidence, "")
    assert kept.record.actions == ACTIONS[:30]


@pytest.mark.parametrize(
    ("fields", "source"), [({"engine": True}, "engine"), ({"status": 0}, "file"), ({}, "littlegolem")]
)
def test_source(fields, source):
    assert read_game(raw(BODY, **fields), ALL).record.source == source


@pytest.mark.parametrize(
    ("fields", "reason", "ply"),
    [
        ({"status": 500}, "http_status", -1),
        ({"status": 404, "body": b""}, "http_status", -1),
        ({"body": b""}, "empty", -1),
        ({"body": b"\r\n\r\n"}, "empty", -1),
        ({"body": b"<html>\n\n(;nothing"}, "bad_text", -1),
        ({"body": b";".join(BODY.split(b";")[:22])}, "bad_text", 20),
        ({"body": BODY + b"\r\n\r\n" + HALF}, "several_records", -1),
        ({"body": BODY + HALF}, "several_records", -1),
        ({"body": b"(;FF[4]EV[null]PB[a]PW[b]SO[x];B[j10];W[l10l8])"}, "other_game", 0),
        ({"body": b"(;FF[TZAAR]VA[RANDOM]EV[null]PB[a]PW[b]SO[x];W[A1])"}, "other_game", 0),
        ({"body": b'[Event "x"]\n\n1. a2a3'}, "other_game", -1),
        ({"body": CROSS}, "other_variant", -1),
        ({"variant": "Cross"}, "other_variant", -1),
        ({"variant": "Size 8"}, "other_variant", -1),
        ({"variant": "Size 10", "body": CROSS}, "contradiction", 1),
        ({"body": re.sub(rb";B.[^;]*", b";B[a1-a2/a3]", HALF, count=1)}, "illegal_move", 1),
        ({"seats": SEATS[::-1], "order_known": False, "body": HALF[:-1] + b";W[resign])"}, "contradiction", 30),
        ({"seats": SEATS, "order_known": True}, "contradiction", -1),
        ({"seats": (Seat(3, "bob", "draw"),)}, "contradiction", -1),
        ({"seats": (Seat(3, "bob", ""), Seat(7, "ann", ""))}, "unfinished", 30),
        ({}, "unfinished", 30),
        ({"body": f"(;{HEADER})".encode()}, "unfinished", 0),
        ({"body": f"(;{HEADER};W[resign])".encode()}, "too_short", 0),
        ({"seats": SEATS, "body": write_record(record_of(ACTIONS[:19], first_name="ann"))}, "too_short", 19),
    ],
)
def test_rejects(fields, reason, ply):
    reject = read_game(raw(**{"body": HALF, **fields}), Usable(20, ("standard",)))
    assert isinstance(reject, Reject), reject
    assert (reject.gid, reject.reason, reject.ply) == (5, reason, ply), reject.detail


def test_length_limit_is_inclusive():
    game = raw(write_record(record_of(ACTIONS[:20])), seats=SEATS)
    assert isinstance(read_game(game, Usable(20, ("standard",))), Kept)
    assert isinstance(read_game(game, Usable(21, ("standard",))), Reject)


def check(game, result):
    """Whatever was sent: a game that the rules allow, with a winner, or a reason."""
    if isinstance(result, Reject):
        assert result.reason in REASONS
        assert result.gid == game.gid
        assert -1 <= result.ply <= len(game.body)
        assert result.detail.isprintable()
        assert 0 < len(result.detail) < 150
        return
    record = result.record
    state = amazons.initial_state(10, record.variant)
    for action in record.actions:
        assert amazons.is_legal(state, action)
        state = amazons.play(state, action)
        assert re.sub("[-/]", "", amazons.format_move(action)).encode() in re.sub(rb"[-/(]", b"", game.body.lower())
    mover = "first" if len(record.actions) % 2 else "second"
    assert record.winner in ("first", "second")
    assert amazons.winner(state) in (None, record.winner)
    assert not record.resigned or record.winner == mover


seat = st.builds(Seat, st.integers(0, 9), st.sampled_from(["ann", "bob", ""]), st.sampled_from(RESULTS))
crawled = {
    "status": st.sampled_from([200, 200, 200, 0, 404, 500]),
    "variant": st.sampled_from(["", "", "Size 10", "Cross", "DEFAULT", "Size 24"]),
    "order_known": st.booleans(),
    "seats": st.lists(seat, max_size=3).map(tuple),
}


@given(st.binary(max_size=400), st.fixed_dictionaries(crawled))
def test_any_bytes(body, fields):
    game = raw(body, **fields)
    check(game, read_game(game, ALL))


@given(st.randoms(use_true_random=False), st.integers(0, 4), st.fixed_dictionaries(crawled))
@settings(max_examples=300)
def test_damaged_records(rng, changes, fields):
    body = bytearray(rng.choice([BODY, HALF, CROSS]))
    for _ in range(changes):
        at, end = sorted(rng.randrange(len(body) + 1) for _ in range(2))
        end = min(end, at + rng.choice([1, 2, 15, 400]))
        body[at:end] = rng.choice([b"", bytes(rng.randbytes(3)), body[at:end] * 2, b"]", b"[", b";W[resign]", b"\n\n"])
    game = raw(bytes(body), **fields)
    check(game, read_game(game, ALL))


@given(
    st.lists(st.sampled_from([HEADER, "", "PB[ann]", "PW[bob]PB[ann]"]), max_size=2),
    st.lists(
        st.tuples(st.sampled_from("WBWBWBr"), st.sampled_from(["d1-d7/g7", "a7-f2/i5", "resign", "j10", "", "d1d2d3"])),
        max_size=6,
    ),
    st.sampled_from(["", ")", ")\n\n", "))", ")(;)", ") bye"]),
    st.fixed_dictionaries(crawled),
)
def test_near_records(headers, nodes, end, fields):
    body = f"(;{''.join(headers)}{''.join(f';{colour}[{value}]' for colour, value in nodes)}{end}"
    game = raw(body.encode(), **fields)
    check(game, read_game(game, ALL))


@needs_data
def test_the_real_games():
    folder = DATA / "littlegolem_amazons"
    full = read_game(raw((folder / "game2328640.reconstructed.txt").read_bytes()), Usable(20, ("standard",)))
    assert (full.record.winner, full.evidence, len(full.record.actions)) == ("second", "resignation", 72)
    assert (full.record.first_name, amazons.format_move(full.record.actions[71])) == ("Hippolyta_1_c", "a2-b2/a2")
    stops = read_game(raw((folder / "ggpzero_fixture.verbatim.txt").read_bytes()), ALL)
    assert (stops.reason, stops.ply) == ("unfinished", 11)
    decided = raw((folder / "ggpzero_fixture.verbatim.txt").read_bytes(), seats=(Seat(1, "gzero_bot", "won"),))
    assert read_game(decided, ALL).record.winner == "first"  # the last mover: both names are masked
    other = read_game(raw((folder / "amsbot5_Raphael_945277754.partial.ggf").read_bytes()), ALL)
    assert (other.reason, "GGF" in other.detail) == ("bad_text", True)

import dataclasses

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import amazons
from pipeline_src.games.amazons import board
from pipeline_src.records.littlegolem.amazons import parse_text, read_amazons, site_variant, split_records, write_record
from pipeline_src.records.record import RecordError
from tests.records.amazons_games import HEADER, game_records, random_game, record_of

FIXTURE = (
    "W[j4-g7/d7];B[g10-h9/g8];W[g7-h8/g9];B[a7-b8/c8];W[d1-i6/j6];B[j7-i7/h7];W[h8-g7/h6];B[b8-b7/c7];W[g7-f8/f10];"
    "B[h9-h8/i8];W[f8-e9/g7]"
)


def read(moves, variant=""):
    return read_amazons(parse_text(f"(;{HEADER};{moves})".encode()), variant)


@pytest.mark.parametrize(
    "moves",
    [
        FIXTURE,
        FIXTURE.upper(),
        FIXTURE.replace(";", "\r\n;"),
        FIXTURE.replace("W[", "W[ ").replace("B[", "b["),
    ],
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
    nodes = ";".join(f"{'WB'[ply % 2]}[{board.format_move(a)}]" for ply, a in enumerate(actions))
    game = read(nodes)
    assert not game.resigned
    assert game.winner == amazons.winner(state) is not None


def test_variant_is_found_by_legality_of_moves():
    cross, _ = random_game(5, 30, "cross")
    nodes = ";".join(f"{'WB'[ply % 2]}[{board.format_move(a)}]" for ply, a in enumerate(cross))
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
    nodes = ";".join(f"{'WB'[ply % 2]}[{board.format_move(a)}]" for ply, a in enumerate(changed))
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
    assert write_record(named, with_format=True).startswith(b"(;FF[4]EV[amzn.ch.1.2.3]PB[J\xf6rg ?]PW[?]SO[")


def test_unwritable_records_are_refused():
    with pytest.raises(ZugwerkError, match="game 1: gomoku"):
        write_record(record_of((), game="gomoku"))
    with pytest.raises(ZugwerkError, match="cannot have resigned"):
        write_record(record_of((), winner="first", resigned=True))


@given(game_records(), st.booleans())
def test_round_trip(record, with_format):
    body = write_record(record, with_format=with_format)
    assert split_records(body) == [body]
    parsed = parse_text(body)
    shown = write_record(record).decode("utf-8" if body.decode("utf-8", "replace").encode() == body else "latin-1")
    assert f"PB[{parsed.header['PB']}]PW[{parsed.header['PW']}]SO[" in shown
    assert parsed.header["EV"] == record.event or (parsed.header["EV"], record.event) == ("null", "")
    assert ("FF" in parsed.header) == with_format
    game = read_amazons(parsed, record.variant)
    assert game == (record.variant, record.actions, record.resigned, record.winner)
    inferred = read_amazons(parsed)
    assert inferred.actions == record.actions
    assert inferred.variant == record.variant or len(record.actions) < 10

import dataclasses
import json
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import gomoku
from pipeline_src.records.forced_wins import range_of, read_forced_wins
from pipeline_src.records.psq import PsqError, parse_psq, read_psq, read_rule, write_psq
from pipeline_src.records.record import GameRecord, RecordError

REAL = Path(__file__).parents[2] / "../shared/data/gomoku/1x0-16(2).psq"
WON = "Piskvorky 7x6, 1:0, 0\n1,1,0\n1,6,5\n2,2,10\n2,6,0\n3,3,20\n3,6,0\n4,4,1\n7,6,0\n5,5,2\nAlpha\nBeta\n0\n"


def with_line(number, line):
    """`WON` with another line at ``number``, counted from 1; None takes it away."""
    lines = WON.splitlines()
    lines[number - 1 : number] = [] if line is None else [line]
    return "\n".join(lines)


def test_reads_stones_names_times_and_who_won():
    game = parse_psq(WON, gid=7)
    record = game.record
    assert [gomoku.format_move(action, 6, 7) for action in record.actions[:4]] == ["a6", "a1", "b5", "b1"]
    assert (record.game, record.gid, record.source) == ("gomoku", 7, "file")
    assert (record.height, record.width, record.variant, record.winner) == (6, 7, "freestyle", "first")
    assert (record.first_name, record.second_name) == ("Alpha", "Beta")
    assert game.milliseconds == (0, 5, 10, 0, 20, 0, 1, 0, 2)
    assert gomoku.winner(game.state) == "first"


def test_head_gives_player_who_moved_first():
    record = parse_psq(WON.replace("1:0, 0", "1:0, 1")).record
    assert (record.first_name, record.second_name, record.winner) == ("Beta", "Alpha", "first")


@pytest.mark.parametrize("ending", ["", "0\n", "Alpha\nBeta\n", "Alpha\nBeta\n-1\n1,Freestyle\n", "-1\n1,Exact five\n"])
def test_endings_of_every_kind(ending):
    record = parse_psq(WON.replace("Alpha\nBeta\n0\n", ending)).record
    assert record.winner == "first"
    assert record.first_name == ("Alpha" if "Alpha" in ending else "")


def test_any_line_ends_and_no_times():
    text = WON.replace(",10\n", "\n").replace("\n", "\r\n")
    assert parse_psq(text).record == parse_psq(WON).record
    assert parse_psq(text).milliseconds[2] == 0


TIMEOUT = "Piskvorky 20x20, 11:11, 0\n10,10,100\n11,11,100\n12,12,30001\nalpha.zip\nbeta.zip\n-1\n2,Freestyle\n"


def test_last_line_gives_winner_of_game_without_a_line():
    record = parse_psq(TIMEOUT).record
    assert (record.winner, record.first_name, record.second_name) == ("second", "alpha.zip", "beta.zip")
    assert parse_psq(TIMEOUT.replace("2,Freestyle", "1,Freestyle")).record.winner == "first"
    assert parse_psq(TIMEOUT.replace("2,Freestyle", "0,Freestyle")).record.winner == "draw"
    assert parse_psq(TIMEOUT.replace("2,Freestyle", "-1,Freestyle")).record.winner is None
    other_first = parse_psq(TIMEOUT.replace("11:11, 0", "11:11, 1")).record
    assert (other_first.winner, other_first.first_name) == ("first", "beta.zip")
    untimed = parse_psq(TIMEOUT.replace(",100", ",0").replace(",30001", ",0")).record
    assert untimed.winner == "second"


def test_after_an_opening_the_stones_give_the_winner():
    """Player 1 of the Gomocup is who moves first after the opening, whose stones have the time 0."""
    opened = TIMEOUT.replace("10,10,100", "10,10,0")
    assert parse_psq(opened).record.winner is None
    assert parse_psq(opened.replace("2,Freestyle", "0,Freestyle")).record.winner == "draw"
    won = WON.replace("1,6,5", "1,6,0").replace("2,6,0", "2,6,7") + "2,Freestyle\n"
    assert parse_psq(won).record.winner == "first"


@pytest.mark.parametrize(
    ("words", "variant"),
    [
        ("Freestyle", "freestyle"),
        ("Freestyle1", "freestyle"),
        ("free-style gomoku", "freestyle"),
        ("Fastgame", "freestyle"),
        ("freestyle-4", "freestyle-4"),
        ("Standard", "exact"),
        ("Exact five", "exact"),
        ("exact", "exact"),
        ("Renju", "renju"),
        ("CARO", "caro"),
    ],
)
def test_the_rule_of_the_last_line_is_read(words, variant):
    record = parse_psq(f"Piskvorky 15x15, 1:1, 0\n8,8,9\n8,7,9\n-1\n1,{words}\n").record
    assert (record.variant, record.winner) == (variant, "first")
    assert parse_psq(f"Piskvorky 15x15, 1:1, 0\n1,{words}\n", variant=variant).record.variant == variant
    with pytest.raises(PsqError, match=f"line 2: a game of {variant}, not of caro-4"):
        parse_psq(f"Piskvorky 15x15, 1:1, 0\n1,{words}\n", variant="caro-4")


def test_numbers_of_rules_are_those_of_the_gomocup():
    assert {number: read_rule(number) for number in ("0", "1", " 4 ", "8")} == {
        "0": "freestyle",
        "1": "exact",
        " 4 ": "renju",
        "8": "caro",
    }


@pytest.mark.parametrize("rule", ["2", "3", "swap2", "gomoku", "renju-4", "freestyle-0", "", "standardx"])
def test_a_rule_that_is_unknown_is_refused(rule):
    with pytest.raises(RecordError, match="other_variant: the rule"):
        read_rule(rule)


def test_blank_lines_are_skipped():
    for gap in ("\n\n", "\r\n \r\n", "\r\r", "\n\t\n\n"):
        assert parse_psq(WON.replace("\n", gap)).record == parse_psq(WON).record


def test_names_in_utf_8_and_latin_1():
    for charset in ("utf-8", "latin-1"):
        record = parse_psq(WON.replace("Alpha", "J\xf6rg").encode(charset)).record
        assert record.first_name == "J\xf6rg"


def test_a_game_that_just_stops_has_no_winner():
    assert parse_psq(with_line(10, None)).record.winner is None
    assert parse_psq("Piskvorky 15x15, 0:0, 0").record.actions == ()


def test_the_winner_depends_on_the_rule():
    row = [(1, 1), (1, 9), (2, 1), (2, 9), (3, 1), (4, 9), (5, 1), (5, 9), (6, 1), (9, 9), (4, 1)]
    text = "Piskvorky 15x15, 1:1, 0\n" + "".join(f"{x},{y},0\n" for x, y in row)
    assert parse_psq(text).record.winner == "first"
    exact = parse_psq(text, variant="exact").record
    assert (exact.winner, exact.variant) == (None, "exact")


def test_renju_and_caro_are_replayed_by_their_rules():
    cross = [(5, 3), (1, 1), (5, 4), (3, 1), (3, 5), (5, 1), (4, 5), (7, 1), (5, 5)]
    text = "Piskvorky 9x9, 1:1, 0\n" + "".join(f"{x},{y},0\n" for x, y in cross)
    assert len(parse_psq(text).record.actions) == 9
    with pytest.raises(PsqError, match="line 10: 5,5 is not legal, Black may not make six in a row, two fours"):
        parse_psq(text, variant="renju")
    shut = [(2, 5), (1, 5), (3, 5), (7, 5), (4, 5), (1, 1), (5, 5), (3, 1), (6, 5)]
    text = "Piskvorky 9x9, 1:1, 0\n" + "".join(f"{x},{y},0\n" for x, y in shut)
    winners = [parse_psq(text, variant=name).record.winner for name in ("freestyle", "exact", "renju", "caro")]
    assert winners == ["first", "first", "first", None]
    record = parse_psq(text, variant="caro").record
    assert parse_psq(write_psq(record)).record == record


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: expected a head.*found nothing"),
        ("<html>", "line 1: expected a head like 'Piskvorky 20x20, 11:11, 0', found '<html>'"),
        (with_line(1, "Piskvorky 7x6"), "line 1: expected a head"),
        (with_line(1, "Piskvorky 7x6, 1:1, 2"), "line 1: expected a head"),
        (with_line(1, "Piskvorky 2x6, 1:1, 0"), "line 1: no Gomoku board of 2x6; sides go from 3 to 25"),
        (with_line(1, "Piskvorky 7x26, 1:1, 0"), "line 1: no Gomoku board of 7x26"),
        (with_line(4, "8,1,0"), "line 4: no cell 8,1 on a board of 7x6"),
        (with_line(4, "1,7,0"), "line 4: no cell 1,7 on a board of 7x6"),
        (with_line(4, "0,1,0"), "line 4: no cell 0,1"),
        (with_line(4, "1,6,0"), "line 4: 1,6 is not legal, there is a stone already"),
        (WON.replace("Alpha", "7,1,0\nAlpha"), "line 11: 7,1 is not legal, the game was over before it"),
        (with_line(4, "2;2;10"), "line 4: expected a stone, e.g. '8,8,120', found '2;2;10'"),
        (with_line(4, "-2,2,10"), "line 4: expected a stone"),
        (with_line(4, f"2,2,{'9' * 5000}"), "line 4: expected a stone, e.g. '8,8,120', found '2,2,999"),
        (with_line(4, "\n\n8,1,0"), "line 6: no cell 8,1"),
        (with_line(13, "end"), "line 13: expected a stone .* or a code, found 'end'"),
        (WON + "what\n", r"line 14: expected the end, or the winner \(1, 2, or 0 for a draw\) and the rule"),
        (WON + "3,Freestyle\n", "line 14: expected the end, or the winner"),
        (WON + "1,Swap2\n", "line 14: the rule 'Swap2'; known are freestyle, exact, renju, caro"),
        (WON + "1,freestyle-0\n", "line 14: the rule 'freestyle-0'"),
        (WON.replace("1,1,0", "1,1,1") + "2,Freestyle\n", "first by the stones, second by the last line"),
        (WON + "0,Freestyle\n", "first by the stones, draw by the last line"),
        (WON.encode() + b"1,Freestyle\n\xc0\xee\n", "no charset"),
        (WON + "1,Freestyle\nmore\n", "line 15: expected the end, found 'more'"),
    ],
)
def test_errors_name_the_line(text, message):
    with pytest.raises(PsqError, match="^games/1.psq: " + message):
        parse_psq(text, name="games/1.psq")


def test_other_errors():
    with pytest.raises(ZugwerkError, match="no variant 'pente'"):
        parse_psq(WON, variant="pente")
    with pytest.raises(ZugwerkError, match="a line of 5 does not fit"):
        parse_psq("Piskvorky 4x4, 1:1, 0\n")
    with pytest.raises(ZugwerkError, match=r"no/game\.psq: no such file"):
        read_psq("no/game.psq")
    record = parse_psq(WON).record
    with pytest.raises(ZugwerkError, match="amazons cannot be written"):
        write_psq(dataclasses.replace(record, game="amazons"))
    with pytest.raises(ZugwerkError, match="2 times for 9 stones"):
        write_psq(record, [1, 2])


names = st.text(st.characters(codec="latin-1", exclude_categories=["Cc"]), min_size=1, max_size=20).filter(
    lambda name: name == name.strip() and name.isalpha()
)


@given(
    st.integers(3, 25),
    st.integers(3, 25),
    st.integers(0, 2**32),
    st.integers(0, 400),
    st.tuples(names, names) | st.just(("", "")),
)
def test_round_trip(height, width, seed, plies, both):
    """Of whole and unfinished games by lines of three, on boards of all shapes."""
    rng = random.Random(seed)
    state = gomoku.from_fen("/".join([str(width)] * height) + " b freestyle-3")
    actions = []
    while len(actions) < plies and gomoku.winner(state) is None:
        actions.append(int(rng.choice(gomoku.legal_actions(state))))
        state = gomoku.play(state, actions[-1])
    winner = gomoku.winner(state)
    given_record = GameRecord(
        *("gomoku", 3, "file", "freestyle-3", height, width, tuple(actions), winner, False), *both
    )
    times = tuple(rng.randrange(5000) for _ in actions)
    again = parse_psq(write_psq(given_record, times), gid=3)
    assert again.record == given_record
    assert again.milliseconds == times
    assert gomoku.to_fen(again.state) == gomoku.to_fen(state)


def test_names_are_written_on_one_line_each():
    record = dataclasses.replace(parse_psq(WON).record, first_name="", second_name="a\nb")
    again = parse_psq(write_psq(record)).record
    assert (again.first_name, again.second_name) == ("unknown", "a?b")


@pytest.mark.skipif(not REAL.exists(), reason="the real record is not here")
def test_a_real_record():
    game = read_psq(REAL)
    assert (game.record.height, game.record.width, len(game.record.actions)) == (20, 20, 16)
    assert (game.record.first_name, game.record.second_name) == ("pisq7.exe", "renjusolver.ZIP")
    assert game.record.winner == "second"
    assert game.milliseconds[:2] == (456, 4500)
    text = REAL.read_bytes().decode("latin-1")
    assert write_psq(game.record, game.milliseconds).splitlines()[1:] == text.splitlines()[1:]


@pytest.mark.parametrize("name", ["3,4", "3,4,5", "0", "-17", "1,Freestyle", "2, renju"])
def test_names_like_other_lines_are_marked(name):
    record = dataclasses.replace(parse_psq(WON).record, first_name=name, second_name=name)
    assert parse_psq(write_psq(record)).record == dataclasses.replace(
        record, first_name=f"?{name}", second_name=f"?{name}"
    )


@pytest.mark.parametrize("winner", ["first", "second", "draw", None])
@pytest.mark.parametrize("variant", ["freestyle", "exact"])
def test_winner_that_no_line_shows_is_written(winner, variant):
    record = GameRecord("gomoku", 0, "file", variant, 15, 15, (112, 97), winner)
    assert parse_psq(write_psq(record)).record.winner == winner


def test_a_game_from_a_position_is_refused():
    record = GameRecord("gomoku", 4, "file", "5/5/2x2/5/5 w freestyle-3", 5, 5, (0,), None)
    with pytest.raises(ZugwerkError, match="game 4: a Piskvorky record cannot begin with a position"):
        write_psq(record)


ROW = {"size": 15, "variant": "freestyle", "actions": [112, 97], "win": 100, "plies": 7}


def write(tmp_path, *texts):
    path = tmp_path / "positions.jsonl"
    path.write_text("\ufeff" + "\n".join(texts), encoding="utf-8")
    return path


def test_positions_are_read(tmp_path):
    (found, other) = read_forced_wins(write(tmp_path, json.dumps(ROW), "", json.dumps(ROW | {"plies": 20})))
    assert gomoku.to_fen(found.state) == gomoku.to_fen(gomoku.play(gomoku.play(gomoku.initial_state(15), 112), 97))
    assert [found.plies, other.plies] == [7, 20]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "line 1: not JSON"),
        ("[" * 100_000, "line 1: not JSON"),
        ("[1]", "line 1: expected an object with size, variant, actions and plies"),
        (json.dumps(ROW | {"actions": 5}), "line 1: size and plies are whole numbers"),
        (json.dumps(ROW | {"actions": [1.5]}), "line 1: size and plies are whole numbers"),
        (json.dumps(ROW | {"plies": -1}), "line 1: plies must be at least 1, not -1"),
        (json.dumps(ROW | {"size": 2}), "line 1: no Gomoku board of size 2"),
        (json.dumps(ROW | {"variant": "four"}), "line 1: no variant 'four'"),
        (json.dumps(ROW | {"actions": [1, 1]}), "line 1: action 1 is not legal here"),
        (json.dumps(ROW | {"size": 3, "variant": "exact-3", "actions": [0, 3, 1, 4, 2]}), "line 1: the game is over"),
        ("", "no positions in it"),
    ],
)
def test_bad_positions_are_named(tmp_path, text, message):
    with pytest.raises(ZugwerkError, match=message):
        read_forced_wins(write(tmp_path, text))


def test_ranges():
    assert [range_of(plies) for plies in (3, 5, 6, 15, 25, 26)] == ["3-5", "3-5", "6-9", "10-15", "16-25", "26-"]

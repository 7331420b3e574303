import io
import tarfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import go
from pipeline_src.records import sgf
from pipeline_src.records.go_games import parse_sgf, read_sgf, write_sgf
from pipeline_src.records.record import GameRecord, RecordError, Reject, read_records, write_records
from pipeline_src.records.sgf import decode, read_files

REAL = Path(__file__).parents[2] / "../shared/data/go_507_games.tar.gz"
HEAD = "(;GM[1]FF[4]SZ[19]"


def one(text, **options):
    data = text if isinstance(text, bytes) else text.encode()
    found = parse_sgf(data, name="game.sgf", **options)
    assert len(found) == 1
    return found[0]


def points(record):
    return [go.format_move(action) for action in record.actions]


def test_a_game():
    game = one(f"{HEAD}KM[6.5]PB[ann]PW[bob]EV[a cup]RE[B+R];B[pd];W[dp]C[a comment];B[];W[qf])", gid=7)
    record = game.record
    assert points(record) == ["Q16", "D4", "pass", "R14"]
    assert (record.game, record.gid, record.source, record.variant) == ("go", 7, "file", "komi-6.5")
    assert (record.winner, record.resigned, record.height, record.width) == ("first", True, 19, 19)
    assert (record.first_name, record.second_name, record.event) == ("ann", "bob", "a cup")
    assert game[1:] == ("game.sgf", 0, 0, 0)


@pytest.mark.parametrize(
    ("result", "winner", "resigned"),
    [
        ("B+3.5", "first", False),
        ("W+Resign", "second", True),
        ("W+T", "second", False),
        ("b+", "first", False),
        ("0", "draw", False),
        ("Jigo", "draw", False),
        ("黑中盘胜", "first", True),
        ("黑胜", "first", False),
        ("白胜1目半", "second", False),
        ("白中盘勝", "second", True),
        ("白勝１目半", "second", False),
        ("黑胜2又3/4子", "first", False),
        ("黑胜¼子", "first", False),
        ("白胜四又四分之三子", "second", False),
        ("黑胜，中盘", "first", True),  # noqa: RUF001
        ("黑方超时负", "second", False),
        ("白认输", "first", True),
        ("和棋", "draw", False),
        ("持棋", "draw", False),
        ("Ｂ＋Ｒ", "first", True),  # noqa: RUF001
        ("黑+R", "first", True),
        ("白中押し勝ち", "second", True),
        ("黒3目半勝", "first", False),
        ("ジゴ", "draw", False),
        ("흑 불계승", "first", True),
        ("백 3집반승", "second", False),
        ("무승부", "draw", False),
        ("无胜负", None, False),
        ("打掛け", None, False),
        ("黑先胜", None, False),
        ("Void", None, False),
        ("?", None, False),
        ("", None, False),
    ],
)
def test_results(result, winner, resigned):
    record = one(f"{HEAD}RE[{result}];B[pd])").record
    assert (record.winner, record.resigned) == (winner, resigned)
    assert one(f"{HEAD};B[pd])").record.winner is None, "no RE at all"


@pytest.mark.parametrize(
    ("komi", "variant"),
    [
        ("7.5", "standard"),
        ("6.5", "komi-6.5"),
        ("650", "komi-6.5"),
        ("3.75", "standard"),
        ("375", "standard"),
        ("0", "komi-0"),
        ("-5", "komi--5"),
        ("6,5", "komi-6.5"),
        ("+5.5", "komi-5.5"),
        ("\x1d6.5", "komi-6.5"),
        ("6.3", "komi-unknown"),
        ("", "komi-unknown"),
        ("lots", "komi-unknown"),
        ("nan", "komi-unknown"),
        ("1e3", "komi-unknown"),
        ("99999", "komi-unknown"),
        ("99.5", "komi-99.5"),
        ("-99.5", "komi--99.5"),
        ("100", "komi-1"),
    ],
)
def test_komi_however_it_was_counted(komi, variant):
    assert one(f"{HEAD}KM[{komi}];B[pd])").record.variant == variant
    assert one(f"{HEAD};B[pd])").record.variant == "komi-unknown"


def test_handicap_stones_and_white_begins():
    game = one(f"{HEAD}KM[0.5]HA[2]AB[dp][pd];W[qf];B[nc])")
    assert game.record.variant == "komi-0.5/handicap-2:pd,dp"
    assert points(game.record) == ["R14", "O17"]
    assert game.passes_added == 0
    later = one(f"{HEAD}KM[0.5]HA[2];AB[pd][dp]PL[W];W[qf];B[nc])")
    assert later.record == game.record, "set up in the second node"
    assert one(f"{HEAD}HA[4]AB[dd:ee];W[qf])").record.variant == "komi-unknown/handicap-4:dd,ed,de,ee"


@pytest.mark.parametrize("handicap", ["", "0", "\u5bf9\u5b50", "some", "2.5", "-1"])
def test_a_handicap_that_is_no_number_is_ignored(handicap):
    assert points(one(f"{HEAD}HA[{handicap}];B[pd];W[dp])").record) == ["Q16", "D4"]


def test_handicap_stones_placed_as_moves():
    game = one(f"{HEAD}HA[3];B[pd];B[dp];B[pp];W[dd])")
    assert points(game.record) == ["Q16", "pass", "D4", "pass", "Q4", "D16"]
    assert game.passes_added == 2


def test_the_main_line_is_read_and_variations_are_counted():
    game = one(f"{HEAD};B[pd](;W[qf];B[nc](;W[rd])(;W[qc]))(;W[qc])(;W[nc]))")
    assert points(game.record) == ["Q16", "R14", "O17", "S16"]
    assert game.variations == 3


def test_moves_after_two_passes_are_cut():
    game = one(f"{HEAD};B[pd];W[tt];B[tt];W[tt];B[aa])")
    assert points(game.record) == ["Q16", "pass", "pass"]
    assert game.cut == 2


@pytest.mark.parametrize(
    "moves", [";B[];B[dd];W[pp]", ";B[pd];W[];W[dp];B[pp]", ";B[pd];B[tt];W[dp]", ";B[pd];B[];B[dp]"]
)
def test_moves_after_a_pass_left_out_are_never_cut(moves):
    reject = one(f"{HEAD}{moves})")
    assert (reject.reason, reject.detail) == ("contradiction", "game.sgf: a pass, and another move by the same side")


def test_a_pass_at_the_end_may_follow_one_left_out():
    game = one(f"{HEAD};B[pd];B[tt])")
    assert points(game.record) == ["Q16", "pass", "pass"]
    assert (game.passes_added, game.cut) == (1, 0)


def test_a_capture_and_the_ko_after_it():
    ko = f"{HEAD};B[ba];W[ca];B[ab];W[db];B[bc];W[cc];B[cb];W[bb]"
    assert points(one(f"{ko};B[pd];W[dp];B[cb])").record)[-1] == "C18", "after two plies it may be taken back"
    reject = one(f"{ko};B[cb])")
    assert (reject.reason, reject.ply, reject.detail) == (
        "illegal_move",
        8,
        "game.sgf: Black's move C18 takes a ko back at once",
    )


@pytest.mark.parametrize(
    ("text", "reason", "ply", "detail"),
    [
        ("", "empty", -1, "nothing in the file"),
        (" \n ", "empty", -1, "nothing in the file"),
        ("hello", "bad_text", -1, "not SGF"),
        ("Hello (;-) all;B[pd](;W[dp])", "bad_text", -1, "not SGF"),
        ("GM[1]SZ[19];B[pd](;W[dp])(;W[dd])", "bad_text", -1, "it begins with 'GM[1]SZ[19];B[pd](;W[dp])(;W[dd])'"),
        (f"{HEAD};B[pd];W[dp]);B[qq])", "bad_text", -1, "cannot read on at ';B[qq])'"),
        (f"{HEAD};B[pd];W[dp", "bad_text", -1, "cut off"),
        (f"{HEAD};B[pd];W[dp]", "bad_text", -1, "cut off"),
        ("(;GM[2];B[pd])", "other_game", -1, "GM['2']"),
        ("(;SZ[9];B[cc])", "other_variant", -1, "a board of size '9'; wanted: 19"),
        ("(;SZ[13];B[cc])", "other_variant", -1, "a board of size '13'"),
        ("(;SZ[19:18];B[cc])", "other_variant", -1, "a board of size '19:18'"),
        ("(;SZ[huge];B[cc])", "other_variant", -1, "a board of size 'huge'"),
        (f"{HEAD}CA[klingon];B[pd])", "bad_text", -1, "no such charset as 'klingon'"),
        (f"{HEAD}CA[punycode]PB[{'a' * 9_000_000}];B[pd])", "bad_text", -1, "no such charset as 'punycode'"),
        (f"{HEAD}CA[Unicode_Escape];B[pd])", "bad_text", -1, "no such charset as 'Unicode_Escape'"),
        (b"(;CA[UTF-8]PB[\xe9t\xe9];B[pd])", "bad_text", -1, "not in the charset 'utf-8'"),
        (f"{HEAD};B[pd];W[zz])", "bad_text", 1, "no point: 'zz'"),
        (f"{HEAD};B[pd];W[q])", "bad_text", 1, "no point: 'q'"),
        (f"{HEAD};B[pd]W[qf])", "bad_text", 0, "two moves in one node"),
        (f"{HEAD};B[pd][qf])", "bad_text", 0, "two moves in one node"),
        (f"{HEAD};B[pd];W[dp]W[dd])", "bad_text", 1, "two moves in one node"),
        (f"{HEAD};B[pd];W[dp];B[pd])", "illegal_move", 2, "Black's move Q16 is occupied"),
        (f"{HEAD};B[ba];W[pd];B[ab];W[aa])", "illegal_move", 3, "White's move A19 has no liberty"),
        (f"{HEAD}AB[dd]AW[pp];B[pd])", "other_variant", 0, "stones are set up"),
        (f"{HEAD};B[pd];AB[dd];W[dp])", "other_variant", 1, "stones are set up"),
        (f"{HEAD}AB[zz];B[pd])", "bad_text", 0, "points that are set up"),
        (f"{HEAD}HA[4];W[qf])", "contradiction", 0, "a handicap of '4', but no stones"),
    ],
)
def test_unusable_games_are_named(text, reason, ply, detail):
    reject = one(text, gid=3)
    assert isinstance(reject, Reject)
    assert (reject.gid, reject.reason, reject.ply) == (3, reason, ply)
    assert reject.detail.startswith("game.sgf: ")
    assert detail in reject.detail


def test_a_collection_is_many_games():
    found = parse_sgf(f"{HEAD};B[pd])(;SZ[9];B[cc])\n{HEAD};B[dd])".encode(), 5, name="many.sgf")
    assert [getattr(game, "reason", None) for game in found] == [None, "other_variant", None]
    assert found[1].detail.startswith("many.sgf (game 2 of 3): ")
    assert [found[0].record.gid, found[1].gid, found[2].record.gid] == [5, 6, 7]


def test_games_before_one_that_is_cut_off_are_read():
    found = parse_sgf(f"{HEAD};B[pd])\n{HEAD};B[dd]\n{HEAD};B[qq])".encode(), 1, name="many.sgf")
    assert [getattr(game, "reason", None) for game in found] == [None, "bad_text"]
    assert found[1].detail.startswith("many.sgf (game 2 of 2): not SGF, or cut off")


def test_empty_games_in_a_collection_are_left_out():
    for text in (f"{HEAD};B[pd])(;)", f"(;)\n{HEAD};B[pd])\n(;)(;)"):
        assert points(one(text).record) == ["Q16"]
    assert one("(;)").record.actions == ()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("(;gm[1]sz[19];b[dd];w[pp])", "name of a property in small letters, 'gm', where SGF has capitals"),
        (f"{HEAD};b[dd]C[(;B[qq\\]];w[pp])", "small letters, 'b'"),
        ("(;foo[1];bar[2])", "small letters, 'foo'"),
        ("for(;;) { }", "not SGF: it has no property"),
        ("a smile (;) and no game", "not SGF: it has no property"),
    ],
)
def test_text_without_properties_is_not_a_game_of_no_moves(text, why):
    found = one(text)
    assert (found.reason, found.detail.split(": ", 1)[0]) == ("bad_text", "game.sgf")
    assert why in found.detail


def test_reads_small_letters_within_names():
    record = one("(;GaMe[1]SiZe[19]PlayerBlack[ann]note[gm\\];b[aa\\]];Black[pd];White[dp])").record
    assert (points(record), record.first_name) == (["Q16", "D4"], "ann")


def test_games_around_one_in_small_letters_are_read():
    found = parse_sgf(f"{HEAD};B[pd])(;b[dd]){HEAD}C[only words]){HEAD};B[dd])".encode(), 1)
    assert [one if isinstance(one, Reject) else points(one.record) for one in found] == [["Q16"], found[1], [], ["D16"]]
    assert found[1].detail.startswith("record (game 2 of 4): ")


def test_a_first_node_without_its_semicolon_is_read():
    """As in files of the Nihon Ki-in."""
    text = "(GM[1]FF[4]SZ[19]KM[6.5]PB[a]RE[W+R];B[pd];W[dp](;B[qq])(;B[dd]))"
    game = one(f"\ufeff {text}")
    assert points(game.record) == ["Q16", "D4", "R3"]
    assert (game.record.variant, game.record.winner, game.variations) == ("komi-6.5", "second", 1)
    assert [points(found.record) for found in parse_sgf(f"{text}\n\n{text}".encode())] == [points(game.record)] * 2


def test_the_text_of_littlegolem_is_read_as_such():
    head = "(;FF[4]EV[null]PB[lazy\\player]PW[x];W[aa]KM[0.5]SZ[19]SO[http://www.littlegolem.com]HA[2]AB[pd]AB[dp]"
    found = parse_sgf(f"{head};W[fq];B[tt];W[resign])\n{head.replace('19', '9')};W[ee])".encode(), 5, name="site.sgf")
    record = found[0].record
    assert (record.first_name, record.second_name, record.variant) == (
        "lazy\\player",
        "x];W[aa",
        "komi-0.5/handicap-2:pd,dp",
    )
    assert (points(record), record.winner, record.source, record.gid) == (["F3", "pass"], "first", "file", 5)
    assert (found[1].gid, found[1].reason) == (6, "other_variant")
    assert found[1].detail == "site.sgf (record 2 of 2): a board of size '9'; wanted: 19"
    edited = one(f"{head.replace('x];W[aa', 'x').replace('FF[4]', 'FF[4]GM[1]')}CA[UTF-8];W[fq](;B[dd])(;B[qq]))")
    assert edited.variations == 1, "an editor has made it SGF"


def test_a_small_board_is_read_where_it_is_wanted():
    record = one("(;SZ[9]KM[7];B[ee];W[tt])", size=9).record
    assert (record.height, record.actions) == (9, (40, 81))


def test_any_size_is_read_where_none_is_wanted():
    found = parse_sgf(b"(;SZ[9];B[cc])(;SZ[13:13];B[cc])(;SZ[09];B[cc])(;SZ[26];B[cc])(;;B[cc])", size=None)
    assert [getattr(game, "reason", None) or game.record.width for game in found] == [9, 13, 9, "other_variant", 19]


def test_a_game_of_a_collection_is_chosen_by_its_number(tmp_path):
    path = tmp_path / "many.sgf"
    path.write_text(f"{HEAD}PB[ann]PW[bob];B[pd])(;SZ[9];B[cc])\n{HEAD}PB[\u674e];B[dd];W[qq])", encoding="utf-8")
    assert points(read_sgf(path, number=3).record) == ["D16", "R3"]
    with pytest.raises(ZugwerkError, match=r"3 games; choose one by its number \(--game\):") as caught:
        read_sgf(path)
    lines = str(caught.value).splitlines()[1:]
    assert lines == ["   1  ann - bob, 1 moves", "   2  other_variant", "   3  \u674e - , 2 moves"]
    for number in (0, 4):
        with pytest.raises(ZugwerkError, match=f"no game {number}; it has 3"):
            read_sgf(path, number=number)


def test_reading_a_file(tmp_path):
    path = tmp_path / "game.sgf"
    with pytest.raises(ZugwerkError, match=r"game\.sgf: no such file"):
        read_sgf(path)
    path.write_text("(;SZ[9])")
    with pytest.raises(ZugwerkError, match=r"other_variant: .*game\.sgf: a board of size '9'"):
        read_sgf(path)
    path.write_text(f"{HEAD};B[pd])")
    assert points(read_sgf(path, gid=4).record) == ["Q16"]


@given(
    st.integers(-30, 30).map(lambda half: f"{half / 2:g}") | st.just("unknown"),
    st.lists(st.sampled_from(["pd", "dp", "pp", "dd", "jj"]), unique=True, max_size=5),
    st.lists(st.integers(0, 361), max_size=30),
    st.sampled_from(["first", "second", "draw", None]),
    st.booleans(),
    st.text(st.characters(exclude_categories=["C"]), max_size=8).map(str.strip),
)
def test_round_trip(komi, stones, wanted, winner, resigned, name):
    variant = f"komi-{komi}" + (f"/handicap-{len(stones)}:{','.join(stones)}" if stones else "")
    state, actions = go.initial_state(19, variant), []
    for action in wanted:
        if go.is_legal(state, action):
            state = go.play(state, action)
            actions.append(action)
    resigned = resigned and winner in ("first", "second")
    record = GameRecord("go", 1, "engine", variant, 19, 19, tuple(actions), winner, resigned, name, name, event=name)
    again = one(write_sgf(record), gid=1).record
    assert go.initial_state(19, again.variant).board.tolist() == go.initial_state(19, variant).board.tolist()
    for field in ("actions", "winner", "resigned", "height", "width"):
        assert getattr(again, field) == getattr(record, field)
    assert again.first_name == again.event == " ".join(name.split("\t"))


def test_half_characters_are_replaced_so_that_names_can_be_written(tmp_path):
    """UTF-7 can say what UTF-8 cannot."""
    record = one(b"(;GM[1]CA[UTF-7]SZ[19]PB[+2AA-]EV[cup];B[pd])").record
    assert record.first_name == "?"
    write_records([record], tmp_path / "games.parquet")
    assert read_records(tmp_path / "games.parquet") == [record]


def test_other_games_are_not_written():
    for game, height in (("gomoku", 19), ("go", 9)):
        with pytest.raises(ZugwerkError, match="cannot be written as SGF"):
            write_sgf(GameRecord(game, 3, "file", "standard", height, 19, (), None))


@pytest.mark.skipif(not REAL.exists(), reason="the real games are not here")
def test_real_games_are_read_whole():
    games = [game for name, data in list(read_files(REAL))[:100] for game in parse_sgf(data, name=name)]
    assert not any(isinstance(game, Reject) for game in games)
    assert all(len(game.record.actions) > 20 and game.record.winner for game in games)
    again = parse_sgf(write_sgf(games[7].record), name=games[7].name)[0]
    assert again.record == games[7].record


# Names whose last byte is a backslash or a bracket, by charset.
LAST_BYTE = {
    "Shift_JIS": ("\u8868", "\u5341"),  # 0x955C, 0x8F5C
    "Big5": ("\u529f", "\u8a31"),  # 0xA55C, 0xB35C
    "GBK": ("\u4e5a", "\u4e5b"),  # 0x815C, 0x815D
    "gb2312": ("\u7ae0", "\u4e5b"),  # the second one is in GBK alone
    "EUC-KR": ("\uae40", "\ucc08"),
    "EUC-JP": ("\u8868", "\u5341"),
    "ISO-2022-JP": ("\u8868", "\u5341"),
    "UTF-8": ("\u8868", "\u7edd\u827a"),
    "ISO-8859-1": ("J\xf6rg", "\xc4\xd6"),
    "windows-1251": ("\u0418\u0432\u0430\u043d", "\u043d"),
}
WIDER = {"gb2312": "gbk", "EUC-KR": "cp949"}


def one_tree(data):
    (found,) = parse_sgf(data, name="game.sgf")
    return found


@pytest.mark.parametrize("charset", LAST_BYTE)
@pytest.mark.parametrize("place", ["EV", "PB", "PW"])
def test_nothing_after_a_name_in_a_declared_charset_is_swallowed(charset, place):
    for name in LAST_BYTE[charset]:
        texts = {"PB": "a", "PW": "b", "EV": "c"} | {place: name}
        root = "".join(f"{key}[{value}]" for key, value in texts.items())
        text = f"(;GM[1]FF[4]CA[{charset}]SZ[19]{root}KM[6.5]RE[W+R];B[qd]C[{name}];W[dd];B[pq])"
        record = one_tree(text.encode(WIDER.get(charset, charset))).record
        assert (record.variant, record.winner, record.resigned, len(record.actions)) == ("komi-6.5", "second", True, 3)
        assert {"PB": record.first_name, "PW": record.second_name, "EV": record.event} == texts


@given(st.sampled_from(sorted(LAST_BYTE)), st.text(st.characters(exclude_categories=["C", "Z"]), max_size=6))
def test_record_in_declared_charset_is_kept_or_rejected(charset, name):
    escaped = name.replace("\\", "\\\\").replace("]", "\\]").replace(":", "\\:")
    text = f"(;GM[1]CA[{charset}]SZ[19]PB[{escaped}]KM[6.5]RE[W+];B[qd];W[dd])"
    try:
        data = text.encode(WIDER.get(charset, charset))
    except ValueError:
        return
    found = one_tree(data)
    if isinstance(found, Reject):
        assert found.reason == "ambiguous"
        return
    record = found.record
    assert (record.variant, record.winner, len(record.actions)) == ("komi-6.5", "second", 2)
    assert record.first_name == name or charset in ("Shift_JIS", "EUC-KR", "EUC-JP", "ISO-2022-JP")


@pytest.mark.parametrize("name", ["\u7edd\u827a", "\u5b89 \xe9", "\u0418\u0432\u0430\u043d", "\U0001f600"])
def test_utf8_needs_no_charset(name):
    for mark in ("", "\ufeff"):
        record = one_tree(f"{mark}(;GM[1]SZ[19]PB[{name}];B[qd])".encode()).record
        assert record.first_name == name


@pytest.mark.parametrize(
    "name", ["J\xf6rg", "Andr\xe9", "\xc9ric", "\xd3 Briain", "Bj\xf8rn \xc5se", "caf\xe9, 6\xbd points", "\xa9 ann"]
)
def test_undeclared_latin_1_is_read_where_unambiguous(name):
    assert one_tree(f"(;GM[1]SZ[19]PB[{name}];B[qd])".encode("latin-1")).record.first_name == name


def test_iso_2022_jp_escapes_and_byte_order_marks_give_charset():
    text = "(;GM[1]SZ[19]PB[\u8868\u5341]RE[B+R];B[qd])"
    for charset in ("iso2022_jp", "utf-16", "utf-8-sig"):
        record = one_tree(text.encode(charset)).record
        assert (record.first_name, record.winner) == ("\u8868\u5341", "first")
    declared = text.replace("SZ", "CA[GBK]SZ")
    assert one_tree(declared.encode("utf-8-sig")).record.first_name == "\u8868\u5341"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("(;GM[1]SZ[19]PB[\u674e\u4e16\u4e6d];B[qd])".encode("gbk"), "no charset"),
        ("(;GM[1]SZ[19]PB[\u674e];B[qd])".encode("gbk"), "no charset"),
        ("(;GM[1]SZ[19]PB[\u4e5b];B[qd];W[dd])".encode("gbk"), "no charset"),
        ("(;GM[1]SZ[19]EV[\u4e94\u5341]RE[W+R];B[qd])".encode("shift_jis"), "no charset"),
        ("(;GM[1]SZ[19]EV[\u6210\u529f]RE[W+R];B[qd])".encode("big5"), "no charset"),
        (b"(;GM[1]SZ[19]PB[\xc1J];B[qd])", "no charset"),
        ("(;GM[1]SZ[19]PB[\u0418\u0432\u0430\u043d];B[qd])".encode("cp1251"), "no charset"),
        ("(;GM[1]CA[GBK]SZ[19]PB[\u7edd\u827a];B[qd])".encode(), "gb18030, but is also valid UTF-8"),
        ("(;GM[1]CA[GBK]SZ[19]PB[\u5bb9]PW[b];B[qd])".encode(), "gb18030, but is also valid UTF-8"),
        ("(;GM[1]CA[ISO-8859-1]SZ[19]PB[\xe9];B[qd])".encode(), "cp1252, but is also valid UTF-8"),
        ("(;CA[GBK]PB[\u674e];B[qd])".encode("gbk") + "(;CA[Big5]PB[\u674e];B[qd])".encode("big5"), "several charsets"),
    ],
)
def test_text_with_two_readings_is_ambiguous(data, words):
    found = one_tree(data)
    assert found.reason == "ambiguous"
    assert words in found.detail


def test_declared_charset_contradicted_by_bytes_gives_way_to_utf8():
    name = "\U0001f600"
    assert one_tree(f"(;GM[1]CA[EUC-JP]SZ[19]PB[{name}];B[qd])".encode()).record.first_name == name
    assert one_tree(f"(;GM[1]CA[]SZ[19]PB[{name}];B[qd])".encode()).record.first_name == name


def test_a_text_that_mentions_a_charset_declares_none():
    record = one_tree("(;GM[1]SZ[19]PB[\u674e]C[use CA[GBK\\] here;CA[Big5\\]];B[qd])".encode()).record
    assert record.first_name == "\u674e"
    assert decode(b"(;CA[UTF-8]C[ CA[GBK\\]\xc3\xa9])").endswith("\xe9])")


def test_charset_incompatible_with_ascii_is_ignored():
    for name in ("UTF-16", "UTF-32", "cp500", "hex", "rot13", "idna", "shift_jis_2004", "no\nsuch"):
        with pytest.raises(RecordError, match="bad_text: no such charset"):
            decode(f"(;GM[1]CA[{name}]SZ[19];B[qd])".encode())


GAME = b"(;SZ[19];B[pd])"


def write_tar(path, names, mode="w:gz"):
    with tarfile.open(path, mode) as tar:
        for name in names:
            member = tarfile.TarInfo(name)
            member.size = len(GAME)
            tar.addfile(member, io.BytesIO(GAME))
        link = tarfile.TarInfo("link.sgf")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
    return path


def test_a_folder_is_read_by_name_and_below(tmp_path):
    for name in ("b.sgf", "sub/a.SGF", "readme.txt", "c.sgf/d.sgf"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(GAME)
    assert list(read_files(tmp_path)) == [(name, GAME) for name in ("b.sgf", "c.sgf/d.sgf", "sub/a.SGF")]


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_tar_is_read_in_order_without_unpacking(tmp_path, monkeypatch, mode):
    names = ["z.sgf", "../../evil.sgf", "/abs/a.sgf", "notes.txt", "z.sgf"]
    path = write_tar(tmp_path / "games.tar", names, mode)
    monkeypatch.chdir(tmp_path)
    assert [name for name, data in read_files(path) if data == GAME] == [n for n in names if n != "notes.txt"]
    assert [p.name for p in tmp_path.iterdir()] == ["games.tar"]


def test_long_files_are_cut(tmp_path, monkeypatch):
    monkeypatch.setattr(sgf, "MAX_BYTES", 4)
    (tmp_path / "a.sgf").write_bytes(GAME)
    assert list(read_files(tmp_path)) == [("a.sgf", GAME[:4])]


def test_experiment_in_own_folder_explains_missing_untracked_records(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ZugwerkError, match=r"^mine: no such folder or tar of SGF files$"):
        list(read_files("mine"))
    temporary = tmp_path / ".dvc/tmp/exps/standalone/tmpx"
    temporary.mkdir(parents=True)
    monkeypatch.chdir(temporary)
    with pytest.raises(ZugwerkError, match=r"by its absolute path, or run `dvc add mine` and commit mine\.dvc$"):
        list(read_files("mine"))
    with pytest.raises(ZugwerkError, match=r"^/no/such: no such folder or tar of SGF files$"):
        list(read_files("/no/such"))

"""``zugwerk go`` and ``zugwerk joseki``."""

import json
import re
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from pipeline_src.cli import go
from pipeline_src.errors import ZugwerkError
from pipeline_src.records.go_games import write_sgf
from pipeline_src.records.record import SOURCES, write_records
from pipeline_src.systems.joseki.library import load, save
from tests.cli.conftest import invoke, output, refusal
from tests.systems.joseki.games import at, random_record, record
from tests.systems.joseki.test_library import built, same

of_go = partial(invoke, "go")
joseki = partial(output, "joseki")


@pytest.fixture
def game(tmp_path):
    path = tmp_path / "game.sgf"
    path.write_text("(;SZ[19]KM[6.5]PB[ann]PW[bob];B[pd];W[dp];B[];W[])")
    return path


def test_perft_of_the_start_and_of_positions():
    assert of_go("perft", "2").stdout.splitlines() == ["130683"]
    assert of_go("perft", "3", "--size", "3", "--variant", "komi-0").stdout.splitlines() == ["738"]
    lines = of_go("perft", "2", "--fen", "1xo1/xxo1/ooo1/4 b pass-1", "--divide").stdout.splitlines()
    assert "A4: 9" not in lines, "suicide"
    assert lines[-2:] == ["pass: 0", "56"]


def test_show_a_position():
    lines = of_go("show", "3/1x1/3 w komi-0.5").stdout.splitlines()
    assert lines[2].split() == ["2", ".", "x", ".", "2"]
    assert lines[-2:] == ["White to move after 0 plies", "3/1x1/3 w komi-0.5"]


def test_show_a_record_up_to_a_move(game):
    lines = of_go("show", game, "--move", "2").stdout.splitlines()
    assert lines[0] == "x ann, o bob"
    assert "[o]" in lines[17]
    assert lines[-2] == "Black to move after 2 plies"
    assert of_go("show", game).stdout.splitlines()[-2] == "White won by 6.5 after 4 plies"


def test_show_a_game_of_a_collection(tmp_path):
    path = tmp_path / "two.sgf"
    path.write_text("(;SZ[19]PB[ann]PW[bob];B[pd])\n(;SZ[9]PB[cid]KM[7];B[ee];W[cc])")
    assert of_go("show", path, "--game", "2").stdout.splitlines()[-2] == "Black to move after 2 plies"
    error = str(of_go("show", path).exception)
    assert "2 games; choose one by its number (--game):\n   1  ann - bob, 1 moves\n   2  cid - , 2 moves" in error


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["perft", "2", "--fen", "nonsense"], "bad FEN 'nonsense'"),
        (["perft", "13"], "perft depth must be 0 to 12"),
        (["perft", "2", "--size", "26"], "no Go board of size 26"),
        (["perft", "2", "--variant", "renju"], "no variant 'renju' of Go"),
        (["perft", "2", "--fen", "3/3/3 b", "--size", "9"], "--fen contains size and variant"),
        (["show", "nonsense"], "bad FEN 'nonsense'"),
        (["show", "3/3/3 b", "--move", "1"], "a FEN has none"),
        (["show", "3/3/3 b", "--game", "1"], "a FEN has none"),
        (["show", "GAME", "--game", "2"], "game.sgf: no game 2; it has 1"),
        (["show", "no/game.sgf"], "no/game.sgf: no such file"),
        (["show", "GAME", "--move", "5"], r"game.sgf: --move must be 0 to 4, not 5"),
    ],
)
def test_bad_input_is_named(game, words, message):
    assert message in refusal("go", *[game if word == "GAME" else word for word in words])


@pytest.fixture
def collection(tmp_path, monkeypatch):
    """A folder of three games, of which the second is the first one turned and with the other colours."""
    monkeypatch.setenv("ZUGWERK_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "games"
    folder.mkdir()
    (folder / "a.sgf").write_text("(;SZ[9]PB[ann]PW[bob]RE[B+R];B[cg];W[fd];B[gg])")
    (folder / "b.sgf").write_text("(;SZ[9]PB[cid]PW[dan]RE[W+R];B[];W[gg];B[dd];W[cg])")
    (folder / "c.sgf").write_text("(;SZ[19];B[dd])")
    return folder


def test_find_a_position_of_a_record(collection):
    result = of_go("find", collection / "a.sgf", collection, "--move", "2")
    lines = result.stdout.splitlines()
    assert lines[0] == "2 times in 2 of 2 games; Black won 2, White 0, as the position has the colours"
    assert lines[3].split() == ["Black", "C7", "G3", "2", "2", "0", "0"]
    assert [line.split()[:3] for line in lines[6:]] == [["2", "C7", "Black"], ["3", "C7", "White"]]
    assert lines[6].endswith(f"ann - bob, {collection}/a.sgf, game 1")
    assert "3 of 3 new files read, 3 games" in result.stderr
    assert not of_go("find", collection / "a.sgf", collection).stderr


def test_find_a_board_and_a_part_of_one_as_text(collection, tmp_path):
    whole = of_go("show", collection / "a.sgf", "--move", "2").stdout.splitlines()[1:12]
    board = tmp_path / "board.txt"
    for text in ("\n".join(whole), (collection / "a.sgf").read_text().replace(";B[gg]", "")):
        for charset in ("utf-8", "utf-8-sig", "utf-16"):  # with byte order marks, as editors write them
            board.write_text(text, encoding=charset)
            assert json.loads(of_go("find", str(board), collection, "--json").stdout)["games"] == 2
    board.write_text("\n".join(whole))
    found = json.loads(of_go("find", str(board), collection, "--json", "--area", "A1-E5").stdout)
    assert (found["occurrences"], found["black_won"], found["ended"]) == (4, 4, 4)
    part = "?????????\n" * 6 + "??x??????\n" + "?????????\n" * 2
    stdin = invoke("go", "find", "-", collection, "--fixed", "--json", input="\ufeff" + part)
    assert json.loads(stdin.stdout)["games"] == 2


def test_find_reports_unread_files_and_takes_index_by_name(collection, tmp_path):
    (collection / "bad.sgf").write_text("(;SZ[9];B[zz])")
    result = of_go("find", "9/9/9/9/9/9/9/9/9 b", collection, "--index", str(tmp_path / "own"), "--top", "1")
    assert result.stdout.startswith("2 times in 2 of 2 games")
    assert "note: not read: " in result.stderr
    assert "bad.sgf" in result.stderr
    (tmp_path / "own").write_bytes(b"zugwerk go index 0\n")
    words = ("find", "9/9/9/9/9/9/9/9/9 b", collection, "--index", tmp_path / "own")
    assert "an index of version" in refusal("go", *words)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nonsense"], "bad FEN 'nonsense'"),
        (["BOARD", "--move", "2"], "--move and --game are for records; a board has none"),
        (["BOARD", "--area", "A1"], "area 'A1': expected two corners"),
        (["BAD"], "BAD, line 1: 'q' means nothing"),
    ],
)
def test_find_names_bad_positions(collection, tmp_path, monkeypatch, words, message):
    (tmp_path / "BOARD").write_text(".........\n" * 9)
    (tmp_path / "BAD").write_text("q")
    monkeypatch.chdir(tmp_path)
    assert message in refusal("go", "find", words[0], collection, *words[1:])


GOLDEN = "X 3,5 4,4 7,3 O 3,6 4,6 3,9"
GAMES = [
    record([at(4, 4), at(3, 6), at(6, 3), at(9, 3)], 1),
    record([at(4, 4), at(3, 6), at(6, 3), at(8, 3)], 2, "second"),
]


@pytest.fixture
def library(tmp_path):
    save(built(GAMES), tmp_path / "library.joseki")
    return tmp_path / "library.joseki"


@pytest.fixture
def opening(tmp_path):
    path = tmp_path / "game.sgf"
    path.write_bytes(write_sgf(record([at(4, 4, 3), at(3, 6, 3), at(10, 9)])))
    return path


def test_encode_prints_all_factors_as_json():
    codes = json.loads(joseki("encode", GOLDEN, "--json"))
    assert codes["x"] == {"A": 1, "B": 159766464, "C": 15, "K": 159766479}
    assert codes["o"] == {"A": 4, "B": 354200, "C": 8, "K": 1416808}
    assert codes["both"] == {"A": 12, "B": 102516814400, "C": 35, "K": 1230201772835}
    assert codes["S"] == 3483223225763992904
    mirrored = "O 5,3 4,4 3,7 X 6,3 6,4 9,3"
    assert json.loads(joseki("encode", mirrored, "--json"))["key"] == codes["key"]
    assert re.fullmatch(r"[0-9a-f]{52}", codes["key"])


def test_encode_prints_a_table():
    lines = joseki("encode", GOLDEN).splitlines()
    assert lines[0].split() == ["A", "B", "C", "K"]
    assert lines[3].split() == ["both", "12", "102516814400", "35", "1230201772835"]
    assert lines[4] == "S    3483223225763992904"
    assert "'P' is neither" in refusal("joseki", "encode", "X 3,4 P")


def test_recommend_prints_candidates_and_draws_them(library, opening, tmp_path):
    out = joseki("recommend", opening, "--move", 2, "--corner", "bottom-right", "--library", library)
    first = out.splitlines()[1].split()
    assert first[:6] == ["1", "bottom-right", "R6", "2", "1.000", "0.500"]
    assert set(first[6:]) == {"1:2", "2:2"}
    picture = ("--svg", tmp_path / "a.svg", "--top", 2)
    rows = json.loads(joseki("recommend", opening, "--move", 2, "--library", library, "--json", *picture))
    assert len(rows) == 2
    assert "100</text>" in (tmp_path / "a.svg").read_text()


def test_recommend_for_a_game_of_a_collection(library, opening, tmp_path):
    path = tmp_path / "two.sgf"
    path.write_bytes(b"(;SZ[19];B[aa])\n" + Path(opening).read_bytes())
    words = ("--move", 2, "--corner", "bottom-right", "--library", library)
    assert joseki("recommend", path, "--game", 2, *words) == joseki("recommend", opening, *words)
    with pytest.raises(ZugwerkError, match="2 games; choose one"):
        joseki("recommend", path, *words)


def test_recommend_says_where_it_knows_nothing(library, tmp_path):
    path = tmp_path / "odd.sgf"
    path.write_bytes(write_sgf(record([at(1, 1), at(9, 9)])))
    assert "no pattern" in joseki("recommend", path, "--corner", "top-left", "--library", library)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("--move 9", "--move 9: the game has 3 moves"),
        ("--move -1", "--move -1"),
        ("--corner left", "--corner 'left': expected all, top-left"),
        ("--top 0", "--top must be at least 1"),
        ("--library nowhere", "nowhere: no such file"),
    ],
)
def test_recommend_names_unusable_input(library, opening, words, complaint):
    assert complaint in refusal("joseki", "recommend", opening, "--library", library, *words.split())


def test_recommend_names_a_record_that_is_no_game(library, tmp_path):
    path = tmp_path / "cut.sgf"
    path.write_bytes(b"(;GM[1]SZ[19];B[dd];W[p")
    with pytest.raises(ZugwerkError, match="not SGF, or cut off"):
        joseki("recommend", path, "--library", library)
    path.write_bytes(b"(;GM[1]SZ[9];B[dd])")
    with pytest.raises(ZugwerkError, match="9"):
        joseki("recommend", path, "--library", library)


def test_merge_names_files_with_unequal_moves(library, tmp_path):
    save(built([random_record(3)], moves=8), tmp_path / "short.joseki")
    told = refusal("joseki", "merge", library, tmp_path / "short.joseki", "--out", tmp_path / "both.joseki")
    assert re.search(r"library\.joseki and .*short\.joseki: they count 20 and 8 moves", told)


def test_add_merge_prune_and_show(library, tmp_path):
    more = [*GAMES, random_record(1)]
    write_records([GAMES[0], random_record(1)], tmp_path / "games.parquet")
    told = joseki("add", library, tmp_path / "games.parquet", "--out", tmp_path / "b")
    assert "1 games added, 1 known before" in told
    assert same(load(tmp_path / "b"), built(more))
    save(built([random_record(1)]), tmp_path / "c")
    assert joseki("merge", library, tmp_path / "c", "--out", tmp_path / "d").startswith("3 games")
    assert (tmp_path / "d").read_bytes() == (tmp_path / "b").read_bytes()
    joseki("prune", tmp_path / "d", "--fewest-games", 2, "--out", tmp_path / "e")
    assert same(load(tmp_path / "e"), built(more, 2))
    shown = json.loads(joseki("show", tmp_path / "e", "--json"))
    assert [shown[key] for key in ("library", "games", "fewest_games")] == [str(tmp_path / "e"), 3, 2]
    assert re.search(r"^patterns +\d+ +different corner patterns", joseki("show", library), re.MULTILINE)
    assert set(go.SOURCE_WORDS) == set(SOURCES)
    told = refusal("joseki", "merge", tmp_path / "e", tmp_path / "c", "--out", tmp_path / "f")
    assert "cannot be added to or merged" in told
    assert not (tmp_path / "f").exists()


def test_show_lists_sources_of_games(tmp_path):
    """The made ones are not the user's, in whatever way they came into a library."""
    own, made = GAMES, [replace(random_record(seed), source="engine") for seed in range(3)]
    save(built(own), tmp_path / "own")
    assert "nobody played" not in joseki("show", tmp_path / "own")
    save(built(made), tmp_path / "made")
    write_records(made, tmp_path / "made.parquet")
    joseki("merge", tmp_path / "own", tmp_path / "made", "--out", tmp_path / "merged")
    joseki("add", tmp_path / "own", tmp_path / "made.parquet", "--out", tmp_path / "added")
    joseki("prune", tmp_path / "added", "--fewest-games", 2, "--out", tmp_path / "pruned")
    for name in ("merged", "added", "pruned"):
        lines = dict(line.split()[:2] for line in joseki("show", tmp_path / name).splitlines()[:-1])
        sources = [lines[key] for key in ("library", "games", "file", "engine", "littlegolem")]
        assert sources == [str(tmp_path / name), "5", "2", "3", "0"]
        assert "note: nobody played 3 of the 5 games" in joseki("show", tmp_path / name)

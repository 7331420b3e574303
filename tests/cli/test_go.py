import json

import pytest
from typer.testing import CliRunner

from pipeline_src.cli.app import app
from pipeline_src.errors import ZugwerkError


def run(*words):
    return CliRunner().invoke(app, ["go", *words])


@pytest.fixture
def game(tmp_path):
    path = tmp_path / "game.sgf"
    path.write_text("(;SZ[19]KM[6.5]PB[ann]PW[bob];B[pd];W[dp];B[];W[])")
    return str(path)


def test_perft_of_the_start_and_of_positions():
    assert run("perft", "2").stdout.splitlines() == ["130683"]
    assert run("perft", "3", "--size", "3", "--variant", "komi-0").stdout.splitlines() == ["738"]
    lines = run("perft", "2", "--fen", "1xo1/xxo1/ooo1/4 b pass-1", "--divide").stdout.splitlines()
    assert "A4: 9" not in lines, "suicide"
    assert lines[-2:] == ["pass: 0", "56"]


def test_show_a_position():
    lines = run("show", "3/1x1/3 w komi-0.5").stdout.splitlines()
    assert lines[2].split() == ["2", ".", "x", ".", "2"]
    assert lines[-2:] == ["White to move after 0 plies", "3/1x1/3 w komi-0.5"]


def test_show_a_record_up_to_a_move(game):
    lines = run("show", game, "--move", "2").stdout.splitlines()
    assert lines[0] == "x ann, o bob"
    assert "[o]" in lines[17]
    assert lines[-2] == "Black to move after 2 plies"
    assert run("show", game).stdout.splitlines()[-2] == "White won by 6.5 after 4 plies"


def test_show_a_game_of_a_collection(tmp_path):
    path = tmp_path / "two.sgf"
    path.write_text("(;SZ[19]PB[ann]PW[bob];B[pd])\n(;SZ[9]PB[cid]KM[7];B[ee];W[cc])")
    assert run("show", str(path), "--game", "2").stdout.splitlines()[-2] == "Black to move after 2 plies"
    error = str(run("show", str(path)).exception)
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
    result = run(*[game if word == "GAME" else word for word in words])
    assert isinstance(result.exception, ZugwerkError)
    assert message in str(result.exception)


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
    result = run("find", str(collection / "a.sgf"), str(collection), "--move", "2")
    lines = result.stdout.splitlines()
    assert lines[0] == "2 times in 2 of 2 games; Black won 2, White 0, as the position has the colours"
    assert lines[3].split() == ["Black", "C7", "G3", "2", "2", "0", "0"]
    assert [line.split()[:3] for line in lines[6:]] == [["2", "C7", "Black"], ["3", "C7", "White"]]
    assert lines[6].endswith(f"ann - bob, {collection}/a.sgf, game 1")
    assert "3 of 3 new files read, 3 games" in result.stderr
    assert not run("find", str(collection / "a.sgf"), str(collection)).stderr


def test_find_a_board_and_a_part_of_one_as_text(collection, tmp_path):
    whole = run("show", str(collection / "a.sgf"), "--move", "2").stdout.splitlines()[1:12]
    board = tmp_path / "board.txt"
    for text in ("\n".join(whole), (collection / "a.sgf").read_text().replace(";B[gg]", "")):
        for charset in ("utf-8", "utf-8-sig", "utf-16"):  # with byte order marks, as editors write them
            board.write_text(text, encoding=charset)
            assert json.loads(run("find", str(board), str(collection), "--json").stdout)["games"] == 2
    board.write_text("\n".join(whole))
    found = json.loads(run("find", str(board), str(collection), "--json", "--area", "A1-E5").stdout)
    assert (found["occurrences"], found["black_won"], found["ended"]) == (4, 4, 4)
    part = "?????????\n" * 6 + "??x??????\n" + "?????????\n" * 2
    stdin = CliRunner().invoke(app, ["go", "find", "-", str(collection), "--fixed", "--json"], input="\ufeff" + part)
    assert json.loads(stdin.stdout)["games"] == 2


def test_find_reports_unread_files_and_takes_index_by_name(collection, tmp_path):
    (collection / "bad.sgf").write_text("(;SZ[9];B[zz])")
    result = run("find", "9/9/9/9/9/9/9/9/9 b", str(collection), "--index", str(tmp_path / "own"), "--top", "1")
    assert result.stdout.startswith("2 times in 2 of 2 games")
    assert "note: not read: " in result.stderr
    assert "bad.sgf" in result.stderr
    (tmp_path / "own").write_bytes(b"zugwerk go index 0\n")
    refused = run("find", "9/9/9/9/9/9/9/9/9 b", str(collection), "--index", str(tmp_path / "own"))
    assert "an index of version" in str(refused.exception)
    assert refused.exit_code == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nonsense"], "bad FEN 'nonsense'"),
        (["BOARD", "--move", "2"], "--move and --game are for records; a board has none"),
        (["BOARD", "--area", "A1"], "area 'A1': expected two corners"),
        (["BAD"], "bad.txt, line 1: 'q' means nothing"),
    ],
)
def test_find_names_bad_positions(collection, tmp_path, words, message):
    (tmp_path / "board.txt").write_text(".........\n" * 9)
    (tmp_path / "bad.txt").write_text("q")
    names = {"BOARD": str(tmp_path / "board.txt"), "BAD": str(tmp_path / "bad.txt")}
    first, *rest = [names.get(word, word) for word in words]
    assert message in str(run("find", first, str(collection), *rest).exception)

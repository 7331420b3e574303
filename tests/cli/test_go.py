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
        (["perft", "2", "--fen", "3/3/3 b", "--size", "9"], "--fen contains size and komi"),
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

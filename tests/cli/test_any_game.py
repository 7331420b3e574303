import pytest
from typer.testing import CliRunner

from pipeline_src.cli import games

POSITION = "3/1x1/3 w freestyle-3"


def run(*words, game="gomoku"):
    return CliRunner().invoke(games.commands(game), words)


def test_perft_of_the_start_and_of_a_position():
    assert run("perft", "2", "--size", "5").stdout == "600\n"
    assert run("perft", "1", "--fen", POSITION, "--divide").stdout.splitlines()[-2:] == ["c1: 1", "8"]


def test_show_prints_board_and_fen():
    lines = run("show", "--fen", POSITION).stdout.splitlines()
    assert lines[2] == " 2  .  x  .  2"
    assert lines[-1] == POSITION


def test_move_asks_a_player():
    assert run("move", "--player", "random", "--fen", "xox/oox/1xo b freestyle-3").stdout == "a1\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["perft", "1", "--fen", POSITION, "--size", "3"], "remove --size"),
        (["show", "--size", "99"], "no Gomoku board of size 99"),
        (["move", "--player", "nobody"], "no player 'nobody' for gomoku"),
    ],
)
def test_nonsense_is_refused(words, message):
    assert message in str(run(*words).exception)

from typer.testing import CliRunner

from pipeline_src.cli.app import app
from pipeline_src.errors import ZugwerkError
from pipeline_src.games import game
from pipeline_src.players import listing as module
from pipeline_src.players.registry import build_player
from pipeline_src.project.params import MOST_WORKERS


def run(*words):
    return CliRunner().invoke(app, ["warm", *words])


def test_a_game_is_warmed_once(monkeypatch):
    monkeypatch.setattr(module, "texts_of", lambda _: ["random", "mcts:playouts=1"])
    assert run("gomoku").exit_code == 0
    assert "all of them there" in run("gomoku").stdout


def test_all_games_without_one(monkeypatch):
    monkeypatch.setattr(module, "texts_of", lambda _: [])
    monkeypatch.setenv(MOST_WORKERS, "1")
    told = run().stdout
    assert [line.split(":")[0] for line in told.splitlines()] == ["amazons", "go", "gomoku"]


def test_each_has_a_process_where_there_are_cores(monkeypatch):
    monkeypatch.setattr(game, "GAMES", ("go", "go"))
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1}, raising=False)
    monkeypatch.setattr(module, "texts_of", None)  # of this process alone, where none is warmed
    assert [line.split(" kernels")[0] for line in run().stdout.splitlines()] == ["go: 5"] * 2


def test_player_that_fails_is_named_and_others_are_warmed(monkeypatch):
    monkeypatch.setattr(module, "texts_of", lambda _: ["zero:no/such/model.pt", "random"])
    done = run("gomoku")
    assert done.exit_code == 0
    assert "gomoku: left out zero:no/such/model.pt: " in done.stderr
    assert "kernels" in done.stdout


def test_no_such_game():
    refused = run("chess").exception
    assert isinstance(refused, ZugwerkError)
    assert "no game called 'chess'" in str(refused)
    assert build_player("gomoku", "random")

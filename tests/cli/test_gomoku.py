import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pipeline_src.arena.match import read_openings
from pipeline_src.cli.app import app
from pipeline_src.errors import ZugwerkError
from pipeline_src.games import gomoku
from pipeline_src.games.game import get_game
from pipeline_src.games.gomoku.board import PLY
from pipeline_src.players import GOMOKU as PLAYERS
from pipeline_src.players.player import Options, Player
from pipeline_src.records.psq import write_psq
from pipeline_src.records.record import GameRecord
from pipeline_src.search.gomoku.engine import Engine
from pipeline_src.search.limits import Limit, SearchResult

OVER = "xxx/oo1/3 w freestyle-3"


def run(*words):
    return CliRunner().invoke(app, ["gomoku", *words])


class LastCell(Player):
    """Plays the last empty cell at once."""

    def choose(self, positions):
        return [int(gomoku.legal_actions(position.state)[-1]) for position in positions]


class TwoPlies:
    """A searcher that finds a line of two plies."""

    def needs(self, state):
        return []

    def search(self, state, limit, seed=0, on_info=None):
        first, second = gomoku.legal_actions(state)[:2]
        return SearchResult(int(first), -0.5, 2, 1234, (int(first), int(second)), 0.01)

    def stop(self):
        pass


def last_cell(options: Options):
    return LastCell()


def two_plies(options: Options):
    from pipeline_src.players.searching import SearchPlayer

    return SearchPlayer(TwoPlies(), Limit(nodes=1))


@pytest.fixture(autouse=True)
def players(monkeypatch):
    for name in ("last_cell", "two_plies"):
        monkeypatch.setitem(PLAYERS, name, f"{__name__}:{name}")


def test_perft_of_the_start_and_of_positions():
    assert run("perft", "2").stdout.splitlines() == ["50400"]
    assert run("perft", "6", "--size", "3", "--variant", "freestyle-3").stdout.splitlines() == ["54720"]
    lines = run("perft", "2", "--fen", "xx1/oo1/3 b freestyle-3", "--divide").stdout.splitlines()
    assert lines[0] == "c3: 0", "it wins"
    assert lines[1:] == ["c2: 4", "a1: 4", "b1: 4", "c1: 4", "16"]


def test_move_of_a_player_that_does_not_search():
    assert run("move", "--player", "last_cell").stdout == "o1\n"
    assert run("move", "--player", "last_cell", "--size", "9").stdout == "i1\n"
    assert json.loads(run("move", "--player", "last_cell", "--fen", "5/5/2x2/5/5 w", "--json").stdout) == {"move": "e1"}


def test_move_of_a_search():
    text = run("move", "--player", "two_plies", "--fen", "x4/5/5/5/5 w").stdout
    assert text == "b5  value -0.50, depth 2, 1,234 nodes, 0.01 s\npv b5 c5\n"
    found = json.loads(run("move", "--player", "two_plies", "--size", "5", "--json").stdout)
    assert (found["move"], found["value"], found["nodes"], found["pv"]) == ("a5", -0.5, 1234, ["a5", "b5"])


def test_show_a_position():
    lines = run("show", "3/1x1/3 w freestyle-3").stdout.splitlines()
    assert lines[2].split() == ["2", ".", "x", ".", "2"]
    assert lines[-2:] == ["White to move after 1 plies, freestyle-3", "3/1x1/3 w freestyle-3"]


@pytest.mark.parametrize("name", ["game.psq", "GAME.PSQ", "game.txt"])
def test_show_a_record(tmp_path, name):
    path = tmp_path / name
    path.write_text(write_psq(GameRecord("gomoku", 1, "file", "freestyle", 15, 15, (112, 97), None, False, "A", "B")))
    lines = run("show", str(path)).stdout.splitlines()
    assert lines[:2] == ["x A, o B", "h8 h9"]
    assert "[o]" in lines[9]
    assert lines[9].split()[0] == "9"
    assert lines[-2] == "Black to move after 2 plies, freestyle"
    assert run("show", str(path), "--variant", "exact").stdout.splitlines()[-1].endswith(" b exact")


def test_show_an_sgf_record(tmp_path):
    path = tmp_path / "two.sgf"
    setup = "AB[hh][ig]AW[gi][gh]PL[B]"
    path.write_text(f"(;GM[4]SZ[15]RU[Renju]PB[A]{setup};B[jj];W[kk])(;GM[18];W[d1-d7/g7])")
    lines = run("show", str(path), "--game", "1").stdout.splitlines()
    assert lines[:2] == ["x A, o ", "j6 k5"]
    assert lines[-1] == "15/15/15/15/15/15/8x6/6ox7/6o8/9x5/10o4/15/15/15/15 b renju"
    for words, message in (
        ([], "2 games; choose one"),
        (["--game", "2"], "a game of amazons, not of gomoku"),
        (["--game", "1", "--variant", "caro"], "names its rule"),
    ):
        assert message in str(run("show", str(path), *words).exception)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["show", "3/1x1/3 w freestyle-3", "--game", "1"], "--game is for SGF records"),
        (["perft", "2", "--fen", "nonsense"], "bad FEN 'nonsense'"),
        (["perft", "13"], "perft depth must be 0 to 12"),
        (["perft", "2", "--size", "26"], "no Gomoku board of size 26"),
        (["perft", "2", "--size", "0"], "no Gomoku board of size 0"),
        (["perft", "2", "--size", "4"], "a line of 5 does not fit a board of 4x4"),
        (["perft", "2", "--variant", "pente"], "no variant 'pente'"),
        (["perft", "2", "--variant", ""], "no variant ''"),
        (["perft", "2", "--fen", "3/3/3 b freestyle-3", "--size", "9"], "--fen contains size and variant"),
        (
            ["move", "--player", "nobody"],
            "no player 'nobody' for gomoku; there are: random, one_ply, minimax, alphabeta, engine, mcts",
        ),
        (["move", "--player", "last_cell", "--fen", OVER], "the game is over"),
        (["show", "nonsense"], "bad FEN 'nonsense'"),
        (["show", "no/game.psq"], "no/game.psq: no such file"),
        (["solve"], "give --fen or --file, one of them"),
        (["solve", "--fen", OVER], "the game is over"),
        (["solve", "--fen", "6/6/6/6/6/6 b freestyle-6"], "the threat search knows lines of 3 to 5, not 6"),
        (["solve", "--file", "no.jsonl"], "no.jsonl: no such file"),
        (["show", OVER, "--variant", "exact"], "a FEN contains its variant"),
    ],
)
def test_errors_name_their_cause(words, message):
    done = run(*words)
    assert done.exit_code == 1
    assert isinstance(done.exception, ZugwerkError)
    assert message in str(done.exception)


WON = "5/5/1x1x1/2oo1/5 b freestyle-4"


def test_a_forced_win_is_printed_with_its_line():
    assert json.loads(run("solve", "--fen", WON, "--json").stdout) == {
        "win": True,
        "move": "c3",
        "plies": 3,
        "line": ["c3", "a3", "e3"],
    }
    assert run("solve", "--fen", WON).stdout == "c3 wins in 3 plies: c3 a3 e3\n"
    assert run("solve", "--fen", "5/5/5/5/5 b", "--movetime", "50").stdout.startswith("no forced win found in ")
    none = {"win": False, "move": None, "plies": None, "line": []}
    assert json.loads(run("solve", "--fen", "5/5/5/5/5 b", "--json").stdout) == none


def test_a_file_of_positions_is_solved(tmp_path):
    path, row = tmp_path / "positions.jsonl", {"size": 5, "variant": "freestyle-4", "plies": 3}
    rows = [row | {"actions": [12, 17, 11, 16]}, row | {"actions": [12, 17], "plies": 12}]
    path.write_text("\n".join(map(json.dumps, rows)))
    lines = [json.loads(line) for line in run("solve", "--file", str(path), "--json").stdout.splitlines()]
    assert [line["announced"] for line in lines] == [3, 12]
    assert lines[0]["win"] is True
    assert lines[0]["plies"] == 3
    assert all(set(line) == {"announced", "win", "move", "plies", "ms"} for line in lines)
    shown = run("solve", "--file", str(path)).stdout.splitlines()
    assert shown[0] == "3-5 plies: 1 of 1 won, 100.0%"
    assert shown[1].startswith("10-15 plies: ")


@pytest.mark.parametrize("variant", ["freestyle", "renju"])
def test_openings_are_level_and_a_match_reads_them(tmp_path, variant):
    words = ["openings", "3", "--size", "9", "--plies", "3", "--variant", variant, "--nodes", "300", "--within", "900"]
    words += ["--games", "0"]
    path = tmp_path / "openings.txt"
    path.write_text(run(*words).stdout)
    found = read_openings(get_game("gomoku"), str(path), gomoku.initial_state(9, variant), 3, [1])
    engine = Engine()
    for opening in found:
        state = gomoku.initial_state(9, variant)
        for action in opening.actions:
            state = gomoku.play(state, action)
        assert state.turn[PLY] == 3
        assert abs(engine.search(state, Limit(nodes=300)).value) <= 900
    assert run(*words).stdout == path.read_text()


@pytest.mark.parametrize(
    ("words", "answer", "left"), [((), "", True), (("--delete",), "n\n", True), (("--delete",), "y\n", False)]
)
def test_generations_deletes_only_listed_files_and_on_request(tmp_path, monkeypatch, words, answer, left):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "params.yaml").write_text('gomoku_generations: {"02": {before: "01"}, "03": {before: "02"}}\n')
    report, model = Path("artifacts/reports/gomoku/generations/03.json"), Path("artifacts/models/gomoku/03/model.pt")
    kept = Path("artifacts/models/gomoku/02/model.pt")
    for path in (report, model, kept):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    found = CliRunner().invoke(app, ["gomoku", "generations", "2", *words], input=answer)
    assert found.exit_code == 0, found.output
    assert "params.yaml has 2 generations, where it had 3" in found.output
    assert [path.exists() for path in (report, model, kept)] == [left, left, True]
    listed = {line for line in found.output.splitlines() if line.startswith("artifacts/")}
    assert listed == ({str(report), str(model.parent)} if words else set())
    assert ("2 files and folders of later generations stay" in found.output) == (not words)

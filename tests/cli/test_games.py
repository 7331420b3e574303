"""``zugwerk amazons``, ``zugwerk gomoku``, and the commands of every game."""

import json
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from pipeline_src import yaml12
from pipeline_src.arena.match import read_openings
from pipeline_src.cli import games
from pipeline_src.cli.games import files_beyond, set_generations
from pipeline_src.errors import ZugwerkError
from pipeline_src.games import gomoku
from pipeline_src.games.amazons import STANDARD
from pipeline_src.games.game import get_game
from pipeline_src.games.gomoku import PLY
from pipeline_src.players import GOMOKU
from pipeline_src.players.player import Options, Player
from pipeline_src.project.profile import profile_tree
from pipeline_src.records.psq import write_psq
from pipeline_src.records.record import GameRecord
from pipeline_src.search.gomoku.engine import Engine
from pipeline_src.search.limits import Limit, SearchResult
from pipeline_src.systems.gomoku_zero.params import GenerationFiles, read_numbers
from tests.cli.conftest import invoke, refusal
from tests.layout.imports import ROOT

POSITION = "3/1x1/3 w freestyle-3"
of_gomoku = partial(invoke, "gomoku")


def invoke_game(*words):
    """A command of a game that has none of its own; Gomoku stands for it."""
    return CliRunner().invoke(games.commands("gomoku"), words)


def test_any_game_counts_perft():
    assert invoke_game("perft", "2", "--size", "5").stdout == "600\n"
    assert invoke_game("perft", "1", "--fen", POSITION, "--divide").stdout.splitlines()[-2:] == ["c1: 1", "8"]


def test_any_game_shows_board_and_fen_and_asks_a_player():
    assert invoke_game("move", "--player", "random", "--fen", "xox/oox/1xo b freestyle-3").stdout == "a1\n"
    lines = invoke_game("show", "--fen", POSITION).stdout.splitlines()
    assert lines[2] == " 2  .  x  .  2"
    assert lines[-1] == POSITION

    assert "no Gomoku board of size 99" in str(invoke_game("show", "--size", "99").exception)


def test_perft_prints_the_count_last():
    assert invoke("amazons", "perft", "2").stdout.splitlines()[-1] == "4307152"
    lines = invoke("amazons", "perft", "1", "--divide", "--fen", STANDARD).stdout.splitlines()
    assert lines[-1] == "2176"
    assert len(lines) == 2177
    assert all(re.fullmatch(r"[a-j]\d+-[a-j]\d+/[a-j]\d+: 1", line) for line in lines[:-1])


def test_features_are_unrounded_json():
    found = json.loads(invoke("amazons", "features", "--fen", STANDARD).stdout)
    assert found["amazons"] == ["d1", "g1", "a4", "j4"]
    features = np.array(found["features"])
    assert (features.shape, features[0, 9, 2:4].tolist()) == ((4, 10, 10), [200, 300])


def test_command_errors_are_one_line_of_stderr():
    program = Path(sys.executable).with_name("zugwerk")
    done = subprocess.run([program, "amazons", "perft", "2", "--fen", "nonsense"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    assert re.fullmatch(r"error: bad FEN 'nonsense'.*\n", done.stderr)


OVER = "xxx/oo1/3 w freestyle-3"


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
        monkeypatch.setitem(GOMOKU, name, f"{__name__}:{name}")


def test_perft_of_the_start_and_of_positions():
    assert of_gomoku("perft", "2").stdout.splitlines() == ["50400"]
    assert of_gomoku("perft", "6", "--size", "3", "--variant", "freestyle-3").stdout.splitlines() == ["54720"]
    lines = of_gomoku("perft", "2", "--fen", "xx1/oo1/3 b freestyle-3", "--divide").stdout.splitlines()
    assert lines[0] == "c3: 0", "it wins"
    assert lines[1:] == ["c2: 4", "a1: 4", "b1: 4", "c1: 4", "16"]


def test_move_of_a_player_that_does_not_search():
    assert of_gomoku("move", "--player", "last_cell").stdout == "o1\n"
    assert of_gomoku("move", "--player", "last_cell", "--size", "9").stdout == "i1\n"
    told = of_gomoku("move", "--player", "last_cell", "--fen", "5/5/2x2/5/5 w", "--json").stdout
    assert json.loads(told) == {"move": "e1"}


def test_move_of_a_search():
    text = of_gomoku("move", "--player", "two_plies", "--fen", "x4/5/5/5/5 w").stdout
    assert text == "b5  value -0.50, depth 2, 1,234 nodes, 0.01 s\npv b5 c5\n"
    found = json.loads(of_gomoku("move", "--player", "two_plies", "--size", "5", "--json").stdout)
    assert (found["move"], found["value"], found["nodes"], found["pv"]) == ("a5", -0.5, 1234, ["a5", "b5"])


def test_show_a_position():
    lines = of_gomoku("show", "3/1x1/3 w freestyle-3").stdout.splitlines()
    assert lines[2].split() == ["2", ".", "x", ".", "2"]
    assert lines[-2:] == ["White to move after 1 plies, freestyle-3", "3/1x1/3 w freestyle-3"]
    assert of_gomoku("show", "--fen", "3/1x1/3 w freestyle-3").stdout.splitlines() == lines
    for words in ([], ["3/3/3 b freestyle-3", "--fen", "3/3/3 b freestyle-3"]):
        assert "name one position" in str(of_gomoku("show", *words).exception)


@pytest.mark.parametrize("name", ["game.psq", "GAME.PSQ", "game.txt"])
def test_show_a_record(tmp_path, name):
    path = tmp_path / name
    path.write_text(write_psq(GameRecord("gomoku", 1, "file", "freestyle", 15, 15, (112, 97), None, False, "A", "B")))
    lines = of_gomoku("show", str(path)).stdout.splitlines()
    assert lines[:2] == ["x A, o B", "h8 h9"]
    assert "[o]" in lines[9]
    assert lines[9].split()[0] == "9"
    assert lines[-2] == "Black to move after 2 plies, freestyle"
    assert of_gomoku("show", str(path), "--variant", "exact").stdout.splitlines()[-1].endswith(" b exact")


def test_show_an_sgf_record(tmp_path):
    path = tmp_path / "two.sgf"
    setup = "AB[hh][ig]AW[gi][gh]PL[B]"
    path.write_text(f"(;GM[4]SZ[15]RU[Renju]PB[A]{setup};B[jj];W[kk])(;GM[18];W[d1-d7/g7])")
    lines = of_gomoku("show", str(path), "--game", "1").stdout.splitlines()
    assert lines[:2] == ["x A, o ", "j6 k5"]
    assert lines[-1] == "15/15/15/15/15/15/8x6/6ox7/6o8/9x5/10o4/15/15/15/15 b renju"
    assert "2 games; choose one" in str(of_gomoku("show", path).exception)
    assert "a game of amazons, not of gomoku" in refusal("gomoku", "show", path, "--game", 2)
    assert "names its rule" in refusal("gomoku", "show", path, "--game", 1, "--variant", "caro")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["amazons", "perft", "2", "--fen", "nonsense"], "bad FEN 'nonsense'"),
        (["amazons", "perft", "99"], "perft depth must be 0 to 12"),
        (["amazons", "features", "--fen", "q*8/**8/10/10/10/10/10/10/10/10 b"], "has 1 amazons"),
        (["amazons", "move", "--model", "no/nets.pt"], "no/nets.pt: no such model"),
        (["amazons", "move", "--model", "x.pt", "--player", "puct"], "name it in the player: puct:x.pt"),
        (["amazons", "move", "--fen", "3"], "bad FEN '3'"),
        (["profile", "desktop"], "there are: as_printed, laptop, overnight, paper, published_run, smoke"),
        (["gomoku", "show", "3/1x1/3 w freestyle-3", "--game", "1"], "--game is for SGF records"),
        (["gomoku", "perft", "2", "--size", "26"], "no Gomoku board of size 26"),
        (["gomoku", "perft", "2", "--size", "0"], "no Gomoku board of size 0"),
        (["gomoku", "perft", "2", "--size", "4"], "a line of 5 does not fit a board of 4x4"),
        (["gomoku", "perft", "2", "--variant", "pente"], "no variant 'pente'"),
        (["gomoku", "perft", "2", "--variant", ""], "no variant ''"),
        (["gomoku", "perft", "2", "--fen", "3/3/3 b freestyle-3", "--size", "9"], "remove --size"),
        (["gomoku", "move", "--player", "nobody"], "there are: random, one_ply, minimax, alphabeta, engine, mcts"),
        (["gomoku", "move", "--player", "last_cell", "--fen", OVER], "the game is over"),
        (["gomoku", "show", "nonsense"], "bad FEN 'nonsense'"),
        (["gomoku", "show", "no/game.psq"], "no/game.psq: no such file"),
        (["gomoku", "solve"], "give --fen or --file, one of them"),
        (["gomoku", "solve", "--fen", OVER], "the game is over"),
        (["gomoku", "solve", "--fen", "6/6/6/6/6/6 b freestyle-6"], "the threat search knows lines of 3 to 5, not 6"),
        (["gomoku", "solve", "--file", "no.jsonl"], "no.jsonl: no such file"),
        (["gomoku", "show", OVER, "--variant", "exact"], "a FEN contains its variant"),
    ],
)
def test_errors_name_their_cause(words, message):
    assert message in refusal(*words)


WON = "5/5/1x1x1/2oo1/5 b freestyle-4"


def test_a_forced_win_is_printed_with_its_line():
    told = json.loads(of_gomoku("solve", "--fen", WON, "--json").stdout)
    assert told == {"win": True, "move": "c3", "plies": 3, "line": ["c3", "a3", "e3"]}
    assert of_gomoku("solve", "--fen", WON).stdout == "c3 wins in 3 plies: c3 a3 e3\n"
    assert of_gomoku("solve", "--fen", "5/5/5/5/5 b", "--movetime", "50").stdout.startswith("no forced win found in ")
    none = {"win": False, "move": None, "plies": None, "line": []}
    assert json.loads(of_gomoku("solve", "--fen", "5/5/5/5/5 b", "--json").stdout) == none


def test_a_file_of_positions_is_solved(tmp_path):
    path, row = tmp_path / "positions.jsonl", {"size": 5, "variant": "freestyle-4", "plies": 3}
    rows = [row | {"actions": [12, 17, 11, 16]}, row | {"actions": [12, 17], "plies": 12}]
    path.write_text("\n".join(map(json.dumps, rows)))
    lines = [json.loads(line) for line in of_gomoku("solve", "--file", str(path), "--json").stdout.splitlines()]
    assert [line["announced"] for line in lines] == [3, 12]
    assert (lines[0]["win"], lines[0]["plies"]) == (True, 3)
    assert all(set(line) == {"announced", "win", "move", "plies", "ms"} for line in lines)
    shown = of_gomoku("solve", "--file", str(path)).stdout.splitlines()
    assert shown[0] == "3-5 plies: 1 of 1 won, 100.0%"
    assert shown[1].startswith("10-15 plies: ")


@pytest.mark.parametrize("variant", ["freestyle", "renju"])
def test_openings_are_level_and_a_match_reads_them(tmp_path, variant):
    words = ["openings", "3", "--size", "9", "--plies", "3", "--variant", variant, "--nodes", "300", "--within", "900"]
    words += ["--games", "0"]
    path = tmp_path / "openings.txt"
    path.write_text(of_gomoku(*words).stdout)
    found = read_openings(get_game("gomoku"), str(path), gomoku.initial_state(9, variant), 3, [1])
    engine = Engine()
    for opening in found:
        state = gomoku.initial_state(9, variant)
        for action in opening.actions:
            state = gomoku.play(state, action)
        assert state.turn[PLY] == 3
        assert abs(engine.search(state, Limit(nodes=300)).value) <= 900
    assert of_gomoku(*words).stdout == path.read_text()


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
    found = invoke("gomoku", "generations", "2", *words, input=answer)
    assert found.exit_code == 0, found.output
    assert "params.yaml has 2 generations, where it had 3" in found.output
    assert [path.exists() for path in (report, model, kept)] == [left, left, True]
    listed = {line for line in found.output.splitlines() if line.startswith("artifacts/")}
    assert listed == ({str(report), str(model.parent)} if words else set())
    assert ("2 files and folders of later generations stay" in found.output) == (not words)


TEXT = """seed: 1 # of all
gomoku_generations: # each from the one before
  "02": {before: "01"}
  "03": {before: "02"}
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "params.yaml").write_text(TEXT)
    for number in (1, 2, 3):
        files = GenerationFiles(number, tmp_path / "artifacts")
        for path in (files.model, files.games, files.report, files.curves):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("here")
    return tmp_path


def test_generations_are_appended_and_comments_stay(folder):
    set_generations(12, folder)
    assert read_numbers(folder / "params.yaml") == list(range(1, 13))
    text = (folder / "params.yaml").read_text()
    assert text.startswith(TEXT)
    assert '  "12": {before: "11"}\n' in text
    set_generations(3, folder)
    for count in (1, 100):
        with pytest.raises(ZugwerkError, match=f"2 to 99 generations, not {count}"):
            set_generations(count, folder)
    assert (folder / "params.yaml").read_text() == TEXT
    assert GenerationFiles(3, folder / "artifacts").model.exists()


def test_files_beyond_are_those_of_later_generations(folder):
    files = GenerationFiles(3, folder / "artifacts")
    assert files_beyond(2, folder) == [files.models, files.games, files.report, files.curves]
    files.window.mkdir(parents=True)
    files.gate_games.parent.mkdir(parents=True)
    files.gate_games.touch()
    files.timings.touch()
    assert {path.name for path in files_beyond(2, folder)} == {
        "03", "03.parquet", "03.json", "03.csv", "03.timings.json",
    }  # fmt: skip
    assert len(files_beyond(2, folder)) == 7
    assert not files_beyond(3, folder)


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="needs git")
def test_committed_reports_match_the_committed_params():
    numbers = {"01", *profile_tree("laptop", ROOT)["gomoku_generations"]}
    command = ["git", "ls-files", "artifacts/reports/gomoku/generations"]
    tracked = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    assert {Path(name).stem for name in tracked} <= numbers


@pytest.mark.parametrize(
    "section", ["{}", '{"03": {before: "02"}}', '{"02": {before: "01"}, "04": {before: "03"}}', "[2, 3]"]
)
def test_generations_with_a_gap_are_refused(tmp_path: Path, section):
    (tmp_path / "params.yaml").write_text(f"gomoku_generations: {section}\n")
    with pytest.raises(ZugwerkError, match="`zugwerk gomoku generations N` writes them"):
        read_numbers(tmp_path / "params.yaml")


def test_committed_generations_have_no_gap():
    assert len(read_numbers(ROOT / "params.yaml")) >= 2
    for name, count in (("smoke", 3), ("paper", 28)):
        section = yaml12.parse((ROOT / f"profiles/{name}.yaml").read_text())["gomoku_generations"]
        assert len(section) == count - 1

"""`zugwerk play`: what a person types, on a pipe."""

import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pipeline_src.arena.person import PersonGame, load_game
from pipeline_src.cli.tables import board_text, value_text
from pipeline_src.errors import ZugwerkError
from pipeline_src.games import amazons, gomoku
from pipeline_src.players import GOMOKU as PLAYERS
from pipeline_src.players.player import OneBoard, Options, Player
from pipeline_src.records.psq import read_psq
from pipeline_src.records.record import read_records
from pipeline_src.systems.gomoku_zero.player import check_state
from tests.cli.conftest import invoke, refusal


def run(*words, typed="", game="gomoku", against="fake"):
    return invoke("play", game, "--against", against, *words, input=typed)


class Nasty(Player):
    """Fails at its first move, as an engine does that crashed."""

    def __init__(self):
        self.failed = False

    def choose(self, positions):
        if not self.failed:
            self.failed = True
            raise RuntimeError("no idea")
        return [int(gomoku.legal_actions(position.state)[0]) for position in positions]


def nasty(options: Options):
    return Nasty()


@pytest.fixture(autouse=True)
def here(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(PLAYERS, "nasty", f"{__name__}:nasty")
    return tmp_path


def moves_of(path):
    record = read_psq(path).record
    return [gomoku.format_move(action, record.height, record.width) for action in record.actions]


def test_a_game_is_shown_answered_and_saved(here):
    result = run("--size", "5", typed="\ufeffc3\nb2\nsave mine.psq\n")
    assert result.exit_code == 0, result.exception
    board = result.stdout.split("2> ")[0].split("fake plays a5")[0]
    assert " 3  .  .  x  .  .  3" in board
    assert " 5 [o] .  .  .  .  5" in board
    assert "fake plays b5: value +0.0, depth 1, 1 nodes" in result.stdout
    assert result.stdout.count("saved to mine.psq") == 1
    assert moves_of(here / "mine.psq") == ["c3", "a5", "b2", "b5"]
    assert read_psq(here / "mine.psq").record.second_name == "fake"


# Not even root can make a folder in /dev/null.
TYPOS = ["zz", "c9", "c3 d4", "save", "save x.txt", "save /dev/null/folder/x.psq", "undo 3 4 5", "\u0663", "", " "]


@pytest.mark.parametrize("typo", [*TYPOS, "go", "c33"])
def test_a_typo_never_loses_the_game(here, typo):
    result = run("--size", "5", typed=f"c3\nb2\n{typo}\nsave a.psq\n")
    assert result.exit_code == 0
    expected = ["c3", "a5"] if typo.startswith("undo") else ["c3", "a5", "b2", "b5"]
    assert moves_of(here / "a.psq") == expected
    assert typo.strip() == "" or re.search("help|expected|cannot|saved as|taken back|your turn", result.stdout)


def test_raw_bytes_are_survived(here):
    result = run("--size", "5", typed=b"c3\n\xff\xfe\x00\x1b[A\n" + b"x" * 100_000 + b"\nb2\nsave a.psq\n")
    assert result.exit_code == 0
    assert moves_of(here / "a.psq") == ["c3", "a5", "b2", "b5"]


def test_illegal_moves_are_asked_again(here):
    result = run("--size", "5", typed="c3\nc3\na5\nb2\nsave a.psq\n")
    assert "c3 is not a legal move here" in result.stdout
    assert moves_of(here / "a.psq") == ["c3", "a5", "b2", "b5"]


def test_the_end_of_the_input_saves_under_a_new_name(here):
    result = run("--size", "5", typed="c3\n")
    name = re.search(r"saved to (gomoku-[\d-]+\.psq)", result.stdout)[1]
    assert moves_of(here / name) == ["c3", "a5"]
    assert f"zugwerk play gomoku --against fake --load {name}" in result.stdout
    assert run("--size", "5", typed="").stdout.count("saved") == 0
    assert len(list(here.iterdir())) == 1


def test_saved_game_is_resumed(here):
    run("--size", "5", "--side", "second", "--save", "a.psq", typed="c3\n")
    assert moves_of(here / "a.psq") == ["a5", "c3", "b5"]
    result = run("--load", "a.psq", typed="b2\nquit\n")
    assert "You are White (o)" in result.stdout
    assert moves_of(here / "a.psq") == ["a5", "c3", "b5", "b2", "c5"]
    result = run("--load", "a.psq", typed="undo\na1\n")  # the moves taken back stay in the old file
    assert moves_of(here / "a.psq") == ["a5", "c3", "b5", "b2", "c5"]
    name = re.search(r"saved to (\S+\.psq)", result.stdout)[1]
    assert moves_of(here / name) == ["a5", "c3", "b5", "a1", "c5"]


def test_files_of_others_are_not_overwritten(here):
    (here / "a.psq").write_text("mine")
    assert "exists already" in str(run("--save", "a.psq").exception)
    result = run("--size", "5", typed="c3\nsave a.psq\n")
    assert "a.psq exists already; choose another name" in result.stdout
    assert (here / "a.psq").read_text() == "mine"


def test_where_nothing_can_be_written_the_moves_are_printed(here):
    here.chmod(0o500)
    try:
        if not _can_write(here):
            assert "not saved; the moves: c3 a5" in run("--size", "5", typed="c3\n").stdout
    finally:
        here.chmod(0o700)


def _can_write(folder):
    try:
        (folder / "probe").write_text("")
    except OSError:
        return False
    return True


def test_undo_takes_both_moves_back():
    result = run("--size", "5", typed="undo\nc3\nundo\nmoves\nb2\n")
    assert "there is no move of yours to undo" in result.stdout
    assert "2 moves taken back" in result.stdout
    assert "none yet" in result.stdout
    second = run("--size", "5", "--side", "second", typed="undo\nc3\nundo\nmoves\n")
    assert "there is no move of yours to undo" in second.stdout
    assert re.search(r"moves\na5\n", second.stdout)


def test_a_game_that_is_over_can_be_undone_and_saved(here):
    four = ["--size", "5", "--variant", "freestyle-4"]
    result = run(*four, typed="a1\nb1\nc1\nd1\ne1\nundo\nd2\nsave a.psq\nquit\n")
    assert "You have won as Black (x)." in result.stdout
    assert "the game is over; undo, save FILE or quit" in result.stdout
    lost = run(*four, typed="e1\na2\nc2\ne3\nquit\n")
    assert "fake has won as White (o)." in lost.stdout


def test_an_opponent_that_fails_loses_nothing(here):
    result = run("--size", "5", against="nasty", typed="c3\nb2\ngo\nb2\nsave a.psq\n")
    assert "nasty has not moved: no idea" in result.stdout
    assert "it is the other side's turn" in result.stdout
    assert moves_of(here / "a.psq") == ["c3", "a5", "b2", "b5"]


def test_a_hint_is_the_players_move_and_plays_nothing(here):
    result = run("--size", "5", typed="c3\nhint\nb2\nsave mine.psq\n")
    assert "fake would play b5: value +0.0, depth 1, 1 nodes" in result.stdout
    assert moves_of(here / "mine.psq") == ["c3", "a5", "b2", "b5"]


def test_a_hint_that_fails_ends_nothing(here):
    result = run("--size", "5", against="nasty", typed="hint\nhint\nc3\nsave a.psq\n")
    assert "nasty has no hint: no idea" in result.stdout
    assert "nasty would play a5" in result.stdout
    assert moves_of(here / "a.psq") == ["c3", "a5"]


def test_a_level_is_an_opponent(here):
    found = invoke("play", "gomoku", "--level", "1", "--size", "9", input="e5\nquit\n")
    assert found.exit_code == 0, found.output
    assert "level:1 plays " in found.output
    both = refusal("play", "gomoku", "--level", "1", "--against", "random")
    assert "--level and --against both name the opponent" in both


def test_amazons(here):
    result = run("--size", "6", game="amazons", against="random", typed="b1-b2/b1\nhelp\nsave a.parquet\n")
    assert result.exit_code == 0, result.exception
    assert " 2  w [w] .  .  .  w  2" in result.stdout
    assert " 1  . [*] .  .  w  .  1" in result.stdout
    assert "random plays " in result.stdout
    record = read_records(here / "a.parquet")[0]
    assert (record.game, record.height, record.first_name, len(record.actions)) == ("amazons", 6, "person", 2)
    assert "You are White" in run("--load", "a.parquet", game="amazons", against="random").stdout


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--side", "third"], "expected first, second or random"),
        (["--size", "40"], "sizes go from 3 to 25"),
        (["--variant", "pente"], "no variant 'pente'"),
        (["--save", "a.txt"], "saved as NAME.psq or NAME.parquet"),
        (["--load", "none.psq"], "no such file"),
        (["--load", "none.parquet"], "no such file"),
        (["--load", "a.psq", "--size", "9"], "contains its size"),
    ],
)
def test_options_that_make_no_sense(words, complaint):
    assert complaint in refusal("play", "gomoku", "--against", "fake", *words)
    assert "there are: amazons, gomoku" in refusal("play", "go")


def test_a_random_side_follows_the_seed():
    sides = {run("--side", "random", "--seed", str(seed), "--size", "5").stdout.split()[2] for seed in range(8)}
    assert sides == {"Black", "White"}


def test_largest_board_of_a_model_or_games_default_is_set(monkeypatch):
    class Model(Nasty):
        boards = (OneBoard(7, 7, "exact"),)

        def check(self, state):
            if self.only:
                check_state(self.only, state)

    def model(options: Options):
        return Model()

    monkeypatch.setattr(sys.modules[__name__], "nasty", model)
    sevens = " 7  .  .  .  .  .  .  .  7"
    assert sevens in run(against="nasty").stdout
    refused = str(run("--size", "9", against="nasty").exception)
    assert "play by --size 7 --variant exact, or against alphabeta" in refused
    Model.boards = (OneBoard(5, 5, "exact"), *Model.boards)
    assert sevens in run(against="nasty").stdout
    assert sevens not in run("--size", "5", against="nasty").stdout
    Model.boards = (*Model.boards, OneBoard(15, 15, "freestyle"))
    assert "15  ." in run(against="nasty").stdout


def test_nets_name_their_board():
    found = str(run("--variant", "caro-4", against="zero").exception)
    assert re.match(r"no net for \S+ caro-4 comes with the package; there are nets for .*15x15 renju", found)
    assert found.endswith("name a model: zero:MODEL")


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_save_the_game(here, number):
    root = Path(__file__).parents[2]
    program = f"import sys; sys.path.insert(0, {str(root)!r}); from tests.arena import fakes; "
    program += "from pipeline_src.cli import main; sys.argv[0] = 'zugwerk'; main()"
    words = ["play", "gomoku", "--against", "fake", "--size", "5", "--save", "a.psq"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", program, *words], **pipes, cwd=here) as process:
        process.stdin.write(b"c3\n")
        process.stdin.flush()
        shown = b""
        while b"fake plays" not in shown and (line := process.stdout.readline()):
            shown += line
        time.sleep(0.1)
        process.send_signal(number)
        try:
            assert b"saved to a.psq" in process.communicate(timeout=120)[0]
        finally:
            process.kill()
    assert process.returncode == 0
    assert moves_of(here / "a.psq") == ["c3", "a5"]


def test_boards_as_text():
    state = amazons.initial_state(6)
    action = amazons.parse_move("a2-b2/a2", 6, 6)
    assert board_text("amazons", amazons.play(state, action), state).plain.split("\n")[5] == " 2 [*][w] .  .  .  w  2"
    cells = [gomoku.parse_move("a1", 5, 5), gomoku.parse_move("e5", 5, 5)]
    game = PersonGame("gomoku", "x", 0, 5, "exact", cells)
    lines = board_text("gomoku", game.state, game.before).plain.split("\n")
    assert lines[1] == " 5  .  .  .  . [o] 5"
    assert lines[5] == " 1  x  .  .  .  .  1"
    values = [value_text(name, 0.5) for name in ("zero:m.pt", "mcts", "puct", "alphabeta")]
    assert values == [*["win rate 75%"] * 3, "value +0.5"]


def test_archives_of_other_games_are_refused(here):
    PersonGame("amazons", "x", 0, 6, "standard").save(here / "a.parquet")
    with pytest.raises(ZugwerkError, match="expected one game of gomoku"):
        load_game("gomoku", here / "a.parquet", "x")
    with pytest.raises(ZugwerkError, match="a game of standard, not of cross"):
        load_game("amazons", here / "a.parquet", "x", "cross")

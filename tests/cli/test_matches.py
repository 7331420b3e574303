"""``zugwerk match``, ``zugwerk players`` and ``zugwerk levels``."""

import errno
import json
import os
import re
import signal
import subprocess
import sys
import time
from functools import partial

import pytest

from pipeline_src.arena import match
from pipeline_src.games import amazons
from pipeline_src.players.packaged import ladders
from pipeline_src.players.registry import players_of
from pipeline_src.records.record import read_records
from tests.cli.conftest import invoke, refusal
from tests.players.test_programs import SCRIPT


def test_a_match_as_table_and_as_json(tmp_path):
    words = ["match", "amazons", "one_ply", "random", "--games", "4", "--size", "6", "--sprt", "0,50"]
    table = invoke(*words).stdout
    rows = {row[0]: row[1:] for row in re.findall(r"│ (\S.*?) +│ +(\S+) +│ +(\S+) +│", table)}
    assert list(rows) == ["player", "won", "ms a move", "ms at most", "ms, first move, at most", "moves a game"]
    assert rows["won"] == ("4", "0")
    assert f"plies a game {2 + sum(map(float, rows['moves a game'])):.1f}, to who moved first 50.0%" in table
    assert "score 100.0%" in table
    assert "SPRT undecided" in table
    out = tmp_path / "games.parquet"
    found = json.loads(invoke(*words, "--json", "--out", str(out)).stdout)
    assert (found["wins"], found["elo"], found["status"]) == (4, None, "finished")
    assert len(read_records(out)) == 4


def full(*arguments):
    raise OSError(errno.ENOSPC, "No space left on device", "games.parquet")


def test_result_is_printed_even_if_games_cannot_be_written(tmp_path, monkeypatch):
    out = tmp_path / "games.parquet"
    words = ["match", "amazons", "one_ply", "random", "--games", "4", "--size", "6", "--out", str(out)]
    monkeypatch.setattr(match, "write_records", full)
    done = invoke(*words)
    assert "score 100.0%" in done.stdout
    assert done.exit_code == 1
    assert str(done.exception) == (
        "4 of 4 games played: games.parquet: the disk is full; free some of it and run the same command again; "
        f"the finished pairs are in {out.with_suffix('.journal.jsonl')}"
    )


def test_limits_and_clocks_reach_the_players():
    words = ["--games", "2", "--size", "6", "--openings", "none", "--json"]
    found = json.loads(invoke("match", "amazons", "fake", "random", "--movetime", "5", *words).stdout)
    assert found["a"] == "fake:movetime=5"
    assert found["sides"]["a"]["mean_ms"] > 4
    late = json.loads(invoke("match", "amazons", "fake:first_ms=30", "random", "--clock", "50+0", *words).stdout)
    assert late["sides"]["a"]["forfeits"] == {"time": 2}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nobody", "random"], "no player 'nobody'"),
        (["random", "random", "--games", "3"], "must be an even number"),
        (["random", "random", "--clock", "fast"], "clock 'fast'"),
        (["random", "random", "--sprt", "5,5"], "elo0 must be below elo1"),
        (["random", "random", "--size", "7"], "no Amazons start of size 7"),
        (["alphabeta", "random", "--movetime", "-5"], "--movetime must be above 0, not -5"),
        (["alphabeta", "random", "--movetime", "0"], "--movetime must be above 0, not 0"),
        (["alphabeta", "random", "--movetime", "nan"], "--movetime must be above 0, not nan"),
        (["alphabeta", "random", "--movetime", "inf"], "--movetime must be above 0, not inf"),
        (["alphabeta", "random", "--nodes", "-3"], "--nodes must be above 0, not -3"),
        (["alphabeta", "random", "--depth", "0"], "--depth must be above 0, not 0"),
        (["puct", "random", "--depth", "3"], "player 'puct' has no depth; its limits: movetime, nodes"),
        (["alphabeta", "random", "--movetime", "9", "--clock", "900+0"], "--movetime: on a clock players divide"),
        (["alphabeta:depth=2", "random", "--clock", "900+0"], "leave out depth, or the clock"),
        (["random", "random", "--depth", "3"], "--depth: both players have limits of their own or take none"),
        (["alphabeta", "random", "--out", "."], ". is a folder"),
        (["random", "random", "--openings", "random:x"], "expected random:PLIES"),
    ],
)
def test_errors_name_their_cause(words, message):
    assert message in refusal("match", "amazons", *words)


def test_forfeit_is_explained_and_refusal_is_no_loss():
    brain = f"brain:'{sys.executable}' -S '{SCRIPT}'"
    words = ["match", "gomoku", f"{brain} suggest", "random", "--size", "5", "--games", "2", "--openings", "random:2"]
    told = " ".join(invoke(*words).stdout.split())
    assert told.startswith("decided by forfeits: ")
    named = invoke("match", "gomoku", f"{brain} good,name=mine", "random", "--size", "5", "--games", "2").stdout
    assert re.search(r"player +│ mine +│ random", named)
    assert "game 1: A forfeits (illegal), move 3: engine" in told
    assert "answers 'SUGGEST 2,2' in place of a move; its last lines: OK | SUGGEST 2,2" in told
    refused = refusal("match", "gomoku", "random", f"{brain} refuses", "--games", "2")
    assert "does not play on 15x15: ERROR too big" in refused


def test_match_without_legal_moves_has_no_result():
    brain = f"brain:'{sys.executable}' -S '{SCRIPT}'"
    words = ["match", "gomoku", "random", f"{brain} gibberish", "--size", "5", "--games", "2"]
    done = invoke(*words)
    told = " ".join(done.stdout.split())
    assert done.exit_code == 1
    assert "made no legal move in time in any game" in told
    assert "score" not in told
    done = invoke(*words, "--json")
    found = json.loads(done.stdout)
    assert (done.exit_code, found["score"], found["wins"]) == (1, None, 2)
    assert "made no legal move" in found["no_result"]


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("command", ["match", "tournament"])
def test_signal_ends_with_a_summary(tmp_path, command, number):
    words = "club.yaml --out ."
    if command == "match":
        words = "amazons alphabeta:nodes=300 random --games 2000 --size 6 --out games.parquet"
    players = "{a: 'alphabeta:nodes=300', b: random}"
    club = f"{{game: amazons, size: 6, games: 2000, openings: 'random:2', players: {players}}}"
    (tmp_path / "club.yaml").write_text(club)
    line = [sys.executable, "-m", "pipeline_src.cli", command, *words.split(), "--workers", "2", "--json"]
    journal, pipe = tmp_path / "games.journal.jsonl", subprocess.PIPE
    hangs_up = partial(signal.signal, signal.SIGHUP, signal.SIG_DFL)  # also where nohup runs the tests
    given = {"cwd": tmp_path, "text": True, "start_new_session": True, "preexec_fn": hangs_up}
    with subprocess.Popen(line, stdout=pipe, stderr=pipe, **given) as process:
        end = time.monotonic() + 200  # kernels may have to be compiled first
        while not (journal.exists() and journal.read_bytes().count(b"\n") > 1) and time.monotonic() < end:
            time.sleep(0.02)
        if number == signal.SIGINT:
            os.killpg(process.pid, number)  # as a terminal does
        else:
            process.send_signal(number)
        try:
            stdout, stderr = process.communicate(timeout=200)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    by = "" if number == signal.SIGINT else f" by {number.name}"
    games = len(read_records(tmp_path / "games.parquet"))
    assert process.returncode == 128 + number
    assert json.loads(stdout)["status"] == "interrupted"
    assert 2 <= games < 2000
    assert re.search(rf"^interrupted{by}: {games} (of 2000 )?games played; the same command goes on", stderr, re.M)


def test_move_of_any_player():
    state = amazons.initial_state()
    found = json.loads(invoke("amazons", "move", "--player", "fake", "--json").stdout)
    assert amazons.is_legal(state, amazons.parse_move(found["move"]))
    assert found["value"] == 1.25
    assert found["nodes"] >= 50
    assert found["pv"] == [found["move"]]
    text = invoke("amazons", "move", "--player", "fake").stdout
    assert re.match(r"\S+  value \+1\.25, depth \d+, [\d,]+ nodes, \d+\.\d\d s\npv \S+\n$", text)
    assert amazons.is_legal(state, amazons.parse_move(invoke("amazons", "move", "--player", "one_ply").stdout))
    over = refusal("amazons", "move", "--player", "one_ply", "--fen", "q*8/**8/10/10/10/10/10/10/10/10 b")
    assert "the game is over" in over


def test_a_match_of_gomoku(tmp_path):
    out = tmp_path / "games.parquet"
    words = "match gomoku alphabeta:depth=1 random --games 4 --size 5 --variant freestyle-4 --json"
    done = invoke(*words.split(), "--out", str(out))
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["games"] == 4
    boards = {(record.game, record.variant, record.width) for record in read_records(out)}
    assert boards == {("gomoku", "freestyle-4", 5)}
    assert "there are: amazons, go, gomoku" in refusal("match", "chess", "random", "random")


@pytest.mark.usefixtures("shipped")
@pytest.mark.parametrize("game", ["amazons", "gomoku"])
def test_every_player_is_listed_with_its_options_and_an_example(game):
    found = json.loads(invoke("players", game, "--json").stdout)
    assert {one["name"] for one in found} == players_of(game).keys()
    assert {one["game"] for one in found} == {game}
    shown = invoke("players", game).stdout
    for one in found:
        assert one["meaning"]
        assert one["example"].startswith(one["name"])
        assert one["example"] in shown
        for option in one["options"]:
            assert all(option[key] for key in ("name", "type", "meaning"))
            assert option["name"] in shown


@pytest.mark.usefixtures("shipped")
def test_defaults_bounds_and_other_names_are_listed():
    (mcts,) = (one for one in json.loads(invoke("players", "gomoku", "--json").stdout) if one["name"] == "mcts")
    options = {option["name"]: option for option in mcts["options"]}
    assert options["c"] == {**options["c"], "type": "number, at least 0", "default": "0.15"}
    assert options["nodes"]["also"] == "playouts"
    (chooser,) = (one for one in json.loads(invoke("players", "amazons", "--json").stdout) if one["with_options"])
    assert (chooser["name"], chooser["with_options"][-1]) == ("alphabeta", "nodes_per_ms")


@pytest.mark.usefixtures("shipped")
def test_all_games_without_one_and_no_other():
    assert {one["game"] for one in json.loads(invoke("players", "--json").stdout)} == {"amazons", "gomoku"}
    assert refusal("players", "go") == "no players of 'go'; there are those of: amazons, gomoku"
    assert refusal("players", "chess").startswith("no game called 'chess'; there are: amazons, go, gomoku")


def test_players_of_a_game_in_one_file_are_listed():
    assert {one["name"] for one in json.loads(invoke("players", "hex", "--json").stdout)} == {"random", "mcts", "net"}


def test_the_levels_of_each_board_are_listed_with_their_elo():
    shown = invoke("levels", "gomoku").stdout
    for ladder in ladders("gomoku"):
        assert f"{ladder.size}x{ladder.size} {ladder.variant}" in shown
        for level in ladder.levels:
            assert level.player in shown
            assert not level.measured or f"{level.low:.0f} to {level.high:.0f}" in shown
    wanted = [ladder.model_dump(mode="json") for ladder in ladders()]
    for ladder, row in zip(ladders(), wanted, strict=True):
        for one, level in zip(ladder.levels, row["levels"], strict=True):
            level |= {} if one.measured else dict.fromkeys(("elo", "low", "high", "games", "ms"))
    assert json.loads(invoke("levels", "--json").stdout) == wanted
    assert refusal("levels", "go") == "no levels of 'go'; there are those of: gomoku, amazons"

import errno
import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest
from typer.testing import CliRunner

from pipeline_src.arena import match
from pipeline_src.cli.app import app
from pipeline_src.errors import ZugwerkError
from pipeline_src.games import amazons
from pipeline_src.records.record import read_records
from tests.arena import fakes  # noqa: F401 - registers the players
from tests.players.engines.test_brain import SCRIPT


def run(*words):
    return CliRunner().invoke(app, words)


def test_a_match_as_table_and_as_json(tmp_path):
    words = ["match", "amazons", "one_ply", "random", "--games", "4", "--size", "6", "--sprt", "0,50"]
    table = run(*words).stdout
    assert re.search(r"won +│ 4 +│ 0", table)
    assert "score 100.0%" in table
    assert "SPRT undecided" in table
    out = tmp_path / "games.parquet"
    found = json.loads(run(*words, "--json", "--out", str(out)).stdout)
    assert (found["wins"], found["elo"], found["status"]) == (4, None, "finished")
    assert len(read_records(out)) == 4


def full(*arguments):
    raise OSError(errno.ENOSPC, "No space left on device", "games.parquet")


def test_result_is_printed_even_if_games_cannot_be_written(tmp_path, monkeypatch):
    out = tmp_path / "games.parquet"
    words = ["match", "amazons", "one_ply", "random", "--games", "4", "--size", "6", "--out", str(out)]
    monkeypatch.setattr(match, "write_records", full)
    done = run(*words)
    assert "score 100.0%" in done.stdout
    assert done.exit_code == 1
    assert str(done.exception) == (
        "4 of 4 games played: games.parquet: the disk is full; free some of it and run the same command again; "
        f"the finished pairs are in {out.with_suffix('.journal.jsonl')}"
    )


def test_limits_and_clocks_reach_the_players():
    words = ["--games", "2", "--size", "6", "--openings", "none", "--json"]
    found = json.loads(run("match", "amazons", "fake", "random", "--movetime", "5", *words).stdout)
    assert found["a"] == "fake:movetime=5"
    assert found["sides"]["a"]["mean_ms"] > 4
    late = json.loads(run("match", "amazons", "fake:first_ms=30", "random", "--clock", "50+0", *words).stdout)
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
    done = run("match", "amazons", *words)
    assert done.exit_code == 1
    assert message in str(done.exception)


def test_forfeit_is_explained_and_refusal_is_no_loss():
    brain = f"brain:'{sys.executable}' -S '{SCRIPT}'"
    words = ["match", "gomoku", f"{brain} suggest", "random", "--size", "5", "--games", "2", "--openings", "random:2"]
    told = " ".join(run(*words).stdout.split())
    assert told.startswith("decided by forfeits: ")
    assert "game 1: A forfeits (illegal), move 3: engine" in told
    assert "answers 'SUGGEST 2,2' in place of a move; its last lines: OK | SUGGEST 2,2" in told
    refused = run("match", "gomoku", "random", f"{brain} refuses", "--games", "2")
    assert refused.exit_code == 1
    assert "does not play on 15x15: ERROR too big" in str(refused.exception)


def test_match_without_legal_moves_has_no_result():
    brain = f"brain:'{sys.executable}' -S '{SCRIPT}'"
    words = ["match", "gomoku", "random", f"{brain} gibberish", "--size", "5", "--games", "2"]
    done = run(*words)
    told = " ".join(done.stdout.split())
    assert done.exit_code == 1
    assert "made no legal move in time in any game" in told
    assert "score" not in told
    done = run(*words, "--json")
    found = json.loads(done.stdout)
    assert (done.exit_code, found["score"], found["wins"]) == (1, None, 2)
    assert "made no legal move" in found["no_result"]


@pytest.mark.slow
def test_ctrl_c_ends_with_a_summary(tmp_path):
    out = tmp_path / "games.parquet"
    games = ["--games", "2000", "--size", "6"]  # more than there is time for
    words = ["alphabeta:nodes=300", "random", *games, "--workers", "2", "--out", str(out), "--json"]
    line = [sys.executable, "-m", "pipeline_src.cli", "match", "amazons", *words]
    journal = out.with_suffix(".journal.jsonl")
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True) as process:
        end = time.monotonic() + 200  # kernels may have to be compiled first
        while not (journal.exists() and journal.read_bytes().count(b"\n") > 1) and time.monotonic() < end:
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        try:
            stdout, stderr = process.communicate(timeout=200)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    found = json.loads(stdout)
    assert process.returncode == 130
    assert found["status"] == "interrupted"
    assert 2 <= found["games"] < 2000
    assert re.fullmatch(
        r"interrupted: \d+ of 2000 games played; the same command goes on with the rest\n", stderr.decode()
    )
    assert len(read_records(out)) == found["games"]


def test_move_of_any_player():
    state = amazons.initial_state()
    found = json.loads(run("amazons", "move", "--player", "fake", "--json").stdout)
    assert amazons.is_legal(state, amazons.parse_move(found["move"]))
    assert found["value"] == 1.25
    assert found["nodes"] >= 50
    assert found["pv"] == [found["move"]]
    text = run("amazons", "move", "--player", "fake").stdout
    assert re.match(r"\S+  value \+1\.25, depth \d+, [\d,]+ nodes, \d+\.\d\d s\npv \S+\n$", text)
    assert amazons.is_legal(state, amazons.parse_move(run("amazons", "move", "--player", "one_ply").stdout))
    over = run("amazons", "move", "--player", "one_ply", "--fen", "q*8/**8/10/10/10/10/10/10/10/10 b")
    assert "the game is over" in str(over.exception)


def test_a_match_of_gomoku(tmp_path):
    out = tmp_path / "games.parquet"
    words = "match gomoku alphabeta:depth=1 random --games 4 --size 5 --variant freestyle-4 --json"
    done = run(*words.split(), "--out", str(out))
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["games"] == 4
    assert {(record.game, record.variant, record.width) for record in read_records(out)} == {
        ("gomoku", "freestyle-4", 5)
    }
    unknown = run("match", "chess", "random", "random")
    assert isinstance(unknown.exception, ZugwerkError)
    assert "there are: amazons, go, gomoku" in str(unknown.exception)

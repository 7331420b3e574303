import dataclasses
import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from pipeline_src.arena import matches, pairs
from pipeline_src.arena.journal import PairJournal
from pipeline_src.arena.matches import journal_of, run_match
from pipeline_src.arena.openings import Opening
from pipeline_src.arena.spec import MatchSpec, with_limits
from pipeline_src.arena.sprt import Sprt
from pipeline_src.arena.summary import summarise
from pipeline_src.arena.timed import TimedGame, Timing, play_timed
from pipeline_src.errors import ZugwerkError
from pipeline_src.games import amazons
from pipeline_src.games.game import get_game
from pipeline_src.parallel import Parallel
from pipeline_src.records.parquet import read_records
from tests.arena import fakes  # noqa: F401 - fakes registers players
from tests.players.engines.test_uci import command

GAME = get_game("amazons")
TWO = Parallel(workers=2)
SPEC = MatchSpec("amazons", "one_ply:noise=1", "one_ply:noise=2", games=8, size=6)


def uci(mode, *more, options="movetime=150,grace=200"):
    return f"uci:{command(mode, *more)},{options}"


def moves(pair):
    return [(game.actions, game.winner, game.forfeit) for game in pair]


class Slow:
    """Plays the first legal turn after so many milliseconds, move by move, the last for ever."""

    def __init__(self, *waits):
        self.waits = list(waits)

    def choose(self, positions):
        time.sleep((self.waits.pop(0) if len(self.waits) > 1 else self.waits[0]) / 1000)
        return [int(amazons.legal_actions(position.state)[0]) for position in positions]


def timed(first, second, **timing):
    start = amazons.initial_state(6)
    return play_timed(GAME, (first, second), Opening(), start, np.random.default_rng(0), Timing(**timing))


def test_games_are_played_to_their_end_and_timed():
    game = timed(Slow(0), Slow(0))
    state = amazons.initial_state(6)
    for action in game.actions:
        assert amazons.winner(state) is None
        state = amazons.play(state, action)
    assert amazons.winner(state) == game.winner
    assert game.forfeit is None
    assert len(game.times) == len(game.actions)
    assert game.times_of(0, 0) == game.times[::2]
    assert game.times_of(0, 1) == game.times[1::2]


def test_who_takes_longer_than_its_movetime_loses():
    game = timed(Slow(0), Slow(0, 60), movetimes=(None, 20.0), margin=20.0)
    assert (game.winner, game.forfeit, len(game.actions), len(game.times)) == ("first", "time", 3, 4)
    assert game.times[3] > 40
    assert timed(Slow(0), Slow(0, 30, 0), movetimes=(None, 20.0), margin=1000.0).forfeit is None


def test_a_flag_falls_and_increments_hold_it_up():
    game = timed(Slow(30), Slow(0), clock=(100.0, 0.0))
    assert (game.winner, game.forfeit) == ("second", "time")
    assert len(game.times_of(0, 0)) in (3, 4)
    assert timed(Slow(5, 5, 0), Slow(0), clock=(20.0, 100.0)).forfeit is None


@pytest.mark.slow
def test_a_match_is_the_same_with_any_number_of_workers(tmp_path):
    alone = run_match(SPEC, tmp_path / "a.parquet")
    two = run_match(SPEC, tmp_path / "b.parquet", TWO)
    assert alone.status == two.status == "finished"
    assert (alone.wins, alone.losses, alone.pentanomial) == (two.wins, two.losses, two.pentanomial)
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()
    records = read_records(tmp_path / "a.parquet")
    assert [record.gid for record in records] == list(range(1, 9))
    assert [record.first_name for record in records] == [SPEC.a, SPEC.b] * 4
    won = sum((record.first_name == SPEC.a) == (record.winner == "first") for record in records)
    assert (alone.wins, alone.losses) == (won, 8 - won)
    assert alone.score.value == won / 8
    for even, odd in zip(records[::2], records[1::2], strict=True):
        assert even.actions[:2] == odd.actions[:2]


def test_a_match_goes_on_where_its_journal_ends(tmp_path, monkeypatch):
    whole = run_match(SPEC, tmp_path / "whole.parquet")
    out = tmp_path / "games.parquet"
    run_match(dataclasses.replace(SPEC, games=4), out)
    journal = journal_of(out)
    journal.write_bytes(journal.read_bytes() + b'{"pair":2,"games":[{"sta')  # torn by a kill
    played = []
    monkeypatch.setattr(matches, "play_pair", lambda *task: played.append(task[1]) or pairs.play_pair(*task))
    again = run_match(SPEC, out)
    assert played == [2, 3]
    assert out.read_bytes() == (tmp_path / "whole.parquet").read_bytes()
    assert (again.wins, again.pentanomial) == (whole.wins, whole.pentanomial)
    run_match(SPEC, out)
    assert len(played) == 2
    run_match(SPEC, out, resume=False)
    assert len(played) == 6


@pytest.mark.slow
def test_a_killed_match_loses_no_finished_pair(tmp_path):
    """kill -9 on the command and on nothing else: its workers end by themselves."""
    spec = MatchSpec("amazons", "one_ply:noise=1", "one_ply:noise=2", games=60, size=6)
    out = tmp_path / "games.parquet"
    arguments = [spec.a, spec.b, "--games", "60", "--size", "6", "--workers", "2", "--out", str(out), "--json"]
    line = [sys.executable, "-m", "tests.arena.fakes", "match", "amazons", *arguments]
    journal = journal_of(out)
    with subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        end = time.monotonic() + 60
        while not (journal.exists() and journal.read_bytes().count(b"\n") > 3) and time.monotonic() < end:
            time.sleep(0.005)
        children = _children(process.pid)
        process.kill()
    assert len(children) >= 2
    assert not out.exists()
    before = journal.read_bytes().split(b"\n")[:-1]
    end = time.monotonic() + 10
    while any(map(_alive, children)) and time.monotonic() < end:
        time.sleep(0.02)
    assert not any(map(_alive, children))
    summary = run_match(spec, out)
    lines = journal.read_bytes().split(b"\n")[:-1]
    assert lines[: len(before)] == before
    assert sorted(json.loads(line)["pair"] for line in lines[1:]) == list(range(30))
    assert summary.games == 60
    run_match(spec, tmp_path / "whole.parquet")
    assert out.read_bytes() == (tmp_path / "whole.parquet").read_bytes()


def test_a_journal_of_another_match_is_refused(tmp_path):
    out = tmp_path / "games.parquet"
    run_match(dataclasses.replace(SPEC, games=2), out)
    with pytest.raises(ZugwerkError, match=r"the journal of another match \(b, seed differs\)"):
        run_match(dataclasses.replace(SPEC, b="random", seed=2), out)
    with PairJournal(journal_of(out), SPEC.identity()), pytest.raises(ZugwerkError, match="another match is writing"):
        run_match(SPEC, out)
    journal_of(out).write_text("nonsense\n")
    with pytest.raises(ZugwerkError, match="damaged"):
        run_match(SPEC, out)


def test_openings_from_a_changed_file_are_another_match(tmp_path):
    book = tmp_path / "book.txt"
    book.write_text("1q1/3/1Q1 w\n")
    spec = MatchSpec("amazons", "random", "random", games=2, openings=str(book))
    run_match(spec, tmp_path / "games.parquet")
    assert {record.variant for record in read_records(tmp_path / "games.parquet")} == {"1q1/3/1Q1 w"}
    book.write_text("1q1/3/1Q1 b\n")
    with pytest.raises(ZugwerkError, match="openings_sha256 differs"):
        run_match(spec, tmp_path / "games.parquet")


@pytest.mark.parametrize(
    ("mode", "kind"), [("illegal", "illegal"), ("none", "illegal"), ("crash", "crash"), ("late=300", "time")]
)
def test_an_engine_that_fails_loses_its_games_and_no_more(tmp_path, mode, kind):
    spec = MatchSpec("amazons", uci(mode, options="movetime=100,grace=1000"), "random", games=4, size=6)
    summary = run_match(spec, tmp_path / "games.parquet")
    assert (summary.wins, summary.losses) == (0, 4)
    assert summary.sides[0].forfeits == {kind: 4}
    assert summary.sides[1].forfeits == {}
    assert {record.event for record in read_records(tmp_path / "games.parquet")} == {f"forfeit:{kind}"}


def test_an_engine_that_crashed_plays_the_next_game(tmp_path):
    spec = MatchSpec("amazons", uci("once", tmp_path / "mark"), "random", games=4, size=6)
    summary = run_match(spec)
    assert summary.sides[0].forfeits == {"crash": 1}
    assert summary.sides[0].moves_per_game > 2
    assert not pairs._KEPT


def test_an_engine_that_cannot_start_ends_the_match_before_it_begins():
    with pytest.raises(ZugwerkError, match="cannot be started"):
        run_match(MatchSpec("amazons", "random", "uci:/no/such", games=2))


def test_the_sequential_test_ends_a_match(tmp_path):
    spec = MatchSpec("amazons", "one_ply", "random", games=200, size=6)
    summary = run_match(spec, tmp_path / "games.parquet", sprt=Sprt(0, 200))
    assert (summary.status, summary.sprt.verdict) == ("decided", "H1")
    assert summary.games == 2 * summary.sprt.pairs < 200
    again = run_match(spec, tmp_path / "games.parquet", sprt=Sprt(0, 200))
    assert (again.games, again.sprt) == (summary.games, summary.sprt)


def test_an_interrupt_ends_with_what_was_played(tmp_path, monkeypatch):
    def interrupted(spec, number, opening):
        if number == 2:
            raise KeyboardInterrupt
        return pairs.play_pair(spec, number, opening)

    monkeypatch.setattr(matches, "play_pair", interrupted)
    summary = run_match(SPEC, tmp_path / "games.parquet")
    assert (summary.status, summary.games) == ("interrupted", 4)
    assert len(read_records(tmp_path / "games.parquet")) == 4


def test_the_summary_counts_for_the_right_player():
    def game(winner, times, forfeit=None, opening=0):
        return TimedGame("", (1,) * (len(times) + opening), winner, times, forfeit, "", opening)

    played = {
        0: (game("first", (1.0, 10.0, 3.0)), game("second", (20.0, 5.0))),
        2: (game("second", (7.0, 30.0), "time"), game("second", (40.0, 9.0), "crash", 1)),
    }
    summary = summarise(SPEC, played, "finished", Sprt(0, 10))
    assert (summary.wins, summary.draws, summary.losses) == (3, 0, 1)
    assert summary.pentanomial == (0, 0, 1, 0, 1)
    a, b = summary.sides
    assert (a.mean_ms, a.max_ms) == (pytest.approx((1 + 3 + 5 + 7 + 40) / 5), 40)
    assert (b.mean_ms, b.max_ms) == (pytest.approx((10 + 20 + 30 + 9) / 4), 30)
    assert (a.moves_per_game, b.moves_per_game) == (5 / 4, 1)
    assert (a.forfeits, b.forfeits) == ({"time": 1}, {"crash": 1})
    assert summary.first_side_score == 0.25
    assert summary.sprt.pairs == 1  # pair 1 is missing, so that 2 cannot count yet
    assert json.loads(json.dumps(summary.as_json(), allow_nan=False))["sides"]["a"]["forfeits"] == {"time": 1}


def test_default_limits_go_to_those_who_take_them():
    limits = {"movetime": 250.0, "nodes": None, "depth": None}
    assert with_limits("amazons", "random", limits) == "random"
    assert with_limits("amazons", "one_ply:noise=1", limits) == "one_ply:noise=1"
    assert with_limits("amazons", "uci:x -y", limits) == "uci:x -y,movetime=250"
    assert with_limits("amazons", "uci:x,nodes=3", limits) == "uci:x,nodes=3"
    assert with_limits("amazons", "fake", {"movetime": None, "nodes": 1_000_000, "depth": None}) == "fake:nodes=1000000"
    with pytest.raises(ZugwerkError, match="no player 'nobody'"):
        with_limits("amazons", "nobody", limits)


@pytest.mark.parametrize("changes", [{"games": 3}, {"games": 0}, {"clock": (0.0, 1.0)}, {"margin": -1.0}, {"seed": -1}])
def test_bad_matches_are_refused(changes):
    with pytest.raises(ZugwerkError):
        dataclasses.replace(SPEC, **changes)


def _children(pid):
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1]) == pid:
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


def _alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False

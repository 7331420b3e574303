"""Matches: pairs from openings, faults of players, and games that are kept and resumed."""

import contextlib
import dataclasses
import json
import os
import re
import resource
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
import torch

from pipeline_src.arena import match, runner
from pipeline_src.arena.journal import Journal
from pipeline_src.arena.match import MatchSpec, engine_logs_of, journal_of, run_match, with_limits
from pipeline_src.arena.result import Sprt
from pipeline_src.arena.runner import Board, play_match
from pipeline_src.errors import ZugwerkError
from pipeline_src.parallel import Parallel
from pipeline_src.records.record import read_records
from pipeline_src.systems.amazons_net.nets import AmazonsConfig, AmazonsNets, save_nets
from tests.arena import fakes  # noqa: F401 - registers players
from tests.arena.gomoku_stubs import stubs  # noqa: F401
from tests.players.test_programs import SCRIPT, command

ALONE, TWO = Parallel(workers=1), Parallel(workers=2)
SPEC = MatchSpec("amazons", "one_ply:noise=1", "one_ply:noise=2", games=8, size=6)


def play(a, b, parallel=ALONE, pairs=3, opening_plies=2, seed=(9, 4, 0), size=6, journal=None):
    return play_match(Board("amazons", size), a, b, pairs, opening_plies, seed, parallel, journal)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    torch.manual_seed(3)
    path = tmp_path_factory.mktemp("model") / "nets.pt"
    save_nets(path, AmazonsNets(AmazonsConfig(size=6, width=0.1)))
    return path


def test_opening_is_played_exactly_twice():
    result = play("random", "one_ply", pairs=20)
    openings = [game.actions[:2] for game in result.games]
    assert openings[::2] == openings[1::2]
    assert len(set(openings)) == 20
    assert result.score.n == 40
    assert result.standing.losses > 30  # one ply deep beats chance


def test_no_two_games_share_random_numbers():
    for plies in (0, 2):
        games = play("random", "random", pairs=8, opening_plies=plies).games
        assert len({game.actions for game in games}) == 16
    assert play("one_ply", "one_ply", pairs=5).score.value == 0.5


def test_the_number_of_pairs_leaves_earlier_pairs_as_they_are():
    many = play("one_ply:noise=2", "random", pairs=5).games
    assert play("one_ply:noise=2", "random", pairs=4).games == many[:8]


def test_waiting_engine_is_not_late_by_cpu_time():
    spec = MatchSpec(
        "gomoku", "random", f"{brain('late=120')},movetime=50,name=waits", 2, "none", 5, "freestyle", margin=20.0
    )
    found = run_match(dataclasses.replace(spec, cpu_time=True))
    assert not found.forfeited
    assert max(max(game.spent) for game in found.games) < 70
    assert run_match(spec).forfeited


@pytest.mark.slow
def test_result_is_independent_of_workers(model):
    """Nets play the same moves in this process, whatever torch's threads here, as in workers."""
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        alone = play(f"nets:{model}", "one_ply:noise=1")
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(threads)
    assert play(f"nets:{model}", "one_ply:noise=1", Parallel(workers=2)).games == alone.games


def test_nets_for_other_sizes_are_refused(model):
    with pytest.raises(ZugwerkError, match="8x8 board, but these nets play on 6x6"):
        play(f"nets:{model}", "random", size=8)


@pytest.mark.usefixtures("stubs")
def test_games_of_a_variant():
    games = play_match(Board("gomoku", 4, "freestyle-3"), "random", "random", 2, 1, [1], ALONE).games
    assert [game.actions[0] for game in games[::2]] == [game.actions[0] for game in games[1::2]]
    with pytest.raises(ZugwerkError, match="a line of 5"):
        play_match(Board("gomoku", 4, "freestyle"), "random", "random", 2, 1, [1], ALONE)


def brain(mode):
    return f"brain:'{sys.executable}' -S '{SCRIPT}' {mode}"


def uci(mode, *more, options="movetime=150,grace=200"):
    return f"uci:{command(mode, *more)},{options}"


@pytest.mark.slow
def test_a_match_is_the_same_with_any_number_of_workers(tmp_path):
    alone = run_match(SPEC, tmp_path / "a.parquet")
    two = run_match(SPEC, tmp_path / "b.parquet", TWO)
    assert alone.status == two.status == "finished"
    assert (alone.standing, alone.pentanomial) == (two.standing, two.pentanomial)
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()
    records = read_records(tmp_path / "a.parquet")
    assert [record.gid for record in records] == list(range(1, 9))
    assert [record.first_name for record in records] == [SPEC.a, SPEC.b] * 4
    won = sum((record.first_name == SPEC.a) == (record.winner == "first") for record in records)
    assert (alone.standing.wins, alone.standing.losses) == (won, 8 - won)
    assert alone.score.value == won / 8
    for even, odd in zip(records[::2], records[1::2], strict=True):
        assert even.actions[:2] == odd.actions[:2]


def test_match_resumes_from_its_journal(tmp_path, monkeypatch):
    whole = run_match(SPEC, tmp_path / "whole.parquet")
    out = tmp_path / "games.parquet"
    run_match(dataclasses.replace(SPEC, games=4), out)
    journal = journal_of(out)
    journal.write_bytes(journal.read_bytes() + b'{"key":"2","value":[{"sta')  # torn by a kill
    played, play_group = [], match.play_group

    def noted(board, fixtures):
        played.append(fixtures[0].seed[2])
        return play_group(board, fixtures)

    monkeypatch.setattr(match, "play_group", noted)
    again = run_match(SPEC, out)
    assert played == [2, 3]
    assert out.read_bytes() == (tmp_path / "whole.parquet").read_bytes()
    assert (again.standing, again.pentanomial) == (whole.standing, whole.pentanomial)
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
        end = time.monotonic() + 200
        while not (journal.exists() and journal.read_bytes().count(b"\n") > 3) and time.monotonic() < end:
            time.sleep(0.005)
        children = psutil.Process(process.pid).children()
        process.kill()
    assert len(children) >= 2
    assert not out.exists()
    before = journal.read_bytes().split(b"\n")[:-1]
    _, alive = psutil.wait_procs(children, timeout=60)
    assert not alive
    whole = run_match(spec, out)
    lines = journal.read_bytes().split(b"\n")[:-1]
    assert lines[: len(before)] == before
    assert sorted(int(json.loads(line)["key"]) for line in lines[1:]) == list(range(30))
    assert len(whole.games) == 60
    run_match(spec, tmp_path / "whole.parquet")
    assert out.read_bytes() == (tmp_path / "whole.parquet").read_bytes()


def test_journal_of_a_different_match_is_refused(tmp_path):
    out = tmp_path / "games.parquet"
    run_match(dataclasses.replace(SPEC, games=2), out)
    with pytest.raises(ZugwerkError, match=r"the journal of another match \(b, seed differs\)"):
        run_match(dataclasses.replace(SPEC, b="random", seed=2), out)
    with Journal(journal_of(out), SPEC.identity()), pytest.raises(ZugwerkError, match="another match is writing"):
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


def test_games_of_a_changed_net_are_another_match(tmp_path, model):
    other = tmp_path / "nets.pt"
    other.write_bytes(Path(model).read_bytes())
    spec, out = MatchSpec("amazons", f"nets:{other}", "random", games=2, size=6), tmp_path / "games.parquet"
    run_match(spec, out)
    with open(other, "ab") as file:
        file.write(b"another one")
    with pytest.raises(ZugwerkError, match="players_sha256 differs"):
        run_match(dataclasses.replace(spec, games=4), out)


@pytest.mark.parametrize(
    ("mode", "kind", "why"),
    [
        ("illegal", "illegal", r"move \d+: engine '.*' plays a1a1a1, which is not legal; its last lines: .*"),
        ("none", "illegal", r"move \d+: engine '.*' answers that it has no move; its last lines: .* bestmove \(none\)"),
        ("crash", "crash", r"move \d+: engine '.*' crashed \(status 3\); its last lines: .*"),
        ("late=300", "time", r"move \d+: late by \d+ ms: \d+ ms for a move of 100 ms; its last lines: .* bestmove .*"),
    ],
)
def test_failing_engine_loses_only_its_games(tmp_path, mode, kind, why):
    spec = MatchSpec("amazons", uci(mode, options="movetime=100,grace=1000,first=0"), "random", games=4, size=6)
    found = run_match(spec, tmp_path / "games.parquet")
    assert (found.standing.wins, found.standing.losses) == (0, 4)
    assert found.side(0).forfeits == {kind: 4}
    assert found.side(1).forfeits == {}
    assert all(re.fullmatch(why, game.detail) for game in found.games)
    events = [record.event for record in read_records(tmp_path / "games.parquet")]
    assert events == [f"forfeit:{kind}: {game.detail}" for game in found.games]
    told = found.as_json()["forfeits"]
    assert [(one["game"], one["player"], one["kind"]) for one in told] == [(k, "a", kind) for k in (1, 2, 3, 4)]
    assert [one["detail"] for one in told] == [game.detail for game in found.games]


def test_engine_stderr_is_kept_next_to_journal(tmp_path):
    out = tmp_path / "games.parquet"
    run_match(MatchSpec("gomoku", brain("crash"), brain("good"), games=2, openings="random:1", size=5), out)
    (kept,) = engine_logs_of(out).iterdir()
    assert kept.name.endswith("-S-scripted_brain.py-crash.stderr.txt")
    assert kept.read_text() == "warming up\nno memory \x1b[31mleft\n" * 2


def test_an_engine_that_crashed_plays_the_next_game(tmp_path):
    spec = MatchSpec(
        "amazons", uci("once", tmp_path / "mark", options="movetime=1000,moves=joined"), "random", games=4, size=6
    )
    found = run_match(spec)
    assert found.side(0).forfeits == {"crash": 1}
    assert found.side(0).moves_per_game > 2
    assert runner.player("amazons", spec.a)._process is None  # nobody's engine outlives the match


def test_engine_that_cannot_start_ends_match_before_first_game():
    with pytest.raises(ZugwerkError, match="cannot be started"):
        run_match(MatchSpec("amazons", "random", "uci:/no/such", games=2))


def test_the_sequential_test_ends_a_match(tmp_path):
    spec = MatchSpec("amazons", "one_ply", "random", games=200, size=6)
    found = run_match(spec, tmp_path / "games.parquet", sprt=Sprt(0, 200))
    assert (found.status, found.test.verdict) == ("decided", "H1")
    assert len(found.games) == 2 * found.test.pairs < 200
    again = run_match(spec, tmp_path / "games.parquet", sprt=Sprt(0, 200))
    assert (again.games, again.test) == (found.games, found.test)


def test_interrupt_returns_games_played_so_far(tmp_path, monkeypatch):
    play_group = match.play_group

    def interrupted(board, fixtures):
        if fixtures[0].seed[2] == 2:
            raise KeyboardInterrupt
        return play_group(board, fixtures)

    monkeypatch.setattr(match, "play_group", interrupted)
    found = run_match(SPEC, tmp_path / "games.parquet")
    assert (found.status, len(found.games)) == ("interrupted", 4)
    assert len(read_records(tmp_path / "games.parquet")) == 4


@contextlib.contextmanager
def files_of_at_most(size):
    """Every write beyond so many bytes of a file fails, as on a full disk, once the function has been called."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        yield lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize(("pairs", "played", "missing"), [(1, 4, "journal.jsonl"), (4, 8, "parquet")])
def test_a_full_disk_loses_no_result(tmp_path, pairs, played, missing):
    whole = run_match(SPEC, tmp_path / "whole.parquet")
    out = tmp_path / "games.parquet"
    with files_of_at_most(100) as fill:
        found = run_match(SPEC, out, on_pair=lambda so_far: fill() if len(so_far.pairs) == pairs else None)
    assert len(found.games) == played
    assert [game.actions for game in found.games] == [game.actions for game in whole.games[:played]]
    assert found.status == ("finished" if played == 8 else "incomplete")
    assert re.fullmatch(rf"{re.escape(str(out.with_suffix('.' + missing)))}: .*File too large", found.unwritten)
    assert not out.exists()
    again = run_match(SPEC, out)
    assert (again.status, again.unwritten) == ("finished", "")
    assert out.read_bytes() == (tmp_path / "whole.parquet").read_bytes()


def test_unwritable_folder_is_reported_before_first_game(tmp_path, monkeypatch):
    monkeypatch.setattr(match, "play_group", None)
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="file"):
        run_match(SPEC, tmp_path / "file" / "games.parquet")


NO_LIMITS = dict.fromkeys(("movetime", "nodes", "depth"))
TIME = NO_LIMITS | {"movetime": 250.0}


@pytest.mark.parametrize(
    ("game", "text", "limits", "found"),
    [
        ("amazons", "one_ply:noise=1", TIME, "one_ply:noise=1"),
        ("amazons", "uci:x -y", TIME, "uci:x -y,movetime=250"),
        ("amazons", "uci:x,nodes=3", TIME, "uci:x,nodes=3"),
        ("amazons", "fake", NO_LIMITS | {"nodes": 1_000_000}, "fake:nodes=1000000"),
        ("amazons", "uct:iterations=9", TIME, "uct:iterations=9"),
        ("gomoku", "mcts", TIME, "mcts:movetime=250"),
    ],
)
def test_default_limits_apply_to_players_that_take_them(game, text, limits, found):
    assert with_limits(game, text, limits) == found


@pytest.mark.parametrize(
    ("text", "limits", "said"),
    [
        ("mcts", TIME | {"depth": 3}, "player 'mcts' has no depth; its limits: movetime, nodes"),
        ("minimax", TIME | {"nodes": 5}, "has no movetime or nodes; its limits: depth"),
        ("brain:x", NO_LIMITS | {"nodes": 5}, "player 'brain:x' has no nodes; its limits: movetime"),
    ],
)
def test_limits_that_a_player_does_not_have_are_refused(text, limits, said):
    with pytest.raises(ZugwerkError, match=said):
        with_limits("gomoku", text, limits)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("mcts:playouts=20", "player 'mcts:playouts=20': on a clock .* leave out playouts, or the clock"),
        ("alphabeta:depth=3,nodes=9", "leave out depth and nodes, or the clock"),
        ("brain:x,movetime=50", "leave out movetime, or the clock"),
        ("zero:simulations=30", "leave out simulations, or the clock"),
    ],
)
def test_a_limit_that_the_clock_would_replace_is_refused(text, said):
    assert with_limits("gomoku", text, NO_LIMITS) == text
    with pytest.raises(ZugwerkError, match=said):
        with_limits("gomoku", text, NO_LIMITS, on_clock=True)
    for other in ("mcts:c=1", "random", "minimax:depth=1", "brain:x"):
        assert with_limits("gomoku", other, NO_LIMITS, on_clock=True) == other


def test_minimax_and_engine_of_other_dialect_play_a_clocked_game():
    spec = MatchSpec("gomoku", "minimax:depth=1", "random", 2, "random:2", 5, clock=(60_000.0, 0.0))
    assert {game.ended for game in run_match(spec).games} == {"board"}
    found = run_match(MatchSpec("amazons", uci("pairs", options="movetime=100"), "random", games=2, size=6))
    assert ({game.ended for game in found.games}, found.no_result) == ({"board"}, "")


def test_a_side_without_a_legal_move_makes_no_result():
    spec = MatchSpec("amazons", "random", uci("variant"), games=4, size=6)
    found = run_match(spec)
    assert (found.standing.wins, found.mute) == (4, 1)
    assert found.no_result == f"{spec.b} made no legal move in time in any game"
    told = found.as_json()
    assert (told["score"], told["elo"], told["no_result"]) == (None, None, found.no_result)


def test_out_that_is_no_archive_is_left_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(match, "play_group", None)
    (tmp_path / "notes.txt").write_text("notes")
    os.mkfifo(tmp_path / "pipe")
    folder, other = r"is a folder; name a Parquet file .*games.parquet", "exists and is no archive of games"
    cases = {tmp_path: folder, Path(): folder, tmp_path / "notes.txt": other, tmp_path / "pipe": other}
    for out, said in cases.items():
        with pytest.raises(ZugwerkError, match=said):
            run_match(SPEC, out)
    assert (tmp_path / "notes.txt").read_text() == "notes"
    assert len(list(tmp_path.iterdir())) == 2


def test_an_archive_without_a_journal_is_kept(tmp_path):
    out = tmp_path / "games.parquet"
    spec = dataclasses.replace(SPEC, games=2)
    run_match(spec, out)
    journal_of(out).unlink()
    before = out.read_bytes()
    with pytest.raises(ZugwerkError, match=r"no journal \(games.journal.jsonl\) .* use --no-resume to replace it"):
        run_match(dataclasses.replace(spec, seed=2), out)
    assert out.read_bytes() == before
    run_match(dataclasses.replace(spec, seed=2), out, resume=False)
    assert out.read_bytes() != before


@pytest.mark.parametrize("changes", [{"games": 3}, {"games": 0}, {"clock": (0.0, 1.0)}, {"margin": -1.0}, {"seed": -1}])
def test_bad_matches_are_refused(changes):
    with pytest.raises(ZugwerkError):
        dataclasses.replace(SPEC, **changes)

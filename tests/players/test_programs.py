"""Other programs as players, by UCI and by the Gomocup protocol: what they are sent, and what they may do wrong."""

import gc
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from pipeline_src.arena.match import MatchSpec, run_match
from pipeline_src.errors import ZugwerkError
from pipeline_src.games import amazons, gomoku
from pipeline_src.players import gomocup as brain_module
from pipeline_src.players import process as engine_module
from pipeline_src.players.gomocup import read_cell, write_cell
from pipeline_src.players.player import PlayerError, Position, RefusalError
from pipeline_src.players.process import EngineProcess
from pipeline_src.players.registry import make_player
from pipeline_src.search.limits import Clock
from tests.players.scripted_engine import START

ENGINE = Path(__file__).with_name("scripted_engine.py")
SMALL = "1q1/3/1Q1 w"


def command(mode, *more):
    return f"'{sys.executable}' -S '{ENGINE}' {mode} {' '.join(map(str, more))}".strip()


@pytest.fixture
def made():
    """Make players, and end them after the test."""
    players = []

    def make(game, text):
        players.append(make_player(game, text))
        return players[-1]

    yield make
    for one in players:
        one.close()


@pytest.fixture
def uci(made):
    def make(mode, *more, options="movetime=200,grace=60000"):
        return made("amazons", f"uci:{command(mode, *more)},{options}")

    return make


@pytest.fixture
def player(made):
    """A brain."""
    return lambda mode, *more, **options: made("gomoku", text(mode, *more, **options))


def place(fen=SMALL, actions=(), clock=None, with_start=True):
    start = amazons.from_fen(fen)
    state = start
    for action in actions:
        state = amazons.play(state, action)
    rng = np.random.default_rng(0)
    return Position(state, rng, start, tuple(actions), clock) if with_start else Position(state, rng)


def gone(pid):
    """Whether a process has ended; also where nobody has asked for its status yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True


def await_end(pid, seconds=60.0):
    end = time.monotonic() + seconds
    while not gone(pid) and time.monotonic() < end:
        time.sleep(0.01)
    return gone(pid)


@pytest.mark.parametrize("mode", ["good", "garbage"])
def test_a_legal_move_comes_back(uci, mode):
    engine = uci(mode)
    where = place()
    assert amazons.is_legal(where.state, engine.choose([where])[0])
    two = engine.choose([where, place(START)])
    assert amazons.is_legal(place(START).state, two[1])


def test_quotes_keep_commas_of_command_and_setting(tmp_path):
    program, log = tmp_path / "my engines, old" / "run it", tmp_path / "a,b.log"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\nexec '{sys.executable}' -S '{ENGINE}' \"$@\"\n")
    program.chmod(0o755)
    engine = make_player("amazons", f'uci:"{program}" good "{log}",movetime=200,grace=60000,option.Book="a, b=c"')
    engine.choose([place()])
    engine.close()
    assert "setoption name Book value a, b=c" in log.read_text()
    with pytest.raises(
        PlayerError, match=r"my' cannot be started: .*; a path with a space or comma needs double quotes"
    ):
        make_player("amazons", f"uci:{str(program).replace(',', '')}").choose([place()])


def test_sent_commands(uci, tmp_path):
    log = tmp_path / "log"
    engine = uci("good", log, options="movetime=50,nodes=7,option.Hash=16,name=old")
    first = int(amazons.legal_actions(amazons.initial_state())[0])
    engine.choose([place(START, [first])])
    engine.choose([place(SMALL)])
    engine.choose([place(SMALL, with_start=False)])
    engine.choose([place(START, [first], Clock(5000.7, 4000, 20))])
    engine.new_game()
    engine.new_game()
    assert log.read_text().splitlines() == [
        *("uci", "setoption name Hash value 16", "ucinewgame", "isready"),
        *("position startpos", "go movetime 50 nodes 7", "ucinewgame", "isready"),
        *("position startpos moves d1c1b1", "go movetime 50 nodes 7"),
        *(f"position fen {SMALL}", "go movetime 50 nodes 7"),
        *(f"position fen {SMALL}", "go movetime 50 nodes 7"),
        *("position startpos moves d1c1b1", "go wtime 4000 btime 5000 winc 20 binc 20"),
        *("ucinewgame", "isready"),
    ]


@pytest.mark.parametrize("ready", [False, True])
def test_moves_are_written_as_the_engine_writes_them(uci, tmp_path, ready):
    log = tmp_path / "log"
    engine = uci("pairs", log, options="nodes=7")
    first = int(amazons.legal_actions(amazons.initial_state())[0])
    if ready:
        engine.ready(place(START).start)
    where = place(START, [first])
    assert amazons.is_legal(where.state, engine.choose([where])[0])
    sent = log.read_text().splitlines()
    assert sent[-2:] == ["position startpos moves d1c1,c1b1", "go nodes 7"]
    assert sent.count("go movetime 50 nodes 7") == 1


def test_the_form_of_moves_may_be_given(uci, tmp_path):
    log = tmp_path / "log"
    first = int(amazons.legal_actions(amazons.initial_state())[0])
    for form, text in (("joined", "d1c1b1"), ("pairs", "d1c1,c1b1"), ("comma", "d1c1,b1")):
        engine = uci("gibberish", log, options=f"movetime=50,moves={form}")
        with pytest.raises(PlayerError):
            engine.choose([place(START, [first])])
        sent = log.read_text().splitlines()
        assert [line for line in sent if line.startswith("position")][-1] == f"position startpos moves {text}"
        assert "position startpos" not in sent


def test_the_first_answer_shows_the_form(uci, tmp_path):
    log = tmp_path / "log"
    engine = uci("pairs", log)
    own = engine.choose([place(START)])[0]
    state = amazons.play(amazons.initial_state(), own)
    other = int(amazons.legal_actions(state)[0])
    where = place(START, [own, other])
    assert amazons.is_legal(where.state, engine.choose([where])[0])
    assert log.read_text().count("go ") == 2


def test_an_engine_that_ended_is_started_again(uci, tmp_path):
    engine = uci("once", tmp_path / "mark")
    with pytest.raises(PlayerError, match=r"crashed \(status 3\)"):
        engine.choose([place()])
    assert amazons.is_legal(place().state, engine.choose([place()])[0])
    os.kill(engine._process.pid, signal.SIGKILL)
    assert await_end(engine._process.pid)
    assert amazons.is_legal(place().state, engine.choose([place()])[0])


@pytest.mark.parametrize("mode", ["hang", "child", "good"])
def test_nothing_outlives_close(uci, mode):
    engine = uci(mode)
    if mode == "hang":
        engine.ready()
        engine._process.send(f"position fen {SMALL}")
        engine._process.send("go")
    else:
        engine.choose([place()])
    pid = engine._process.pid
    members = _group(pid)
    assert len(members) == (2 if mode == "child" else 1)
    engine.close()
    engine.close()
    assert all(map(await_end, members))


@pytest.mark.slow
def test_no_file_handles_or_processes_are_left():
    def pipes():
        """Pipes that this process holds; earlier tests may leave some that are closed meanwhile."""
        gc.collect()
        links = [link for link in Path("/proc/self/fd").iterdir() if link.is_symlink()]
        return {target for target in map(os.path.realpath, links) if "pipe:" in target}

    before, pids = pipes(), []
    for close in (True, False):
        engine = make_player("amazons", f"uci:{command('good')}")
        engine.ready()
        assert pipes() - before
        pids.append(engine._process.pid)
        if close:
            engine.close()
        del engine
    gc.collect()
    assert all(map(await_end, pids))
    end = time.monotonic() + 60  # the reader closes its pipe once it has seen its end
    while pipes() - before and time.monotonic() < end:
        time.sleep(0.02)
    assert not pipes() - before


def test_an_engine_dies_with_the_process_that_started_it():
    """Even where that is killed, and the engine hangs."""
    program = (
        "import sys, time\n"
        "from pipeline_src.players.process import EngineProcess\n"
        "engine = EngineProcess([sys.executable, '-S', '-c', 'import time; time.sleep(1000)'])\n"
        "print(engine.pid, flush=True)\n"
        "time.sleep(1000)\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        pid = int(process.stdout.readline())
        assert not gone(pid)
        process.kill()
    assert await_end(pid)


def test_a_killed_engine_is_noticed():
    engine = EngineProcess([sys.executable, "-S", "-c", "import time; time.sleep(1000)"])
    os.kill(engine.pid, signal.SIGKILL)
    with pytest.raises(PlayerError, match=r"crashed \(SIGKILL\)"):
        engine.read(time.monotonic() + 60)
    assert not engine.alive()
    engine.close()


def test_a_program_that_is_not_there_is_named():
    with pytest.raises(PlayerError, match=r"engine '/no/such' cannot be started: No such file"):
        make_player("amazons", "uci:/no/such").ready()
    with pytest.raises(PlayerError, match=r"crashed \(status 1\)"):
        make_player("amazons", f"uci:{command('dead')}").ready()


def test_lines_end_with_cr_lf_or_both():
    write = r"import sys; sys.stdout.write('a\rb\r\n\n c\nd'); sys.stdout.flush(); sys.stdin.read()"
    engine = EngineProcess([sys.executable, "-S", "-c", write])
    assert [engine.read(time.monotonic() + 60) for _ in range(3)] == ["a", "b", "c"]
    engine.close()


def test_flood_on_stderr_does_not_stop_an_engine():
    write = "import sys; sys.stderr.write('x' * 3_000_000 + '\\nlast'); sys.stderr.flush(); print('done'); sys.exit(4)"
    engine = EngineProcess([sys.executable, "-S", "-c", write])
    assert engine.read(time.monotonic() + 60) == "done"
    said = r"crashed \(status 4\); its last lines: done; on stderr: .*x \| last$"
    with pytest.raises(PlayerError, match=said) as caught:
        engine.read(time.monotonic() + 60)
    assert len(str(caught.value)) < 1000


def _group(group):
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            if int(fields[2]) == group and fields[0] != "Z":
                found.append(int(entry.name))
    return found


SCRIPT = Path(__file__).with_name("scripted_brain.py")


def text(mode, *more, options="movetime=100,grace=60000"):
    command = f"'{sys.executable}' -S '{SCRIPT}' {mode} {' '.join(map(str, more))}".strip()
    return f"brain:{command},{options}"


def position(actions=(), start=None, clock=None):
    start = gomoku.initial_state(5, "freestyle-5") if start is None else start
    state = start
    for action in actions:
        state = gomoku.play(state, action)
    return Position(state, np.random.default_rng(0), start, tuple(actions), clock)


INFOS = [
    "INFO rule 0",
    "INFO game_type 1",
    "INFO timeout_turn 100",
    "INFO timeout_match 0",
    "INFO time_left 2147483647",
]


def test_game_is_sent_move_by_move(player, tmp_path):
    brain = player("good", tmp_path / "log")
    assert brain.choose([position()]) == [0]
    assert brain.choose([position([0, 7])]) == [1]
    assert brain.choose([position([0, 7, 1, 24])]) == [2]
    told = (tmp_path / "log").read_text().splitlines()
    assert told == ["START 5", *INFOS, "BEGIN", "TURN 2,1", "TURN 4,4"]


def test_other_positions_are_sent_as_board(player, tmp_path):
    brain = player("good", tmp_path / "log", options="movetime=100,info.max_memory=8000000")
    brain.choose([position([3, 6, 8])])
    brain.choose([position([3, 6, 8, 0, 20])])  # the game continues
    brain.choose([position([9, 6])])  # another game, though it begins alike
    brain.new_game()
    brain.ready(position().start)
    brain.choose([position([9])])
    told = [line for line in (tmp_path / "log").read_text().splitlines() if not line.startswith("INFO")]
    board = ["START 5", "BOARD", "3,0,2", "1,1,1", "3,1,2", "DONE", "TURN 0,4"]
    assert told == [*board, "START 5", "BOARD", "4,1,1", "1,1,2", "DONE", "START 5", "TURN 4,1"]
    assert "INFO max_memory 8000000" in (tmp_path / "log").read_text()


def test_positions_with_unknown_history(player, tmp_path):
    brain = player("good", tmp_path / "log")
    start = gomoku.from_fen("x4/1o3/5/5/3x1/5/5 w exact")
    assert brain.choose([position([4], start)]) == [1]
    told = (tmp_path / "log").read_text().splitlines()
    assert told[:2] == ["RECTSTART 5,7", "INFO rule 1"]
    assert told[-6:] == ["BOARD", "0,0,1", "1,1,2", "3,4,1", "4,0,2", "DONE"]


def test_clocks_are_sent(player, tmp_path):
    brain = player("good", tmp_path / "log")
    brain.choose([position(clock=Clock(5000.7, 4000, 20))])
    brain.choose([position([0, 1], clock=Clock(4100, 4000, 20))])
    told = (tmp_path / "log").read_text().splitlines()
    moves = told[6:]
    assert moves == [
        *("INFO timeout_turn 5000", "INFO timeout_match 5000", "INFO time_left 5000", "BEGIN"),
        *("INFO timeout_turn 4100", "INFO time_left 4100", "TURN 1,0"),
    ]


LAST = r"its last lines: id name scripted \| uciok"
FAULTS = [
    ("uci", "none", "illegal", "answers that it has no move"),
    ("uci", "illegal", "illegal", "plays a1a1a1, which is not legal"),
    ("uci", "gibberish", "illegal", "a move that cannot be read"),
    ("uci", "hang", "hang", "hung: no bestmove"),
    ("uci", "late=900", "hang", "hung"),
    ("uci", "flood", "hang", "hung"),
    ("uci", "crash", "crash", r"crashed \(status 3\)"),
    ("uci", "leaves", "exit", rf"left unasked \(status 0\); {LAST}"),
    ("brain", "illegal", "illegal", "there is a stone"),
    ("brain", "outside", "illegal", "no cell 77,3"),
    ("brain", "gibberish", "illegal", "answers 'h8' in place of a move"),
    ("brain", "error", "illegal", "answers 'ERROR I give up' in place of a move"),
    ("brain", "suggest", "illegal", "answers 'SUGGEST 2,2' in place of a move"),
    ("brain", "swap", "illegal", "answers 'SWAP' in place of a move"),
    ("brain", "three", "illegal", "answers '7,7,1' in place of a move"),
    ("brain", "number", "illegal", "answers '112' in place of a move"),
    ("brain", "hang", "hang", "hung: no move within 0.4 s; its last lines: OK$"),
    ("brain", "late=900", "hang", "hung"),
    ("brain", "flood", "hang", "hung"),
    ("brain", "leaves", "exit", r"left unasked \(status 0\)"),
    ("brain", "crash", "crash", r"crashed \(status 3\); its .* OK; on stderr: warming up \| no memory \?\[31mleft$"),
]


@pytest.mark.parametrize(("protocol", "mode", "kind", "said"), FAULTS)
def test_faults_have_a_kind_and_come_in_time(uci, player, protocol, mode, kind, said):
    """A bad move is reported at once, and not as a hang. Nothing that comes later is taken for the next answer."""
    options = "movetime=100,grace=300" if kind == "hang" else "movetime=5000,grace=200000"
    one, where = (
        (uci(mode, options=options), place()) if protocol == "uci" else (player(mode, options=options), position([0]))
    )
    begin = time.monotonic()
    with pytest.raises(PlayerError, match=said) as caught:
        one.choose([where])
    assert caught.value.kind == kind
    assert time.monotonic() - begin < 30
    assert one._process is None or kind == "illegal"


@pytest.mark.parametrize("mode", ["chatty", "cr", "mark"])
def test_brain_may_say_more_than_moves(player, mode):
    assert player(mode).choose([position([0])]) == [1]


@pytest.mark.parametrize(
    ("protocol", "mode", "awaited", "words"),
    [("uci", "silent", "uciok", "; its last lines: id name scripted"), ("brain", "mute", "OK", "")],
)
def test_program_that_is_never_ready_is_reported_and_dropped(
    uci, player, caplog, monkeypatch, protocol, mode, awaited, words
):
    assert engine_module.SLOW_S == 10
    monkeypatch.setattr(engine_module, "SLOW_S", 0.3)
    with pytest.raises(PlayerError, match=rf"hung: no {awaited} within 0.8 s{words}$") as caught:
        {"uci": uci, "brain": player}[protocol](mode, options="start=800").ready(position().start)
    assert caught.value.kind == "hang"
    (told,) = (record.getMessage() for record in caplog.records)
    said = words or "; it has said nothing"
    assert re.fullmatch(f"waiting for engine '.*': no {awaited} after \\d+ s, of 1 s that it may take{said}", told)


def test_an_engine_that_refuses_may_still_leave_by_itself(player, tmp_path):
    with pytest.raises(RefusalError):
        player("refuses", tmp_path / "log").check(position().start)
    assert (tmp_path / "log").read_text().splitlines() == ["START 5", "END"]


def test_error_answer_to_info_is_reported_before_next_move(player):
    brain = player("info", options="movetime=5000,grace=60000")
    for ask in (lambda: brain.ready(position().start), lambda: brain.choose([position([0])])):
        with pytest.raises(PlayerError, match=r"answers 'ERROR no time_left' to what it is told \(INFO\)") as caught:
            ask()
        assert caught.value.kind == "illegal"


@pytest.mark.parametrize(
    ("mode", "said"),
    [("refuses", "does not play on 5x5: ERROR too big"), ("rule", "does not play freestyle: ERROR no rule")],
)
def test_a_refusal_ends_a_match_before_its_first_game(mode, said):
    with pytest.raises(RefusalError, match=said):
        run_match(MatchSpec("gomoku", "random", text(mode), 2, "random:2", 5, "freestyle-5"))


def test_it_may_write_its_files_after_end(player, tmp_path):
    brain = player("learns", tmp_path / "learnt")
    brain.choose([position()])
    brain.close()
    assert (tmp_path / "learnt").read_text() == "learnt"


def test_after_a_fault_the_whole_position_is_sent(player, tmp_path):
    brain = player("once", tmp_path / "mark")
    with pytest.raises(PlayerError):
        brain.choose([position([7, 8])])
    assert brain.choose([position([7, 8])]) == [0]


def test_rules_without_a_number(player):
    with pytest.raises(ZugwerkError, match="freestyle, exact, renju, caro, not freestyle-4"):
        player("good").choose([position(start=gomoku.initial_state(5, "freestyle-4"))])


def test_cells_as_text():
    assert write_cell(7, 5) == "2,1"
    assert read_cell(" 2, 1", 3, 5) == 7
    for bad in ("5,0", "0,3", "a,b", "1", "1,2,3", "-1,0", "\u0663,1"):
        with pytest.raises(ZugwerkError):
            read_cell(bad, 3, 5)


@pytest.mark.slow
def test_move_time_sent_to_a_brain_is_enforced_by_default():
    found = run_match(MatchSpec("gomoku", "random", text("late=1300", options="first=0"), 2, "random:2", 5))
    assert found.side(1).forfeits == {"time": 2}


@pytest.mark.slow
def test_a_first_move_may_take_longer():
    """Some start over on BOARD; with no such time the game is lost."""
    for first, forfeits in (("", {}), (",first=0", {"time": 2})):
        slow = text("slow=400", options=f"movetime=100{first}")
        found = run_match(MatchSpec("gomoku", "random", slow, 2, "random:2", 5, margin=150))
        assert found.side(1).forfeits == forfeits
        assert found.side(1).first_max_ms >= 400
    late = text("late=400", options="movetime=100,first=50")
    found = run_match(MatchSpec("gomoku", "random", late, 2, "random:2", 5, margin=50))
    assert (
        found.games[0]
        .detail.partition(";")[0]
        .endswith(" ms for a move of 100 ms, the first one, which may take 50 ms more")
    )


def test_program_that_refuses_immediate_commands_gets_a_pause(player):
    brain = player("race=5", options="movetime=100,grace=60000,pause=25")
    begin, actions = time.monotonic(), [*brain.choose([position()])]
    for action in (7, 24, 20):
        actions.append(action)
        actions += brain.choose([position(actions)])
    assert actions == [0, 7, 1, 24, 2, 20, 3]
    assert time.monotonic() - begin >= 4 * 0.025  # after OK, and after three moves
    assert brain.last_words() == "; its last lines: 0,0 | 1,0 | 2,0 | 3,0"  # no ERROR


def test_a_refused_move_is_asked_for_once_more_by_board(player, tmp_path, caplog, monkeypatch):
    monkeypatch.setattr(brain_module, "QUIET_S", 0.4)
    brain = player("race=200", tmp_path / "log", options="movetime=100,grace=60000,pause=0,info.x=1")
    brain.ready(position().start)  # the first INFO lines are refused, too
    assert brain.choose([position([7])]) == [0]
    assert brain.choose([position([7, 0, 24])]) == [1]
    told = [line for line in (tmp_path / "log").read_text().splitlines() if not line.startswith("INFO")]
    board = ["BOARD", "2,1,2", "0,0,1", "4,4,2", "DONE"]
    assert told == ["START 5", "START 5", "TURN 2,1", *board]  # the second TURN was refused
    (said,) = (record.getMessage() for record in caplog.records)
    assert re.search("'ERROR Unknown command: INFO x 1' and is told once more; .* may help, now pause=0$", said)
    with pytest.raises(PlayerError, match="answers 'ERROR I give up' in place of a move"):
        player("error").choose([position([0])])


@pytest.mark.slow
def test_pauses_are_on_no_clock():
    """The pauses of a game are longer than a side's whole time; what the engine itself takes counts as ever."""
    for mode, forfeits in (("good", {}), ("late=400", {"time": 2})):
        slow = text(mode, options="pause=400")
        found = run_match(MatchSpec("gomoku", slow, "random", 2, "random:2", 5, clock=(1000.0, 0.0)))
        assert found.side(0).forfeits == forfeits
        assert found.side(0).moves_per_game >= 2


@pytest.mark.parametrize("pause", ["pause=25", "pause=0"])
def test_program_that_refuses_immediate_commands_loses_no_match_game(pause, monkeypatch):
    monkeypatch.setattr(brain_module, "QUIET_S", 0.4)  # on a busy machine an ERROR may take longer than the usual 0.05
    found = run_match(MatchSpec("gomoku", text("race=5", options=pause), "random", 4, "random:2", 5))
    assert found.side(0).forfeits == {}


@pytest.mark.slow
def test_a_start_that_is_lost_is_sent_again(player, tmp_path, monkeypatch):
    monkeypatch.setattr(brain_module, "LOST_START_S", 0.3)
    brain = player("deaf=2", tmp_path / "log")
    for _ in range(2):
        brain.new_game()
        brain.ready(position().start)
        assert brain.choose([position()]) == [0]
    assert (tmp_path / "log").read_text().count("START 5") == 3
    monkeypatch.setattr(brain_module, "QUIET_S", 0.4)
    other = player("race=200", tmp_path / "other", options="movetime=100,grace=60000,pause=0")
    for _ in range(2):
        other.new_game()
        other.ready(position().start)
        assert other.choose([position()]) == [0]
    assert (tmp_path / "other").read_text().count("START 5") == 4  # and one more was refused


def test_start_refused_twice_loses_game_but_not_match(tmp_path):
    log = tmp_path / "log"
    log.write_text("")
    found = run_match(MatchSpec("gomoku", text("starts=2", log), "random", 4, "random:2", 5))
    assert (found.status, len(found.games)) == ("finished", 4)
    assert found.side(0).forfeits == {"illegal": 3}  # one START is for the check, one for the first game
    assert "does not play on 5x5: ERROR Unknown command: START" in found.forfeited[0].detail
    assert found.by_forfeit.startswith("3 of 4 games were lost by forfeit by brain:")

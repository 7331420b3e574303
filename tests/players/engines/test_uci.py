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

from pipeline_src.games import amazons
from pipeline_src.players import process as engine_module
from pipeline_src.players.player import PlayerError, Position
from pipeline_src.players.process import EngineProcess
from pipeline_src.players.registry import make_player
from pipeline_src.players.uci import UciPlayer
from pipeline_src.search.limits import Clock
from tests.players.engines.scripted_engine import START

SCRIPT = Path(__file__).with_name("scripted_engine.py")
SMALL = "1q1/3/1Q1 w"


def command(mode, *more):
    return f"'{sys.executable}' -S '{SCRIPT}' {mode} {' '.join(map(str, more))}".strip()


@pytest.fixture
def player():
    made = []

    def make(mode, *more, options="movetime=200,grace=60000"):
        made.append(make_player("amazons", f"uci:{command(mode, *more)},{options}"))
        return made[-1]

    yield make
    for one in made:
        one.close()


def position(fen=SMALL, actions=(), clock=None, with_start=True):
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


def test_a_legal_move_comes_back(player):
    engine = player("good")
    where = position()
    assert amazons.is_legal(where.state, engine.choose([where])[0])
    two = engine.choose([where, position(START)])
    assert amazons.is_legal(position(START).state, two[1])


def test_quotes_keep_commas_of_command_and_setting(tmp_path):
    program, log = tmp_path / "my engines, old" / "run it", tmp_path / "a,b.log"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\nexec '{sys.executable}' -S '{SCRIPT}' \"$@\"\n")
    program.chmod(0o755)
    engine = make_player("amazons", f'uci:"{program}" good "{log}",movetime=200,grace=60000,option.Book="a, b=c"')
    engine.choose([position()])
    engine.close()
    assert "setoption name Book value a, b=c" in log.read_text()
    with pytest.raises(
        PlayerError, match=r"my' cannot be started: .*; a path with a space or comma needs double quotes"
    ):
        make_player("amazons", f"uci:{str(program).replace(',', '')}").choose([position()])


def test_sent_commands(player, tmp_path):
    log = tmp_path / "log"
    engine = player("good", log, options="movetime=50,nodes=7,option.Hash=16,name=old")
    first = int(amazons.legal_actions(amazons.initial_state())[0])
    engine.choose([position(START, [first])])
    engine.choose([position(SMALL)])
    engine.choose([position(SMALL, with_start=False)])
    engine.choose([position(START, [first], Clock(5000.7, 4000, 20))])
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
def test_moves_are_written_as_the_engine_writes_them(player, tmp_path, ready):
    log = tmp_path / "log"
    engine = player("pairs", log, options="nodes=7")
    first = int(amazons.legal_actions(amazons.initial_state())[0])
    if ready:
        engine.ready(position(START).start)
    where = position(START, [first])
    assert amazons.is_legal(where.state, engine.choose([where])[0])
    sent = log.read_text().splitlines()
    assert sent[-2:] == ["position startpos moves d1c1,c1b1", "go nodes 7"]
    assert sent.count("go movetime 50 nodes 7") == 1


def test_the_form_of_moves_may_be_given(player, tmp_path):
    log = tmp_path / "log"
    first = int(amazons.legal_actions(amazons.initial_state())[0])
    for form, text in (("joined", "d1c1b1"), ("pairs", "d1c1,c1b1"), ("comma", "d1c1,b1")):
        engine = player("gibberish", log, options=f"movetime=50,moves={form}")
        with pytest.raises(PlayerError):
            engine.choose([position(START, [first])])
        sent = log.read_text().splitlines()
        assert [line for line in sent if line.startswith("position")][-1] == f"position startpos moves {text}"
        assert "position startpos" not in sent


def test_the_first_answer_shows_the_form(player, tmp_path):
    log = tmp_path / "log"
    engine = player("pairs", log)
    own = engine.choose([position(START)])[0]
    state = amazons.play(amazons.initial_state(), own)
    other = int(amazons.legal_actions(state)[0])
    where = position(START, [own, other])
    assert amazons.is_legal(where.state, engine.choose([where])[0])
    assert log.read_text().count("go ") == 2


@pytest.mark.parametrize(
    ("mode", "kind"),
    [
        ("none", "illegal"),
        ("illegal", "illegal"),
        ("gibberish", "illegal"),
        ("hang", "hang"),
        ("crash", "crash"),
        ("leaves", "exit"),
        ("flood", "hang"),
    ],
)
def test_faults_have_a_kind_and_come_in_time(player, mode, kind):
    engine = player(mode, **({"options": "movetime=200,grace=300"} if kind == "hang" else {}))
    begin = time.monotonic()
    with pytest.raises(PlayerError) as caught:
        engine.choose([position()])
    assert caught.value.kind == kind
    assert time.monotonic() - begin < 30


def test_garbage_before_the_move_is_passed_over(player):
    assert amazons.is_legal(position().state, player("garbage").choose([position()])[0])


def test_an_engine_that_ended_is_started_again(player, tmp_path):
    engine = player("once", tmp_path / "mark")
    with pytest.raises(PlayerError, match=r"crashed \(status 3\)"):
        engine.choose([position()])
    assert amazons.is_legal(position().state, engine.choose([position()])[0])
    os.kill(engine._process.pid, signal.SIGKILL)
    assert await_end(engine._process.pid)
    assert amazons.is_legal(position().state, engine.choose([position()])[0])


def test_a_late_answer_is_not_taken_for_the_next(player):
    engine = player("late=400", options="movetime=100,grace=200")
    with pytest.raises(PlayerError, match="hung"):
        engine.choose([position()])
    assert engine._process is None


@pytest.mark.parametrize("mode", ["hang", "child", "good"])
def test_nothing_outlives_close(player, mode):
    engine = player(mode)
    if mode == "hang":
        engine.ready()
        engine._process.send(f"position fen {SMALL}")
        engine._process.send("go")
    else:
        engine.choose([position()])
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
        engine = UciPlayer("amazons", [sys.executable, "-S", str(SCRIPT), "good"])
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


def test_engine_without_uciok_is_reported_and_dropped(player, caplog, monkeypatch):
    assert engine_module.SLOW_S == 10
    monkeypatch.setattr(engine_module, "SLOW_S", 0.3)
    with pytest.raises(PlayerError, match=r"hung: no uciok within 0.8 s; its last lines: id name scripted$"):
        player("silent", options="start=800").ready()
    (told,) = (record.getMessage() for record in caplog.records)
    assert re.fullmatch(r"waiting for engine '.*': no uciok yet, given up after 1 s; its last lines: id .*", told)


def test_an_engine_that_leaves_is_no_crash(player):
    with pytest.raises(PlayerError, match=r"left unasked \(status 0\); its last lines: id name scripted \| uciok"):
        player("leaves").choose([position()])


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

"""Sessions with the engine; most in a process of their own, as a user's program would have them."""

import io
import queue
import random
import re
import subprocess
import sys
import threading
import time

import pytest

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import amazons
from pipeline_src.games.game import get_game
from pipeline_src.players.packaged import elo_range
from pipeline_src.players.session import Preparation, converse
from pipeline_src.players.uci import Placed, Session, exact_words, read_go, read_position, score_words
from pipeline_src.search.alphabeta import ENTRY
from pipeline_src.search.evaluator import COUNTED, WIN
from pipeline_src.search.limits import Clock
from tests.arena import fakes  # noqa: F401 - registers the player

GAME = get_game("amazons")
OVER = "q*8/**8/10/10/10/10/10/10/10/10"


class Engine:
    """The command in a process, its lines in a queue."""

    def __init__(self, player="fake", *, program=("-m", "tests.arena.fakes", "amazons", "uci")):
        self.process = subprocess.Popen(
            [sys.executable, *program, "--player", player], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.lines = queue.Queue()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line.decode().rstrip("\n"))
        self.lines.put(None)

    def send(self, *lines):
        for line in lines:
            raw = line if isinstance(line, bytes) else line.encode()
            self.process.stdin.write(raw + b"\n")
        self.process.stdin.flush()

    def until(self, word, seconds=120):
        """All lines up to the first that begins with a word."""
        found, end = [], time.monotonic() + seconds
        while True:
            line = self.lines.get(timeout=max(0.0, end - time.monotonic()))
            assert line is not None, f"ended before {word}: {found}"
            found.append(line)
            if line.split()[:1] == [word]:
                return found

    def close(self):
        self.process.kill()
        self.process.wait()
        self.reader.join()
        self.process.stdin.close()
        self.process.stdout.close()


@pytest.fixture(scope="module")
def shared():
    engine = Engine()
    engine.send("isready")
    engine.until("readyok")
    yield engine
    engine.close()


@pytest.fixture
def engine(shared):
    """In its start position, with the fake player, and nothing under way."""
    shared.send("stop", "setoption name Player value fake", "position startpos", "isready")
    shared.until("readyok")
    return shared


def test_the_conversation_of_a_game(engine):
    engine.send("uci")
    lines = engine.until("uciok")
    assert lines[0].startswith("id name Zugwerk")
    assert "option name Player type string default fake" in lines
    state, moves = amazons.initial_state(), []
    for _ in range(6):
        engine.send("position startpos" + (" moves " + " ".join(moves) if moves else ""), "go nodes 20")
        *infos, best = engine.until("bestmove")
        assert all(re.fullmatch(r"info depth \d+ nodes \d+ (nps \d+ )?time \d+ score cp 125 pv \S+", i) for i in infos)
        assert infos
        moves.append(best.split()[1])
        assert re.fullmatch(r"([a-j]\d+){3}", moves[-1])
        action = amazons.parse_move(moves[-1])
        assert amazons.is_legal(state, action)
        state = amazons.play(state, action)


@pytest.mark.parametrize("go", ["go infinite", "go movetime 100000", "go depth 100000000", "go wtime 900000 btime 1"])
def test_stop_answers_within_50_ms(engine, go):
    """Mostly: where more runs than there are cores, any answer may be kept waiting."""
    delays = []
    while len(delays) < 5 or (sorted(delays[-5:])[2] >= 0.05 and len(delays) < 50):
        engine.send(go)
        engine.until("info")
        begin = time.perf_counter()
        engine.send("stop")
        engine.until("bestmove")
        delays.append(time.perf_counter() - begin)
    assert sorted(delays[-5:])[2] < 0.05


def test_a_stop_before_the_search_has_begun_is_not_lost(engine):
    engine.send("setoption name Player value fake:first_ms=60", "isready")
    engine.until("readyok")
    engine.send("go infinite", "stop")
    engine.until("bestmove")


def test_a_second_go_stops_the_first(engine):
    engine.send("go infinite", "position startpos6", "go nodes 5")
    first = engine.until("bestmove")[-1].split()[1]
    second = engine.until("bestmove")[-1].split()[1]
    assert amazons.is_legal(amazons.initial_state(), amazons.parse_move(first))
    assert amazons.is_legal(amazons.initial_state(6), amazons.parse_move(second, 6, 6))


def test_clocks_are_those_of_the_side_to_move(engine):
    engine.send("go wtime 300 btime 900000", "position startpos moves d1d7g7", "go wtime 900000 btime 300")
    for _ in range(2):
        begin = time.perf_counter()
        engine.until("bestmove")
        assert time.perf_counter() - begin < 10  # of 900 s it would take more


def test_a_go_without_limits_has_the_players_own(engine):
    engine.send("setoption name Player value fake:nodes=30", "go")
    *_, info, _ = engine.until("bestmove")
    assert 30 <= int(info.split()[4]) < 3000


@pytest.mark.parametrize("player", ["random", "one_ply"])
def test_players_that_do_not_search_answer_too(engine, player):
    engine.send(f"setoption name Player value {player}", "ucinewgame", "position startpos6", "go movetime 50")
    best = engine.until("bestmove")[-1].split()[1]
    assert amazons.is_legal(amazons.initial_state(6), amazons.parse_move(best, 6, 6))


BAD_LINES = [
    "nonsense",
    "position",
    "position startpos moves e1e2e3",
    "position startpos moves d1d7g7 d1d7g7",
    "position startpos99",
    "position startpos" + "9" * 100,
    "position fen",
    "position fen 3q2q3/10 w",
    "position fen x/y/z w",
    "position fen 3Q" + "9" * 5000 + "/3 w",
    "position fen QQQQQ5/10/q9 w",
    "position startpos moves \u0663\u0664",
    "setoption",
    "setoption name Hash value many",
    "setoption name Hash value 0",
    "setoption name Depth value 3",
    "setoption name Player value nobody",
    "setoption name Player value nets:/no/such.pt",
    "setoption name Player value random:x=1,x=2",
    "setoption name Player",
    "setoption name Move Overhead value -3",
    b"\xff\xfe\x80 \x00\x01",
    b"x" * 200_000,
    "position startpos moves " + "d1d7g7 " * 20_000,
]


@pytest.mark.parametrize("line", BAD_LINES, ids=[str(line)[:30] for line in BAD_LINES])
def test_bad_lines_are_reported_and_change_nothing(engine, line):
    engine.send("position startpos6 moves b1b2b1", line, "isready")
    reports = [text for text in engine.until("readyok")[:-1] if not text.startswith("info string line too long")]
    assert len(reports) <= 1
    assert all(text.startswith("info string ") for text in reports)
    assert reports or len(line) > 65_536
    engine.send("go nodes 5")
    if str(line).startswith("position") and len(line) <= 65_536:
        *said, best = engine.until("bestmove")
        assert said == ["info string the last position could not be read: send another one"]
        assert best == "bestmove (none)"
        engine.send("position startpos6 moves b1b2b1", "go nodes 5")
    state = amazons.play(amazons.initial_state(6), amazons.parse_move("b1b2b1", 6, 6))
    best = engine.until("bestmove")[-1].split()[1]
    expected = amazons.format_move(int(amazons.legal_actions(state)[0]), 6, 6)
    assert best == expected.replace("-", "").replace("/", "")


@pytest.mark.parametrize(
    "go",
    [
        *("go movetime", "go movetime abc", "go nodes -5", "go depth 1e400", "go wtime x btime y", "go searchmoves e4"),
        *("go nodes depth 1", "go searchmoves", "go mate -1", "go movestogo -3 wtime -5", "go xyzzy"),
    ],
)
def test_broken_numbers_still_get_a_move(engine, go):
    engine.send(go)
    *_, best = engine.until("bestmove")
    assert re.fullmatch(r"bestmove ([a-j]\d+){3}", best)


def silent(engine, seconds=0.2):
    """The engine is alive and gives no move."""
    time.sleep(seconds)
    engine.send("isready")
    return "bestmove" not in " ".join(engine.until("readyok"))


@pytest.mark.parametrize("player", ["fake", "fake:early=1", "random"])
@pytest.mark.parametrize("go", ["go ponder wtime 50 btime 50", "go movetime 50 ponder", "go nodes 3 ponder depth 2"])
def test_ponder_waits_for_the_hit_and_then_moves_in_time(engine, player, go):
    engine.send(f"setoption name Player value {player}", go)
    assert silent(engine)
    engine.send("ponderhit")
    assert re.fullmatch(r"bestmove ([a-j]\d+){3}", engine.until("bestmove", 10)[-1])


def test_time_of_a_ponder_begins_with_the_hit(engine):
    engine.send("go ponder movetime 700")
    assert silent(engine)
    begin = time.perf_counter()
    engine.send("ponderhit", "ponderhit")
    engine.until("bestmove", 10)
    assert time.perf_counter() - begin > 0.5
    assert silent(engine)  # two hits, one answer


@pytest.mark.parametrize("lines", [["stop"], ["stop", "ponderhit"], ["position startpos6", "go nodes 1"]])
def test_ponder_without_a_hit_is_answered_once_by_stop(engine, lines):
    engine.send("go ponder wtime 50 btime 50", *lines)
    for _ in range(1 + ("go nodes 1" in lines)):
        engine.until("bestmove", 10)
    assert silent(engine)


@pytest.mark.parametrize("go", ["go infinite depth 1", "go ponder infinite", "go infinite wtime 5 movestogo 1"])
def test_infinite_with_other_limits_waits_for_stop(engine, go):
    for player in ("fake", "fake:early=1", "random"):  # one that ends by itself, and one that does not search
        engine.send(f"setoption name Player value {player}", go, "ponderhit")
        assert silent(engine)
        engine.send("stop")
        engine.until("bestmove", 10)


def test_searchmoves_limit_the_search_of_alphabeta():
    _, said = talk("alphabeta", "position startpos", "go searchmoves a4a5a6 zz d1d2d3 depth 2", "go depth 1")
    assert "info string go searchmoves: 'zz' is not legal there and left out" in said
    depths = [line for line in said if line.startswith("info depth")]
    assert {line.split(" pv ")[1].split()[0] for line in depths[:-1]} <= {"a4a5a6", "d1d2d3"}
    first, second = [line.split()[1] for line in said if line.startswith("bestmove")]
    assert first in ("a4a5a6", "d1d2d3")
    assert second not in ("a4a5a6", "d1d2d3")


@pytest.mark.parametrize("player", ["random", "fake"])
def test_player_that_searches_all_moves_still_plays_one_of_searchmoves(player):
    _, said = talk(player, "position startpos6", "go nodes 3 searchmoves b1b2b3")
    assert said[-2:] == [
        f"info string the player {player} searches all moves: this is the first of searchmoves",
        "bestmove b1b2b3",
    ]
    assert not [line for line in said if line.startswith("info depth")]


def test_check_options_and_names_are_read_in_any_case():
    for name, text in (("PONDER", "True"), ("ponder", "true")):
        _, said = talk("alphabeta", f"setoption name {name} value {text}", "position startpos6", "go depth 2")
        assert re.fullmatch(r"bestmove \w+ ponder ([a-f]\d+){3}", said[-1])
    _, said = talk("alphabeta", "setoption name Ponder value False", "position startpos6", "go depth 2")
    assert "ponder" not in said[-1]


def test_search_that_fails_or_comes_too_late_is_answered(engine):
    engine.send(f"position fen {OVER} b", "go movetime 50")
    assert engine.until("bestmove")[-1] == "bestmove (none)"
    engine.send("position startpos")
    engine.send("setoption name Player value fake:fail=1", "go nodes 3")
    *_, report, best = engine.until("bestmove")
    assert report == "info string RuntimeError: the search failed"
    assert best == "bestmove (none)"


def test_quit_ends_at_once_in_mid_search():
    engine = Engine("fake:deaf=1")
    engine.send("go infinite")
    engine.until("info")
    begin = time.perf_counter()
    engine.send("quit")
    assert engine.process.wait(60) == 0
    assert time.perf_counter() - begin < 5
    engine.close()


@pytest.mark.parametrize("go", ["go infinite", "go ponder wtime 50 btime 50"])
def test_end_of_input_ends_search_and_engine(go):
    engine = Engine()
    engine.send(go)
    engine.until("info")
    engine.process.stdin.close()
    engine.until("bestmove")
    assert engine.process.wait(60) == 0
    engine.close()


@pytest.mark.slow
def test_broken_pipe_gives_no_traceback():
    """The reader dies in mid-search; the input stays open, or not."""
    for ends in (False, True):
        words = [sys.executable, "-m", "tests.arena.fakes", "amazons", "uci", "--player", "fake"]
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        with subprocess.Popen(words, **pipes) as process:
            try:
                for line, answer in ((b"isready\n", b"readyok"), (b"go movetime 600\n", b"info depth")):
                    process.stdin.write(line)
                    process.stdin.flush()
                    assert process.stdout.readline().startswith(answer)
                process.stdout.close()
                if ends:
                    process.stdin.close()
                assert process.wait(120) == 1
            finally:
                process.kill()
            assert b"Traceback" not in process.stderr.read()


def talk(player, *lines):
    """What a session says to some lines, the player being ready; each search ends by itself."""
    said = []
    session = Session("amazons", player, said.append)

    def wait_for(word, count=1):
        end = time.monotonic() + 300
        while sum(line.split()[:1] == [word] for line in said) < count and time.monotonic() < end:
            time.sleep(0.05)

    session.handle("isready")
    wait_for("readyok")
    searches = 0
    for line in lines:
        session.handle(line)
        searches += line.split()[0] == "go"
        wait_for("bestmove", searches)
    session.finish(60)
    return session, said


def test_hash_is_the_memory_of_the_table():
    lines = ("uci", "setoption name Hash value 2", "position startpos6", "go", "setoption name Hash value 1", "go")
    session, said = talk("alphabeta:nodes=1", *lines)
    assert "option name Hash type spin default 64 min 1 max 4096" in said
    assert session._player.searcher.searcher._table.keys.size * ENTRY.itemsize <= 1 << 20
    assert not [text for text in said if text.startswith("info string")]
    assert sum(text.startswith("bestmove") for text in said) == 2


def test_a_limited_strength_is_the_level_with_the_nearest_elo():
    low, high = elo_range("amazons")
    limit = "setoption name UCI_LimitStrength value true"
    session, said = talk("one_ply", "uci", limit, f"setoption name UCI_Elo value {low}", "position startpos6", "go")
    assert "option name UCI_LimitStrength type check default false" in said
    assert f"option name UCI_Elo type spin default {high} min {low} max {high}" in said
    assert session._playing == f"level:elo={low}"
    assert type(session._player).__name__ == "LevelPlayer"
    assert not [text for text in said if text.startswith("info string") and "UCI" in text]
    assert sum(text.startswith("bestmove") for text in said) == 1
    full = "setoption name UCI_LimitStrength value false"
    session, _ = talk("one_ply", limit, "setoption name Player value random", full, "position startpos6", "go")
    assert session._playing == "random"
    assert type(session._player).__name__ == "RandomPlayer"


def test_another_player_ends_the_preparation_of_the_one_before(monkeypatch):
    ended = []

    class Recorded(Preparation):
        def stop(self):
            ended.append(type(self._needs.__self__).__name__)
            super().stop()

    monkeypatch.setattr("pipeline_src.players.session.Preparation", Recorded)
    talk("random", "setoption name Player value one_ply", "isready")
    assert ended == ["RandomPlayer"]


def test_a_wrong_strength_changes_nothing():
    options = ("UCI_LimitStrength value yes", "UCI_Elo value 20", "UCI_Elo value high")
    session, said = talk("one_ply", *(f"setoption name {one}" for one in options), "position startpos6", "go")
    for complaint, count in (("UCI_LimitStrength must be true or false, not 'yes'", 1), ("UCI_Elo must be a whole", 2)):
        assert len([text for text in said if text.startswith(f"info string {complaint}")]) == count
    assert session._playing == "one_ply"


@pytest.mark.parametrize(
    ("value", "score", "exact"),
    [
        (-2.341, "score cp -234", ""),
        (WIN - 1, "score mate 1", "exact: won in 1 plies"),
        (WIN - 5, "score mate 3", "exact: won in 5 plies"),
        (4 - WIN, "score mate -2", "exact: lost in 4 plies"),
        (COUNTED + 2.5, "score cp 900250", "exact: won, by counting: 3 or more turns ahead"),
        (-COUNTED - 0.5, "score cp -900050", "exact: lost, by counting: 0 or more turns behind"),
        (WIN, "score cp 1000000", "exact: won"),
    ],
)
def test_proven_result_is_sent_as_mate(value, score, exact):
    assert score_words(value) == score
    assert exact_words(value) == exact


def test_a_counted_position_says_that_it_is_exact():
    _, said = talk("alphabeta:nodes=100", "position fen Q1*2/2*2/2*2/2*2/2*1q w", "go")
    assert any(text.startswith("info string exact: ") for text in said), said


def test_a_byte_order_mark_before_the_first_command_is_skipped():
    said = io.BytesIO()
    converse(lambda write: Session("amazons", "one_ply", write), io.BytesIO("\ufeffuci\n".encode()), said)
    assert b"uciok" in said.getvalue()


def test_random_garbage_is_survived():
    """In this process, where an exception would surface: commands cut, mixed and spoiled."""
    said, gos, rng = [], 0, random.Random(5)
    session = Session("amazons", "fake:nodes=2", said.append)
    text = (
        "uci isready ucinewgame position startpos startpos6 fen moves d1d7g7 d1-d7/g7 a7,b7 go movetime nodes depth "
        "infinite wtime btime winc 1 -1 0 1e9 99999999999999999999 stop ponderhit setoption name value Player fake "
        "random 3q2q3/10/10/q8q/10/10/Q8Q/10/10/3Q2Q3 w b 0 \u2603 / , -"
    )
    words = text.split()
    for _ in range(1500):
        line = " ".join(rng.choices(words, k=rng.randrange(1, 7)))
        if rng.random() < 0.2:
            line = line[: rng.randrange(len(line) + 1)]
        gos += line.split()[:1] == ["go"]
        assert session.handle(line)
    session.finish(120)
    assert sum(text.startswith("bestmove ") for text in said) == gos
    assert all(text.split()[0] in ("info", "bestmove", "readyok", "id", "option", "uciok") for text in said)
    assert not [text for text in said if "two searches" in text or "Traceback" in text]


def test_positions_are_read_in_all_their_forms():
    start = amazons.initial_state()
    after = amazons.to_fen(amazons.play(start, amazons.parse_move("d1-d7/g7")))
    for text in ("d1d7g7", "d1d7,g7", "d1d7,d7g7", "d1-d7/g7", "D1D7G7"):
        placed = read_position(GAME, ["startpos", "moves", text])
        assert amazons.to_fen(placed.state) == after
        assert placed.actions == (amazons.parse_move("d1-d7/g7"),)
    fen = amazons.to_fen(start).split()
    for counters in ([], ["-", "-", "0", "1"], ["0", "1"]):
        assert amazons.to_fen(read_position(GAME, ["fen", *fen, *counters, "moves", "d1d7g7"]).state) == after
    with pytest.raises(ZugwerkError, match="move 2, d1d7g7, is not legal"):
        read_position(GAME, ["startpos", "moves", "d1d7g7", "d1d7g7"])


def test_times_leave_room_for_delays():
    go = read_go(["wtime", "60000", "btime", "30000", "winc", "100", "binc", "50"])
    start = amazons.initial_state()
    clocks = [go.place(Placed(start, start), side, None, 10).clock for side in (0, 1)]
    assert clocks == [Clock(59990, 30000, 100), Clock(29990, 60000, 50)]
    for count, moves in (("12", 12), ("0", None), ("-3", None)):
        clock = read_go(["movestogo", count, "wtime", "60000"]).place(Placed(start, start), 0, None, 10).clock
        assert clock == Clock(59990, 59990, 0, moves)
    assert read_go(["mate", "3", "depth", "9"]).bounds(10).depth == 5
    assert read_go(["depth", "movetime", "1000"]).bounds(10).depth is None
    assert read_go(["movetime", "1000"]).bounds(10).movetime_ms == 990
    assert read_go(["movetime", "10"]).bounds(10).movetime_ms == 5
    assert read_go(["movetime", "-10"]).bounds(10).movetime_ms == 1
    assert read_go(["nodes", "9" * 29]).bounds(10).nodes == 1 << 62


def test_several_lines_are_numbered():
    _, said = talk("alphabeta:width=5", "setoption name MultiPV value 3", "position startpos6", "go depth 2")
    deepest = [line for line in said if line.startswith("info depth 2 multipv")]
    assert [line.split()[4] for line in deepest] == ["1", "2", "3"]
    first = [line[line.index(" pv ") :].split()[1] for line in deepest]
    assert len(set(first)) == 3
    assert said[-1] == f"bestmove {first[0]}"
    _, said = talk("alphabeta", "setoption name MultiPV value 0")
    assert "info string MultiPV must be a whole number from 1 to 50, not '0'" in said

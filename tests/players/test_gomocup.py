"""Sessions with the brain: in this process, where an exception would surface, and as a manager's own process."""

import os
import queue
import random
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline_src import __version__
from pipeline_src.arena.match import MatchSpec, run_match
from pipeline_src.games import gomoku
from pipeline_src.players import gomocup
from pipeline_src.players import gomoku as gomoku_players
from pipeline_src.players.gomocup import LEAST_MEMORY, OTHER, OWN, RULES, Board, Session, Settings
from pipeline_src.players.player import OneBoard
from pipeline_src.players.process import EngineProcess
from pipeline_src.players.searching import SearchPlayer
from pipeline_src.search.gomoku.engine import Engine
from pipeline_src.search.limits import AT_ONCE_MS, Limit, thinking_ms
from pipeline_src.systems.gomoku_zero.player import check_state
from tests.arena import fakes  # noqa: F401 - registers the player


class Brain:
    """A session in this process, its answers in a queue."""

    def __init__(self, player="fake", **options):
        self.answers = queue.Queue()
        self.session = Session(player, self.answers.put, **options)

    def send(self, *lines):
        for line in lines:
            assert self.session.handle(line)

    def ask(self, *lines, count=1):
        """Answers to the lines; on a fresh machine the first ones wait for kernels to be compiled."""
        self.send(*lines)
        return [self.answers.get(timeout=240) for _ in range(count)]

    def silent(self):
        """Whether nothing is left to read once all lines have been acted on."""
        return self.ask("ABOUT") == [ABOUT.replace("PLAYER", self.session._text)]


ABOUT = f'name="Zugwerk", version="{__version__}", author="the Zugwerk authors", player="PLAYER"'


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """START waits for kernels that no run before has compiled; what else it does is in test_session.py."""
    monkeypatch.setattr(gomocup, "START_MS", 500_000.0)


@pytest.fixture
def brain():
    made = []

    def make(*words, **options):
        made.append(Brain(*words, **options))
        return made[-1]

    yield make
    for one in made:
        one.session.finish(5)


def test_the_conversation_of_a_game(brain):
    one = brain()
    assert one.ask("START 20") == ["OK"]
    one.send("INFO timeout_turn 30", "INFO max_memory 8388608000", "INFO folder C:\\some where", "INFO unheard of")
    assert one.ask("BEGIN") == ["0,0"]
    assert one.ask("TURN 1,0") == ["2,0"]
    assert one.ask("turn 3 , 0\r") == ["4,0"]
    assert one.ask("TAKEBACK 4,0", "TAKEBACK 3,0", count=2) == ["OK", "OK"]
    assert one.ask("TURN 19,19") == ["3,0"]
    assert one.ask("RESTART", "TURN 0,0", count=2) == ["OK", "1,0"]
    assert one.ask("RECTSTART 9,12", "BEGIN", count=2) == ["OK", "0,0"]
    assert one.silent()
    assert not one.session.handle("END")


def test_sizes(brain):
    one = brain()
    for size in (15, 20, 5, 25):
        assert one.ask(f"START {size}", f"TURN {size - 1},{size - 1}", count=2) == ["OK", "0,0"]


def test_boards_are_set_up(brain):
    one = brain()
    one.ask("START 15")
    assert one.ask("BOARD", "0,0,1", "7,7,2", "1,0,1", "8,8,2", "DONE") == ["2,0"]
    assert one.ask("TURN 3,0") == ["4,0"]
    assert one.ask("BOARD", "7,7,2", "DONE") == ["0,0"]
    assert one.ask("BOARD", "DONE") == ["0,0"]
    assert one.ask("BOARD", "1,1,1", "START 15") == ["OK"]  # broken off
    for lines in (["1,1,1", "1,1,2"], ["1,1,1"], ["1,1,2", "2,2,2"], ["15,0,2"], ["0,0,3"], ["x"], ["1,1"]):
        assert one.ask("BOARD", *lines, "DONE")[0].startswith("ERROR"), lines
    assert one.ask("TURN 0,0") == ["1,0"]  # the board as it was


BAD = [
    ("TURN", "ERROR"),
    ("TURN 1", "ERROR"),
    ("TURN 1,2,3", "ERROR"),
    ("TURN -1,2", "ERROR"),
    ("TURN 15,2", "ERROR no cell 15,2 on a board of 15x15"),
    ("TURN 7,7", "ERROR there is a stone on 7,7 already"),
    ("TURN \u0663,1", "ERROR"),
    ("BEGIN", "ERROR BEGIN: the board is not empty"),
    ("TAKEBACK 3,3", "ERROR cannot take back 3,3: the last stone is on 0,0"),
    ("START", "ERROR"),
    ("START 2", "ERROR no board of 2x2; sides go from 5 to 25, such as 15 or 20"),
    ("START 99999999999999999999", "ERROR"),
    ("START ten", "ERROR"),
    ("RECTSTART 15", "ERROR"),
    ("RECTSTART 15,200", "ERROR"),
    ("NONSENSE 1,2", "UNKNOWN command NONSENSE"),
    ("DONE", "UNKNOWN"),
    ("\x00\xff", "UNKNOWN"),
]


def test_bad_lines_are_answered_and_change_nothing(brain):
    one = brain()
    assert one.ask("START 15", "TURN 7,7", count=2) == ["OK", "0,0"]
    for line, answer in BAD:
        assert one.ask(line)[0].startswith(answer), line
    assert one.ask("TURN 8,8") == ["1,0"]
    assert one.silent()


@pytest.mark.parametrize("line", ["INFO timeout_turn soon", "INFO", "INFO rule 77", "INFO max_memory 1"])
def test_info_has_no_answer(brain, line):
    """Its faults are reported before the answer to the next command that has one."""
    one = brain()
    one.ask("START 15")
    one.send(line)
    time.sleep(0.2)
    assert one.answers.empty()
    said = one.ask("ABOUT", count=1 if "rule" in line else 2)
    assert [text.startswith("MESSAGE INFO") for text in said[:-1]] == [True] * (len(said) - 1)
    assert said[-1] == ABOUT.replace("PLAYER", "fake")


def test_a_refused_turn_changes_nothing(brain):
    one = brain()
    one.ask("START 15")
    one.send("INFO rule 2")
    told = "ERROR rule 2 is not played here; there are: 0 freestyle, 1 exact, 4 renju, 8 caro"
    assert one.ask("BEGIN")[0].startswith(told)
    one.send("INFO rule 0")
    assert one.ask("TURN 7,7") == ["0,0"]
    one.send("INFO rule 2")
    assert one.ask("TURN 8,8")[0].startswith(told)
    assert one.ask("BOARD", "3,3,2", "DONE")[0].startswith("ERROR rule 2")
    one.send("INFO rule 0")
    assert one.ask("TURN 8,8") == ["1,0"]
    assert one.ask("TURN 3,3") == ["2,0"]


def test_no_board_before_the_start_and_blanks_are_no_line(brain):
    one = brain()
    for line in ("BEGIN", "TURN 1,1", "RESTART", "TAKEBACK 1,1"):
        assert one.ask(line) == ["ERROR no board yet; send START SIZE first"]
    one.send("", "   ", "\r", "\u2028\x85\x1c", "BOARD", "\u2028", "DONE", "\u3000")  # blanks beyond ASCII too
    assert one.answers.get(timeout=240).startswith("ERROR no board yet")
    assert one.silent()


def test_the_default_player_has_a_net_for_every_rule(brain):
    one = brain("zero:movetime=1000")
    one.send("INFO timeout_turn 200")
    for k, rule in enumerate(RULES):
        one.send(f"INFO rule {rule}")
        assert one.ask("RESTART" if k else "START 6", "TURN 2,2", count=2)[0] == "OK"
        assert one.ask("ABOUT") == [ABOUT.replace("PLAYER", "zero:movetime=1000")]
    answer = one.ask("TURN 0,0")[0]
    while answer.startswith("MESSAGE"):  # kernels that no run before has compiled
        answer = one.answers.get(timeout=240)
    assert re.fullmatch(r"\d,\d", answer)


def test_the_rule_decides_who_has_won(brain):
    one = brain("fake:value=1")
    six = ["0,0,2", "1,0,2", "2,0,2", "4,0,2", "5,0,2", "0,9,1", "2,9,1", "4,9,1", "6,9,1"]
    one.ask("START 10")
    one.send("INFO rule 1")
    assert one.ask("BOARD", *six, "DONE") == ["3,0"]  # blocked by the fake itself; now with six in a row:
    full = [*six, "3,0,2", "8,9,1"]
    assert one.ask("BOARD", *full, "DONE") == ["6,0"]
    one.send("INFO rule 0")
    assert one.ask("TURN 9,9") == ["ERROR the game is over"]
    assert one.ask("BOARD", *full, "DONE") == ["ERROR the game is over"]
    one.send("INFO rule 1")
    assert one.ask("TURN 9,9") == ["7,0"]
    assert one.session._board.played == len(full) + 3, "no stone was lost"
    assert one.silent()


def test_a_rule_that_forbids_a_stone_keeps_all(brain):
    one = brain()
    one.ask("START 15")
    overline = ["7,5,2", "0,14,1", "7,6,2", "2,14,1", "5,7,2", "4,14,1", "6,7,2", "6,14,1", "7,7,2"]
    assert one.ask("BOARD", *overline, "DONE") == ["0,0"]
    one.send("INFO rule 4")  # a stone on 7,7 makes two threes
    assert one.silent()
    assert (one.session._board.played, one.session._board.variant) == (10, "renju")
    assert one.ask("TURN 1,0") == ["2,0"]
    assert one.ask("RESTART", "BEGIN", count=2) == ["OK", "0,0"]


def test_the_net_of_a_rule_opens_before_moves(brain):
    one = brain("zero")
    one.ask("START 6")
    one.send("INFO rule 4")
    assert one.silent()
    assert [board.variant for board in one.session._player._players] == ["freestyle", "renju"]


BLACK_AHEAD = ["7,7", "14,0", "8,8"]
WHITE_AHEAD = ["0,0", "7,7", "14,14"]


def infos(state):
    found = []
    Engine().search(state, Limit(nodes=20_000), on_info=found.append)
    return found


def test_swap2_the_first_player_places_three_stones(brain):
    one = brain()
    one.ask("START 15")
    laid = one.ask("SWAP2BOARD", "DONE")[0].split()
    assert len(set(laid)) == 3
    board = Board.empty(15, 15, "freestyle")
    for text in laid:
        board = board.place(board.read(text))
    values = {found.depth: found.value for found in infos(board.state)}
    assert abs(sum(list(values.values())[-2:]) / 2) < 150, "neither side is far ahead"
    assert one.ask("RESTART", "BEGIN", count=2) == ["OK", "0,0"]


def test_swap2_the_second_player_chooses(brain):
    one = brain()
    one.ask("START 15")
    assert one.ask("SWAP2BOARD", *BLACK_AHEAD, "DONE") == ["SWAP"]
    assert one.ask("TURN 0,0") == ["1,0"]  # it is Black now, after White's first
    assert one.ask("SWAP2BOARD", *WHITE_AHEAD, "DONE") == ["1,0"]
    assert one.ask("TURN 2,0") == ["3,0"]
    for lines in (["7,7"], ["7,7", "7,7", "8,8"], ["7,7", "8,8", "x"]):
        assert one.ask("SWAP2BOARD", *lines, "DONE")[0].startswith("ERROR")
    assert one.ask("TURN 5,0") == ["4,0"]  # what was refused has changed nothing


def test_swap2_where_neither_side_is_ahead_two_stones_are_placed(brain, monkeypatch):
    monkeypatch.setattr(gomoku_players, "EVEN", 1e4)
    one = brain()
    one.ask("START 15", "INFO timeout_turn 2000")
    placed = one.ask("SWAP2BOARD", *WHITE_AHEAD, "DONE")[0].split()
    assert len({*placed, *WHITE_AHEAD}) == 5
    assert one.ask("SWAP2BOARD", *WHITE_AHEAD, *placed, "DONE")[0] in ("SWAP", "1,0"), "of five stones a side is chosen"


def test_swap2_does_not_wait_for_its_kernels(brain, monkeypatch):
    go = threading.Event()
    needs = gomocup.swap_needs
    monkeypatch.setattr(gomocup, "swap_needs", lambda state: go.wait(60) and needs(state))
    one = brain()
    one.ask("START 15")
    one.send("INFO timeout_turn 100")
    answers = one.ask("SWAP2BOARD", "DONE", count=2)
    assert answers == ["MESSAGE kernels are still being compiled: chosen without a search", "0,0 1,0 2,0"]
    go.set()
    one.send("INFO timeout_turn 100000")
    assert len(one.ask("SWAP2BOARD", "DONE")[0].split()) == 3


def test_swap1_has_no_third_choice():
    board = Board.empty(15, 15, "freestyle")
    for text in WHITE_AHEAD:
        board = board.place(board.read(text))
    assert gomoku_players.choose(board.state, np.random.default_rng(0), may_place=False) == "stay"


@pytest.mark.parametrize(
    ("rule", "player"), [(4, "engine:nodes=300"), (8, "engine:nodes=300"), (4, "mcts:playouts=30")]
)
def test_renju_and_caro_are_played(brain, rule, player):
    one = brain(player)
    one.ask("START 15")
    one.send(f"INFO rule {rule}")
    rng, state = np.random.default_rng(1), gomoku.initial_state(15, {4: "renju", 8: "caro"}[rule])
    ask = "BEGIN"
    while gomoku.winner(state) is None:
        x, y = map(int, one.ask(ask)[0].split(","))
        state = gomoku.play(state, 15 * y + x)  # raises where it is forbidden
        if gomoku.winner(state) is None:
            action = int(rng.choice(gomoku.legal_actions(state)))
            state = gomoku.play(state, action)
            ask = f"TURN {action % 15},{action // 15}"
    if player.startswith("engine"):
        assert gomoku.winner(state) == "first"


def test_a_forbidden_stone_is_refused(brain):
    one = brain()
    one.send("INFO rule 4")  # a rule counts before the board is opened too
    one.ask("START 15")
    one.ask("BOARD", "7,5,2", "0,14,1", "7,6,2", "2,14,1", "5,7,2", "4,14,1", "6,7,2", "DONE")
    assert one.ask("TURN 7,7") == ["ERROR 7,7 is forbidden to Black: six in a row, two fours or two threes"]
    assert one.ask("TURN 8,8") == ["1,0"]


def test_limits_that_reach_the_search(brain):
    one = brain("fake:nodes=5,movetime=777")
    one.ask("START 15", "BEGIN", count=2)
    one.ask("INFO timeout_turn 1000", "TURN 1,1")
    one.ask("INFO timeout_match 10000", "INFO time_left 400", "TURN 3,3")
    own, turn, match = one.session._player.searcher.limits[1:]
    assert (own.nodes, own.movetime_ms) == (5, 777)
    assert turn.nodes == 5
    assert 800 < turn.movetime_ms <= 900
    assert match.movetime_ms < 80


def test_a_level_has_its_own_limits_on_a_clock(brain):
    one = brain("level:5")
    one.ask("START 9")
    one.send("INFO timeout_turn 100000", "INFO timeout_match 1000000")
    assert re.fullmatch(r"\d,\d", one.ask("BEGIN")[0])


def test_default_limit_gives_way_to_clock_unless_needed(brain):
    one = brain("fake")  # a single node by default
    one.ask("START 15", "BEGIN", count=2)
    one.ask("INFO timeout_turn 150", "TURN 1,1")
    own, clock = one.session._player.searcher.limits[1:]
    assert (own.nodes, own.movetime_ms) == (1, None)
    assert clock.nodes is None
    assert 50 <= clock.movetime_ms <= 75
    one = brain("minimax")
    one.ask("START 5")
    assert re.fullmatch("[0-4],[0-4]", one.ask("INFO timeout_turn 20000", "TURN 1,1")[0])


class Hoarder(SearchPlayer):
    """Remembers how much memory it was given."""

    def use_memory(self, size):
        self.given = size


def test_memory_limit_leaves_out_what_process_uses(brain):
    one = brain()
    one.ask("START 9")
    made = one.session._player
    one.session._player = hoarder = Hoarder(made.searcher, made.limit)
    one.ask("INFO max_memory 100000000000", "ABOUT")
    assert 0.7e11 < hoarder.given < 0.8 * (1e11 - 5e7)
    assert one.ask("INFO max_memory 1000000", "ABOUT", count=2)[0].startswith("MESSAGE INFO max_memory: 0 MiB, and ")
    assert hoarder.given == LEAST_MEMORY
    one.session._player = made


@given(
    turn=st.none() | st.floats(0, 1e6),
    left=st.none() | st.floats(0, 1e8),
    used=st.floats(0, 1e3),
    played=st.integers(0, 399),
)
def test_thinking_ends_before_its_time(turn, left, used, played):
    found = thinking_ms(turn, left, used, 100, played, 400)
    if turn is None and left is None:
        assert found is None
        return
    assert found >= 1
    if turn:
        assert found <= max(1, turn - used) + 1e-6
    if turn is not None and turn > 200:
        assert found <= max(1, turn - used - 100) + 1e-6
    if turn == 0:
        assert found <= AT_ONCE_MS
    if left is not None:
        assert found <= max(1, left)


def test_match_time_is_never_exhausted():
    """Of all cells of a board each side fills half, and every answer costs some milliseconds besides its search."""
    for size, match, cost in ((20, 30_000, 10), (20, 8_000, 7), (15, 5_000, 10), (15, 2_000, 5), (25, 15_000, 5)):
        left = float(match)
        for played in range(0, size * size, 2):
            left -= thinking_ms(None, left, 0, 100, played, size * size, match) + cost
            assert left > 0, (size, match, played)


def test_match_time_is_divided_over_expected_moves():
    """Three minutes: on 20x20 games have some sixty plies, on a small board far fewer."""
    second = [thinking_ms(None, 180_000, 0, 100, 2, size * size) for size in (20, 15, 7)]
    assert 5_000 < second[0] < 7_000 < second[1] < 9_000 < second[2]


def test_settings():
    settings = Settings()
    names = [settings.read(line.split()) for line in ("timeout_match 0", "TIME_LEFT -5", "game_type 2")]
    assert names == ["timeout_match", "time_left", None]
    assert (settings.match_ms, settings.time_left) == (None, 0)
    settings.read(["timeout_match", "2147483647"])
    assert settings.match_ms is None, "nobody waits for weeks"


def test_time_left_counts_in_any_order_of_the_settings(brain):
    one = brain()
    told, match = "INFO time_left 300", "INFO timeout_match 60000"
    for lines in ((told, "START 15"), (told, match, "RESTART"), (match, told, match, "RESTART")):
        one.send(*lines)
        assert one.answers.get(timeout=240) == "OK"
        assert one.session._left == 300, lines
        one.ask("BEGIN")
    assert one.session._left <= 300
    one.ask("RESTART")
    assert one.session._left == 60_000


def test_position_with_a_finishing_order_is_set_up():
    six = [(cell, OTHER) for cell in range(6)]
    own = [(cell, OWN) for cell in (40, 42, 44, 60, 62)]
    board = Board.empty(9, 9, "exact").set_up([*six, *own])  # five of the six come first
    assert (board.played, board.actions, board.over) == (11, (), False)
    assert gomoku.to_play(board.state) == 1


def test_board_is_accepted_if_some_order_of_stones_is_legal(brain):
    one = brain("fake:value=1")
    one.ask("START 10")
    five_last = ["1,0,2", "2,0,2", "3,0,2", "4,0,2", "0,9,1", "2,9,1", "4,9,1", "6,9,1"]
    assert one.ask("BOARD", *five_last, "DONE") == ["0,0"]
    own_line = [f"{x},5,1" for x in range(5)] + [f"{2 * (x % 5)},{7 + x // 5},2" for x in range(6)]
    assert one.ask("BOARD", *own_line, "DONE") == ["ERROR own stones make a line already, with own to move"]


def test_a_search_is_reported_and_so_are_its_faults(brain):
    one = brain("fake:value=0.5", verbose=True)
    one.ask("START 15")
    assert one.ask("BEGIN", count=2) == ["MESSAGE depth 1, 1 nodes, value +0.50", "0,0"]
    assert brain("fake:fail=1").ask("START 15") == ["ERROR RuntimeError: the search failed"]
    assert brain("nobody").ask("START 15")[0].startswith("ERROR no player 'nobody' for gomoku; there are")
    assert brain("zero:no/such.pt").ask("START 15")[0].startswith("ERROR no/such.pt")


@pytest.mark.parametrize("player", ["random", "minimax:depth=1", "mcts:playouts=20", "alphabeta:depth=2"])
def test_any_player_may_think(brain, player):
    said = brain(player).ask("START 9", "INFO timeout_turn 100", "TURN 4,4", count=2)
    assert re.fullmatch(r"OK (?!4,4)[0-8],[0-8]", " ".join(said))


class OnNine(SearchPlayer):
    """Plays on one board alone, as a model does."""

    boards = (OneBoard(9, 9, "freestyle"),)

    def check(self, state):
        check_state(self.only, state)


def test_model_offers_its_own_games(brain):
    one = brain()
    one.ask("START 9")
    plays_all = one.session._player
    one.session._player = OnNine(plays_all.searcher, plays_all.limit)
    answer = one.ask("START 15")[0]
    assert answer.startswith("ERROR a 15x15 board, but this model plays on 9x9; on any board, by any rule: --player")
    assert "alphabeta" in answer
    assert one.ask("START 9", "BEGIN", count=2) == ["OK", "0,0"]
    one.send("INFO rule 1")
    assert one.ask("TURN 5,5")[0].startswith("ERROR variant exact")
    note, done = one.ask("START 9", count=2)  # the size is right, and the rule may still change
    assert note.startswith("MESSAGE variant exact")
    assert done == "OK"


def test_nothing_is_printed_after_end():
    one = Brain("fake:movetime=100000")
    one.session._settings.timeout_turn = 100_000
    one.send("START 15", "BEGIN")
    assert one.answers.get(timeout=240) == "OK"
    begin = time.perf_counter()
    assert not one.session.handle("END")
    assert time.perf_counter() - begin < 5
    time.sleep(0.2)
    assert one.answers.empty()


def test_start_and_end_of_input_stop_a_search():
    one = Brain("fake:movetime=100000")
    assert one.ask("START 15", "BEGIN", "START 20", "BEGIN", count=3) == ["OK", "0,0", "OK"]
    one.session.finish(60)
    assert one.answers.get(timeout=60) == "0,0"


def test_random_garbage_is_survived(brain):
    one, rng = brain(), random.Random(3)
    words = "START RESTART RECTSTART BEGIN TURN BOARD DONE SWAP2BOARD TAKEBACK INFO ABOUT rule timeout_turn 1 0 15 5 "
    words = (words + "1,1 2,2 3,3,1 4,4,2 7,7 9,9 -3 , \u2603 time_left").split()
    for _ in range(1500):
        line = " ".join(rng.choices(words, k=rng.randrange(1, 4)))
        one.send(line[: rng.randrange(len(line) + 1)] if rng.random() < 0.2 else line)
    one.send("DONE", "INFO rule 0", "START 5", "INFO timeout_turn 1", "BEGIN")
    one.session.finish(120)
    said = [one.answers.get_nowait() for _ in range(one.answers.qsize())]
    assert said[-2:] == ["OK", "0,0"]
    assert not [line for line in said if "Error:" in line or "Traceback" in line]


WORDS = [sys.executable, "-m", "tests.arena.fakes", "gomoku", "brain", "--player", "fake"]


def test_the_command_on_pipes():
    lines = b"START 15\r\nBEGIN\r\n" + b"x" * 200_000 + b"\nTURN 7,7\nABOUT\n"
    done = subprocess.run(WORDS, input=lines, capture_output=True, timeout=240)
    answers = done.stdout.decode().split("\n")
    assert sorted(answers) == sorted(["OK", "0,0", "ERROR line too long", "1,0", ABOUT.replace("PLAYER", "fake"), ""])
    assert done.returncode == 0


@pytest.mark.slow
def test_brain_without_a_reader_ends():
    """Its input stays open, as that of a manager that has gone away without closing it."""
    with subprocess.Popen(WORDS, **dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)) as process:
        process.stdout.close()
        try:
            process.stdin.write(b"ABOUT\n")
            process.stdin.flush()
            assert process.wait(timeout=240) == 1
        finally:
            process.kill()
        assert process.stderr.read() == b""


@pytest.mark.slow
def test_a_match_against_our_own_brain():
    ours = f"brain:{' '.join(WORDS[:-1])} alphabeta:depth=2,movetime=300"
    found = run_match(MatchSpec("gomoku", "random", ours, 4, "random:2", 9))
    assert (found.standing.wins, found.standing.losses) == (0, 4)
    assert not found.side(1).forfeits.get("crash")


def cpu_ms(pid):
    """Time that a process has computed, which a crowded machine does not prolong."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return 1000 * (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc")
def test_no_answer_takes_longer_than_its_turn():
    """Games of the real search against random stones, every answer timed as a manager would.

    That of a whole move is not asserted of each, but of many: where more runs than there are cores, any process may
    be kept waiting.
    """
    turn_ms, rng, walls, computed = 250.0, np.random.default_rng(1), [], []
    process = EngineProcess(WORDS[:-2])
    try:
        while len(walls) < 30:
            process.send("START 15")
            assert process.read(time.monotonic() + 300) == "OK"
            process.send(f"INFO timeout_turn {turn_ms:.0f}")
            state, ask = gomoku.initial_state(), "BEGIN"
            while gomoku.winner(state) is None:
                begin, before = time.perf_counter(), cpu_ms(process.pid)
                process.send(ask)
                answer = process.read(time.monotonic() + 120)
                while answer.startswith("MESSAGE"):  # kernels that no run before has compiled
                    answer = process.read(time.monotonic() + 120)
                walls.append((time.perf_counter() - begin) * 1000)
                computed.append(cpu_ms(process.pid) - before)
                x, y = map(int, answer.split(","))
                state = gomoku.play(state, 15 * y + x)
                if gomoku.winner(state) is not None:
                    break
                action = int(rng.choice(gomoku.legal_actions(state)))
                state = gomoku.play(state, action)
                ask = f"TURN {action % 15},{action // 15}"
    finally:
        process.close()
    assert max(computed) < turn_ms
    assert np.quantile(walls, 0.2) < turn_ms

import re
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from pipeline_src.arena.match import MatchSpec, run_match
from pipeline_src.errors import ZugwerkError
from pipeline_src.games import gomoku
from pipeline_src.players import gomocup as brain_module
from pipeline_src.players import process as engine_module
from pipeline_src.players.gomocup import read_cell, rule_number, rule_words, write_cell
from pipeline_src.players.player import PlayerError, Position, RefusalError
from pipeline_src.players.registry import make_player
from pipeline_src.search.limits import Clock

SCRIPT = Path(__file__).with_name("scripted_brain.py")


def text(mode, *more, options="movetime=100,grace=60000"):
    command = f"'{sys.executable}' -S '{SCRIPT}' {mode} {' '.join(map(str, more))}".strip()
    return f"brain:{command},{options}"


@pytest.fixture
def player():
    made = []

    def make(mode, *more, **options):
        made.append(make_player("gomoku", text(mode, *more, **options)))
        return made[-1]

    yield make
    for one in made:
        one.close()


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


def test_non_answers_are_skipped(player):
    assert player("chatty").choose([position([0])]) == [1]


@pytest.mark.parametrize(
    ("mode", "kind", "said"),
    [
        ("illegal", "illegal", "there is a stone"),
        ("outside", "illegal", "no cell 77,3"),
        ("gibberish", "illegal", "answers 'h8' in place of a move"),
        ("error", "illegal", "answers 'ERROR I give up' in place of a move"),
        ("suggest", "illegal", "answers 'SUGGEST 2,2' in place of a move"),
        ("swap", "illegal", "answers 'SWAP' in place of a move"),
        ("three", "illegal", "answers '7,7,1' in place of a move"),
        ("number", "illegal", "answers '112' in place of a move"),
        ("hang", "hang", "hung: no move within 0.4 s; its last lines: OK$"),
        ("leaves", "exit", r"left unasked \(status 0\)"),
        ("late=900", "hang", "hung"),
        ("flood", "hang", "hung"),
        (
            "crash",
            "crash",
            r"crashed \(status 3\); its .* OK; on stderr: warming up \| no memory \?\[31mleft$",
        ),
    ],
)
def test_faults_have_a_kind_and_come_in_time(player, mode, kind, said):
    short = {"options": "movetime=100,grace=300"} if kind == "hang" else {}
    brain, begin = player(mode, **short), time.monotonic()
    with pytest.raises(PlayerError, match=said) as caught:
        brain.choose([position([0])])
    assert caught.value.kind == kind
    assert time.monotonic() - begin < 30


def test_bad_move_is_reported_at_once_not_as_a_hang(player):
    for mode in ("gibberish", "error", "suggest", "swap"):
        brain, begin = player(mode, options="movetime=5000,grace=200000"), time.monotonic()
        with pytest.raises(PlayerError, match="in place of a move"):
            brain.choose([position([0])])
        assert time.monotonic() - begin < 60


def test_brain_without_answer_to_start_is_reported_and_dropped(player, caplog, monkeypatch):
    monkeypatch.setattr(engine_module, "SLOW_S", 0.3)
    with pytest.raises(PlayerError, match=r"hung: no OK within 0.8 s$") as caught:
        player("mute", options="start=800").ready(position().start)
    assert caught.value.kind == "hang"
    (told,) = (record.getMessage() for record in caplog.records)
    assert re.fullmatch(r"waiting for engine '.*': no OK yet, given up after 1 s; it has said nothing", told)


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


@pytest.mark.parametrize("mode", ["cr", "mark"])
def test_lines_may_end_in_cr_or_begin_with_mark(player, mode):
    assert player(mode).choose([position([0])]) == [1]


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
    assert [rule_number(name) for name in ("freestyle", "exact", "renju", "caro")] == [0, 1, 4, 8]
    assert rule_words(6) == "renju continuous"


def test_cells_as_text():
    assert write_cell(7, 5) == "2,1"
    assert read_cell(" 2, 1", 3, 5) == 7
    for bad in ("5,0", "0,3", "a,b", "1", "1,2,3", "-1,0", "\u0663,1"):
        with pytest.raises(ZugwerkError):
            read_cell(bad, 3, 5)


@pytest.mark.parametrize(
    ("mode", "fault"), [("hang", "hang"), ("leaves", "exit"), ("late=350", "time"), ("illegal", "illegal")]
)
def test_faults_lose_games_of_a_match(mode, fault):
    bad = text(mode, options="movetime=100,grace=600,first=0")
    found = run_match(MatchSpec("gomoku", "random", bad, 2, "random:2", 5))
    assert (found.standing.wins, found.standing.losses) == (2, 0)
    assert found.side(1).forfeits == {fault: 2}


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


def test_a_whole_match_of_brains():
    patient = "movetime=3000,grace=3000"
    one, other = text("good", options=patient), text("chatty", options=patient)
    found = run_match(MatchSpec("gomoku", one, other, 4, "random:2", 5))
    assert found.status == "finished"
    assert (found.forfeits(0), found.forfeits(1)) == ({}, {})


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
def test_program_that_refuses_immediate_commands_loses_no_match_game(pause):
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

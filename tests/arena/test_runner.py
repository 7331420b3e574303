"""Games and who plays them: the runner, its players, the journal, and the loop of a game."""

import os
import re
import time
import tracemalloc
from dataclasses import replace
from functools import reduce

import numpy as np
import pytest

from pipeline_src.arena import runner
from pipeline_src.arena.game import Fixture, GameClock, OpenGame, PlayedGame, TimeControl, play, random_openings
from pipeline_src.arena.journal import Journal, each_kept, pack, stage_journal, unpack
from pipeline_src.arena.runner import Board, group_keys, play_fixtures, play_matches, swapped_pair
from pipeline_src.errors import ZugwerkError
from pipeline_src.games import amazons, gomoku
from pipeline_src.games.game import get_game
from pipeline_src.parallel import Parallel
from pipeline_src.players import AMAZONS as PLAYERS
from pipeline_src.players.player import Options, Player, PlayerError, Thought
from pipeline_src.project.code import Code
from tests.arena import gomoku_stubs
from tests.arena.gomoku_stubs import stubs  # noqa: F401
from tests.run_stage import split_at_random

pytestmark = pytest.mark.usefixtures("stubs")
ALONE = Parallel(workers=1)
BOARD = Board("gomoku", 4, "freestyle-3")


@pytest.fixture
def fixtures(tmp_path):
    (tmp_path / "good.pt").write_text("1.0")
    good = f"zero:{tmp_path / 'good.pt'},search=puct"
    return [one for i in range(5) for one in swapped_pair(good, "random", (i,), (7, i))]


def play_texts(fixtures, journal=None):
    return play_fixtures(BOARD, fixtures, ALONE, journal)


def test_games_start_from_their_openings_with_named_players(fixtures):
    games = play_texts(fixtures)
    assert [game.actions[0] for game in games] == [i for i in range(5) for _ in (0, 1)]
    assert [game.fixture for game in games] == fixtures
    for game in games:
        assert gomoku.winner(reduce(gomoku.play, game.actions, gomoku.initial_state(4, "freestyle-3"))) == game.winner
    won = [game.winner == ("second" if i % 2 else "first") for i, game in enumerate(games)]
    assert sum(won) >= 8


def test_game_is_independent_of_concurrent_games(fixtures, monkeypatch):
    games = play_texts(fixtures)
    assert play_texts(fixtures[::-1]) == games[::-1]
    assert play_texts(fixtures[6:7]) == games[6:7]
    for seed in range(5):
        split_at_random(monkeypatch, seed)
        monkeypatch.setattr(runner, "LOCK_STEP", 1 + seed)
        assert play_texts(fixtures) == games


def test_concurrent_matches_each_get_their_games(fixtures):
    games = play_texts(fixtures)
    gomoku_stubs.CALLS.clear()
    assert play_matches(BOARD, [fixtures[:4], [], fixtures[4:]], ALONE) == [games[:4], [], games[4:]]
    assert max(gomoku_stubs.CALLS) == 5  # of games of both: half of the ten games, each turn


def test_duplicate_games_are_played_once_and_reported_twice(fixtures):
    games = play_texts(fixtures[:2])
    calls = sum(gomoku_stubs.CALLS)
    assert play_texts(fixtures[:2] * 2) == games * 2
    assert sum(gomoku_stubs.CALLS) == 2 * calls


def test_finished_games_are_kept_and_not_played_again(fixtures, tmp_path):
    path = tmp_path / "journal.jsonl"
    with Journal(path, {}) as journal:
        games = play_texts(fixtures, journal)
    lines = path.read_bytes().splitlines(keepends=True)
    assert len(lines) == 1 + len(fixtures)
    path.write_bytes(b"".join(lines[:2] + lines[5:]))
    gomoku_stubs.CALLS.clear()
    with Journal(path, {}) as journal:
        assert play_texts(fixtures, journal) == games
    assert 0 < sum(gomoku_stubs.CALLS) < sum(len(game.actions) for game in games) / 2
    gomoku_stubs.CALLS.clear()
    with Journal(path, {}) as journal:
        assert play_texts(fixtures, journal) == games
    assert not gomoku_stubs.CALLS


def test_changed_model_plays_its_games_again(fixtures, tmp_path):
    with Journal(tmp_path / "journal.jsonl", {}) as journal:
        games = play_texts(fixtures, journal)
        (tmp_path / "good.pt").write_text("0.0")
        assert play_texts(fixtures, journal) != games
        (tmp_path / "good.pt").write_text("1.0")
        assert play_texts(fixtures, journal) == games


def test_unknown_player_is_named_before_any_game():
    with pytest.raises(ZugwerkError, match="no player 'nobody' for gomoku"):
        play_texts([Fixture("random", "random", (), (1,)), Fixture("random", "nobody", (), (2,))])
    assert not gomoku_stubs.CALLS


MADE = []


class Made(Player):
    """Remembers that it was made, and closed."""

    closed = 0

    def close(self):
        self.closed += 1


class MadeOptions(Options):
    VALUE = "path"

    path: str = ""
    model: str = ""
    k: float = 0.0


def made_player(options: MadeOptions):
    MADE.append(options.path)
    return Made()


@pytest.fixture
def made(monkeypatch, tmp_path):
    monkeypatch.setitem(PLAYERS, "made", "tests.arena.test_runner:made_player")
    monkeypatch.chdir(tmp_path)
    runner.dismiss()
    MADE.clear()
    yield MADE
    runner.dismiss()


def test_a_player_is_made_once_for_each_seat(made):
    one = runner.player("amazons", "made:a")
    assert runner.player("amazons", "made:a") is one
    other = runner.player("amazons", "made:a", seat=1)
    assert other is not one
    runner.rest()
    assert (one.closed, other.closed) == (1, 1)
    assert runner.player("amazons", "made:a") is one
    assert made == ["a", "a"]


def test_a_changed_file_or_params_make_a_new_one(made, tmp_path):
    model = tmp_path / "model.pt"
    model.write_text("old")
    one = runner.player("amazons", f"made:{model}")
    model.write_text("new")
    os.utime(model, (1, 1))
    two = runner.player("amazons", f"made:{model}")
    assert two is not one
    (tmp_path / "params.yaml").write_text("seed: 1")
    three = runner.player("amazons", f"made:{model}")
    assert three not in (one, two)
    assert runner.player("amazons", f"made:{model}") is three


def test_files_are_those_that_a_text_names(tmp_path):
    model = tmp_path / "model.pt"
    model.write_text("")
    assert runner.files_of(f"made:{model},model={model},k=1") == [model, model]
    assert runner.files_of("made:" + 5000 * "x") == []
    assert runner.files_of("made:no/such,net=none") == []


def test_the_longest_unused_are_let_go(made, monkeypatch):
    monkeypatch.setattr(runner, "MOST", 2)
    a, b = runner.player("amazons", "made:a"), runner.player("amazons", "made:b")
    assert runner.player("amazons", "made:a") is a
    runner.player("amazons", "made:c")
    assert (a.closed, b.closed) == (0, 1)
    assert runner.player("amazons", "made:a") is a
    assert runner.player("amazons", "made:b") is not b


RAN = []


def double(tasks):
    RAN.extend(number for (number,) in tasks)
    return [(2 * number,) for (number,) in tasks]


def test_added_tasks_are_read_back(tmp_path):
    path = tmp_path / "folder" / "journal.jsonl"
    with Journal(path, {"seed": 1}) as kept:
        kept.add({"a": [1, 2]})
        kept.add({"b": {"x": None}})
    path.write_bytes(path.read_bytes() + b'{"key":"c","val')  # torn by a kill
    with Journal(path, {"seed": 1}) as kept:
        assert kept.entries == {"a": [1, 2], "b": {"x": None}}
        kept.add({"c": 3})
        kept.add({"d": 4, "e": 5})
    path.write_bytes(path.read_bytes().replace(b'{"key":"e","value":5}\n', b""))  # d and e ran together
    with Journal(path, {"seed": 1}) as kept:
        assert list(kept.entries) == ["a", "b", "c"]
    with Journal(path, {"seed": 1}, resume=False) as kept:
        assert not kept.entries


def test_another_journal_is_refused_or_replaced(tmp_path):
    path = tmp_path / "journal.jsonl"
    with Journal(path, {"seed": 1, "b": 2}) as kept:
        kept.add({"a": 1})
        with pytest.raises(ZugwerkError, match="another match is writing it"):
            Journal(path, {"seed": 1, "b": 2})
    with pytest.raises(ZugwerkError, match=r"the journal of another match \(b differs\); choose another --out"):
        Journal(path, {"seed": 1, "b": 3})
    with Journal(path, {"seed": 1, "b": 2}) as kept:
        assert kept.entries == {"a": 1}
    with Journal(path, {"seed": 1, "b": 3}, replace=True) as kept:
        assert not kept.entries
    assert path.read_bytes().count(b"\n") == 1
    path.write_text('{"format":1,"seed":1}\n{"pair":0,"games":[]}\n')  # of an earlier version
    with pytest.raises(ZugwerkError, match="format differs"):
        Journal(path, {"seed": 1})
    for damage in ("nonsense\n", path.read_text().splitlines()[0].replace("1,", "2,", 1) + "\n{}\n"):
        path.write_text(damage)
        with pytest.raises(ZugwerkError, match="damaged"):
            Journal(path, {"seed": 1})


def test_only_tasks_that_are_missing_run(tmp_path):
    RAN.clear()
    tasks = {str(number): (number,) for number in range(4)}
    path, twice = tmp_path / "journal.jsonl", [(0,), (2,), (4,), (6,)]
    with Journal(path, {}) as kept:
        found = list(each_kept(double, tasks, ALONE, "doubles", kept, kind=tuple[int]))
        assert found == twice  # tuples, as they were returned
        assert RAN == [0, 1, 2, 3]
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:2] + lines[3:]))
    with Journal(path, {}) as kept:
        assert list(each_kept(double, tasks, ALONE, "doubles", kept, kind=tuple[int])) == twice
        assert RAN == [0, 1, 2, 3, 1]
    assert list(each_kept(double, {"7": (7,)}, ALONE, "doubles")) == [(14,)]


def test_results_wait_on_disk_not_in_memory(tmp_path):
    def peak(count):
        tasks = {str(number): (number,) for number in range(count)}
        tracemalloc.start()
        with Journal(tmp_path / f"{count}.jsonl", {}) as kept:
            for key in tasks:
                kept.add({key: key * 4_000})
        with Journal(tmp_path / f"{count}.jsonl", {}) as kept:
            assert sum(len(text) for text in each_kept(double, tasks, ALONE, "texts", kept)) >= 4_000 * count
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    peak(10)
    assert peak(400) - peak(100) < 300 * 1_000  # bytes; a text has 4,000 and more


def test_packed_arrays_round_trip():
    arrays = {"a": np.arange(6, dtype=np.int16).reshape(2, 3), "b": np.float16([]), "c": 7}
    found = unpack(pack(arrays))
    assert found.keys() == arrays.keys()
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array, strict=name != "c")


def test_changed_code_or_params_start_a_new_journal(tmp_path, monkeypatch):
    monkeypatch.setattr(Code, "digest_of_all", lambda _: "code")

    def entries(stage="some_stage", **identity):
        with stage_journal(tmp_path, stage, identity) as kept:
            found = dict(kept.entries)
            kept.add({"group": 1})
        return found

    entries(seed=1)
    assert entries(seed=1) == {"group": 1}
    assert entries(seed=2) == {}
    assert entries("other_stage", seed=2) == {}
    monkeypatch.setattr(Code, "digest_of_all", lambda _: "edited")
    assert entries("other_stage", seed=2) == {}
    assert [path.name for path in tmp_path.iterdir()] == ["journal.jsonl"]


GAME = get_game("amazons")
START = amazons.initial_state(6)


def begin(first, second, opening=(), number=0, clock=None):
    return OpenGame(GAME, START, Fixture("A", "B", tuple(opening), (11, number)), (first, second), clock)


def play_games(first, second, openings):
    return play([begin(first, second, opening, i) for i, opening in enumerate(openings)])


class Scripted(Player):
    """Plays the first legal action, but ``wrong`` at the given ply."""

    def __init__(self, wrong=None, at=0):
        self.wrong, self.at, self.asked = wrong, at, []

    def choose(self, positions):
        states = [position.state for position in positions]
        self.asked.append(len(states))
        assert all(amazons.winner(state) is None for state in states), "asked about a finished game"
        assert len({amazons.to_play(state) for state in states}) == 1, "asked for both sides"
        return [
            self.wrong if self.wrong is not None and state.turn[2] == self.at else int(amazons.legal_actions(state)[0])
            for state in states
        ]


def replay(actions):
    state = START
    for action in actions:
        assert amazons.is_legal(state, action)
        state = amazons.play(state, action)
    return state


@pytest.mark.parametrize("wrong", [0, -1, 36**3, 2**62])
@pytest.mark.parametrize("side", [0, 1])
def test_an_illegal_action_forfeits_the_game(wrong, side):
    cheat, honest = Scripted(wrong, at=4 + side), Scripted()
    players = (cheat, honest) if side == 0 else (honest, cheat)
    (game,) = play_games(*players, [()])
    assert (game.ended, game.detail) == ("illegal", f"move {5 + side}: action {wrong} is not legal")
    assert game.winner == ("second", "first")[side]
    assert len(game.actions) == 4 + side
    assert amazons.winner(replay(game.actions)) is None


def test_finished_games_are_not_asked_about_again():
    openings = random_openings(GAME, START, 4, 1, [3])  # an odd ply: the second side moves first
    first, second = Scripted(), Scripted()
    games = play_games(first, second, openings)
    plies = [len(game.actions) - 1 for game in games]
    assert sum(first.asked) + sum(second.asked) == sum(plies)
    assert second.asked[0] == 4
    assert {game.mover for game in games} == {1}


def test_a_game_that_is_over_after_its_opening_is_played():
    moves = play_games(Scripted(), Scripted(), [()])[0].actions
    assert play_games(Scripted(wrong=0), Scripted(wrong=0), [moves])[0].winner == amazons.winner(replay(moves))


class Failing(Scripted):
    """Gives no answer in games that began with a certain action."""

    def __init__(self, opening):
        super().__init__()
        self.opening = opening

    def choose(self, positions):
        if any(position.actions[:1] == self.opening for position in positions):
            raise PlayerError("crash", "no answer")
        return super().choose(positions)


def test_missing_answer_forfeits_only_that_game():
    openings = [(action,) for action in amazons.legal_actions(START)[[0, 100, 200]].tolist()]
    healthy = play_games(Scripted(), Scripted(), openings)
    games = play_games(Failing(openings[1]), Scripted(), openings)
    assert (games[1].winner, games[1].ended, games[1].detail) == ("second", "crash", "move 3: no answer")
    assert len(games[1].actions) == 2
    assert [games[0], games[2]] == [healthy[0], healthy[2]]


def test_player_notes_on_moves_are_kept():
    class Noting(Player):
        def consider(self, positions):
            return [Thought(int(amazons.legal_actions(p.state)[0]), note=(len(p.actions), 0.5)) for p in positions]

    (game,) = play_games(Noting(), Scripted(), [()])
    assert game.notes == tuple((ply, 0.5) for ply in range(0, len(game.actions), 2))


def test_a_record_names_players_start_and_forfeit():
    board, fixture = Board("amazons", 6), Fixture("A", "B", (1,), (2,))
    game = PlayedGame(fixture, (1, 2, 3), "second", "time", "late", 1, (5.0, 6.0), ((1, 0.5),))
    record = board.record(game, 7)
    assert (record.game, record.gid, record.source, record.height, record.width) == ("amazons", 7, "engine", 6, 6)
    assert (record.first_name, record.second_name, record.variant) == ("A", "B", "standard")
    assert (record.actions, record.winner, record.event) == ((1, 2, 3), "second", "forfeit:time: late")
    assert board.record(game, 7, "table2").event == "table2"
    assert board.record(PlayedGame(fixture, (1,), "draw"), 1).event == ""
    assert Board("gomoku", 5, "exact").record(PlayedGame(fixture, (1,), "draw"), 1).variant == "exact"
    elsewhere = board.record(PlayedGame(Fixture("A", "B", (), (2,), "1q1/3/1Q1 w"), (), "first"), 1)
    assert (elsewhere.variant, elsewhere.height) == ("1q1/3/1Q1 w", 3)
    assert game.spent_by(1) == (5.0,)
    assert game.spent_by(0) == (6.0,)


class Slow(Player):
    """Plays the first legal turn after so many milliseconds, move by move, the last for ever."""

    def __init__(self, *waits):
        self.waits = list(waits)

    def choose(self, positions):
        assert len(positions) == 1, "moves on a clock are asked for one by one"
        time.sleep((self.waits.pop(0) if len(self.waits) > 1 else self.waits[0]) / 1000)
        return [int(amazons.legal_actions(position.state)[0]) for position in positions]


def timed(first, second, limits=(None, None), **control):
    return play([begin(first, second, clock=GameClock(TimeControl(**control), limits))])[0]


def test_games_are_played_to_their_end_and_timed():
    game = timed(Slow(0), Slow(0))
    assert (game.ended, game.winner) == ("board", amazons.winner(replay(game.actions)))
    assert len(game.spent) == len(game.actions)
    assert (game.spent_by(0), game.spent_by(1)) == (game.spent[::2], game.spent[1::2])


def test_who_takes_longer_than_its_movetime_loses():
    game = timed(Slow(0), Slow(0, 60), (None, 20.0), margin_ms=20.0)
    assert (game.winner, game.ended, len(game.actions), len(game.spent)) == ("first", "time", 3, 4)
    assert game.spent[3] > 40
    assert re.fullmatch(r"move \d+: late by \d+ ms: \d+ ms for a move of 20 ms", game.detail)
    assert timed(Slow(0), Slow(0, 30, 0), (None, 20.0), margin_ms=1000.0).ended == "board"


def test_a_pause_for_another_program_is_on_no_clock():
    paused = Slow(20)
    paused.waited_ms = 20.0
    assert min(timed(paused, Slow(0)).spent_by(0)) < 10


def test_flag_falls_and_increments_delay_it():
    game = timed(Slow(30), Slow(0), clock_ms=100.0)
    assert (game.winner, game.ended) == ("second", "time")
    assert game.detail.split(": ")[1] == "the flag fell"
    assert len(game.spent_by(0)) in (3, 4)
    assert timed(Slow(5, 5, 0), Slow(0), clock_ms=20.0, increment_ms=100.0).ended == "board"


def test_clock_of_cpu_time_counts_work_alone():
    class Busy(Slow):
        def choose(self, positions):
            end = time.process_time() + 0.03
            while time.process_time() < end:
                pass
            return super().choose(positions)

    game = timed(Slow(30), Slow(0), clock_ms=100.0, cpu=True)
    assert game.ended == "board"
    assert sum(game.spent_by(0)) < 100 < 30 * len(game.spent_by(0))
    game = timed(Busy(0), Slow(0), clock_ms=100.0, cpu=True)
    assert (game.winner, game.ended) == ("second", "time")


def test_journals_begun_before_there_was_cpu_time_go_on():
    fixture, board = Fixture("random", "random", (), (1,)), Board("gomoku", 15, None, TimeControl(1000.0))
    assert group_keys(board, [[fixture]]) == ["d3ae84e8a5a4624aad0d6633da67b069"]
    assert group_keys(replace(board, control=TimeControl(1000.0, cpu=True)), [[fixture]]) != group_keys(
        board, [[fixture]]
    )


def test_node_clock_ignores_wall_time():
    class Counting(Player):
        """Says that a move took 30 nodes, and notes what its clock has left."""

        def consider(self, positions):
            time.sleep(0.005)
            action, clock = int(amazons.legal_actions(positions[0].state)[0]), positions[0].clock
            return [Thought(action, nodes=30, note=(clock.own_ms, clock.other_ms))]

    game = timed(Counting(), Counting(), clock_ms=4.0, nodes_per_ms=20.0)
    assert (game.winner, game.ended, len(game.actions)) == ("second", "time", 4)
    assert game.spent == (30,) * 5
    assert game.notes == ((4.0, 4.0), (4.0, 2.5), (2.5, 2.5), (2.5, 1.0), (1.0, 1.0))
    assert game == timed(Counting(), Counting(), clock_ms=4.0, nodes_per_ms=20.0)


def test_both_players_draw_from_the_generator_of_their_game():
    class Drawing(Player):
        def __init__(self, drawn):
            self.drawn = drawn

        def choose(self, positions):
            self.drawn.extend(int(position.rng.integers(1000)) for position in positions)
            return [int(amazons.legal_actions(position.state)[0]) for position in positions]

    drawn = []
    play([begin(Drawing(drawn), Drawing(drawn), number=3)])
    assert drawn == np.random.default_rng((11, 3)).integers(1000, size=len(drawn)).tolist()

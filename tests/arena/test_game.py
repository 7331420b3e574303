import re
import time

import numpy as np
import pytest

from pipeline_src.arena.game import Fixture, GameClock, OpenGame, PlayedGame, TimeControl, play
from pipeline_src.arena.openings import random_openings
from pipeline_src.arena.runner import Board
from pipeline_src.games import amazons
from pipeline_src.games.game import get_game
from pipeline_src.players.player import Player, PlayerError, Thought
from pipeline_src.players.registry import make_player

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


def test_games_are_legal_and_go_to_their_end():
    openings = random_openings(GAME, START, 6, 2, [1])
    games = play_games(make_player("amazons", "random"), make_player("amazons", "one_ply"), openings)
    for game, opening in zip(games, openings, strict=True):
        assert game.actions[:2] == opening
        assert game.winner == amazons.winner(replay(game.actions))
        assert (game.ended, game.spent) == ("board", ())


def test_lock_step_equals_single_games():
    openings = random_openings(GAME, START, 5, 2, [2])
    players = [make_player("amazons", text) for text in ("one_ply:noise=3", "random")]
    together = play_games(*players, openings)
    alone = [play([begin(*players, opening, i)])[0] for i, opening in enumerate(openings)]
    assert together == alone
    assert len({game.actions for game in together}) == 5


@pytest.mark.parametrize("wrong", [0, -1, 36**3, 5 * 36 * 36 + 5 * 36 + 5, 2**62])
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


def test_no_games_at_all():
    assert play([]) == []


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
    state = START
    for action in game.actions:
        assert amazons.winner(state) is None
        state = amazons.play(state, action)
    assert amazons.winner(state) == game.winner
    assert game.ended == "board"
    assert len(game.spent) == len(game.actions)
    assert game.spent_by(0) == game.spent[::2]
    assert game.spent_by(1) == game.spent[1::2]


def test_who_takes_longer_than_its_movetime_loses():
    game = timed(Slow(0), Slow(0, 60), (None, 20.0), margin_ms=20.0)
    assert (game.winner, game.ended, len(game.actions), len(game.spent)) == ("first", "time", 3, 4)
    assert game.spent[3] > 40
    assert re.fullmatch(r"move \d+: late by \d+ ms: \d+ ms for a move of 20 ms", game.detail)
    assert timed(Slow(0), Slow(0, 30, 0), (None, 20.0), margin_ms=1000.0).ended == "board"


def test_flag_falls_and_increments_delay_it():
    game = timed(Slow(30), Slow(0), clock_ms=100.0)
    assert (game.winner, game.ended) == ("second", "time")
    assert game.detail.split(": ")[1] == "the flag fell"
    assert len(game.spent_by(0)) in (3, 4)
    assert timed(Slow(5, 5, 0), Slow(0), clock_ms=20.0, increment_ms=100.0).ended == "board"


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

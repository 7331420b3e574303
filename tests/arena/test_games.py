import numpy as np
import pytest

from pipeline_src.arena.games import play_games, random_openings
from pipeline_src.errors import ZugwerkError
from pipeline_src.games import amazons
from pipeline_src.games.game import get_game
from pipeline_src.players.errors import PlayerError
from pipeline_src.players.registry import make_player

GAME = get_game("amazons")
START = amazons.initial_state(6)


def rngs(count):
    return [np.random.default_rng([11, i]) for i in range(count)]


class Scripted:
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
    games = play_games(
        GAME, make_player("amazons", "random"), make_player("amazons", "one_ply"), openings, rngs(6), START
    )
    for game, opening in zip(games, openings, strict=True):
        assert game.actions[:2] == opening
        assert game.winner == amazons.winner(replay(game.actions))
        assert not game.illegal


def test_lock_step_plays_each_game_as_if_alone():
    openings = random_openings(GAME, START, 5, 2, [2])
    players = [make_player("amazons", text) for text in ("one_ply:noise=3", "random")]
    together = play_games(GAME, *players, openings, rngs(5), START)
    alone = [play_games(GAME, *players, [o], [r], START)[0] for o, r in zip(openings, rngs(5), strict=True)]
    assert together == alone
    assert len({game.actions for game in together}) == 5


@pytest.mark.parametrize("wrong", [0, -1, 36**3, 5 * 36 * 36 + 5 * 36 + 5, 2**62])
@pytest.mark.parametrize("side", [0, 1])
def test_an_illegal_action_forfeits_the_game(wrong, side):
    cheat, honest = Scripted(wrong, at=4 + side), Scripted()
    players = (cheat, honest) if side == 0 else (honest, cheat)
    (game,) = play_games(GAME, *players, [()], rngs(1), START)
    assert game.illegal
    assert game.winner == ("second", "first")[side]
    assert len(game.actions) == 4 + side
    assert amazons.winner(replay(game.actions)) is None


def test_finished_games_are_not_asked_about_again():
    openings = random_openings(GAME, START, 4, 1, [3])  # an odd ply: the second side moves first
    first, second = Scripted(), Scripted()
    games = play_games(GAME, first, second, openings, rngs(4), START)
    plies = [len(game.actions) - 1 for game in games]
    assert sum(first.asked) + sum(second.asked) == sum(plies)
    assert second.asked[0] == 4


def test_no_games_at_all():
    assert play_games(GAME, Scripted(), Scripted(), [], [], START) == []


def test_openings_are_distinct_legal_and_leave_the_game_open():
    openings = random_openings(GAME, START, 200, 2, [4])
    assert len(set(openings)) == 200
    assert all(len(opening) == 2 and amazons.winner(replay(opening)) is None for opening in openings)


def test_an_opening_depends_on_its_number_alone():
    assert random_openings(GAME, START, 20, 3, [5]) == random_openings(GAME, START, 40, 3, [5])[:20]
    assert random_openings(GAME, START, 20, 3, [5]) != random_openings(GAME, START, 20, 3, [6])
    assert random_openings(GAME, START, 3, 0, [5]) == [()] * 3


def test_too_few_openings_is_said():
    tight = amazons.from_fen("q**/***/Q1* w")  # one move, one arrow; and then Black has lost
    with pytest.raises(ZugwerkError, match="no opening of 1 plies"):
        random_openings(GAME, tight, 1, 1, [7])
    few = amazons.from_fen("q2/***/Q1* w")
    assert len(amazons.legal_actions(few)) == 1
    with pytest.raises(ZugwerkError, match="beside the 1 already drawn"):
        random_openings(GAME, few, 2, 1, [7])


class Failing(Scripted):
    """Gives no answer in games that began with a certain action."""

    def __init__(self, opening):
        super().__init__()
        self.opening = opening

    def choose(self, positions):
        if any(position.actions[:1] == self.opening for position in positions):
            raise PlayerError("crash", "no answer")
        return super().choose(positions)


def test_a_player_that_gives_no_answer_forfeits_that_game_alone():
    openings = [(action,) for action in amazons.legal_actions(START)[[0, 100, 200]].tolist()]
    healthy = play_games(GAME, Scripted(), Scripted(), openings, rngs(3), START)
    games = play_games(GAME, Failing(openings[1]), Scripted(), openings, rngs(3), START)
    assert (games[1].winner, games[1].illegal, len(games[1].actions)) == ("second", True, 2)
    assert [games[0], games[2]] == [healthy[0], healthy[2]]

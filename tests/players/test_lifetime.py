"""A player is made once: after `new_game` it plays just as one that was made a moment ago."""

import pytest

from pipeline_src.arena.game import Fixture, GameClock, OpenGame, TimeControl, play
from pipeline_src.arena.openings import random_openings
from pipeline_src.games.game import get_game
from pipeline_src.players.player import Player
from pipeline_src.players.registry import make_player, players_of
from tests.players.engines import test_brain, test_uci

SIZES = {"amazons": 10, "gomoku": 9}
ENGINES = {
    "uci": f"uci:{test_uci.command('good')},movetime=500,grace=5000",
    "brain": test_brain.text("good", options="movetime=3000,grace=3000"),
}
TEXTS = {
    "amazons": [
        "random",
        "one_ply:noise=2",
        "alphabeta:nodes=300",
        "alphabeta:depth=table,lowest=1,table=900,width=8,nodes_per_ms=1000,clock=60",
        "alphabeta:nodes_per_ms=1000,clock=60,width=8",
        "uct:iterations=12",
        "level:2",
        "nets",
        "nets:temperature=1",
        "puct:simulations=2",
        ENGINES["uci"],
    ],
    "gomoku": [
        "random",
        "one_ply:noise=10",
        "minimax:depth=1",
        "alphabeta:depth=2",
        "alphabeta:nodes=300",
        "engine:nodes=300",
        "mcts:playouts=40",
        "level:1",
        "zero:simulations=16",
        "zero:simulations=16,temperature=1",
        "zero:simulations=16,search=gumbel",
        "zero:simulations=16,solver=50",
        ENGINES["brain"],
    ],
}


def test_every_player_is_here():
    for game in TEXTS:
        shipped = {name for name, maker in players_of(game).items() if maker.startswith("pipeline_src.")}
        assert shipped == {text.partition(":")[0] for text in TEXTS[game]}


def play_all(game, player, openings, first):
    """One game from each opening, in lock step where the player keeps no clock; numbered from ``first``."""
    rules, other = get_game(game), make_player(game, "random")
    start = rules.initial_state(SIZES[game])
    control = TimeControl(clock_ms=60.0, nodes_per_ms=1000.0) if hasattr(player, "chooser") else None
    return play(
        [
            OpenGame(
                rules,
                start,
                Fixture("", "", opening, (number,)),
                (player, other),
                None if control is None else GameClock(control),
            )
            for number, opening in enumerate(openings, first)
        ]
    )


@pytest.mark.parametrize(("game", "text"), [(game, text) for game, texts in TEXTS.items() for text in texts])
def test_a_used_player_plays_as_a_new_one(game, text):
    start = get_game(game).initial_state(SIZES[game])
    openings = random_openings(get_game(game), start, 3, 4, [1])
    fresh, used = make_player(game, text), make_player(game, text)
    assert isinstance(fresh, Player)
    try:
        expected = play_all(game, fresh, openings[:1], 0)
        assert len(expected[0].actions) > 8
        used.check(start)
        used.ready(start)
        used.new_game()
        play_all(game, used, openings[1:], 1)
        used.new_game()
        used.ready(start)
        assert play_all(game, used, openings[:1], 0) == expected
        used.close()  # the next move starts again what this ended
        used.new_game()
        assert play_all(game, used, openings[:1], 0) == expected
    finally:
        fresh.close()
        used.close()


def test_player_with_memory_is_notified_of_a_new_game():
    class Remembering(Player):
        """Plays by how many moves it has made in this game."""

        def __init__(self):
            self.made = 0

        def new_game(self):
            self.made = 0

        def choose(self, positions):
            self.made += 1
            legal = get_game("amazons").legal_actions(positions[0].state)
            return [int(legal[self.made % len(legal)])]

    player = Remembering()
    first = play_all("amazons", player, [()], 0)
    assert play_all("amazons", player, [()], 0) != first
    player.ready(get_game("amazons").initial_state(10))  # which chooses for once, and forgets that
    assert play_all("amazons", player, [()], 0) == first
    player.new_game()
    assert play_all("amazons", player, [()], 0) == first

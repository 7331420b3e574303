import numpy as np
import pytest

from pipeline_src.games import gomoku
from pipeline_src.parallel import Parallel
from pipeline_src.players.player import Position
from pipeline_src.players.registry import make_player
from pipeline_src.search.limits import Limit
from tests.search.gomoku.positions import random_states

TEXTS = [
    "random",
    "one_ply:noise=50",
    "minimax:depth=2",
    "alphabeta:depth=2",
    "alphabeta:nodes=500",
    "mcts:playouts=50",
]


def chosen(player, states, seed=0):
    return player.choose([Position(state, np.random.default_rng([seed, i])) for i, state in enumerate(states)])


@pytest.mark.parametrize("text", TEXTS)
def test_they_play_legally_on_any_board(text):
    player = make_player("gomoku", text)
    for size, variant in ((5, "freestyle-4"), (9, "exact"), (15, "freestyle"), (3, "freestyle-1")):
        states = [gomoku.initial_state(size, variant), *random_states(4, size, variant, seed=1)]
        for state, action in zip(states, chosen(player, states), strict=True):
            assert gomoku.is_legal(state, action)


@pytest.mark.parametrize("text", TEXTS)
def test_a_choice_depends_on_the_position_and_its_own_generator(text):
    player, states = make_player("gomoku", text), random_states(4, 9, seed=2)
    together = chosen(player, states)
    assert chosen(player, states) == together
    alone = [
        make_player("gomoku", text).choose([Position(s, np.random.default_rng([0, i]))])[0]
        for i, s in enumerate(states)
    ]
    assert alone == together
    if text.startswith(("random", "mcts")):
        assert any(chosen(player, states, seed) != together for seed in (1, 2))


def test_random_takes_every_cell():
    state = gomoku.initial_state(3, "freestyle-3")
    assert set(chosen(make_player("gomoku", "random"), [state] * 200)) == set(range(9))


def test_one_ply_wins_or_blocks_unless_noise_hides_it():
    wins = gomoku.from_fen("9/9/9/9/2xxxx3/9/2oooo3/9/9 b")
    blocks = gomoku.from_fen("9/9/9/9/2xxx4/9/1xoooo3/9/9 b")
    plain, blind = make_player("gomoku", "one_ply"), make_player("gomoku", "one_ply:noise=20000")
    assert chosen(plain, [wins])[0] in (gomoku.parse_move("b5", 9, 9), gomoku.parse_move("g5", 9, 9))
    assert chosen(plain, [blocks] * 3) == [gomoku.parse_move("g3", 9, 9)] * 3
    assert len(set(chosen(blind, [blocks] * 30))) > 3


def test_limits_and_widths():
    make = make_player
    assert make("gomoku", "alphabeta").limit == Limit(depth=4)
    assert make("gomoku", "mcts").limit == Limit(nodes=1000)
    assert make("gomoku", "mcts:playouts=70,c=0.5").limit == Limit(nodes=70)
    assert make("gomoku", "mcts:playouts=70,c=0.5").searcher.c == 0.5
    assert make("gomoku", "mcts:movetime=20").limit == Limit(movetime_ms=20)
    assert make("gomoku", "minimax:depth=3").limit == Limit(depth=3)
    full, narrow = (make("gomoku", text).searcher.options for text in ("alphabeta:depth=3", "alphabeta:movetime=9"))
    assert (full.widths, full.reduce_after) == ((0,), 0)
    assert min(narrow.widths) > 0
    assert make("gomoku", "alphabeta:nodes=9,width=7,reduce_after=0,table_mb=1").searcher.options.widths == (7,)


def test_players_rank_in_known_order():
    """Alpha-beta beats random play from any opening, and with few playouts so does UCT."""
    from pipeline_src.arena.runner import Board, play_match

    for text in ("alphabeta:depth=2", "mcts:playouts=200"):
        match = play_match(Board("gomoku", 9), text, "random", 4, 4, [5], Parallel(workers=1))
        assert match.standing.wins >= 7

import random
from functools import cache
from typing import NamedTuple

import numpy as np
import pytest

from pipeline_src.games import amazons as board
from pipeline_src.games import amazons as turns
from pipeline_src.jit import njit
from pipeline_src.search.amazons import endgame
from pipeline_src.search.evaluator import WIN
from tests.search.amazons.test_endgame_fill import filling_number


@cache
def mover_wins(fen):
    """The game's result by trying every line."""
    state = board.from_fen(fen)
    return any(not mover_wins(board.to_fen(turns.play(state, int(a)))) for a in turns.legal_actions(state))


def reached(state, side):
    """Empty squares that king moves through empty squares lead a side to."""
    height, width = state.board.shape
    found, queue = set(), [divmod(int(s), width) for s in state.amazons[side] if s >= 0]
    for r, c in queue:
        for y in range(max(0, r - 1), min(height, r + 2)):
            for x in range(max(0, c - 1), min(width, c + 2)):
                if state.board[y, x] == board.EMPTY and (y, x) not in found:
                    found.add((y, x))
                    queue.append((y, x))
    return found


def small_position(rng, most_empty=6):
    """A random position of few empty squares with one or two amazons a side, in any contact with each other."""
    height, width = rng.integers(3, 6, 2)
    squares = rng.permutation(height * width)
    position = np.full(height * width, board.ARROW, np.int8)
    ours, theirs = rng.integers(1, 3, 2)
    position[squares[:ours]] = board.WHITE
    position[squares[ours : ours + theirs]] = board.BLACK
    position[squares[ours + theirs :][: rng.integers(1, most_empty + 1)]] = board.EMPTY
    return board.from_board(position.reshape(height, width), int(rng.integers(2)))


def test_settled_result_equals_end_of_game():
    rng, scratch = np.random.default_rng(0), endgame.endgame_scratch()
    kinds = {(closed, wins): 0 for closed in (False, True) for wins in (False, True)}
    unsettled = 0
    for _ in range(1000):
        state = small_position(rng, 5)
        settled, value = endgame.settle_amazons(state, scratch)
        closed = not reached(state, 0) & reached(state, 1)
        assert endgame.closed(state) == closed
        if settled:
            assert (value > 0) == mover_wins(board.to_fen(state)), board.to_fen(state)
            assert WIN - 1100 < abs(value) < WIN - 900
            kinds[closed, value > 0] += 1
        least, most, _ = endgame.count_out(state, 10_000, scratch)
        assert least <= most
        assert mover_wins(board.to_fen(state)) or least <= 0
        assert not mover_wins(board.to_fen(state)) or most > 0
        unsettled += closed and not settled
    assert min(kinds.values()) > 20
    assert unsettled < 0.1 * sum(kinds.values())


def play_out(state, winner, rng):
    """Whether the side counted as the winner makes the last turn, filling, against random turns; None if let in."""
    while turns.has_turn(state):
        if board.to_play(state) == winner:
            filling = endgame.closing_turn(state)
            if filling is None:
                return None
            action = filling.action
            assert turns.is_legal(state, action)
        else:
            action = int(rng.choice(turns.legal_actions(state)))
        state = turns.play(state, action)
    return board.to_play(state) != winner


def test_the_counted_winner_wins_against_any_turns():
    rng, draws, results = np.random.default_rng(1), random.Random(1), []
    while len(results) < 60:
        state = small_position(rng, 9)
        settled, value = endgame.settle_amazons(state, endgame.endgame_scratch())
        if settled and (value > 0 or endgame.closed(state)):
            winner = board.to_play(state) if value > 0 else 1 - board.to_play(state)
            results.append(play_out(state, winner, draws))
    assert False not in results
    assert results.count(None) < 0.1 * len(results)  # the loser may stop counting from being possible, not from losing


def test_both_sides_make_as_many_turns_as_counted():
    rng, scratch, played = np.random.default_rng(2), endgame.endgame_scratch(), 0
    while played < 25:
        state = small_position(rng, 10)
        if not endgame.sealed(state):
            continue
        filling = endgame.closing_turn(state)
        made = [0, 0]
        least, most, _ = endgame.count_out(state, 10_000, scratch)
        assert least == most
        sides = [filling_number_of(state, side) for side in (board.to_play(state), 1 - board.to_play(state))]
        assert least == sides[0] - sides[1]
        margin = least
        while filling is not None:
            state = turns.play(state, filling.action)
            made[1 - board.to_play(state)] += 1
            least, most, _ = endgame.count_out(state, 10_000, scratch)
            margin = 1 - margin  # nothing wasted
            assert least == most == margin
            assert endgame.settle_amazons(state, scratch)[1] == pytest.approx(
                (WIN - 1000 if margin > 0 else 1000 - WIN) + margin - 0.5
            )
            filling = endgame.closing_turn(state)
        assert not turns.has_turn(state)
        played += sum(made) > 3


def filling_number_of(state, side):
    """A side's filling number by trying every line."""
    width = state.board.shape[1]
    free = {divmod(int(i), width) for i in np.flatnonzero(state.board.ravel() == board.EMPTY)}
    amazons = {divmod(int(s), width) for s in state.amazons[side] if s >= 0}
    return filling_number(free & reached(state, side), amazons)


def test_unfinished_turns_and_open_positions_are_left_to_search():
    scratch = endgame.endgame_scratch()
    state = board.initial_state()
    assert endgame.settle_amazons(state, scratch) == (False, 0.0)
    assert endgame.closing_turn(state) is None
    closed = board.from_fen("Q3/4/****/q3 w")
    assert endgame.settle_amazons(closed, scratch)[0]
    moved = turns.move(closed, 12, 13)
    assert endgame.settle_amazons(moved, scratch) == (False, 0.0)
    assert endgame.closing_turn(moved) is None


class Holder(NamedTuple):
    endgame: endgame.EndgameScratch


@njit
def settle_held(state, holder):
    return endgame.settle_amazons(state, holder.endgame)


def test_an_evaluator_can_hold_the_scratch_space():
    state = board.from_fen("Q3/4/****/q3 w")
    assert settle_held(state, Holder(endgame.endgame_scratch(1))) == (True, WIN - 1000 + 7 - 3 - 0.5)

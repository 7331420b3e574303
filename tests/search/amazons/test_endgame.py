import random
from functools import cache
from typing import NamedTuple

import numpy as np
import pytest

from pipeline_src.games import amazons as board
from pipeline_src.jit import njit
from pipeline_src.search.amazons import endgame
from pipeline_src.search.amazons import endgame as fill
from pipeline_src.search.amazons.endgame import endgame_scratch
from pipeline_src.search.evaluator import WIN

WAYS = [(dr, dc) for dr in (-1, 0, 1) for dc in (-1, 0, 1) if (dr, dc) != (0, 0)]


def seen(square, free):
    """Squares on queen lines through free squares."""
    for dr, dc in WAYS:
        r, c = square[0] + dr, square[1] + dc
        while (r, c) in free:
            yield r, c
            r, c = r + dr, c + dc


def filling_number(free, amazons, guards=frozenset()):
    """Most turns running by trying every line."""

    @cache
    def most(free, amazons, guards):
        best = 0
        for amazon in amazons:
            for to in seen(amazon, free):
                left = free - {to} | {amazon}
                for arrow in seen(to, left):
                    if amazon in guards and arrow != amazon:
                        continue
                    after = most(left - {arrow}, amazons - {amazon} | {to}, guards - {amazon})
                    best = max(best, 1 + after)
        return best

    return most(frozenset(free), frozenset(amazons), frozenset(guards))


def words(squares, width):
    """A set of squares (row, column) as two words."""
    bits = sum(1 << (r * (width + 1) + c) for r, c in squares)
    return np.uint64(bits & (1 << 64) - 1), np.uint64(bits >> 64)


def region(rng, most_empty, far=False):
    """A random shape on a board of 4x4 to 6x6: (free squares, amazons, width), the squares joined or nearly so."""
    height, width = rng.integers(4, 7, 2)
    offset = (10 - height, 0) if far else (0, 0)
    amazons = int(rng.integers(1, 3))
    size = int(rng.integers(2, most_empty + 1)) + amazons
    start = (int(rng.integers(height)), int(rng.integers(width)))
    squares = [start]
    while len(squares) < size:
        r, c = squares[rng.integers(len(squares))]
        dr, dc = WAYS[rng.integers(8)]
        step = int(rng.integers(1, 3)) if rng.random() < 0.1 else 1
        r, c = r + dr * step, c + dc * step
        if 0 <= r < height and 0 <= c < width and (r, c) not in squares:
            squares.append((r, c))
    squares = [(r + int(offset[0]), c) for r, c in squares]
    rng.shuffle(squares)
    squares = [(int(r), int(c)) for r, c in squares]
    return set(squares[amazons:]), set(squares[:amazons]), 10 if far else int(width)


def counted(free, amazons, guards, width, nodes, scratch):
    return fill.most_turns(
        *words(free | amazons, width),
        *words(amazons, width),
        *words(guards, width),
        width + 1,
        nodes,
        scratch,
    )


def after(turn, free, amazons, width):
    """The region after a turn in bit numbers, which must be legal."""
    start, to, arrow = (divmod(bit, width + 1) for bit in (turn >> 14, turn >> 7 & 127, turn & 127))
    assert start in amazons
    assert to in set(seen(start, free))
    left = free - {to} | {start}
    assert arrow in set(seen(to, left))
    return left - {arrow}, amazons - {start} | {to}


@pytest.mark.parametrize(("seed", "guarded", "far"), [(0, False, False), (1, True, False), (2, True, True)])
def test_counts_are_those_of_trying_every_line(seed, guarded, far):
    rng, scratch = np.random.default_rng(seed), endgame_scratch()
    defective = 0
    for _ in range(200):
        free, amazons, width = region(rng, 6, far)
        guards = {a for a in amazons if rng.random() < 0.5} if guarded else set()
        true = filling_number(free, amazons, guards)
        least, most, turn = counted(free, amazons, guards, width, 100_000, scratch)
        assert least == most == true
        defective += true < len(free)
        assert (turn < 0) == (true == 0)
        if turn >= 0:
            left, now = after(turn, free, amazons, width)
            assert filling_number(left, now, guards & now) == true - 1
    assert defective > 10  # so the shapes are not all easy


def test_bounds_hold_where_nodes_run_out():
    rng, scratch = np.random.default_rng(3), endgame_scratch()
    open_ended = 0
    for _ in range(200):
        free, amazons, width = region(rng, 6)
        least, most, turn = counted(free, amazons, set(), width, 3, scratch)
        true = filling_number(free, amazons)
        assert least <= true <= most
        open_ended += least < most
        if turn >= 0:
            left, now = after(turn, free, amazons, width)
            assert filling_number(left, now) >= least - 1
    assert open_ended > 5


def test_an_open_field_is_filled_whole():
    free = {(r, c) for r in range(5) for c in range(6)} - {(0, 0)}
    assert counted(free, {(0, 0)}, set(), 6, 100, endgame_scratch())[:2] == (29, 29)


def test_a_field_that_holds_no_amazon_counts_nothing():
    assert counted({(0, 0), (0, 1)}, {(3, 3)}, set(), 6, 100, endgame_scratch()) == (0, 0, -1)


@cache
def mover_wins(fen):
    """The game's result by trying every line."""
    state = board.from_fen(fen)
    return any(not mover_wins(board.to_fen(board.play(state, int(a)))) for a in board.legal_actions(state))


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
    while board.winner(state) is None:
        if board.to_play(state) == winner:
            filling = endgame.closing_turn(state)
            if filling is None:
                return None
            action = filling.action
            assert board.is_legal(state, action)
        else:
            action = int(rng.choice(board.legal_actions(state)))
        state = board.play(state, action)
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
            state = board.play(state, filling.action)
            made[1 - board.to_play(state)] += 1
            least, most, _ = endgame.count_out(state, 10_000, scratch)
            margin = 1 - margin  # nothing wasted
            assert least == most == margin
            assert endgame.settle_amazons(state, scratch)[1] == pytest.approx(
                (WIN - 1000 if margin > 0 else 1000 - WIN) + margin - 0.5
            )
            filling = endgame.closing_turn(state)
        assert board.winner(state) is not None
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
    moved = board.move(closed, 12, 13)
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

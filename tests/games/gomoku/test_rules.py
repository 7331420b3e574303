import random

import numpy as np
import pytest

from pipeline_src.games import gomoku
from tests.games.gomoku.reference import SlowGomoku

EMPTY = [
    "3/3/3 b freestyle-3",
    "4/4/4/4 b exact-3",
    "5/5/5/5/5 b freestyle-4",
    "7/7/7/7 b exact-4",
    "3/3/3/3/3/3/3/3 b freestyle-4",
    "9/9/9/9/9/9/9/9/9 b",
    "9/9/9/9/9/9/9/9/9 b exact",
    "/".join(["15"] * 15) + " b",
    "/".join(["25"] * 25) + " b exact",
    "7/7/7/7/7/7/7 b renju",
    "9/9/9/9/9/9/9/9/9 b renju",
    "5/5/5/5/5 b caro-4",
    "9/9/9/9/9/9/9/9/9 b caro",
]


@pytest.mark.parametrize("fen", EMPTY)
@pytest.mark.parametrize("seed", range(3))
def test_random_games_against_the_slow_rules(fen, seed):
    """Stones land in a corner half of the time, so that lines meet the edges and grow past their length."""
    rng = random.Random(f"{fen} {seed}")
    state, slow = gomoku.from_fen(fen), SlowGomoku(fen)
    while True:
        expected = slow.actions()
        assert gomoku.legal_actions(state).tolist() == expected
        assert gomoku.winner(state) == slow.winner()
        assert gomoku.to_play(state) == "xo".index(slow.side)
        if not expected:
            break
        near = [a for a in expected if a // slow.width < 5 and a % slow.width < 6]
        action = rng.choice(near if near and rng.random() < 0.5 else expected)
        state = gomoku.play(state, action)
        slow.play(action)
        assert state.moves[state.turn[1] - 1] == action
    assert not any(gomoku.is_legal(state, action) for action in range(state.board.size))


def test_the_random_games_end_in_every_way():
    """What such games try: both sides win, boards fill, and rows that are too long do not end exact ones."""
    found = set()
    for fen in EMPTY[:4]:
        for seed in range(40):
            rng, state = random.Random(seed), gomoku.from_fen(fen)
            while gomoku.winner(state) is None:
                state = gomoku.play(state, int(rng.choice(gomoku.legal_actions(state))))
            found.add((gomoku.winner(state), *gomoku.format_variant(state).split("-")[:1]))
            longer = list(SlowGomoku(gomoku.to_fen(state)).runs("x"))
            if state.turn[gomoku.RULE] == gomoku.EXACT and max(longer) > state.turn[gomoku.LINE]:
                found.add("overline")
    assert {"overline"} | {(w, v) for w in ("first", "second", "draw") for v in ("freestyle", "exact")} <= found


@pytest.mark.parametrize("down", [-1, 0, 1])
@pytest.mark.parametrize("right", [-1, 0, 1])
@pytest.mark.parametrize("gap", range(5))
def test_five_in_each_direction_and_from_each_of_its_stones(down, right, gap):
    if (down, right) == (0, 0):
        return
    squares = np.zeros((5, 5), np.int8)
    corner = (4 if down < 0 else 0, 4 if right < 0 else 0)
    cells = [(corner[0] + k * down, corner[1] + k * right) for k in range(5)]
    for row, column in cells[:gap] + cells[gap + 1 :]:
        squares[row, column] = gomoku.WHITE
    last = cells[gap][0] * 5 + cells[gap][1]
    for variant in gomoku.VARIANTS:
        after = gomoku.play(gomoku.from_board(squares, gomoku.SECOND, variant), last)
        assert gomoku.winner(after) == "second"
    black = gomoku.play(gomoku.from_board(squares, gomoku.FIRST), last)
    assert gomoku.winner(black) is None
    assert gomoku.line_through(squares, last, gomoku.WHITE, 5, gomoku.EXACTLY)
    assert not gomoku.line_through(squares, last, gomoku.BLACK, 5, gomoku.AT_LEAST)


def test_six_in_a_row():
    fen = "6/6/xx1xxx/oooo2/4o1/6 b"
    assert gomoku.winner(gomoku.play(gomoku.from_fen(fen), 14)) == "first"
    exact = gomoku.play(gomoku.from_fen(fen + " exact"), 14)
    assert gomoku.winner(exact) is None
    assert gomoku.winner(gomoku.play(exact, 22)) == "second"


def test_six_does_not_spoil_a_five_of_the_same_stone():
    crossing = gomoku.from_fen("2x4/2x4/xx1xxx1/2x4/2x4/oo1oo2/oo1oo1o b exact")
    assert gomoku.winner(gomoku.play(crossing, 2 * 7 + 2)) == "first"


def test_a_full_board_without_a_line_is_a_draw():
    state = gomoku.from_fen("xox/xoo/ox1 b freestyle-3")
    after = gomoku.play(state, 8)
    assert gomoku.winner(after) == "draw"
    assert gomoku.legal_actions(after).size == 0
    assert after.turn[gomoku.STANDING] == gomoku.DRAWN
    won = gomoku.play(gomoku.from_fen("xox/oxo/ox1 b freestyle-3"), 8)
    assert gomoku.winner(won) == "first", "the last stone of a full board may still win"


SYMMETRIES = [(turns, mirror) for turns in range(4) for mirror in (False, True)]


@pytest.mark.parametrize(("turns", "mirror"), SYMMETRIES)
@pytest.mark.parametrize("fen", [EMPTY[1], EMPTY[3], EMPTY[5]])
def test_games_are_the_same_under_every_symmetry(fen, turns, mirror):
    start = gomoku.from_fen(fen)
    cells = np.arange(start.board.size).reshape(start.board.shape)
    moved = np.rot90(cells[:, ::-1] if mirror else cells, turns)  # which cell of the game each cell shows
    to = np.argsort(moved.ravel())
    rng = random.Random(turns)
    for _ in range(5):
        state = start
        other = gomoku.from_board(np.zeros(moved.shape, np.int8), gomoku.FIRST, gomoku.format_variant(start))
        while gomoku.winner(state) is None:
            action = int(rng.choice(gomoku.legal_actions(state)))
            state, other = gomoku.play(state, action), gomoku.play(other, int(to[action]))
            assert gomoku.winner(other) == gomoku.winner(state)
            assert sorted(to[gomoku.legal_actions(state)]) == gomoku.legal_actions(other).tolist()
        assert gomoku.to_fen(other).split()[1:] == gomoku.to_fen(state).split()[1:]


def test_the_hash_is_of_the_position_not_of_its_history():
    rng = random.Random(4)
    for _ in range(20):
        black, white = rng.sample(range(81), 6), []
        white = rng.sample([cell for cell in range(81) if cell not in black], 6)
        found = []
        for _ in range(2):
            state = gomoku.initial_state(9)
            for pair in zip(rng.sample(black, 6), rng.sample(white, 6), strict=True):
                for action in pair:
                    state = gomoku.play(state, action)
            found.append(state)
        assert found[0].hash == found[1].hash
        swapped = gomoku.from_board(found[0].board, gomoku.SECOND)
        assert swapped.hash != found[0].hash, "the side to move is part of it"
    np.testing.assert_array_equal(found[0].board, found[1].board)

from functools import cache

import numpy as np
import pytest

from pipeline_src.search.amazons import endgame as fill
from pipeline_src.search.amazons.endgame import endgame_scratch

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

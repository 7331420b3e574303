"""The engine: its tree against a plain one, what it must not miss, its limits."""

from dataclasses import replace
from unittest.mock import ANY

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import gomoku
from pipeline_src.search.gomoku import engine as pvs
from pipeline_src.search.gomoku import threats
from pipeline_src.search.gomoku.engine import Engine, Options
from pipeline_src.search.gomoku.lines import EMPTY_CELLS, ONE_FOUR, SURE, WINS, lift, make_lines, place
from pipeline_src.search.limits import Limit
from tests.search.gomoku.test_threats import random_position

ENGINE = Engine()


class TooLargeError(Exception):
    """A plain tree of more positions than a test has time for: answers to threats cost no depth."""


class Plain:
    """The same tree without cuts, tables, orders or reductions; every empty cell that has points."""

    def __init__(self, lines, space, threat_space):
        self.lines, self.space, self.threats, self.left = lines, space, threat_space, 3_000

    def value(self, c, depth, ply=0):
        self.left -= 1
        if self.left < 0:
            raise TooLargeError
        lines, other = self.lines, 1 - c
        forced, pressed = lines.counts[other, WINS] > 0, lines.counts[other, SURE] > 0
        if ply > 0:
            if lines.counts[c, WINS]:
                return pvs.WIN - (ply + 1)
            if lines.sizes[EMPTY_CELLS] == 0:
                return 0
            if lines.counts[c, SURE] and not forced:
                return pvs.WIN - (ply + 3)
        if depth <= 0 and not forced and not pressed:
            return int(pvs.static_value(lines, c, self.space))
        least = pvs.LEAST_SCORE if ply > 0 else 0
        moves = np.flatnonzero(lines.scores > least)
        if len(moves) == 0:
            moves = np.flatnonzero(lines.cells == 0)
        if forced or pressed:
            n = threats.write_defences(lines, other, WINS if forced else SURE, self.threats, 0)
            n = n if forced else threats.write_cells(lines, c, ONE_FOUR, self.threats.moves, 0, n)
            if n == 0 and ply > 0:
                return ply + (2 if forced else 4) - pvs.WIN
            moves = np.unique(self.threats.moves[0, :n]) if n else moves
            depth = max(depth, 0) + 1 if forced else max(depth, 1)
        best = -pvs.INFINITY
        for move in map(int, moves):
            place(lines, move, c + 1)
            best = max(best, -self.value(other, depth - 1, ply + 1))
            lift(lines, move)
        return best


@pytest.mark.parametrize("variant", ["freestyle", "exact", "freestyle-4"])
def test_the_tree_is_that_of_a_plain_search(variant):
    rng, looked, stop = np.random.default_rng(1), 0, np.zeros(1, np.uint8)
    table, found = pvs.make_table(1), threats.make_four_space()
    for i in range(40):
        lines = make_lines(random_position(rng, 7, variant, int(rng.integers(6, 26))))
        if lines.counts[0, SURE:].any():
            continue
        space = pvs.make_space(lines.cells.size, stop)
        threat_space = threats.make_space(lines.cells.size, stop)
        space.counts[pvs.NODE_LIMIT] = 1 << 60
        space.switches[[pvs.WIDTH, pvs.FIRST_WIDTH]] = pvs.MOVES
        before = [column.copy() for column in (lines.cells, lines.classes, lines.worth, lines.scores)]
        for depth in (1, 2):
            space.counts[[pvs.GENERATION, pvs.OLDEST]] = 2 * i + depth
            value = pvs.search(lines, 0, space, table, found, threat_space, depth)
            try:
                assert value == Plain(lines, space, threat_space).value(0, depth)
            except TooLargeError:
                break
            looked += 1
        else:
            after = (lines.cells, lines.classes, lines.worth, lines.scores)
            assert all((one == other).all() for one, other in zip(before, after, strict=True))
    assert looked > 5


@pytest.mark.parametrize(
    ("fen", "moves"),
    [
        ("9/9/9/2xxxx3/9/2ooo4/9/9/9 w", {"b6", "g6"}),  # an open four: lost, but not at once
        ("9/9/9/2oxxxx2/9/3oo4/9/9/9 w", {"h6"}),  # a four
        ("9/9/9/2xxx4/9/9/3oo4/9/9 w", {"b6", "f6"}),  # an open three
        ("9/9/9/2oxxxx2/9/2oooo3/9/9/x7x w", {"b4", "g4"}),  # a line of its own first
    ],
)
def test_forced_moves_are_played(fen, moves):
    state = gomoku.from_fen(fen)
    found = ENGINE.search(state, Limit(nodes=5_000))
    assert gomoku.format_move(found.action, 9, 9) in moves


def test_a_win_by_threats_is_played_at_once():
    state = gomoku.from_fen("9/9/2x6/3x1o3/4o4/3xx1o2/9/4o4/9 b")
    found = ENGINE.search(state, Limit(nodes=20_000))
    assert found.value > pvs.PROVEN
    assert gomoku.is_legal(state, found.action)


def test_games_end_and_every_move_is_legal():
    rng = np.random.default_rng(2)
    for variant in ("freestyle", "exact", "exact-4", "renju", "caro"):
        state = random_position(rng, 6, variant, 6)
        while gomoku.winner(state) is None:
            found = ENGINE.search(state, Limit(nodes=300))
            after = state
            for action in found.pv:
                after = gomoku.play(after, action)
            state = gomoku.play(state, found.action)


def test_in_renju_black_does_not_block_on_a_forbidden_cell():
    """White has four; its open end is where Black would make two threes, so Black has lost."""
    state, blocking = gomoku.from_fen("9/9/9/xoooo4/5xx2/5x1x1/9/9/o8 b renju"), gomoku.parse_move("f6", 9, 9)
    assert not gomoku.is_legal(state, blocking)
    found = ENGINE.search(state, Limit(nodes=2_000))
    assert gomoku.is_legal(state, found.action)
    free = gomoku.from_fen(gomoku.to_fen(state).removesuffix(" renju"))
    assert ENGINE.search(free, Limit(nodes=2_000)).action == blocking


@pytest.mark.parametrize(
    "fen",
    [
        "15/15/15/15/15/15/15/7x7/5x1x7/5xo8/6o8/6o8/6o8/6x8/o14 b renju",
        "15/15/15/15/4ooxo1xo4/4x2x1x5/4oxoo1x5/4ooxx2o4/4xo1oxxx4/4oxxo1x5/5ox1oo5/15/15/15/15 b renju",
        "15/15/15/15/7xxo5/7o1ox4/6xo2x4/8xox4/6x1xo5/6o1x6/4o3oo5/15/15/15/15 b renju",
        "15/15/15/15/4x2xo1x4/7xxo5/6xxox5/4o1o1xo5/4o1o1xox4/4xoxx1oo4/4o1o8/15/15/15/15 b renju",
        "15/15/15/15/4xxxo7/4x5o4/4xoo1oo5/6oxxox4/5oxxo1o4/5ox8/6x8/15/15/15/15 b renju",
    ],
)
def test_in_renju_position_with_only_forbidden_answers_is_lost(fen):
    """White threatens five or an open four, and Black may play on none of the cells that would stop it."""
    state = gomoku.from_fen(fen)
    found = ENGINE.search(state, Limit(depth=3))
    assert gomoku.is_legal(state, found.action)
    assert found.value < -9_000
    assert found.depth > 0


def test_in_renju_no_move_is_forbidden():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        after = random_position(rng, 9, "renju", int(rng.integers(20, 40)))
        while gomoku.winner(after) is None and (after.board == 0).sum() > 20:
            found = ENGINE.search(after, Limit(nodes=200))
            assert gomoku.is_legal(after, found.action)
            after = gomoku.play(after, found.action)


def test_timed_search_reuses_results_until_game_is_forgotten():
    state, limit = random_position(np.random.default_rng(4), 15, "freestyle", 12), Limit(depth=5, movetime_ms=60_000)
    engine = Engine(Options(table_mb=4))
    first = engine.search(state, limit)
    again = engine.search(state, limit)
    assert again.action == first.action
    assert again.nodes < first.nodes / 4
    engine.forget()
    assert replace(engine.search(state, limit), seconds=0) == replace(first, seconds=0)
    engine.search(state, limit)
    elsewhere = random_position(np.random.default_rng(5), 13, "exact", 9)
    of_nodes = Limit(nodes=2_000)
    fresh = Engine(Options(table_mb=4)).search(elsewhere, of_nodes)
    for _ in range(2):  # and by nodes, each search stands for itself
        assert replace(engine.search(elsewhere, of_nodes), seconds=0) == replace(fresh, seconds=0)
    assert engine.search(elsewhere, limit).action == Engine(Options(table_mb=4)).search(elsewhere, limit).action


def test_several_threads_share_a_search_on_time():
    engine, limit = Engine(Options(threads=3, table_mb=1)), Limit(movetime_ms=50)
    for seed in range(4):
        state = random_position(np.random.default_rng(seed), 15, "freestyle", 10)
        found = engine.search(state, limit)
        assert len(engine.others) == 2
        assert found.action in gomoku.legal_actions(state)
        assert found.seconds < 2
    assert engine.search(state, Limit(nodes=500)) == replace(
        Engine(Options(table_mb=1)).search(state, Limit(nodes=500)), seconds=ANY
    )


@given(
    st.integers(-pvs.WIN, pvs.WIN),
    st.integers(-1, 1000),
    st.integers(0, 64),
    st.integers(0, 2),
    st.integers(1, 1 << 21),
)
def test_table_entry_is_never_half_of_another(value, move, depth, bound, generation):
    table, key = pvs.make_table(0), np.uint64(0x9E3779B97F4A7C15)
    pvs.store(table, key, generation, depth, bound, value, move, 0)
    data = pvs.find(table, key, generation)
    assert (pvs.move_of(data), pvs.find(table, key, generation + 1)) == (move, -1)
    pvs.expect(table, key, generation, 7)
    assert pvs.move_of(pvs.find(table, key, generation)) == 7
    table.slots[:, 1] ^= np.uint64(1)
    assert pvs.find(table, key, generation) == -1


def test_the_empty_board_and_a_finished_game():
    assert ENGINE.search(gomoku.initial_state(15), Limit(nodes=10)).action == 112
    with pytest.raises(ZugwerkError, match="the game is over"):
        ENGINE.search(gomoku.from_fen("xxx/oo1/3 w freestyle-3"), Limit(nodes=10))


PLAIN = ENGINE.options.model_copy(update={"reduce_after": 0, "threats": 0, "margin": 0})


def moved(*moves, size=15):
    state = gomoku.initial_state(size)
    for move in moves:
        state = gomoku.play(state, gomoku.parse_move(move, size, size))
    return state


def test_several_lines_have_values_of_searches_excluding_earlier_moves():
    state = moved("h8", "i9", "g8")
    plain = Engine(PLAIN)
    found = plain.search(state, Limit(depth=2, lines=3))
    assert len({line.pv[0] for line in found.lines}) == 3
    assert [line.value for line in found.lines] == sorted((line.value for line in found.lines), reverse=True)
    one = Engine(PLAIN).search(state, Limit(depth=2))
    assert (found.value, found.lines[0].value) == (one.value, one.value)
    for line in found.lines:
        after = gomoku.play(state, line.pv[0])
        reply = Engine(PLAIN).search(after, Limit(depth=1))
        assert line.value == -reply.value
        assert line.depth == 2


def test_other_lines_are_searched_next_to_a_forced_win():
    state = moved("h8", "a1", "h9", "a3", "h10", "a5")
    found = ENGINE.search(state, Limit(depth=3, lines=3))
    assert found.value > pvs.PROVEN
    assert found.action == found.lines[0].pv[0] == ENGINE.search(state, Limit(depth=3)).action
    assert len({line.pv[0] for line in found.lines}) == 3
    assert all(line.depth >= 3 for line in found.lines)


def test_every_line_that_wins_at_once_is_a_win():
    state = gomoku.from_fen("15/15/15/15/15/15/15/5xxxx6/5oooo6/15/15/15/15/15/15 b")
    found = ENGINE.search(state, Limit(depth=3, lines=4)).lines
    cells = [gomoku.format_move(line.pv[0], 15, 15) for line in found]
    assert {cell: line.value for cell, line in zip(cells[:2], found[:2], strict=True)} == {"e8": 9999, "j8": 9999}
    assert all(line.value < -pvs.PROVEN for line in found[2:]), "one stone stops one of two fours"
    assert [line.pv for line in ENGINE.search(state, Limit(depth=3, lines=2)).lines] == [line.pv for line in found[:2]]


def test_multi_line_search_does_not_affect_the_next():
    state = moved("h8", "i9", "g8")
    before = ENGINE.search(state, Limit(depth=4))
    ENGINE.search(state, Limit(depth=4, lines=5))
    after = ENGINE.search(state, Limit(depth=4))
    assert (after.pv, after.value, after.nodes, after.lines) == (before.pv, before.value, before.nodes, ())


def test_several_lines_leave_no_wrong_value_in_the_table():
    state = moved("h8", "i9", "g8")
    engine, lines = Engine(), make_lines(state)
    for count, bound in ((1, pvs.EXACT), (4, pvs.LOWER)):
        found = engine.search(state, Limit(depth=4, lines=count))
        data = pvs.find(engine.table, np.uint64(pvs.position_key(lines, 1)), engine.oldest)
        assert data >> 39 & 3 == bound
        assert pvs._value_of(data) in {line.value for line in found.lines or [found]}

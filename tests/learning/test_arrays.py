"""Splits of games, the symmetries of a board, and the hashes that symmetric positions share."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pipeline_src.errors import ZugwerkError
from pipeline_src.learning.arrays import SPLITS, TEST, TRAIN, VALIDATION, assign_games, choose_samples
from pipeline_src.learning.canonical import canonical_hashes
from pipeline_src.learning.symmetry import (
    COUNT,
    INDEX,
    INVERSE,
    board_maps,
    square_maps,
    transform_boards,
    transform_squares,
)
from tests.systems.amazons_net.positions import slow_canonical

SIZES = (6, 8, 10)


@pytest.mark.parametrize("size", SIZES)
def test_eight_different_permutations_closed_under_composition(size):
    maps = square_maps(size)
    assert maps.dtype == np.int16
    forms = {tuple(row) for row in maps.tolist()}
    assert len(forms) == COUNT == 8
    for g in range(COUNT):
        assert sorted(maps[g]) == list(range(size * size))
        assert (maps[INVERSE[g]][maps[g]] == np.arange(size * size)).all()
        for h in range(COUNT):
            assert tuple(maps[h][maps[g]].tolist()) in forms


@pytest.mark.parametrize("size", SIZES)
def test_boards_turn_as_they_look(size):
    board = np.arange(size * size, dtype=np.int8).reshape(1, size, size)  # row 0 is the top rank, as printed
    turned = {name: transform_boards(board, np.array([g]))[0] for name, g in INDEX.items()}
    for k, name in enumerate(("identity", "rotate_90", "rotate_180", "rotate_270")):
        np.testing.assert_array_equal(turned[name], np.rot90(board[0], k))
    np.testing.assert_array_equal(turned["mirror_files"], board[0, :, ::-1])
    np.testing.assert_array_equal(turned["mirror_ranks"], board[0, ::-1])
    np.testing.assert_array_equal(turned["mirror_diagonal"], board[0, ::-1, ::-1].T)
    np.testing.assert_array_equal(turned["mirror_antidiagonal"], board[0].T)


@given(st.integers(0, 7), st.sampled_from(SIZES), st.data())
def test_boards_and_squares_go_together_and_come_back(g, size, data):
    square = data.draw(st.integers(0, size * size - 1))
    board = np.ones((1, size, size), np.int8)
    board[0, size - 1 - square // size, square % size] = 3
    turned = transform_boards(board, np.array([g]))
    there = int(transform_squares(np.array([square]), np.array([g]), size)[0])
    assert turned[0, size - 1 - there // size, there % size] == 3
    back = np.array([INVERSE[g]])
    np.testing.assert_array_equal(transform_boards(turned, back), board)
    assert transform_squares(np.array([there]), back, size)[0] == square


def test_each_board_turns_by_itself_and_missing_squares_stay_missing():
    boards = np.random.default_rng(0).integers(0, 4, (8, 6, 6)).astype(np.int8)
    which = np.arange(8)[::-1]
    together = transform_boards(boards, which)
    for i in range(8):
        np.testing.assert_array_equal(together[i], transform_boards(boards[i : i + 1], which[i : i + 1])[0])
    assert (transform_squares(np.full(8, -1), which, 6) == -1).all()


def test_tables_cannot_be_changed_by_a_caller():
    for table in (square_maps(10), board_maps(10)):
        with pytest.raises(ValueError, match="read-only"):
            table[0, 0] = 1


def test_oblong_boards_are_refused():
    with pytest.raises(ZugwerkError, match="6x8"):
        transform_boards(np.ones((1, 6, 8), np.int8), np.zeros(1, np.int64))


@given(
    arrays(np.int8, st.sampled_from([(6, 6), (8, 8), (10, 10)]), elements=st.integers(0, 3)), st.sampled_from([2, 3])
)
def test_all_symmetric_forms_share_a_hash(board, mover):
    forms = transform_boards(np.repeat(board[None], COUNT, axis=0), np.arange(COUNT))
    assert len(set(canonical_hashes(forms, np.full(COUNT, mover, np.int8)).tolist())) == 1


@given(arrays(np.int8, (6, 6), elements=st.integers(0, 3)), st.integers(0, 35), st.integers(1, 3))
def test_another_piece_anywhere_is_another_position_unless_symmetric(board, square, step):
    other = board.copy()
    other.flat[square] = (other.flat[square] + step) % 4
    hashes = canonical_hashes(np.stack([board, other]), np.array([3, 3], np.int8))
    assert (hashes[0] == hashes[1]) == (slow_canonical(board, 3) == slow_canonical(other, 3))


def test_equality_agrees_with_slow_reference():
    rng = np.random.default_rng(0)
    sparse = rng.choice(np.array([0, 1, 2, 3], np.int8), (400, 6, 6), p=[0.02, 0.94, 0.02, 0.02])
    twins = transform_boards(sparse, rng.integers(0, COUNT, 400))
    boards, movers = np.concatenate([sparse, twins]), rng.integers(2, 4, 800).astype(np.int8)
    hashes = canonical_hashes(boards, movers).tolist()
    slow = [slow_canonical(board, mover) for board, mover in zip(boards, movers, strict=True)]
    assert len(set(slow)) < 800
    assert len(set(zip(hashes, slow, strict=True))) == len(set(hashes)) == len(set(slow))


def test_unhashable_positions_are_refused():
    with pytest.raises(ZugwerkError, match="6x8"):
        canonical_hashes(np.ones((1, 6, 8), np.int8), np.array([2], np.int8))
    for code in (-1, 4):
        with pytest.raises(ZugwerkError, match="codes go from 0 to 3"):
            canonical_hashes(np.full((1, 6, 6), code, np.int8), np.array([2], np.int8))


SHARES = (7.0, 2.0, 1.0)


@pytest.mark.parametrize(("games", "sizes"), [(10, [7, 2, 1]), (100, [70, 20, 10]), (1003, [702, 201, 100])])
def test_shares_are_met_to_a_game(games, sizes):
    assert np.bincount(assign_games(np.arange(games), SHARES, 1)).tolist() == sizes


def test_depends_on_seed_and_gid_alone():
    gids = np.random.default_rng(0).permutation(10**6)[:200]
    by_gid = dict(zip(gids.tolist(), assign_games(gids, SHARES, 5).tolist(), strict=True))
    again = dict(zip(gids[::-1].tolist(), assign_games(gids[::-1], SHARES, 5).tolist(), strict=True))
    assert by_gid == again
    assert (assign_games(gids, SHARES, 5) != assign_games(gids, SHARES, 6)).mean() > 0.3


def test_new_games_move_few_old_ones():
    old = assign_games(np.arange(2000), SHARES, 1)
    new = assign_games(np.arange(2200), SHARES, 1)[:2000]
    assert (old != new).mean() < 0.05


def test_draws_do_not_follow_the_gid():
    splits = assign_games(np.arange(4000), SHARES, 1)
    assert abs((splits[:2000] == TEST).mean() - 0.1) < 0.03
    assert abs((splits[::2] == TRAIN).mean() - 0.7) < 0.04


def test_too_few_games():
    with pytest.raises(ZugwerkError, match="4 games are too few to split 7:2:1: test would get none"):
        assign_games(np.arange(4), SHARES, 1)
    assert sorted(assign_games(np.arange(3), (1, 1, 1), 1)) == [TRAIN, VALIDATION, TEST]


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 2)), max_size=40))
def test_each_position_is_in_one_split_test_first(samples):
    hashes = np.array([h for h, _ in samples], np.uint64)
    splits = np.array([s for _, s in samples], np.int8)
    stays = choose_samples(hashes, splits)
    for h, s, kept in zip(hashes, splits, stays, strict=True):
        found = {t for k, t in samples if k == h}
        assert kept == (s == max(found))
    assert SPLITS == ("train", "validation", "test")

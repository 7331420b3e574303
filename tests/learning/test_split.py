import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline_src.errors import ZugwerkError
from pipeline_src.learning.arrays import SPLITS, TEST, TRAIN, VALIDATION, assign_games, choose_samples

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

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pipeline_src.errors import ZugwerkError
from pipeline_src.learning.symmetry import COUNT, canonical_hashes, transform_boards
from tests.systems.amazons_net.positions import slow_canonical


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


def test_the_side_to_move_counts():
    boards = np.ones((2, 6, 6), np.int8)
    assert len(set(canonical_hashes(boards, np.array([2, 3], np.int8)).tolist())) == 2


def test_unhashable_positions_are_refused():
    with pytest.raises(ZugwerkError, match="6x8"):
        canonical_hashes(np.ones((1, 6, 8), np.int8), np.array([2], np.int8))
    for code in (-1, 4):
        with pytest.raises(ZugwerkError, match="codes go from 0 to 3"):
            canonical_hashes(np.full((1, 6, 6), code, np.int8), np.array([2], np.int8))

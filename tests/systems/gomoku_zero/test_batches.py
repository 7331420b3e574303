import numpy as np
import pytest
import torch

from pipeline_src.errors import ZugwerkError
from pipeline_src.learning.ranks import Share
from pipeline_src.learning.symmetry import COUNT, transform_boards
from pipeline_src.systems.gomoku_zero.train import Batches
from pipeline_src.systems.gomoku_zero.window import Positions
from tests.systems.gomoku_zero.small import SIZE, small_positions


@pytest.fixture(scope="module")
def data():
    return small_positions()


def cut(data, step=0, *, batch=64, augment=True, seed=1, generation=2):
    return Batches(data, batch=batch, augment=augment, seed=seed, generation=generation)(step)


def same(a, b):
    return all(torch.equal(x, y) for x, y in zip(a, b, strict=True))


def test_a_batch_follows_from_seed_generation_and_step(data):
    assert same(cut(data, 7), cut(data, 7))
    for other in (cut(data, 8), cut(data, 7, seed=2), cut(data, 7, generation=3)):
        assert not same(cut(data, 7), other)


def test_shares_together_are_the_batch_of_one_process(data):
    batches = Batches(data, batch=64, augment=True, seed=1, generation=2)
    whole, parts = batches(7), [batches(7, Share(rank, 4)) for rank in range(4)]
    for rank, part in enumerate(parts):
        assert same(part, [tensor[rank::4] for tensor in whole])


def test_without_symmetries_rows_come_as_they_are(data):
    batch = cut(data, augment=False)
    rows = {(p.tobytes(), pi.tobytes(), v.tobytes()) for p, pi, v in zip(*data[:3], strict=True)}
    for planes, policy, value in zip(*batch, strict=True):
        taken = planes.numpy().astype(np.uint8).tobytes(), policy.numpy().tobytes(), value.numpy().tobytes()
        assert taken in rows


def test_planes_and_policy_are_under_one_symmetry_of_the_position(data):
    """Each position is told from the others by its value, and the symmetry is found from the policy alone."""
    count = 40
    value = np.arange(count, dtype=np.float32)
    marked = Positions(data.planes[:count], data.policy[:count], value, data.generation[:count])
    every = np.arange(COUNT)
    seen = set()
    for planes, policy, number in zip(*cut(marked, batch=300), strict=True):
        row = int(number)
        boards = np.repeat(marked.policy[row].reshape(1, SIZE, SIZE), COUNT, axis=0)
        fits = [np.array_equal(b.ravel(), policy.numpy()) for b in transform_boards(boards, every)]
        assert sum(fits) == 1
        g = fits.index(True)
        expected = transform_boards(marked.planes[row].astype(np.int8), np.full(len(marked.planes[row]), g))
        assert np.array_equal(planes.numpy(), expected)
        seen.add(g)
    assert seen == set(every)


def test_every_position_of_the_window_is_drawn_about_as_often(data):
    count = len(data.value)
    marked = Positions(data.planes, data.policy, np.arange(count, dtype=np.float32), data.generation)
    batches = Batches(marked, batch=count, augment=False, seed=1, generation=2)
    drawn = torch.cat([batches(step).value for step in range(50)]).long()
    often = torch.bincount(drawn, minlength=count)
    assert often.min() > 15
    assert often.max() < 100


def test_batches_are_in_no_checkpoint_and_their_channels_are_last(data):
    batches = Batches(data, batch=4, augment=True, seed=1, generation=2)
    assert not batches.state_dict()
    assert batches(0).planes.is_contiguous(memory_format=torch.channels_last)


def test_nothing_to_train_on_is_said(data):
    none = Positions(*(array[:0] for array in data))
    with pytest.raises(ZugwerkError, match="no positions"):
        cut(none)

import collections
import dataclasses

import numpy as np
import pytest
import torch

from pipeline_src.errors import ZugwerkError
from pipeline_src.learning.symmetry import COUNT, transform_boards, transform_squares
from pipeline_src.systems.amazons_net import train
from pipeline_src.systems.amazons_net.encode import encode
from pipeline_src.systems.amazons_net.nets import PLANES, AmazonsConfig, ResidualConfig
from pipeline_src.systems.amazons_net.train import (
    AmazonsData,
    Plan,
    Steps,
    Validation,
    net_input,
    read,
    rows_by_type,
    squares,
    under,
)
from tests.systems.amazons_net.samples import SIZE


def same(a, b):
    return all(np.array_equal(x, y) for net in (1, 2) for x, y in zip(a[net], b[net], strict=True))


def test_squares_of_the_patents_pairs():
    assert squares(np.array([[3, 1], [4, 0], [-1, -1], [0, 9]], dtype=np.int8), 10).tolist() == [83, 94, -1, 0]


def test_rows_are_of_the_split_and_type(dataset):
    for split in ("train", "validation", "test"):
        amazon, arrow = rows_by_type(dataset, split)
        place = dataset.split(split)
        assert sorted([*amazon, *arrow]) == list(range(place.start, place.stop))
        assert not dataset.samples.type[amazon].any()
        assert dataset.samples.type[arrow].all()


@pytest.mark.parametrize("part", [1 << 22, 50])
def test_every_sample_comes_once_an_epoch_and_batches_are_filled(dataset, monkeypatch, part):
    monkeypatch.setattr(train, "PART", part)
    plan = Plan(dataset, batch=32, seed=1, augment=False)
    epoch = list(Steps(plan, 0, plan.steps_per_epoch))
    assert [batch.step for batch in epoch] == list(range(len(epoch)))
    for net in (1, 2):
        assert {len(batch[net].boards) for batch in epoch} == {32}
        seen = collections.Counter(board.tobytes() for batch in epoch for board in batch[net].boards)
        assert set(seen) == {dataset.samples.board[row].tobytes() for row in plan.train[net - 1]}
        assert sum(seen.values()) == 32 * plan.steps_per_epoch


def test_teacher_weights_apply_to_policy_only(dataset):
    taught = (np.asarray(dataset.samples.gid) // 3 + dataset.samples.ply) % 2
    some = dataclasses.replace(dataset, samples=dataset.samples._replace(teacher=taught.astype(np.int8)))
    plan = Plan(some, batch=32, seed=1, augment=True, teachers_only=True)
    for net in (1, 2):
        batches = list(Validation(plan))
        weight = np.concatenate([batch[net].policy_weight for batch in batches])
        assert np.array_equal(weight > 0, taught[plan.validation[net - 1]] == 1)
        assert np.ptp(weight[weight > 0]) == 0
        assert weight.mean() == pytest.approx(1, rel=1e-5)
        won = np.concatenate([batch[net].won for batch in batches])
        assert np.array_equal(won, dataset.samples.result[plan.validation[net - 1]])
        weight = np.concatenate([batch[net].policy_weight for batch in Steps(plan, 0, plan.steps_per_epoch)])
        assert 0.9 < weight.mean() < 1.1
        assert np.count_nonzero(weight) < len(weight)
    everybody = Plan(some, batch=32, seed=1, augment=True)
    assert all((batch[net].policy_weight == 1).all() for batch in Validation(everybody) for net in (1, 2))
    nobody = dataclasses.replace(dataset, samples=dataset.samples._replace(teacher=np.zeros_like(taught)))
    with pytest.raises(ZugwerkError, match=r"split 'train' has no turn of a teacher; amazons_samples.teachers"):
        Plan(nobody, batch=8, seed=1, augment=False, teachers_only=True)


@pytest.mark.parametrize("part", [1 << 22, 50])
def test_a_batch_depends_on_seed_and_step_alone(dataset, monkeypatch, part):
    monkeypatch.setattr(train, "PART", part)
    plan = Plan(dataset, batch=16, seed=1, augment=True)
    forward = [plan.step(n) for n in range(2 * plan.steps_per_epoch)]
    for n in (len(forward) - 1, 3, plan.steps_per_epoch, 0):
        assert same(Plan(dataset, batch=16, seed=1, augment=True).step(n), forward[n])
    assert not same(Plan(dataset, batch=16, seed=2, augment=True).step(3), forward[3])
    assert not same(forward[0], forward[plan.steps_per_epoch])


def test_a_batch_larger_than_the_split_repeats_it(dataset):
    plan = Plan(dataset, batch=5000, seed=1, augment=False)
    assert plan.steps_per_epoch == 1
    assert len(plan.step(0).arrow.boards) == 5000


def test_validation_is_each_sample_once(dataset):
    plan = Plan(dataset, batch=16, seed=1, augment=True)
    batches = list(Validation(plan))
    assert len(batches) == len(Validation(plan))
    for net in (1, 2):
        boards = np.concatenate([batch[net].boards for batch in batches])
        assert np.array_equal(boards, dataset.samples.board[plan.validation[net - 1]])


def test_played_turns_are_legal_under_every_symmetry(dataset):
    plan = Plan(dataset, batch=64, seed=1, augment=True)
    for positions in plan.step(0)[1:]:
        coded = encode(positions.boards, positions.movers, positions.moved)
        for b, (start, to) in enumerate(zip(positions.start, positions.to, strict=True)):
            row = 0 if positions.moved[b] >= 0 else coded.amazons[b].tolist().index(start)
            assert coded.legal[b, row, to]


def test_symmetries_turn_board_and_squares_together(dataset):
    rows = rows_by_type(dataset, "train")[1][:COUNT]
    plain, which = read(dataset, rows), np.arange(COUNT)
    turned = under(plain, which)
    assert np.array_equal(turned.boards, transform_boards(plain.boards, which))
    for name in ("moved", "start", "to"):
        assert np.array_equal(getattr(turned, name), transform_squares(getattr(plain, name), which, SIZE))
    assert np.array_equal(turned.won, plain.won)


CPU = torch.device("cpu")


def test_move_nets_input(dataset):
    positions = read(dataset, rows_by_type(dataset, "train")[0][:40])
    batch = net_input(positions, CPU)
    assert batch.features.shape == (40, 4, 6, 6)
    assert batch.legal.shape == (40, 4, 36)
    index = torch.arange(40)
    assert batch.played.rows[index, batch.played.row].tolist() == positions.start.tolist()
    assert batch.legal[index, batch.played.row, batch.played.to].all()
    assert batch.won.tolist() == dataset.samples.result[rows_by_type(dataset, "train")[0][:40]].tolist()


def test_arrow_nets_input(dataset):
    positions = read(dataset, rows_by_type(dataset, "train")[1][:40])
    batch = net_input(positions, CPU)
    assert batch.legal.shape == (40, 1, 36)
    assert batch.played.rows.squeeze(1).tolist() == positions.moved.tolist()
    assert not batch.played.row.any()
    assert batch.legal[torch.arange(40), 0, batch.played.to].all()


def test_options_of_the_view_reach_the_features(dataset):
    positions = read(dataset, rows_by_type(dataset, "train")[1][:40])
    plain = net_input(positions, CPU)
    first = net_input(positions, CPU, AmazonsConfig(moved_first=True))
    relative = net_input(positions, CPU, AmazonsConfig(mover_relative=True))
    black = torch.from_numpy(np.asarray(positions.movers) == 2)
    assert not torch.equal(plain.features, first.features)
    assert torch.equal(plain.features[~black], relative.features[~black])
    assert (plain.features[black] != relative.features[black]).flatten(1).any(1).all()


def test_the_residual_net_gets_planes(dataset):
    for rows in rows_by_type(dataset, "train"):
        batch = net_input(read(dataset, rows[:40]), CPU, ResidualConfig(size=6))
        assert batch.features.shape == (40, PLANES, 6, 6)
        assert batch.legal[torch.arange(40), batch.played.row, batch.played.to].all()


@pytest.mark.parametrize("lap_steps", [1, 3, 4, 1000])
def test_laps_cover_an_epoch_evenly(dataset, lap_steps):
    plan = Plan(dataset, batch=16, seed=1, augment=True)
    data = AmazonsData(plan, lap_steps=lap_steps, config=AmazonsConfig())
    starts = [data.first_step(lap) for lap in range(2 * data.laps_per_epoch + 1)]
    assert starts[0] == 0
    assert starts[data.laps_per_epoch] == plan.steps_per_epoch
    assert starts[-1] == 2 * plan.steps_per_epoch
    lengths = set(np.diff(starts).tolist())
    assert max(lengths) <= lap_steps
    assert max(lengths) - min(lengths) <= 1

import numpy as np
import pytest
import torch

from pipeline_src.systems.amazons_net import tensor_encoders as amazons_encoders
from pipeline_src.systems.amazons_net.batches import Plan, read, rows_by_type
from pipeline_src.systems.amazons_net.data import AmazonsData, net_input
from pipeline_src.systems.amazons_net.net import AmazonsConfig
from pipeline_src.systems.amazons_net.residual import PLANES, ResidualConfig

CPU = torch.device("cpu")


def test_move_nets_input(dataset):
    positions = read(dataset, rows_by_type(dataset, "train")[0][:40])
    batch = net_input(positions, CPU)
    assert batch.features.shape == (40, 4, 6, 6)
    assert batch.legal.shape == (40, 4, 36)
    index = torch.arange(40)
    assert batch.played.rows[index, batch.played.row].tolist() == positions.start.tolist()
    assert batch.legal[index, batch.played.row, batch.played.to].all()
    assert batch.won.tolist() == dataset.result[rows_by_type(dataset, "train")[0][:40]].tolist()


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


@pytest.mark.parametrize("kind", [0, 1])
@pytest.mark.parametrize("config", [AmazonsConfig(moved_first=True, mover_relative=True), ResidualConfig()])
def test_a_device_without_kernels_makes_the_same_input(dataset, config, kind, monkeypatch):
    positions = read(dataset, rows_by_type(dataset, "train")[kind][:40])
    expected = net_input(positions, CPU, config)
    calls = []
    encode = amazons_encoders.encode_for
    monkeypatch.setattr(amazons_encoders, "encode_for", lambda *a: calls.append(1) or encode(*a))

    class Elsewhere:
        """Stands for a GPU: any type but cpu and cuda; tensors sent there stay here."""

        type = "elsewhere"

    send = torch.Tensor.to
    monkeypatch.setattr(
        torch.Tensor,
        "to",
        lambda self, *a, **k: self if a and isinstance(a[0], Elsewhere) else send(self, *a, **k),
    )
    found = net_input(positions, Elsewhere(), config)
    assert calls
    assert torch.equal(found.features, expected.features)
    assert torch.equal(found.legal, expected.legal)
    assert all(torch.equal(a, b) for a, b in zip(found.played, expected.played, strict=True))


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

import numpy as np
import pytest
import torch

from pipeline_src.systems.amazons_net import encoders, planes
from pipeline_src.systems.amazons_net.net import AmazonsConfig
from pipeline_src.systems.amazons_net.planes_tensors import encode_planes
from pipeline_src.systems.amazons_net.residual import ResidualConfig
from pipeline_src.systems.amazons_net.tensor_encoders import ENCODERS, encode_for
from tests.systems.amazons_net.test_encode_tensors import random_batch


@pytest.mark.parametrize("shape", [(10, 10), (8, 8), (6, 6), (5, 8)])
def test_equals_the_kernel(shape: tuple[int, int]) -> None:
    batch = random_batch(np.random.default_rng(9), 200, *shape)
    ours, theirs = encode_planes(*map(torch.from_numpy, batch)), planes.encode_planes(*batch)
    for name in ours._fields:
        expected = torch.from_numpy(getattr(theirs, name))
        assert getattr(ours, name).dtype == expected.dtype
        assert torch.equal(getattr(ours, name), expected), name


@pytest.mark.parametrize(
    "config", [AmazonsConfig(mover_relative=True), AmazonsConfig(moved_first=True), ResidualConfig()]
)
def test_either_side_encodes_what_a_net_asks_for(config: AmazonsConfig | ResidualConfig) -> None:
    assert set(ENCODERS) == set(encoders.ENCODERS)
    batch = random_batch(np.random.default_rng(3), 20, 10, 10)
    ours = encode_for(config, *map(torch.from_numpy, batch))
    theirs = encoders.encode_for(config, *batch)
    assert torch.equal(ours.features, torch.from_numpy(theirs.features))
    assert torch.equal(ours.amazons, torch.from_numpy(theirs.amazons))

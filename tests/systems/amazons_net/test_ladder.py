"""The steps from the published net towards the residual one: each is another net, which learns, and is saved whole."""

import pytest
import torch

from pipeline_src.systems.amazons_net.models import load_nets, save_nets
from pipeline_src.systems.amazons_net.net import AmazonsConfig, AmazonsNets
from pipeline_src.systems.amazons_net.train import train
from tests.systems.amazons_net.samples import params

STEPS = (
    *({"starting_weights": name} for name in ("glorot", "torch", "mirrored")),
    {"batch_norm": True},
    {"shortcuts": True},
    {"spatial_heads": True},
    {"starting_weights": "mirrored", "batch_norm": True, "shortcuts": True, "spatial_heads": True},
)


def made(**changed):
    torch.manual_seed(5)
    return AmazonsNets(AmazonsConfig(size=6, width=0.1, dropout=0.0, **changed))


def answers(nets, features):
    with torch.no_grad():
        return [*nets.move(features), *nets.arrow(features)]


@pytest.mark.parametrize("step", STEPS, ids=str)
def test_a_step_answers_in_the_same_shapes_otherwise_and_comes_back_from_its_file(tmp_path, step):
    features = torch.rand(3, 4, 6, 6) * 300
    published, nets = made(), made(**step)
    nets.both(features, features)  # moves running means
    nets.eval()
    found = answers(nets, features)
    assert [tuple(answer.shape) for answer in found] == [(3,), (3, 1296), (3,), (3, 36)]
    assert not torch.equal(found[1], answers(published, features)[1])
    save_nets(tmp_path / "nets.pt", nets)
    for mine, theirs in zip(answers(load_nets(tmp_path / "nets.pt"), features), found, strict=True):
        assert torch.equal(mine, theirs)


@pytest.mark.parametrize("step", STEPS, ids=str)
def test_every_weight_of_a_step_takes_part(step):
    nets, features = made(**step), torch.rand(4, 4, 6, 6) * 300
    (value, logits), (other, arrows) = nets.both(features, features)
    (value.square().sum() + other.square().sum() + logits.square().sum() + arrows.square().sum()).backward()
    assert all(parameter.grad is not None for parameter in nets.parameters())


def test_a_spatial_policy_follows_the_board():
    """One flipped along its files has its arrows flipped likewise: no weight belongs to a square."""
    nets, features = made(spatial_heads=True).eval(), torch.rand(1, 4, 6, 6) * 300
    policy = nets.arrow_policy
    x = torch.rand(1, policy.in_channels, 6, 6)
    with torch.no_grad():
        assert torch.allclose(policy(x.flip(3)).view(6, 6), policy(x).view(6, 6).flip(1), atol=1e-6)
        top = torch.zeros_like(x)
        top[:, :, 0] = 1.0  # row 0 is the top rank, whose squares are numbered last
        assert (policy(top) - policy.bias).abs().view(6, 6).sum(1).nonzero().flatten().tolist() == [5]
    assert answers(nets, features)[3].shape == (1, 36)


def test_clipped_gradients_train_otherwise(dataset, tmp_path):
    losses = {}
    for clip in (None, 1e-3):
        section = params(batch=32, epochs=1, optimizer="sgd").model_copy(update={"gradient_clip": clip})
        done = train(dataset, section, model="cross_entropy", seed=1, folder=tmp_path / str(clip))
        losses[clip] = done.rows[-1]["validation_loss"]
    assert losses[None] != losses[1e-3]

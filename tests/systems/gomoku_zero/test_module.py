import math

import numpy as np
import pytest
import torch

from pipeline_src.systems.gomoku_zero.train import MEASURES, Batch, Batches, ZeroModule
from tests.systems.gomoku_zero.small import SIZE, params, small_net, small_positions


class Answers(torch.nn.Module):
    """A net that says what it is told."""

    def __init__(self, logits, value):
        super().__init__()
        self.logits, self.value = torch.nn.Parameter(logits), torch.nn.Parameter(value)

    def forward(self, planes):
        return self.logits, self.value


def module(net, **changed):
    batches = Batches(small_positions(), batch=4, augment=False, seed=1, generation=2)
    return ZeroModule(net, batches, params(**changed), rate=1e-3, state=None)


@pytest.fixture
def batch():
    generator = np.random.default_rng(1)
    policy = torch.from_numpy(generator.dirichlet(np.ones(6), 4).astype(np.float32))
    policy[0] = torch.tensor([0, 0, 1.0, 0, 0, 0])
    return Batch(torch.zeros(4, 1, 1, 6), policy, torch.tensor([1.0, -1.0, 0.0, -1.0]))


def test_the_loss_is_the_published_one(batch):
    torch.manual_seed(2)
    logits, value = torch.randn(4, 6), torch.tensor([0.5, 0.25, -0.5, -1.0])
    loss, sums = module(Answers(logits, value)).answer(batch)
    policy_loss = value_loss = entropy = target = 0.0
    for b in range(4):
        weights = [math.exp(x) for x in logits[b].tolist()]
        p = [w / sum(weights) for w in weights]
        pi = batch.policy[b].tolist()
        policy_loss -= sum(a * math.log(c) for a, c in zip(pi, p, strict=True))
        entropy -= sum(c * math.log(c) for c in p)
        target -= sum(a * math.log(a) for a in pi if a)
        value_loss += (batch.value[b].item() - value[b].item()) ** 2
    assert loss.item() == pytest.approx((policy_loss + value_loss) / 4, rel=1e-5)
    named, decided = 2, 3
    assert sums.tolist() == pytest.approx([policy_loss, value_loss, entropy, target, named, decided], rel=1e-5)


def test_gradients_lead_to_the_searchs_policy_and_to_the_result(batch):
    net = Answers(torch.zeros(4, 6), torch.zeros(4))
    module(net).answer(batch)[0].backward()
    assert net.logits.grad[0].argmin() == 2
    assert net.value.grad.sign().tolist() == [-1, 1, 0, 1]


def test_the_last_terms_gradient_is_2_c_theta(batch):
    net = Answers(torch.full((4, 6), 3.0), torch.tensor([1.0, -2.0, 0.0, 4.0]))
    held = module(net, l2=0.25)
    for weight in net.parameters():
        weight.grad = torch.ones_like(weight)
    held.on_before_optimizer_step(None)
    theta = [weight.detach().clone().requires_grad_() for weight in net.parameters()]
    (0.25 * sum(t.square().sum() for t in theta)).backward()
    for weight, expected in zip(net.parameters(), theta, strict=True):
        torch.testing.assert_close(weight.grad, 1 + expected.grad)


def test_long_gradients_are_cut_to_length_after_the_last_term_was_added():
    net = Answers(torch.full((4, 6), 3.0), torch.zeros(4))
    held = module(net, l2=0.5, gradient_clip=0.1)
    for weight in net.parameters():
        weight.grad = torch.zeros_like(weight)
    held.on_before_optimizer_step(None)
    assert net.logits.grad.norm().item() == pytest.approx(0.1, rel=1e-3)


@pytest.mark.parametrize("optimizer", ["adamw", "sgd"])
def test_a_small_net_learns_a_batch_by_heart(optimizer):
    net = small_net(width=16)
    rate = 0.02 if optimizer == "adamw" else 0.05
    batches = Batches(small_positions(), batch=16, augment=False, seed=1, generation=2)
    held = ZeroModule(net, batches, params(optimizer=optimizer, weight_decay=0.0, l2=0.0), rate=rate, state=None)
    updates, batch = held.configure_optimizers(), batches(0)
    for _ in range(250):
        loss, sums = held.answer(batch)
        updates.zero_grad()
        loss.backward()
        updates.step()
    means = dict(zip(MEASURES, (sums / 16).tolist(), strict=False))
    assert means["policy_loss"] - means["target_entropy"] < 0.1
    assert means["value_loss"] < 0.05
    assert sums[4] == sums[5]
    assert net(batch.planes)[0].shape == (16, SIZE * SIZE)

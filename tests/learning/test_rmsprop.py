import copy
import math

import pytest
import torch

from pipeline_src.systems.amazons_net.losses import NesterovRMSprop

LR, RHO, MU, EPS = 0.01, 0.8, 0.7, 1e-3


def gradient(theta, step):
    """Of a badly scaled bowl whose bottom moves."""
    return [a * (t - math.sin(step)) for a, t in zip((1.0, 30.0, 0.01), theta, strict=True)]


def plain_loop(theta, steps, mu):
    v, m = [0.0] * 3, [0.0] * 3
    for step in range(steps):
        for i, g in enumerate(gradient(list(theta), step)):
            v[i] = RHO * v[i] + (1 - RHO) * g * g
            u = g / (math.sqrt(v[i]) + EPS)
            m[i] = mu * m[i] + LR * u
            theta[i] -= mu * m[i] + LR * u
    return theta


@pytest.mark.parametrize("mu", [0.0, MU])
def test_equals_a_plain_loop(mu):
    start = [1.0, -2.0, 3.0]
    parameters = [torch.tensor([start[0]]).double(), torch.tensor(start[1:]).double()]
    parameters = [p.requires_grad_() for p in parameters]
    optimizer = NesterovRMSprop(parameters, lr=LR, rho=RHO, momentum=mu, eps=EPS)
    for step in range(50):
        g = gradient([*parameters[0].tolist(), *parameters[1].tolist()], step)
        parameters[0].grad = torch.tensor(g[:1], dtype=torch.float64)
        parameters[1].grad = torch.tensor(g[1:], dtype=torch.float64)
        optimizer.step()
    found = [*parameters[0].tolist(), *parameters[1].tolist()]
    assert found == pytest.approx(plain_loop(list(start), 50, mu), rel=1e-12)


def test_the_look_ahead_makes_a_difference():
    def run(nesterov):
        theta = torch.tensor([1.0], requires_grad=True)
        kind = NesterovRMSprop if nesterov else torch.optim.RMSprop
        names = {"rho": RHO} if nesterov else {"alpha": RHO}
        optimizer = kind([theta], lr=LR, momentum=MU, eps=EPS, **names)
        for _ in range(3):
            optimizer.zero_grad()
            theta.square().sum().backward()
            optimizer.step()
        return theta.item()

    assert run(True) < run(False) - 1e-3


def test_parameters_without_gradient_stay():
    used, unused = (torch.ones(2, requires_grad=True) for _ in range(2))
    optimizer = NesterovRMSprop([used, unused])
    used.square().sum().backward()
    optimizer.step()
    assert (unused == 1).all()
    assert (used < 1).all()
    assert unused not in optimizer.state


def test_resumes_from_saved_state():
    def build(theta):
        return NesterovRMSprop([theta], lr=LR, rho=RHO, momentum=MU, eps=EPS)

    def step(theta, optimizer):
        theta.grad = theta.detach().clone()
        optimizer.step()

    theta = torch.ones(3, requires_grad=True)
    optimizer = build(theta)
    step(theta, optimizer)
    again = theta.detach().clone().requires_grad_()
    resumed = build(again)
    resumed.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    step(theta, optimizer)
    step(again, resumed)
    assert torch.equal(theta, again)


def test_a_closure_is_run_with_gradients_and_its_loss_returned():
    theta = torch.ones(1, requires_grad=True)
    optimizer = NesterovRMSprop([theta])

    def closure():
        optimizer.zero_grad()
        loss = theta.square().sum()
        loss.backward()
        return loss.item()

    assert optimizer.step(closure) == 1.0
    assert theta.item() < 1

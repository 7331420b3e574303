import copy

import pytest
import torch

from pipeline_src.errors import ZugwerkError
from pipeline_src.systems.gomoku_zero.train import load_learner, make_learner, save_learner, state_of
from tests.systems.gomoku_zero.small import params, small_net


def stepped(net, optimizer, steps=3):
    for number in range(steps):
        for weight in net.parameters():
            weight.grad = torch.full_like(weight, 0.1 + number)
        optimizer.step()
    return state_of(optimizer)


def learner(net, state=None, rate=0.01, **changed):
    how = params(**{"weight_decay": 0.0, **changed})
    return make_learner(net.parameters(), how, rate, state)


@pytest.mark.parametrize(("name", "momentum"), [("adamw", 0.9), ("sgd", 0.9), ("sgd", 0.0)])
@pytest.mark.parametrize("layout", [torch.contiguous_format, torch.channels_last])
def test_resumes_from_file_exactly(tmp_path, name, momentum, layout):
    whole = small_net().to(memory_format=layout)
    optimizer = learner(whole, optimizer=name, momentum=momentum)
    halfway = stepped(whole, optimizer)
    again = copy.deepcopy(whole)
    save_learner(tmp_path / "learner.pt", halfway)
    state = load_learner(tmp_path / "learner.pt")
    stepped(again, learner(again, state, optimizer=name, momentum=momentum))
    stepped(whole, optimizer)
    for a, b in zip(whole.parameters(), again.parameters(), strict=True):
        assert torch.equal(a, b)
    for number, entries in state["state"].items():  # what was given stays as it was
        assert all(torch.equal(value, halfway["state"][number][key]) for key, value in entries.items())


def test_rate_and_decays_are_the_paramss():
    net = small_net()
    state = stepped(net, learner(net))
    group = learner(net, state, rate=0.5, weight_decay=0.25, momentum=0.8).param_groups[0]
    assert (group["lr"], group["weight_decay"], group["betas"]) == (0.5, 0.25, (0.8, 0.999))


def test_the_same_state_gives_the_same_bytes(tmp_path):
    net = small_net()
    state = stepped(net, learner(net))
    save_learner(tmp_path / "a.pt", state)
    save_learner(tmp_path / "b.pt", load_learner(tmp_path / "a.pt"))
    assert (tmp_path / "a.pt").read_bytes() == (tmp_path / "b.pt").read_bytes()


def test_a_state_of_something_else_is_refused():
    net = small_net()
    state = stepped(net, learner(net))
    with pytest.raises(ZugwerkError, match="state is for adamw, but the params have sgd"):
        learner(net, state, optimizer="sgd")
    with pytest.raises(ZugwerkError, match="of another net"):
        learner(small_net(width=4), state)
    with pytest.raises(ZugwerkError, match="of another net"):
        learner(small_net().trunk, state)


@pytest.mark.parametrize("content", [b"", b"torn", "list", "half"])
def test_a_damaged_file_is_named(tmp_path, content):
    path = tmp_path / "learner.pt"
    save_learner(path, stepped(small_net(), learner(small_net())))
    if content == "list":
        torch.save([1], path)
    else:
        path.write_bytes(path.read_bytes()[:500] if content == "half" else content)
    with pytest.raises(ZugwerkError, match=r"learner\.pt: damaged"):
        load_learner(path)
    with pytest.raises(ZugwerkError, match=r"other\.pt: no such file"):
        load_learner(tmp_path / "other.pt")

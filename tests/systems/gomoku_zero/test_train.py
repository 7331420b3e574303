"""Training on the replay window: loss, optimizer and its state, resumed to the same bytes."""

import copy
import math
import os
import signal
import subprocess
import sys

import numpy as np
import pytest
import torch

from pipeline_src.errors import ZugwerkError
from pipeline_src.learning.fit import Share
from pipeline_src.learning.symmetry import COUNT, transform_boards
from pipeline_src.selfplay.train import (
    MEASURES,
    STATISTICS,
    ZeroModule,
    load_learner,
    make_learner,
    save_learner,
    state_of,
)
from pipeline_src.systems.gomoku_zero.models import load_model, make_net, save_model
from pipeline_src.systems.gomoku_zero.nets import PlainConfig
from pipeline_src.systems.gomoku_zero.train import Batch, Batches, Positions
from tests.run_stage import KilledError, stop_in_step
from tests.systems.gomoku_zero.small import HISTORY, SIZE, params, run, small_net, small_positions


@pytest.fixture(scope="module")
def data():
    return small_positions()


def cut(data, step=0, *, batch=64, augment=True, seed=1, generation=2):
    return Batches(data, params(batch=batch, augment=augment), seed=seed, count=generation)(step)


def same(a, b):
    return all(torch.equal(x, y) for x, y in zip(a, b, strict=True))


def test_a_batch_follows_from_seed_generation_and_step(data):
    assert same(cut(data, 7), cut(data, 7))
    for other in (cut(data, 8), cut(data, 7, seed=2), cut(data, 7, generation=3)):
        assert not same(cut(data, 7), other)


def test_shares_together_are_the_batch_of_one_process(data):
    batches = Batches(data, params(batch=64, augment=True), seed=1, count=2)
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
    """Each position is identified by its value, and the symmetry is found from the policy alone."""
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
    batches = Batches(marked, params(batch=count, augment=False), seed=1, count=2)
    drawn = torch.cat([batches(step).value for step in range(50)]).long()
    often = torch.bincount(drawn, minlength=count)
    assert often.min() > 15
    assert often.max() < 100


def test_batches_are_in_no_checkpoint_and_their_channels_are_last(data):
    batches = Batches(data, params(batch=4, augment=True), seed=1, count=2)
    assert not batches.state_dict()
    assert batches(0).planes.is_contiguous(memory_format=torch.channels_last)


@pytest.mark.parametrize("averaged", [0.0, 0.4, 1.0])
def test_the_net_has_mean_weights_and_their_statistics(data, tmp_path, monkeypatch, averaged):
    after, whole = [], ZeroModule.on_train_batch_end

    def noted(module, *args):
        after.append([weight.detach().clone() for weight in module.net.parameters()])
        whole(module, *args)

    monkeypatch.setattr(ZeroModule, "on_train_batch_end", noted)
    net = small_net()
    run(tmp_path, net=net, data=data, averaged=averaged, learning_rate=0.1)
    last = after[min(math.floor((1 - averaged) * len(after)), len(after) - 1) :]
    for number, weight in enumerate(net.parameters()):
        torch.testing.assert_close(weight, torch.stack([weights[number] for weights in last]).mean(0))
    batches = Batches(data, params(batch=16, augment=True), seed=5, count=2)
    seen = torch.stack([net.trunk[0](batches(step).planes) for step in range(STATISTICS)])
    torch.testing.assert_close(net.trunk[1].running_mean, seen.mean((0, 1, 3, 4)), atol=1e-5, rtol=1e-4)


def test_empty_window_is_an_error(data):
    none = Positions(*(array[:0] for array in data))
    with pytest.raises(ZugwerkError, match="no positions"):
        cut(none)


class Answers(torch.nn.Module):
    """A net with given answers."""

    def __init__(self, logits, value):
        super().__init__()
        self.logits, self.value = torch.nn.Parameter(logits), torch.nn.Parameter(value)

    def forward(self, planes):
        return self.logits, self.value


def module(net, **changed):
    batches = Batches(small_positions(), params(batch=4, augment=False), seed=1, count=2)
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


def test_long_gradients_are_clipped_after_adding_last_term():
    net = Answers(torch.full((4, 6), 3.0), torch.zeros(4))
    held = module(net, l2=0.5, gradient_clip=0.1)
    for weight in net.parameters():
        weight.grad = torch.zeros_like(weight)
    held.on_before_optimizer_step(None)
    assert net.logits.grad.norm().item() == pytest.approx(0.1, rel=1e-3)


@pytest.mark.parametrize("optimizer", ["adamw", "sgd"])
def test_small_net_overfits_one_batch(optimizer):
    net = small_net(width=16)
    rate = 0.02 if optimizer == "adamw" else 0.05
    batches = Batches(small_positions(), params(batch=16, augment=False), seed=1, count=2)
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


STEPS = 16


def content(trained, folder):
    """All that a training leaves but its timings, the files as bytes."""
    torch.save(trained.state_dict, folder / "weights.pt")
    save_learner(folder / "learner.pt", trained.learner_state)
    return (folder / "weights.pt").read_bytes(), (folder / "learner.pt").read_bytes(), trained.rows, trained.metrics


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    return content(run(folder), folder)


def test_trains_in_place_and_measures(tmp_path, undisturbed):
    net, before = small_net(), small_net()
    trained = run(tmp_path, net=net)
    assert content(trained, tmp_path) == undisturbed  # the same again
    assert [row["step"] for row in trained.rows] == [3, 6, 9, 12, 15, STEPS]
    for row in trained.rows:
        assert row["loss"] == pytest.approx(row["policy_loss"] + row["value_loss"])
        assert row["target_entropy"] < row["policy_loss"]
        assert row["policy_entropy"] <= math.log(SIZE * SIZE), "a mean over positions has no more entropy than a guess"
    assert trained.rows[-1]["loss"] < trained.rows[0]["loss"]
    assert trained.metrics["steps"] == trained.timings["steps"] == STEPS
    assert trained.metrics["new_positions"] < trained.metrics["positions"]
    assert not net.training
    for name, tensor in net.state_dict().items():
        assert torch.equal(tensor, trained.state_dict[name])
        assert tensor.stride() == before.state_dict()[name].stride()
        assert tensor.device.type == "cpu"
    assert not torch.equal(net.narrow.weight, before.narrow.weight)


def test_trained_net_and_its_file_answer_identically(tmp_path):
    """So a cycle in one process plays the games that one over many processes plays."""
    torch.manual_seed(3)
    net = make_net(PlainConfig(height=SIZE, width=SIZE, positions=HISTORY, filters=(8, 8)))
    run(tmp_path, net=net)
    save_model(tmp_path / "model.pt", net)
    again = load_model(tmp_path / "model.pt").net
    planes = torch.rand(8, 2 * HISTORY + 1, SIZE, SIZE)
    with torch.inference_mode():
        for a, b in zip(net(planes), again(planes), strict=True):
            assert torch.equal(a, b)


def test_other_seeds_and_params_train_otherwise(tmp_path, undisturbed):
    for number, how in enumerate([{"seed": 6}, {"augment": False}, {"gradient_clip": 1e-3}, {"l2": 0.1}]):
        folder = tmp_path / str(number)
        folder.mkdir()
        assert content(run(folder, **how), folder)[0] != undisturbed[0]


def killed_in(folder, number, **how):
    with pytest.MonkeyPatch.context() as killing:
        stop_in_step(killing, ZeroModule, number)
        with pytest.raises(KilledError):
            run(folder, **how)
    return next(folder.glob("train-*"), None)


@pytest.mark.parametrize(("number", "left"), [(3, STEPS), (5, 11), (12, 6)])
def test_a_killed_training_ends_in_the_same_bytes(tmp_path, undisturbed, number, left):
    killed_in(tmp_path, number)
    trained = run(tmp_path)
    assert (trained.timings["resumed"], trained.timings["steps"]) == (number >= 5, left)
    assert content(trained, tmp_path) == undisturbed


def test_learner_continues_across_generations(tmp_path, undisturbed):
    first = run(tmp_path / "1", generation=1)
    state = first.learner_state
    fresh, carried = (run(tmp_path / name, learner_state=s) for name, s in (("fresh", None), ("carried", state)))
    assert not torch.equal(fresh.state_dict["narrow.weight"], carried.state_dict["narrow.weight"])
    killed_in(tmp_path / "killed", 7, learner_state=state)
    again = run(tmp_path / "killed", learner_state=state)
    assert again.timings["resumed"]
    assert content(again, tmp_path / "killed") == content(carried, tmp_path / "carried")
    assert carried.learner_state["state"][0]["step"] == STEPS + first.metrics["steps"]


PROGRAM = """
import torch
torch.set_num_threads(1)
from tests.systems.gomoku_zero.small import run
run({folder!r})
"""


@pytest.mark.slow
def test_a_sigkill_changes_nothing(tmp_path, undisturbed):
    """The process sleeps in step 11, and dies there."""
    sleeps = "import time; from pipeline_src.selfplay import train as m; step = m.ZeroModule.training_step\n"
    sleeps += "m.ZeroModule.training_step = lambda self, b, i: (\n"
    sleeps += "    self.global_step == 11 and (print('there', flush=True), time.sleep(600)), step(self, b, i))[1]\n"
    command = [sys.executable, "-c", sleeps + PROGRAM.format(folder=str(tmp_path))]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline().strip() == "there"
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    process.stdout.close()
    trained = run(tmp_path)
    assert (trained.timings["resumed"], trained.timings["steps"]) == (True, STEPS - 10)
    assert content(trained, tmp_path) == undisturbed


def test_a_finished_training_is_not_trained_further(tmp_path, undisturbed):
    run(tmp_path)
    trained = run(tmp_path)
    assert trained.timings["steps"] == 0
    assert content(trained, tmp_path) == undisturbed


@pytest.mark.parametrize("other", ["seed", "learning_rate", "net", "positions"])
def test_checkpoint_of_a_different_training_is_dropped(tmp_path, undisturbed, other):
    (tmp_path / "games").mkdir(parents=True)  # of somebody else
    data = small_positions()
    how = {
        "seed": {"seed": 6},
        "learning_rate": {"learning_rate": 1e-3},
        "net": {"net": small_net(seed=4)},
        "positions": {"data": Positions(data.planes, np.roll(data.policy, 1, axis=0), *data[2:])},
    }[other]
    stale = killed_in(tmp_path, 7, **how)
    trained = run(tmp_path)
    assert trained.timings["resumed"] is False
    assert content(trained, tmp_path) == undisturbed
    assert not stale.exists()
    assert (tmp_path / "games").exists()


def test_diverging_training_is_an_error(tmp_path):
    with pytest.raises(ZugwerkError, match="the loss is not a number; lower learning_rate"):
        run(tmp_path, optimizer="sgd", weight_decay=0.0, learning_rate=1e20)


@pytest.mark.parametrize("optimizer", ["adamw", "sgd"])
def test_half_precision_trains_too(tmp_path, optimizer):
    """As on a GPU, where it is the default."""
    trained = run(tmp_path, precision="bf16-mixed", optimizer=optimizer, weight_decay=0.0, gradient_clip=1.0)
    assert trained.rows[-1]["loss"] < trained.rows[0]["loss"]
    assert all(tensor.dtype != torch.bfloat16 for tensor in trained.state_dict.values())


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

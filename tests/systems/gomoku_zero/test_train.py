import os
import signal
import subprocess
import sys

import numpy as np
import pytest
import torch

from pipeline_src.errors import ZugwerkError
from pipeline_src.learning.checkpoints import find_checkpoint
from pipeline_src.systems.gomoku_zero.models import load_model, make_net, save_model
from pipeline_src.systems.gomoku_zero.nets import PlainConfig
from pipeline_src.systems.gomoku_zero.train import ZeroModule, save_learner
from pipeline_src.systems.gomoku_zero.window import Positions
from tests.systems.gomoku_zero.small import HISTORY, SIZE, run, small_net, small_positions

STEPS = 16


class KilledError(Exception):
    """Stands for a SIGKILL: nothing of ours catches it."""


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
    assert trained.rows[-1]["loss"] < trained.rows[0]["loss"]
    assert trained.metrics["steps"] == trained.timings["steps"] == STEPS
    assert trained.metrics["new_positions"] < trained.metrics["positions"]
    assert not net.training
    for name, tensor in net.state_dict().items():
        assert torch.equal(tensor, trained.state_dict[name])
        assert tensor.stride() == before.state_dict()[name].stride()
        assert tensor.device.type == "cpu"
    assert not torch.equal(net.narrow.weight, before.narrow.weight)


def test_a_trained_net_and_its_file_answer_bit_for_bit_alike(tmp_path):
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


def stop_in_step(monkeypatch, number):
    step = ZeroModule.training_step

    def killed(self, batch, batch_idx):
        if self.global_step == number:
            raise KilledError
        return step(self, batch, batch_idx)

    monkeypatch.setattr(ZeroModule, "training_step", killed)


def killed_in(folder, number, **how):
    with pytest.MonkeyPatch.context() as killing:
        stop_in_step(killing, number)
        with pytest.raises(KilledError):
            run(folder, **how)
    return next(folder.glob("train-*"), None)


@pytest.mark.parametrize(("number", "left"), [(3, STEPS), (5, 11), (12, 6)])
def test_a_killed_training_ends_in_the_same_bytes(tmp_path, undisturbed, number, left):
    killed_in(tmp_path, number)
    trained = run(tmp_path)
    assert (trained.timings["resumed"], trained.timings["steps"]) == (number >= 5, left)
    assert content(trained, tmp_path) == undisturbed


def test_a_learner_goes_on_from_generation_to_generation(tmp_path, undisturbed):
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
    sleeps = "import time; from pipeline_src.systems.gomoku_zero import train as m; step = m.ZeroModule.training_step\n"
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


def test_a_torn_checkpoint_falls_back_to_the_one_before_or_to_none(tmp_path, undisturbed):
    own = killed_in(tmp_path, 12)
    last = find_checkpoint(own).path
    last.write_bytes(last.read_bytes()[:1000])
    trained = run(tmp_path)
    assert trained.timings["steps"] == STEPS - 5
    assert content(trained, tmp_path) == undisturbed
    for path in own.glob("*.ckpt"):
        path.write_bytes(b"torn")
    trained = run(tmp_path)
    assert (trained.timings["resumed"], trained.timings["steps"]) == (False, STEPS)
    assert content(trained, tmp_path) == undisturbed


@pytest.mark.parametrize("other", ["seed", "learning_rate", "net", "positions"])
def test_a_checkpoint_of_another_training_is_dropped(tmp_path, undisturbed, other):
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


def test_a_training_that_diverges_says_so(tmp_path):
    with pytest.raises(ZugwerkError, match="the loss is not a number; lower learning_rate"):
        run(tmp_path, optimizer="sgd", weight_decay=0.0, learning_rate=1e20)


@pytest.mark.parametrize("optimizer", ["adamw", "sgd"])
def test_half_precision_trains_too(tmp_path, optimizer):
    """As on a GPU, where it is the default."""
    trained = run(tmp_path, precision="bf16-mixed", optimizer=optimizer, weight_decay=0.0, gradient_clip=1.0)
    assert trained.rows[-1]["loss"] < trained.rows[0]["loss"]
    assert all(tensor.dtype != torch.bfloat16 for tensor in trained.state_dict.values())


def test_no_new_position_is_one_step(tmp_path):
    assert run(tmp_path, generation=9).metrics["steps"] == 1

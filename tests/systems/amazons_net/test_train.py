import dataclasses
from pathlib import Path

import pytest
import torch
from lightning.pytorch.callbacks import ModelCheckpoint

from pipeline_src import streams
from pipeline_src.errors import ZugwerkError
from pipeline_src.files import read_json
from pipeline_src.learning import checkpoints
from pipeline_src.learning.checkpoints import Resumed, find_checkpoint
from pipeline_src.systems.amazons_net.models import load_nets
from pipeline_src.systems.amazons_net.module import AmazonsModule
from pipeline_src.systems.amazons_net.train import train, work_folder
from tests.systems.amazons_net.samples import params


class KilledError(Exception):
    """Stands for a SIGKILL: nothing of ours catches it."""


def run(dataset, folder, model="cross_entropy", **changed):
    """Eight steps an epoch, a checkpoint after four."""
    return train(dataset, params(model, **{"batch": 32, **changed}), model=model, seed=5, folder=folder)


@pytest.fixture(scope="module")
def undisturbed(dataset, tmp_path_factory):
    """Bytes and curves of trainings that nobody disturbed, by model."""
    found = {}
    for model in ("cross_entropy", "residual"):
        trained = run(dataset, tmp_path_factory.mktemp("whole"), model)
        found[model] = trained.best_nets.read_bytes(), trained.rows
    return found


@pytest.fixture(scope="module")
def whole(undisturbed):
    return undisturbed["cross_entropy"]


@pytest.mark.parametrize("model", ["cross_entropy", "residual"])
def test_trains_and_measures(dataset, undisturbed, tmp_path, model):
    trained = run(dataset, tmp_path, model)
    assert [row["epoch"] for row in trained.rows] == [1, 2]
    assert trained.best["validation_loss"] == min(row["validation_loss"] for row in trained.rows)
    assert (trained.best_nets.read_bytes(), trained.rows) == undisturbed[model]  # the same again
    assert load_nets(trained.best_nets).config.size == 6
    assert 0 < trained.timings["net_share"] < 1
    assert trained.timings["resumed"] is False


def stop_in_step(monkeypatch, number):
    step = AmazonsModule.training_step

    def killed(self, batch, batch_idx):
        if self.global_step == number:
            raise KilledError
        return step(self, batch, batch_idx)

    monkeypatch.setattr(AmazonsModule, "training_step", killed)


def stop_in_validation(monkeypatch, _):
    def killed(self, batch, batch_idx):
        raise KilledError

    monkeypatch.setattr(AmazonsModule, "validation_step", killed)


def stop_after_saving(monkeypatch, pattern):
    """Die when a checkpoint of the best nets is written; or one of a lap, before the oldest of three is removed."""
    save = ModelCheckpoint._save_checkpoint

    def killed(self, trainer, path):
        save(self, trainer, path)
        if len(list(Path(self.dirpath).glob(pattern))) == (3 if "step" in pattern else 1):
            raise KilledError

    monkeypatch.setattr(ModelCheckpoint, "_save_checkpoint", killed)


@pytest.mark.parametrize(
    ("stop", "where"),
    [
        (stop_in_step, 2),
        (stop_in_step, 7),
        (stop_in_step, 11),
        (stop_in_validation, None),
        (stop_after_saving, "best.ckpt"),
        (stop_after_saving, "step=*.ckpt"),
    ],
    ids=["first_lap", "later_lap", "second_epoch", "validation", "best_written", "before_removal"],
)
@pytest.mark.parametrize("model", ["cross_entropy", "residual"])
def test_a_killed_training_ends_in_the_same_bytes(dataset, undisturbed, tmp_path, monkeypatch, stop, where, model):
    with monkeypatch.context() as killing:
        stop(killing, where)
        with pytest.raises(KilledError):
            run(dataset, tmp_path, model)
    trained = run(dataset, tmp_path, model)
    assert trained.timings["resumed"] == ((stop, where) != (stop_in_step, 2))
    assert (trained.best_nets.read_bytes(), trained.rows) == undisturbed[model]


@pytest.mark.parametrize("torn", [b"", b"half"])
def test_a_torn_checkpoint_falls_back_to_the_one_before(dataset, whole, tmp_path, monkeypatch, torn):
    with monkeypatch.context() as killing:
        stop_in_step(killing, 11)
        with pytest.raises(KilledError):
            run(dataset, tmp_path)
    last, step = find_checkpoint(tmp_path)
    last.write_bytes(torn and last.read_bytes()[: last.stat().st_size // 2])
    before = find_checkpoint(tmp_path)
    assert before.path.exists()
    assert 0 < before.step < step <= 11
    trained = run(dataset, tmp_path)
    assert (trained.best_nets.read_bytes(), trained.rows) == whole


def test_with_all_checkpoints_torn_it_starts_anew(dataset, whole, tmp_path):
    for step in (4, 8):
        (tmp_path / f"step={step}.ckpt").write_bytes(b"torn")
    assert find_checkpoint(tmp_path) == Resumed()
    trained = run(dataset, tmp_path)
    assert trained.timings["resumed"] is False
    assert (trained.best_nets.read_bytes(), trained.rows) == whole


def test_a_finished_training_is_not_trained_further(dataset, whole, tmp_path):
    run(dataset, tmp_path)
    trained = run(dataset, tmp_path)
    assert trained.timings["steps"] == 0
    assert (trained.best_nets.read_bytes(), trained.rows) == whole


def test_patience_ends_a_training_for_good_and_the_best_nets_stay(dataset, tmp_path, monkeypatch):
    losses, measure = {1: 3.0, 2: 1.0, 3: 2.0, 4: 1.0, 5: 0.5}, AmazonsModule.take_measures

    def measured(self):
        return measure(self) | {"validation_loss": losses[self.current_epoch + 1]}

    monkeypatch.setattr(AmazonsModule, "take_measures", measured)
    trained = run(dataset, tmp_path, epochs=5, patience=2, checkpoint_steps=1000)
    assert [row["validation_loss"] for row in trained.rows] == [3.0, 1.0, 2.0, 1.0]
    assert trained.best["epoch"] == 2
    short = run(dataset, tmp_path / "short", epochs=5, patience=1, checkpoint_steps=1000)
    assert [row["epoch"] for row in short.rows] == [1, 2, 3]
    assert trained.best_nets.read_bytes() == short.best_nets.read_bytes()
    again = run(dataset, tmp_path, epochs=5, patience=2, checkpoint_steps=1000)
    assert again.timings["steps"] == 0
    assert again.rows == trained.rows


def test_checkpoints_within_an_epoch_change_nothing(dataset, whole, tmp_path):
    trained = run(dataset, tmp_path, checkpoint_steps=1000)
    assert (trained.best_nets.read_bytes(), trained.rows) == whole


def test_lightning_keeps_curves_where_dvclive_is_missing(dataset, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "dvclive.lightning", None)
    run(dataset, tmp_path)
    lines = (tmp_path / "live" / "metrics.csv").read_text().splitlines()
    assert len(lines) == 3
    assert "validation_loss" in lines[0]


def test_dvclive_keeps_curves_and_summary_for_those_who_watch(dataset, tmp_path, monkeypatch):
    with monkeypatch.context() as killing:
        stop_in_step(killing, 11)
        with pytest.raises(KilledError):
            run(dataset, tmp_path)
    trained = run(dataset, tmp_path)
    curve = tmp_path / "live" / "plots" / "metrics" / "validation_loss.tsv"
    assert len(curve.read_text().splitlines()) == 3
    summary = read_json(tmp_path / "live" / "metrics.json")
    assert summary["validation_loss"] == pytest.approx(trained.rows[-1]["validation_loss"])
    assert summary["epoch"] == 2


@pytest.mark.parametrize("model", ["cross_entropy", "residual"])
def test_a_training_that_diverges_says_so(dataset, tmp_path, model):
    with pytest.raises(ZugwerkError, match="the loss is not a number; lower learning_rate"):
        run(dataset, tmp_path, model, learning_rate=1e30)


def test_another_training_has_another_folder(dataset, tmp_path):
    def folder(model="cross_entropy", seed=1, threads=2, dataset=dataset, **changed):
        return work_folder(tmp_path, dataset, params(model, **changed), model=model, seed=seed, threads=threads)

    grown = dataclasses.replace(dataset, manifest=dataset.manifest | {"sha256": {"board.npy": "0"}})
    folders = [
        folder(),
        folder(model="soft_argmax"),
        folder(seed=2),
        folder(threads=1),
        folder(learning_rate=0.5),
        folder(dataset=grown),
    ]
    assert len(set(folders)) == len(folders)
    assert folder() == folders[0]


def test_seeds_of_steps_differ():
    seeds = {checkpoints.torch_seed(1, streams.TRAINING_DROPOUT, step) for step in range(1000)}
    assert len(seeds) == 1000
    assert all(0 <= seed < 2**63 for seed in seeds)


def test_a_checkpoint_is_plain_data(dataset, tmp_path):
    run(dataset, tmp_path)
    assert torch.load(find_checkpoint(tmp_path).path, weights_only=True)["global_step"] > 0

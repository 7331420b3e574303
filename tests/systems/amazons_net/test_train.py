"""Batches, and trainings that are killed and resumed."""

import collections
import csv
import dataclasses
import os
import signal
import subprocess
import time
from pathlib import Path

import dvclive.live
import numpy as np
import pytest
import torch
from lightning.pytorch.callbacks import ModelCheckpoint
from lightning.pytorch.loggers.logger import DummyLogger

from pipeline_src import streams, yaml12
from pipeline_src.errors import ZugwerkError
from pipeline_src.files import read_json
from pipeline_src.learning import fit
from pipeline_src.learning.symmetry import COUNT, transform_boards, transform_squares
from pipeline_src.systems.amazons_net import train as amazons_train
from pipeline_src.systems.amazons_net.encode import encode
from pipeline_src.systems.amazons_net.losses import MODELS, POLICY_LOSSES
from pipeline_src.systems.amazons_net.nets import PLANES, AmazonsConfig, ResidualConfig, load_nets
from pipeline_src.systems.amazons_net.train import (
    MEASURES,
    AmazonsModule,
    Plan,
    StepInput,
    Validation,
    net_input,
    read,
    rows_by_type,
    squares,
    train,
    under,
    work_folder,
)
from tests.run_stage import KilledError, stage_command, stop_in_step
from tests.systems.amazons_net.positions import RESIDUAL, SECTION, SIZE, params, write_dataset


def same(a, b):
    return all(np.array_equal(x, y) for net in (0, 1) for x, y in zip(a[net], b[net], strict=True))


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
    monkeypatch.setattr(amazons_train, "PART", part)
    plan = Plan(dataset, batch=32, seed=1, augment=False)
    epoch = [plan.step(number) for number in range(plan.steps_per_epoch)]
    for net in (0, 1):
        assert {len(batch[net].boards) for batch in epoch} == {32}
        seen = collections.Counter(board.tobytes() for batch in epoch for board in batch[net].boards)
        assert set(seen) == {dataset.samples.board[row].tobytes() for row in plan.train[net]}
        assert sum(seen.values()) == 32 * plan.steps_per_epoch


def test_teacher_weights_apply_to_policy_only(dataset):
    taught = (np.asarray(dataset.samples.gid) // 3 + dataset.samples.ply) % 2
    some = dataclasses.replace(dataset, samples=dataset.samples._replace(teacher=taught.astype(np.int8)))
    plan = Plan(some, batch=32, seed=1, augment=True, teachers_only=True)
    for net in (0, 1):
        batches = list(Validation(plan))
        weight = np.concatenate([batch[net].policy_weight for batch in batches])
        assert np.array_equal(weight > 0, taught[plan.validation[net]] == 1)
        assert np.ptp(weight[weight > 0]) == 0
        assert weight.mean() == pytest.approx(1, rel=1e-5)
        won = np.concatenate([batch[net].won for batch in batches])
        assert np.array_equal(won, dataset.samples.result[plan.validation[net]])
        weight = np.concatenate([batch[net].policy_weight for batch in map(plan.step, range(plan.steps_per_epoch))])
        assert 0.9 < weight.mean() < 1.1
        assert np.count_nonzero(weight) < len(weight)
    everybody = Plan(some, batch=32, seed=1, augment=True)
    assert all((batch[net].policy_weight == 1).all() for batch in Validation(everybody) for net in (0, 1))
    nobody = dataclasses.replace(dataset, samples=dataset.samples._replace(teacher=np.zeros_like(taught)))
    with pytest.raises(ZugwerkError, match=r"split 'train' has no turn of a teacher; amazons_samples.teachers"):
        Plan(nobody, batch=8, seed=1, augment=False, teachers_only=True)


@pytest.mark.parametrize("part", [1 << 22, 50])
def test_a_batch_depends_on_seed_and_step_alone(dataset, monkeypatch, part):
    monkeypatch.setattr(amazons_train, "PART", part)
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
    for net in (0, 1):
        boards = np.concatenate([batch[net].boards for batch in batches])
        assert np.array_equal(boards, dataset.samples.board[plan.validation[net]])


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


LIVE_LOGGER = amazons_train._live_logger


def module_and_batch(dataset, model, count, **changed):
    torch.manual_seed(4)
    section = params(model, **{"dropout": 0.0, **changed})
    nets = MODELS[model].make(section, 6)
    step = Plan(dataset, batch=count, seed=3, augment=False).step(0)
    batch = StepInput(*(net_input(positions, torch.device("cpu"), nets.config) for positions in step))
    return AmazonsModule(nets, section, model=model, total_steps=100), batch


@pytest.mark.parametrize(("model", "rate"), [("cross_entropy", 3e-4), ("residual", 1e-2), ("rays", 1e-2)])
def test_both_nets_overfit_one_batch(dataset, model, rate):
    module, batch = module_and_batch(dataset, model, 24, width=0.1, channels=16, warmup=0.0)
    optimizer = module.configure_optimizers()["optimizer"]
    for group in optimizer.param_groups:
        group["lr"] = rate
    for _ in range(200):
        move, arrow = module.answer(batch)
        loss = move.loss + arrow.loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    module.eval()
    with torch.no_grad():
        for net, answer in zip(("move", "arrow"), module.answer(batch), strict=True):
            count, *sums = answer.sums.tolist()
            means = dict(zip(MEASURES, (s / count for s in sums), strict=True))
            assert means["top1"] > 0.9, (net, means)
            assert means["value_accuracy"] == 1.0, (net, means)


@pytest.mark.parametrize("loss", POLICY_LOSSES)
def test_the_loss_is_l1_squared_plus_the_reading_of_l2(dataset, loss):
    module, batch = module_and_batch(dataset, loss, 8, value_weight=3.0)
    answer = module.answer(batch)[1]
    value, logits = module.nets.arrow(batch.arrow.features)
    log_p = logits[:, None].masked_fill(~batch.arrow.legal, -torch.inf).flatten(1).log_softmax(1).view(8, 1, 36)
    expected = 3 * (batch.arrow.won - value.sigmoid()).square()
    expected = expected + POLICY_LOSSES[loss](log_p, batch.arrow.played, module.places)
    torch.testing.assert_close(answer.loss, expected.mean())


def test_the_residual_nets_loss_is_two_cross_entropies(dataset):
    module, batch = module_and_batch(dataset, "residual", 8, value_weight=3.0)
    module.eval()
    answer = module.answer(batch)[1]
    value, logits = module.nets.arrow(batch.arrow.features)
    expected = []
    for b in range(8):
        chance = value[b].sigmoid() if batch.arrow.won[b] else 1 - value[b].sigmoid()
        log_p = logits[b, batch.arrow.legal[b, 0]].log_softmax(0)
        to = int(batch.arrow.legal[b, 0, : batch.arrow.played.to[b]].sum())  # among the legal squares
        expected.append(-3 * chance.log() - log_p[to])
    torch.testing.assert_close(answer.loss, torch.stack(expected).mean())


def test_measures_are_sample_means_and_reset(dataset):
    module, batch = module_and_batch(dataset, "cross_entropy", 16)
    part = batch._replace(
        amazon=net_input(Plan(dataset, batch=5, seed=3, augment=False).step(0)[0], torch.device("cpu"))
    )
    with torch.no_grad():
        for inputs in (batch, part):
            module.validation_step(inputs, 0)
        sums = [module.answer(b)[0].sums for b in (batch, part)]
    measured = module.take_measures()
    assert sums[0][0] + sums[1][0] == 21
    assert measured["validation_move_loss"] == pytest.approx((sums[0][1] + sums[1][1]).item() / 21)
    assert measured["validation_loss"] == measured["validation_move_loss"] + measured["validation_arrow_loss"]
    assert 0 <= measured["validation_arrow_top1"] <= 1
    assert not module.validation_sums.any()


def test_the_printed_error_of_a_certain_wrong_value(dataset):
    module, batch = module_and_batch(dataset, "cross_entropy", 8)
    with torch.no_grad():
        module.nets.move_value.output.weight.zero_()
        module.nets.move_value.output.bias.fill_(50.0)
        module.validation_step(batch, 0)
    lost = 1 - batch.amazon.won.mean().item()
    measured = module.take_measures()
    for name, expected in {"l1": lost, "l1_squared": lost, "value_accuracy": 1 - lost}.items():
        assert measured[f"validation_move_{name}"] == pytest.approx(expected), name


def test_zero_weight_turns_train_only_the_value(dataset):
    module, batch = module_and_batch(dataset, "residual", 8)
    weight = torch.tensor([2.0, 0.0] * 4)
    weighed = batch._replace(arrow=batch.arrow._replace(policy_weight=weight))
    module.eval()
    answer, plain = module.answer(weighed)[1], module.answer(batch)[1]
    value, logits = module.nets.arrow(batch.arrow.features)
    log_p = logits[:, None].masked_fill(~batch.arrow.legal, -torch.inf).flatten(1).log_softmax(1).view(8, 1, 36)
    policy = POLICY_LOSSES["cross_entropy"](log_p, batch.arrow.played, module.places)
    values = torch.nn.functional.binary_cross_entropy_with_logits(value, batch.arrow.won)
    torch.testing.assert_close(answer.loss, values + policy[::2].mean())
    found, expected = (dict(zip(MEASURES, sums[1:].tolist(), strict=True)) for sums in (answer.sums, plain.sums))
    assert found["l1"] == expected["l1"]
    assert found["value_accuracy"] == expected["value_accuracy"]
    assert found["l2"] != expected["l2"]


@pytest.fixture(scope="module", autouse=True)
def unwatched():
    """Trainings leave no curves to watch, for which DVCLive opens the repository each time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(amazons_train, "_live_logger", lambda folder: DummyLogger())
        yield


@pytest.fixture
def watched(monkeypatch):
    """Trainings leave curves; DVCLive leaves the repository open."""
    monkeypatch.setattr(amazons_train, "_live_logger", LIVE_LOGGER)
    opened, get_dvc_repo = [], dvclive.live.get_dvc_repo

    def get():
        opened.append(get_dvc_repo())
        return opened[-1]

    monkeypatch.setattr(dvclive.live, "get_dvc_repo", get)
    yield
    for repo in opened:
        repo.close()


def run(dataset, folder, model="cross_entropy", **changed):
    """Eight steps an epoch, a checkpoint after four."""
    return train(dataset, params(model, **{"batch": 32, **changed}), model=model, seed=5, folder=folder)


@pytest.fixture(scope="module")
def undisturbed(dataset, tmp_path_factory):
    """Bytes and curves of trainings that nobody disturbed, by model."""
    found = {}
    for model in ("cross_entropy", "residual", "rays"):
        trained = run(dataset, tmp_path_factory.mktemp("whole"), model)
        found[model] = trained.best_nets.read_bytes(), trained.rows
    return found


@pytest.fixture(scope="module")
def whole(undisturbed):
    return undisturbed["cross_entropy"]


@pytest.mark.parametrize("model", ["cross_entropy", "residual", "rays"])
def test_trains_and_measures(dataset, undisturbed, tmp_path, model):
    trained = run(dataset, tmp_path, model)
    assert [row["epoch"] for row in trained.rows] == [1, 2]
    assert trained.best["validation_loss"] == min(row["validation_loss"] for row in trained.rows)
    assert (trained.best_nets.read_bytes(), trained.rows) == undisturbed[model]  # the same again
    assert load_nets(trained.best_nets).config.size == 6
    assert trained.timings["resumed"] is False


def stop_in_validation(monkeypatch, module, _):
    def killed(self, batch, batch_idx):
        raise KilledError

    monkeypatch.setattr(module, "validation_step", killed)


def stop_after_saving(monkeypatch, _, name):
    """Die as soon as a checkpoint is written."""
    save = ModelCheckpoint._save_checkpoint

    def killed(self, trainer, path):
        save(self, trainer, path)
        if Path(path).name == name:
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
        (stop_after_saving, "last.ckpt"),
    ],
    ids=["first_lap", "later_lap", "second_epoch", "validation", "best_written", "lap_written"],
)
@pytest.mark.parametrize(
    "model", ["cross_entropy", *(pytest.param(model, marks=pytest.mark.slow) for model in ("residual", "rays"))]
)
def test_a_killed_training_ends_in_the_same_bytes(dataset, undisturbed, tmp_path, monkeypatch, stop, where, model):
    with monkeypatch.context() as killing:
        stop(killing, AmazonsModule, where)
        with pytest.raises(KilledError):
            run(dataset, tmp_path, model)
    trained = run(dataset, tmp_path, model)
    assert trained.timings["resumed"] == ((stop, where) != (stop_in_step, 2))
    assert (trained.best_nets.read_bytes(), trained.rows) == undisturbed[model]


def test_a_finished_training_is_not_trained_further(dataset, whole, tmp_path):
    run(dataset, tmp_path)
    trained = run(dataset, tmp_path)
    assert trained.timings["steps"] == 0
    assert (trained.best_nets.read_bytes(), trained.rows) == whole


def test_patience_stops_training_and_best_nets_are_kept(dataset, tmp_path, monkeypatch):
    losses, measure = {1: 3.0, 2: 1.0, 3: 2.0, 4: 1.0, 5: 0.5}, AmazonsModule.take_measures

    def measured(self):
        return measure(self) | {"validation_loss": losses[self.global_step // 8]}

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


@pytest.mark.parametrize("steps", [3, 1000])
def test_laps_that_do_not_end_with_epochs_change_nothing(dataset, whole, tmp_path, monkeypatch, steps):
    with monkeypatch.context() as killing:
        stop_in_step(killing, AmazonsModule, 11)
        with pytest.raises(KilledError):
            run(dataset, tmp_path, checkpoint_steps=steps)
    trained = run(dataset, tmp_path, checkpoint_steps=steps)
    assert trained.timings["steps"] == 16 - (9 if steps == 3 else 0)
    assert (trained.best_nets.read_bytes(), trained.rows) == whole


def test_dvclive_writes_curves_and_summary(dataset, watched, tmp_path, monkeypatch):
    with monkeypatch.context() as killing:
        stop_in_step(killing, AmazonsModule, 11)
        with pytest.raises(KilledError):
            run(dataset, tmp_path)
    trained = run(dataset, tmp_path)
    curve = tmp_path / "live" / "plots" / "metrics" / "validation_loss.tsv"
    assert len(curve.read_text().splitlines()) == 3
    summary = read_json(tmp_path / "live" / "metrics.json")
    assert summary["validation_loss"] == pytest.approx(trained.rows[-1]["validation_loss"])
    assert summary["epoch"] == 2


@pytest.mark.parametrize("model", ["cross_entropy", "residual"])
def test_diverging_training_is_an_error(dataset, tmp_path, model):
    with pytest.raises(ZugwerkError, match="the loss is not a number; lower learning_rate"):
        run(dataset, tmp_path, model, learning_rate=1e30)


def test_each_training_has_its_own_folder(dataset, tmp_path):
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
    seeds = {fit.torch_seed(1, streams.TRAINING_DROPOUT, step) for step in range(1000)}
    assert len(seeds) == 1000
    assert all(0 <= seed < 2**63 for seed in seeds)


def test_a_checkpoint_is_plain_data(dataset, tmp_path):
    run(dataset, tmp_path)
    assert torch.load(tmp_path / "last.ckpt", weights_only=True)["global_step"] > 0


ROOT = Path(__file__).parents[3]
OUTS = [
    amazons_train.OUT / "cross_entropy" / "nets.pt",
    amazons_train.REPORTS / "cross_entropy.json",
    amazons_train.REPORTS / "cross_entropy.csv",
]


def write_params(folder, **changed):
    residual = changed.pop("residual", {})
    sections = {"amazons_train": SECTION | changed, "amazons_residual": RESIDUAL | residual}
    tree = {"seed": 1, "torch_threads": 1, **sections}
    (folder / "params.yaml").write_text(yaml12.dump(tree))


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_params(tmp_path)
    return tmp_path


def command(project):
    return subprocess.Popen(
        stage_command("systems.amazons_net.train", "--model", "cross_entropy"),
        cwd=project,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("model", ["soft_argmax", "expected_distance", "residual"])
def test_leaves_nets_measures_and_curves_and_no_work_folder(project, model):
    write_dataset(amazons_train.SAMPLES)
    amazons_train.main("--model", model)
    config = load_nets(amazons_train.OUT / model / "nets.pt").config
    if model == "residual":
        assert config.channels == RESIDUAL["channels"]
    else:
        assert config.width == SECTION["width"]
    report = read_json(amazons_train.REPORTS / f"{model}.json")
    assert report["epochs"] == 2
    with open(amazons_train.REPORTS / f"{model}.csv") as file:
        curve = list(csv.DictReader(file))
    assert [float(row["epoch"]) for row in curve] == [1, 2]
    assert float(curve[-1]["validation_loss"]) == report["last"]["validation_loss"]
    assert read_json(amazons_train.REPORTS / f"{model}.timings.json")["device"] == "cpu"
    assert not list(amazons_train.WORK.iterdir())


@pytest.mark.slow
def test_training_killed_in_mid_epoch_resumes_to_same_bytes(tmp_path, monkeypatch):
    written = []
    for kill in (False, True):
        project = tmp_path / ("killed" if kill else "whole")
        project.mkdir()
        write_params(project, batch=4, epochs=4, checkpoint_steps=5)
        write_dataset(project / amazons_train.SAMPLES)
        if kill:
            with command(project) as running:
                try:
                    wait_for_a_checkpoint(project / amazons_train.WORK, running)
                finally:
                    running.kill()
                running.communicate()
            assert running.returncode == -signal.SIGKILL
            assert not any((project / out).exists() for out in OUTS)
        monkeypatch.chdir(project)
        amazons_train.main("--model", "cross_entropy")
        written.append([(project / out).read_bytes() for out in OUTS])
        assert read_json(project / amazons_train.REPORTS / "cross_entropy.timings.json")["resumed"] is kill
    assert written[0] == written[1]


def wait_for_a_checkpoint(work, running):
    until = time.monotonic() + 240
    while not list(work.glob("*/last.ckpt")):
        assert running.poll() is None, "training ended before it could be killed"
        assert time.monotonic() < until
        time.sleep(0.01)

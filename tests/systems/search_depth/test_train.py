import numpy as np
import pytest
import torch

from pipeline_src.errors import ZugwerkError
from pipeline_src.learning.fit import find_checkpoint
from pipeline_src.systems.search_depth.net import save_depth_net
from pipeline_src.systems.search_depth.positions import open_positions, split_by_game, write_positions
from pipeline_src.systems.search_depth.train import DepthModule, cost_losses, cost_targets
from tests.systems.killed import KilledError, stop_in_step
from tests.systems.search_depth.small import SHARES, STEPS, run
from tests.systems.search_depth.synthetic import HIGHEST, LOWEST, synthetic, write_synthetic

MODELS = {
    "smote": {},
    "augment": {"balance": "augment", "head": "sigmoid", "shrink": "pooling"},
    "ours": {
        "label": "needed",
        "balance": "class_weights",
        "inputs": "full",
        "net": "residual",
        "head": "classes",
        "symmetries": True,
    },
    "costs": {"balance": "none", "inputs": "full", "net": "residual", "head": "costs"},
}


@pytest.fixture(scope="module")
def positions(tmp_path_factory):
    folder = tmp_path_factory.mktemp("depth") / "samples"
    write_synthetic(folder)
    return open_positions(folder)


def content(trained, folder):
    folder.mkdir(parents=True, exist_ok=True)
    save_depth_net(folder / "model.pt", trained.model)
    return (folder / "model.pt").read_bytes(), trained.rows, trained.before, trained.after


@pytest.fixture(scope="module")
def undisturbed(positions, tmp_path_factory):
    root = tmp_path_factory.mktemp("whole")
    return {name: content(run(positions, root / name, **how), root / name) for name, how in MODELS.items()}


def killed_in(positions, folder, number, **how):
    with pytest.MonkeyPatch.context() as killing:
        stop_in_step(killing, DepthModule, number)
        with pytest.raises(KilledError):
            run(positions, folder, **how)
    return next(folder.glob("train-*"), None)


@pytest.mark.parametrize("name", MODELS)
def test_trains_the_same_again_and_measures(positions, tmp_path, undisturbed, name):
    trained = run(positions, tmp_path, **MODELS[name])
    assert content(trained, tmp_path) == undisturbed[name]
    assert [row["step"] for row in trained.rows] == [6, 12, STEPS]
    assert set(trained.rows[0]) == {
        *("step", "loss", "validation_accuracy", "validation_macro_f1", "validation_mean_error")
    }
    assert sum(trained.before) < len(positions)
    assert not trained.model.net.training
    assert (trained.model.lowest, trained.model.highest) == (LOWEST, HIGHEST)


def test_learns_from_clock_and_squares(positions, tmp_path):
    """The labels do, except for noise: the paper's net has to beat the likeliest class by far."""
    trained = run(positions, tmp_path, balance="none", filters=8, training={"steps": 400, "checkpoint_steps": 400})
    likeliest = np.bincount(positions.reached).max() / len(positions)
    assert trained.rows[-1]["validation_accuracy"] > likeliest + 0.15
    assert trained.rows[-1]["validation_mean_error"] < trained.rows[0]["validation_mean_error"]


@pytest.mark.parametrize("head", ["linear", "sigmoid", "classes"])
def test_every_head_overfits_one_batch(tmp_path, head):
    arrays = synthetic(games=20, plies=4)
    write_positions(tmp_path / "depth", arrays, {"lowest": LOWEST, "highest": HIGHEST})
    positions = open_positions(tmp_path / "depth")
    how = {"inputs": "full", "net": "residual", "balance": "none", "filters": 16, "head": head}
    trained = run(positions, tmp_path / "work", **how, training={"steps": 120, "checkpoint_steps": 120})
    assert trained.rows[-1]["loss"] < 0.1 * trained.rows[0]["loss"]


def test_other_seeds_and_params_train_otherwise(positions, tmp_path, undisturbed):
    others = [
        {"seed": 2},
        {"balance": "oversample"},
        {"filters": 5},
        {"label": "needed"},
        {"training": {"batch": 32}},
        {"balancing": {"ratio": 3.0}},
    ]
    for number, how in enumerate(others):
        folder = tmp_path / str(number)
        assert content(run(positions, folder, **how), folder)[0] != undisturbed["smote"][0]


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(("number", "left"), [(3, STEPS), (5, 11), (12, 6)])
def test_a_killed_training_ends_in_the_same_bytes(positions, tmp_path, undisturbed, name, number, left):
    killed_in(positions, tmp_path, number, **MODELS[name])
    trained = run(positions, tmp_path, **MODELS[name])
    assert (trained.timings["resumed"], trained.timings["steps"]) == (number >= 5, left)
    assert content(trained, tmp_path) == undisturbed[name]


def test_a_finished_training_is_not_trained_further(positions, tmp_path, undisturbed):
    run(positions, tmp_path)
    trained = run(positions, tmp_path)
    assert trained.timings["steps"] == 0
    assert content(trained, tmp_path) == undisturbed["smote"]


def test_torn_checkpoints_fall_back(positions, tmp_path, undisturbed):
    own = killed_in(positions, tmp_path, 12)
    last = find_checkpoint(own).path
    last.write_bytes(last.read_bytes()[:1000])
    trained = run(positions, tmp_path)
    assert trained.timings["steps"] == STEPS - 5
    assert content(trained, tmp_path) == undisturbed["smote"]
    for path in own.glob("*.ckpt"):
        path.write_bytes(b"torn")
    assert content(run(positions, tmp_path), tmp_path) == undisturbed["smote"]


@pytest.mark.parametrize("other", [{"seed": 2}, {"training": {"learning_rate": 0.01}}, {"balance": "none"}])
def test_checkpoint_of_a_different_training_is_dropped(positions, tmp_path, undisturbed, other):
    stale = killed_in(positions, tmp_path, 7, **other)
    trained = run(positions, tmp_path)
    assert trained.timings["resumed"] is False
    assert content(trained, tmp_path) == undisturbed["smote"]
    assert not stale.exists()


def test_diverging_training_is_an_error(positions, tmp_path):
    with pytest.raises(ZugwerkError, match=r"step \d+: the loss is not a number; lower learning_rate"):
        run(positions, tmp_path, training={"learning_rate": 1e30})


def test_a_linear_head_starts_at_the_mean_label(positions, tmp_path):
    trained = run(positions, tmp_path, training={"steps": 1, "learning_rate": 1e-9})
    with torch.inference_mode():
        first = trained.model.net(torch.zeros(1, 1, 10, 10))
    assert float(first) == pytest.approx(positions.reached.mean(), abs=1.0)


def test_costs_start_at_their_means(tmp_path):
    """Also that of a layer which a single search has completed."""
    write_synthetic(tmp_path / "all")
    (first, *_) = split_by_game(open_positions(tmp_path / "all"), SHARES, 1).train
    arrays = synthetic()
    arrays["nodes_by_depth"][:, HIGHEST - 1] = 0
    arrays["nodes_by_depth"][first, :HIGHEST] = 100 * 4 ** np.arange(HIGHEST)
    about = {"lowest": LOWEST, "highest": HIGHEST, "clock_ms": 1000.0, "nodes_per_ms": 1000.0}
    write_positions(tmp_path / "samples", arrays, about)
    positions = open_positions(tmp_path / "samples")
    known = cost_targets(positions)[split_by_game(positions, SHARES, 1).train, :, 0]
    assert np.isfinite(known).sum(0)[-2] == 1  # behind the layers stand the searches to come
    trained = run(positions, tmp_path, **MODELS["costs"], training={"steps": 1, "learning_rate": 1e-9})
    last = [m for m in trained.model.net.modules() if isinstance(m, torch.nn.Conv2d | torch.nn.Linear)][-1]
    np.testing.assert_allclose(last.bias.detach().numpy(), np.nanmean(known, 0), atol=1e-4)


def test_unfinished_layer_teaches_a_lower_bound():
    numbers = torch.tensor([[[1.0, -torch.inf]], [[torch.nan, 1.0]], [[torch.nan, -torch.inf]]])
    below, right, above = (cost_losses(torch.full((3, 1), value), numbers).tolist() for value in (0.0, 1.0, 2.0))
    assert below[0] == above[0] == 1 > right[0] == 0  # known
    assert below[1] > right[1] > above[1]  # at least that much
    assert below[1] == pytest.approx(1, abs=0.5)
    assert above[1] == pytest.approx(0, abs=1e-3)
    assert below[2] == right[2] == above[2] == 0  # nothing is known

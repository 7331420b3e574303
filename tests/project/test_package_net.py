"""A trained net that becomes one of the package: its card tells of the checkout that made it."""

import json
import shutil
import subprocess

import pytest
import torch

from pipeline_src.errors import ZugwerkError
from pipeline_src.files import write_json
from pipeline_src.players.packaged import packaged_nets
from pipeline_src.project import package_net as module
from pipeline_src.project.package_net import package_net
from pipeline_src.systems.amazons_net.models import save_nets
from pipeline_src.systems.amazons_net.residual import ResidualConfig, ResidualNets
from pipeline_src.systems.gomoku_zero.models import load_model, save_model
from tests.layout.imports import ROOT
from tests.systems.gomoku_zero.nets import SMALL, fresh, some_planes

SCORE = {"value": 0.75, "low": 0.5, "high": 0.9, "n": 40}


@pytest.fixture
def checkout(tmp_path):
    """The laptop's params as committed, a gomoku model as the last generation left it, and its score."""
    folder = tmp_path / "checkout"
    save_model(folder / "artifacts/models/gomoku/10/best.pt", fresh(SMALL["residual"]), variant="exact")
    shutil.copy(ROOT / "params.yaml", folder)
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    for command in (["init", "-q"], ["add", "params.yaml"], [*identity, "commit", "-qm", "laptop"]):
        subprocess.run(["git", *command], cwd=folder, check=True)
    write_json(folder / "artifacts/reports/gomoku/evaluate.json", {"generations": 10, "score_vs_alphabeta2": SCORE})
    return folder


def test_the_card_tells_of_params_commands_and_figures(checkout, tmp_path):
    params = checkout / "params.yaml"
    params.write_text(params.read_text().replace("  own_visit: true # published: false", "  own_visit: false", 1))
    model = checkout / "artifacts/models/gomoku/10/best.pt"
    net = package_net(model, "gomoku_zero", hours=1.5, checkout=checkout, folder=tmp_path / "nets")
    assert packaged_nets(folder=tmp_path / "nets") == [net]
    card = net.card
    assert (card.name, card.hours, card.data) == ("gomoku_zero-6x6-exact", 1.5, "its own games")
    assert card.params == {"profile": "laptop", "seed": 20200327, "gomoku_self_play.own_visit": False}
    assert card.command == ("zugwerk profile laptop", "dvc repro gomoku_evaluate")
    assert card.architecture.startswith("ResidualNet: positions 2")
    assert card.commit is not None
    assert card.commit.endswith("+"), "params.yaml is not as committed"
    (figure,) = card.figures
    assert (figure.value, figure.low, figure.high, figure.n, figure.unit) == (*SCORE.values(), "score")
    again = package_net(model, "gomoku_zero", hours=1.5, checkout=checkout, folder=tmp_path / "nets")
    assert again.card == card


def test_its_weights_have_16_bits_and_its_play_stays(checkout, tmp_path):
    model = checkout / "artifacts/models/gomoku/10/best.pt"
    net = package_net(model, "gomoku_zero", checkout=checkout, folder=tmp_path / "nets")
    assert net.card.bytes < model.stat().st_size
    planes = some_planes(SMALL["residual"], batch=16)
    with torch.no_grad():
        (logits, values), (mine, my_values) = load_model(model).net(planes), load_model(net.checked()).net(planes)
    torch.testing.assert_close(mine.softmax(1), logits.softmax(1), rtol=0, atol=3e-3)
    torch.testing.assert_close(my_values, values, rtol=0, atol=3e-3)


def test_figures_are_told_of_the_net_alone_that_they_were_measured_of(checkout, tmp_path):
    other = tmp_path / "other.pt"
    save_model(other, fresh(SMALL["residual"], seed=2), variant="exact")
    card = package_net(other, "gomoku_zero", checkout=checkout, folder=tmp_path / "nets").card
    assert (card.figures, card.command, card.params, card.commit, card.hardware) == ((), (), {}, None, None)


def test_a_second_net_for_a_board_is_refused_before_anything_is_written(checkout, tmp_path):
    model, nets = checkout / "artifacts/models/gomoku/10/best.pt", tmp_path / "nets"
    net = package_net(model, "gomoku_zero", checkout=checkout, folder=nets)
    with pytest.raises(ZugwerkError, match=r"gomoku_zero-6x6-exact\.pt is for the same board; remove it"):
        package_net(model, "growing_boards", checkout=checkout, folder=nets)
    assert packaged_nets(folder=nets) == [net]


def test_a_full_disk_leaves_no_net_without_its_card(checkout, tmp_path, monkeypatch):
    def full(path, card):
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(module, "write_card", full)
    with pytest.raises(OSError, match="No space left"):
        package_net(checkout / "artifacts/models/gomoku/10/best.pt", "gomoku_zero", checkout=checkout, folder=tmp_path)
    assert not list(tmp_path.glob("*.pt"))


def test_amazons_figures_of_the_residual_net_are_its_own(checkout, tmp_path):
    torch.manual_seed(1)
    model = checkout / "artifacts/models/amazons/residual/nets.pt"
    save_nets(model, ResidualNets(ResidualConfig(channels=4, blocks=1)))
    matches = {name: {"score": SCORE} for name in ("random", "one_ply", "residual_nets", "residual_one_ply")}
    (checkout / "artifacts/reports/amazons").mkdir(parents=True)
    (checkout / "artifacts/reports/amazons/match.json").write_text(json.dumps(matches))
    card = package_net(model, "amazons_net", checkout=checkout, folder=tmp_path / "nets").card
    assert card.name == "amazons_net-10x10-standard"
    assert [figure.words.partition(":")[0] for figure in card.figures] == ["residual net"] * 2


def test_too_many_bytes_are_refused_and_nothing_is_written(checkout, tmp_path, monkeypatch):
    model, nets = checkout / "artifacts/models/gomoku/10/best.pt", tmp_path / "nets"
    monkeypatch.setattr(module, "MOST_BYTES", 1000)
    with pytest.raises(ZugwerkError, match=r"gomoku_zero-6x6-exact\.pt: .* bytes beside 0 of the other nets; 1,000"):
        package_net(model, "gomoku_zero", checkout=checkout, folder=nets)
    assert list(nets.iterdir()) == []


def test_a_board_that_is_not_square_is_refused(checkout, tmp_path):
    save_model(tmp_path / "model.pt", fresh(SMALL["oblong"]))
    with pytest.raises(ZugwerkError, match="a board of 5x7; packaged nets have squares"):
        package_net(tmp_path / "model.pt", "gomoku_zero", checkout=checkout, folder=tmp_path / "nets")

"""A trained net that becomes one of the package: its card names the checkout that made it."""

import functools
import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
import torch

from pipeline_src.arena.score import CalibrationParams
from pipeline_src.errors import ZugwerkError
from pipeline_src.files import write_json
from pipeline_src.games import amazons, gomoku
from pipeline_src.parallel.tasks import MOST_WORKERS
from pipeline_src.players import packaged
from pipeline_src.players.packaged import packaged_nets
from pipeline_src.players.player import Position
from pipeline_src.players.registry import make_player
from pipeline_src.reference import package_net as module
from pipeline_src.systems.amazons_net.nets import ResidualConfig, ResidualNets, save_nets
from pipeline_src.systems.amazons_net.rays import RaysConfig, RaysNet
from pipeline_src.systems.gomoku_zero.evaluator import make_evaluator
from pipeline_src.systems.gomoku_zero.models import save_model
from pipeline_src.systems.gomoku_zero.nets import LinesConfig, LinesNet
from tests.layout.imports import ROOT
from tests.systems.gomoku_zero.small import SMALL, fresh

package_net = functools.partial(module.package_net, games=CalibrationParams(games=4, simulations=2))
SCORE = {"value": 0.75, "low": 0.5, "high": 0.9, "n": 40}


def level(net, value):
    """The net with a value layer that calls every position even."""
    with torch.no_grad():
        value.weight.zero_()
        value.bias.zero_()
    return net


def level_zero(seed=1):
    net = fresh(SMALL["residual"], seed=seed)
    return level(net, net.value)


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """The laptop's params as committed, a gomoku model as the last generation left it, and its score."""
    monkeypatch.setenv(MOST_WORKERS, "1")
    folder = tmp_path / "checkout"
    save_model(folder / "artifacts/models/gomoku/10/best.pt", level_zero(), variant="exact")
    shutil.copy(ROOT / "params.yaml", folder)
    shutil.copytree(ROOT / "profiles", folder / "profiles")
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    for command in (["init", "-q"], ["add", "params.yaml"], [*identity, "commit", "-qm", "laptop"]):
        subprocess.run(["git", *command], cwd=folder, check=True)
    write_json(folder / "artifacts/reports/gomoku/evaluate.json", {"generations": 10, "score_vs_alphabeta2": SCORE})
    return folder


def test_the_card_has_params_commands_and_figures(checkout, tmp_path):
    params = checkout / "params.yaml"
    text = params.read_text().replace("  own_visit: true # published: false", "  own_visit: false", 1)
    params.write_text(re.sub(r'  "09": .*\n  "10": .*\n', "", text))
    (checkout / "artifacts/models/gomoku/10").rename(checkout / "artifacts/models/gomoku/08")
    model = checkout / "artifacts/models/gomoku/08/best.pt"
    net = package_net(model, "gomoku_zero", hours=1.5, checkout=checkout, folder=tmp_path / "nets")
    assert packaged_nets(folder=tmp_path / "nets") == [net]
    card = net.card
    assert (card.name, card.hours, card.data) == ("gomoku_zero-6x6-exact", 1.5, "its own games")
    kept = {f"{n:02}": {"before": f"{n - 1:02}"} for n in range(2, 9)}
    assert card.params == {
        "profile": "laptop",
        "seed": 20200327,
        "gomoku_self_play.own_visit": False,
        "gomoku_generations": kept,
    }
    assert card.command == ("zugwerk profile laptop", "dvc repro gomoku_evaluate")
    assert card.architecture.startswith("ResidualNet: positions 2")
    assert card.commit is not None
    assert card.commit.endswith("+"), "params.yaml is not as committed"
    assert (card.calibration.games, card.calibration.simulations) == (5, 2)
    assert sum(part.turns for part in card.calibration.curve) > 5
    (figure,) = card.figures
    assert (figure.value, figure.low, figure.high, figure.n, figure.unit) == (*SCORE.values(), "score")
    again = package_net(model, "gomoku_zero", hours=1.5, checkout=checkout, folder=tmp_path / "nets")
    assert again.card == card


@pytest.mark.parametrize(("kind", "ending"), [("residual", ".onnx"), ("lines", ".lines")])
def test_a_packaged_net_plays_as_the_model_does(checkout, tmp_path, kind, ending):
    net = LinesNet(LinesConfig(height=6, width=6, units=8)).eval() if kind == "lines" else fresh(SMALL[kind])
    save_model(tmp_path / "model.pt", level(net, net.value), variant="exact")
    made = package_net(tmp_path / "model.pt", "gomoku_zero", checkout=checkout, folder=tmp_path / "nets")
    assert made.file.suffix == ending
    state = gomoku.initial_state(made.card.size, "exact")
    steps = gomoku.legal_actions(state)[None]
    asked = type(state)(*(array[None] for array in state)), steps, np.array([steps.size], np.int32)
    mine, theirs = (make_evaluator(path)[0](*asked) for path in (made.checked(), tmp_path / "model.pt"))
    np.testing.assert_array_equal(mine[0], theirs[0])
    np.testing.assert_array_equal(mine[1], theirs[1])


def test_only_the_evaluated_net_has_figures(checkout, tmp_path):
    other = tmp_path / "other.pt"
    save_model(other, level_zero(seed=2), variant="exact")
    card = package_net(other, "gomoku_zero", checkout=checkout, folder=tmp_path / "nets").card
    assert (card.figures, card.command, card.params, card.commit, card.hardware) == ((), (), {}, None, None)


def test_a_second_net_for_a_board_is_refused(checkout, tmp_path):
    model, nets = checkout / "artifacts/models/gomoku/10/best.pt", tmp_path / "nets"
    net = package_net(model, "gomoku_zero", checkout=checkout, folder=nets)
    with pytest.raises(ZugwerkError, match=r"gomoku_zero-6x6-exact\.onnx is for the same board; remove it"):
        package_net(model, "growing_boards", checkout=checkout, folder=nets)
    assert packaged_nets(folder=nets) == [net]


def test_a_net_with_wrong_win_rates_is_refused(checkout, tmp_path):
    net = fresh(SMALL["residual"])
    with torch.no_grad():
        net.value.bias += 2.0
    save_model(tmp_path / "sure.pt", net, variant="exact")
    said = r"sure\.pt: its win rates are wrong, so it is not packaged: in 5 games against itself .*not 1 together"
    with pytest.raises(ZugwerkError, match=said):
        package_net(tmp_path / "sure.pt", "gomoku_zero", checkout=checkout, folder=tmp_path / "nets")
    assert list((tmp_path / "nets").iterdir()) == []


def test_a_full_disk_leaves_no_net_without_its_card(checkout, tmp_path, monkeypatch):
    def full(path, card):
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(module, "write_card", full)
    with pytest.raises(OSError, match="No space left"):
        package_net(checkout / "artifacts/models/gomoku/10/best.pt", "gomoku_zero", checkout=checkout, folder=tmp_path)
    assert not list(tmp_path.glob("*.onnx"))


def test_amazons_figures_are_those_of_the_residual_net(checkout, tmp_path):
    torch.manual_seed(1)
    model = checkout / "artifacts/models/amazons/residual/nets.pt"
    nets = ResidualNets(ResidualConfig(channels=4, blocks=1))
    save_nets(model, level(nets, nets.value.output[-1]))
    matches = {name: {"score": SCORE} for name in ("random", "one_ply", "residual_nets", "residual_one_ply")}
    (checkout / "artifacts/reports/amazons").mkdir(parents=True)
    (checkout / "artifacts/reports/amazons/match.json").write_text(json.dumps(matches))
    card = package_net(model, "amazons_net", checkout=checkout, folder=tmp_path / "nets").card
    assert card.name == "amazons_net-10x10-standard"
    assert [figure.words.partition(":")[0] for figure in card.figures] == ["residual net"] * 2
    (made,) = packaged_nets(folder=tmp_path / "nets")
    assert card.int8 is not None
    assert Path(made.checked(int8=True)).name == "amazons_net-10x10-standard.int8.onnx"
    Path(made.checked(int8=True)).write_bytes(b"another")
    with pytest.raises(ZugwerkError, match=r"int8\.onnx: not the net that .*yaml describes: 7 bytes"):
        made.checked(int8=True)


def test_a_packaged_net_of_rays_plays_on_all_boards(checkout, tmp_path, monkeypatch):
    model, nets = checkout / "artifacts/models/amazons_zero/04/best.pt", tmp_path / "nets"
    torch.manual_seed(1)
    save_nets(model, RaysNet(RaysConfig(10, units=8)))  # one that calls every position even
    (checkout / "artifacts/reports/amazons/zero").mkdir(parents=True)
    matches = {name: {"score": SCORE} for name in ("bare", "one_ply", "alphabeta")}
    (checkout / "artifacts/reports/amazons/zero/evaluate.json").write_text(json.dumps(matches))
    made = package_net(model, "amazons_net", checkout=checkout, folder=nets)
    assert made.file.name == "amazons_net-10x10-standard.rays"
    assert [figure.words.partition(":")[0] for figure in made.card.figures] == ["net of rays from nothing"] * 3
    assert made.card.command[1] == "dvc repro amazons_zero_evaluate"
    monkeypatch.setattr(packaged, "packaged_nets", lambda game: packaged_nets(game, nets))
    for size in (6, 8, 10):
        position = Position(amazons.initial_state(size), np.random.default_rng(0))
        for text in ("nets", "puct:simulations=10"):
            (turn,) = make_player("amazons", text).choose([position])
            assert amazons.is_legal(position.state, turn)


def test_too_large_a_net_is_refused(checkout, tmp_path, monkeypatch):
    model, nets = checkout / "artifacts/models/gomoku/10/best.pt", tmp_path / "nets"
    monkeypatch.setattr(module.packaged, "MOST_BYTES", 1000)
    with pytest.raises(ZugwerkError, match=r"gomoku_zero-6x6-exact\.onnx: .* bytes, and 0 of the other nets; 1,000"):
        package_net(model, "gomoku_zero", checkout=checkout, folder=nets)
    assert list(nets.iterdir()) == []


def test_a_board_that_is_not_square_is_refused(checkout, tmp_path):
    save_model(tmp_path / "model.pt", fresh(SMALL["oblong"]))
    with pytest.raises(ZugwerkError, match="a board of 5x7; packaged nets have squares"):
        package_net(tmp_path / "model.pt", "gomoku_zero", checkout=checkout, folder=tmp_path / "nets")

"""The nets that come with the package: files, cards, and which one a player takes."""

import re
import shutil

import numpy as np
import pytest
import torch

from pipeline_src import yaml12
from pipeline_src.arena.calibration import CONSTANT, MOST_AT_START, MOST_BIAS
from pipeline_src.arena.score import CalibrationParams
from pipeline_src.errors import ZugwerkError
from pipeline_src.games.game import get_game
from pipeline_src.parallel.tasks import MOST_WORKERS
from pipeline_src.players import packaged
from pipeline_src.players.packaged import FOLDER, MOST_BYTES, MOST_BYTES_IN_ALL, OneBoard, packaged_nets
from pipeline_src.players.player import Position
from pipeline_src.players.registry import build_player, make_player
from pipeline_src.players.searching import ByBoard
from pipeline_src.reference.package_net import package_net, write_card
from pipeline_src.systems.amazons_net.player import open_forward, open_nets
from pipeline_src.systems.gomoku_zero.evaluator import make_evaluator
from pipeline_src.systems.gomoku_zero.models import save_model
from tests.systems.gomoku_zero.nets import SMALL, fresh

NETS = {net.card.name: net for net in packaged_nets()}
ZERO = "gomoku_zero-15x15-freestyle"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A copy of the package's nets, which players take theirs from."""
    shutil.copytree(FOLDER, tmp_path / "nets")
    real = packaged.packaged_nets
    monkeypatch.setattr(packaged, "packaged_nets", lambda game: real(game, tmp_path / "nets"))
    return tmp_path / "nets"


def change(folder, name, **fields):
    card = folder / f"{name}.yaml"
    card.write_text(yaml12.dump(yaml12.parse(card.read_text()) | fields))


@pytest.mark.parametrize("name", NETS)
def test_a_card_fits_its_net(name):
    net = NETS[name]
    assert net.file.stat().st_size <= MOST_BYTES
    if net.card.game == "amazons":
        size = open_forward(net.checked(), 1).size
        assert open_nets(net.checked(int8=True), "auto", 1).size == size
        net.check_board(OneBoard(size, size, "standard"))
    else:
        _, about = make_evaluator(net.checked())
        net.check_board(OneBoard(about.height, about.width, about.variant))


@pytest.mark.parametrize("name", NETS)
def test_its_win_rates_are_right(name):
    found = NETS[name].card.calibration
    assert found.games >= 40
    assert found.brier_low <= CONSTANT
    assert abs(found.predicted - found.scored) <= MOST_BIAS
    assert abs(found.start_first + found.start_second - 1) <= MOST_AT_START


def test_the_nets_are_small_and_of_different_boards():
    assert {"amazons_net-10x10-standard", ZERO} <= NETS.keys()
    assert sum(net.file.stat().st_size for net in NETS.values()) <= MOST_BYTES_IN_ALL
    assert {path.suffix for path in FOLDER.iterdir()} == {".onnx", ".lines", ".yaml"}


@pytest.mark.parametrize(
    ("game", "text", "size"),
    [
        ("gomoku", "zero:simulations=8", 9),
        ("gomoku", "zero:simulations=8", 15),
        ("amazons", "puct:simulations=8", 10),
        ("amazons", "nets", 10),
    ],
)
def test_a_fresh_clone_can_play(game, text, size):
    player, rules = make_player(game, text), get_game(game)
    start = rules.initial_state(size)
    player.check(start)
    rng, state, actions = np.random.default_rng(1), start, []
    for _ in range(4):
        (action,) = player.choose([Position(state, rng, start, tuple(actions))])
        assert rules.is_legal(state, action)
        state, actions = rules.play(state, action), [*actions, action]


def test_solver_with_net_takes_the_boards_net():
    player = build_player("gomoku", "zero:simulations=8,solver=20")
    assert OneBoard(9, 9, "freestyle") in player.boards
    state = get_game("gomoku").from_fen("9/9/9/9/xxxx5/oooo5/9/9/9 b freestyle")
    (action,) = player.choose([Position(state, np.random.default_rng(1), state)])
    assert get_game("gomoku").format_move(action, 9, 9) == "e5"


def test_board_without_net_is_named_with_those_that_have_one():
    with pytest.raises(ZugwerkError, match=r"no net for 15x15 caro-4 comes .* nets for .*15x15 freestyle.*zero:MODEL"):
        build_player("gomoku", "zero").check(get_game("gomoku").initial_state(15, "caro-4"))
    with pytest.raises(ZugwerkError, match=r"no net for 8x8 standard comes .* nets for 10x10 standard"):
        build_player("amazons", "nets").check(get_game("amazons").initial_state(8))
    build_player("amazons", "nets").check(get_game("amazons").initial_state(10, "cross"))


def test_a_net_that_is_added_is_taken_on_its_board(folder, tmp_path, monkeypatch):
    monkeypatch.setenv(MOST_WORKERS, "1")
    net = fresh(SMALL["plain"])
    torch.nn.init.zeros_(net.value.weight)
    torch.nn.init.zeros_(net.value.bias)
    save_model(tmp_path / "best.pt", net, variant="exact")
    shutil.copy("params.yaml", tmp_path)
    few = CalibrationParams(games=4, simulations=2)
    made = package_net(tmp_path / "best.pt", "growing_boards", hours=2.0, folder=folder, games=few)
    size = made.card.size
    assert made.file == folder / f"growing_boards-{size}x{size}-exact.onnx"
    assert (made.card.hours, made.card.figures) == (2.0, ())
    player = build_player("gomoku", "zero:simulations=2")
    assert isinstance(player, ByBoard)
    for side, variant, made_for in ((size, "exact", size), (15, "freestyle", 15), (20, "freestyle", 15)):
        start = get_game("gomoku").initial_state(side, variant)
        player.check(start)
        assert player.player_for(start).boards == (OneBoard(made_for, made_for, variant),)


def test_a_named_model_comes_first(tmp_path):
    save_model(tmp_path / "best.pt", fresh(SMALL["plain"]), variant="exact")
    player = build_player("gomoku", f"zero:{tmp_path}/best.pt")
    assert player.only is not None
    assert player.only.variant == "exact"


@pytest.mark.parametrize(
    ("break_it", "words"),
    [
        (lambda f: (f / f"{ZERO}.lines").write_bytes(b"another net"), "not the net that .* describes: 11 bytes"),
        (lambda f: change(f, ZERO, sha256="0" * 64), "or another digest"),
        (lambda f: change(f, ZERO, bytes=12), "the card says 12"),
        (lambda f: change(f, ZERO, rule="exact"), r"the card of gomoku_zero-15x15-exact; a net and its card"),
        (lambda f: change(f, ZERO, size="nine"), r"freestyle\.yaml: .*size.*nine"),
        (lambda f: change(f, ZERO, elo=1), r"freestyle\.yaml: .*elo"),
        (lambda f: (f / f"{ZERO}.yaml").write_text("- no\n- card\n"), "expected sections with keys"),
        (lambda f: (f / f"{ZERO}.yaml").unlink(), rf"only {ZERO}\.lines; a packaged net is one file, .* and its card"),
        (lambda f: (f / f"{ZERO}.lines").unlink(), rf"only {ZERO}\.yaml; a packaged net"),
        (lambda f: shutil.copy(f / f"{ZERO}.lines", f / f"{ZERO}.onnx"), rf"only {ZERO}\.yaml, .*\.onnx, .*\.lines;"),
        (lambda f: [path.unlink() for path in f.iterdir()], "no net comes with the package.*zero:MODEL"),
    ],
)
def test_net_contradicting_its_card_is_refused(folder, break_it, words):
    break_it(folder)
    with pytest.raises(ZugwerkError, match=words):
        build_player("gomoku", "zero").check(get_game("gomoku").initial_state(9))


@pytest.mark.parametrize(
    ("name", "game", "text"), [(ZERO, "gomoku", "zero"), ("amazons_net-10x10-standard", "amazons", "nets")]
)
def test_net_for_other_board_than_its_card_is_refused(folder, name, game, text):
    side = {"gomoku": 7, "amazons": 8}[game]
    other = re.sub(r"\d+x\d+", f"{side}x{side}", name)
    for file in folder.glob(f"{name}.*"):
        file.rename(folder / file.name.replace(name, other))
    change(folder, other, size=side)
    with pytest.raises(ZugwerkError, match=f"a net for .*, but its card says {other}"):
        build_player(game, text).check(get_game(game).initial_state(side))


def test_two_nets_for_one_board_are_refused(folder):
    for suffix in (".lines", ".yaml"):
        shutil.copy(folder / f"{ZERO}{suffix}", folder / f"growing_boards-15x15-freestyle{suffix}")
    change(folder, "growing_boards-15x15-freestyle", system="growing_boards")
    with pytest.raises(ZugwerkError, match="two nets for one board"):
        packaged_nets("gomoku", folder)


def test_a_card_comes_back_as_it_was_written(tmp_path):
    net = NETS["amazons_net-10x10-standard"]
    write_card(tmp_path / f"{net.card.name}.yaml", net.card)
    shutil.copy(net.file, tmp_path)
    assert [again.card for again in packaged_nets(folder=tmp_path)] == [net.card]

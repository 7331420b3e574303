from pathlib import Path

import numpy as np
import pytest

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.game import get_game
from pipeline_src.players.packaged import model_path
from pipeline_src.players.player import Position
from pipeline_src.players.registry import make_player
from pipeline_src.systems.amazons_net import players as nets
from pipeline_src.systems.gomoku_zero import player as zero

MEBIBYTE = 1 << 20


@pytest.mark.parametrize(
    ("game", "text", "weights"),
    [
        ("gomoku", "zero:simulations=8", zero.PACKAGED),
        ("amazons", "puct:simulations=8", nets.PACKAGED),
        ("amazons", "nets", nets.PACKAGED),
    ],
)
def test_a_fresh_clone_can_play(game, text, weights):
    assert weights.stat().st_size < MEBIBYTE
    player, rules = make_player(game, text), get_game(game)
    info = getattr(player, "info", None)
    start = rules.initial_state() if info is None else rules.initial_state(info.height, info.variant)
    rng, state, actions = np.random.default_rng(1), start, []
    for _ in range(4):
        (action,) = player.choose([Position(state, rng, start, tuple(actions))])
        assert rules.is_legal(state, action)
        state, actions = rules.play(state, action), [*actions, action]


def test_a_named_model_comes_first():
    assert model_path("zero", "some/model.pt", Path("packaged.pt")) == "some/model.pt"


def test_a_package_without_weights_asks_for_a_model(monkeypatch, tmp_path):
    monkeypatch.setattr(zero, "PACKAGED", tmp_path / "gomoku.pt")
    with pytest.raises(ZugwerkError, match=r"gomoku\.pt: not there, so player 'zero' needs a model: zero:MODEL"):
        make_player("gomoku", "zero")

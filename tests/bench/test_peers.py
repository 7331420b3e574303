"""Golden positions: what the unchanged code of both repositories finds. Their nets are no part of this project."""

from functools import reduce
from pathlib import Path

import numpy as np
import pytest

from bench.peers import PeerNet, PeerSearch, read_net, serve
from pipeline_src.errors import ZugwerkError
from pipeline_src.games import gomoku

PEERS = Path(__file__).parents[3] / "shared" / "data" / "peers"
FIVE = [(3, 3), (4, 4), (3, 4), (4, 3), (2, 5)]


@pytest.mark.skipif(not PEERS.is_dir(), reason="the nets of other repositories are not here")
@pytest.mark.parametrize(
    ("name", "side", "variant", "stones", "policy", "value", "found"),
    [
        (
            "alphazero_gomoku_8_8_5",
            8,
            "freestyle",
            FIVE,
            {37: 0.405312, 29: 0.287637, 26: 0.146053},
            -0.252877,
            {29: (297, 0.242847), 37: (68, -0.256614), 26: (19, -0.416616), 34: (7, -0.500532)},
        ),
        (
            "alphazero_gomoku_6_6_4",
            6,
            "freestyle-4",
            [(2, 2), (3, 3), (2, 3), (1, 4)],
            {16: 0.562079, 13: 0.358156, 22: 0.029710},
            0.553595,
            {16: (264, 0.976985), 13: (132, 0.919315), 22: (3, 0.361343)},
        ),
        (
            "zhixiangli_gomoku_9_9",
            9,
            "freestyle",
            FIVE,
            {38: 0.308661, 32: 0.212473, 41: 0.208589},
            0.103384,
            {38: (161, 0.017655), 32: (157, 0.042259), 41: (42, -0.065378), 49: (30, -0.089583)},
        ),
    ],
)
def test_net_and_search_find_what_their_own_code_finds(name, side, variant, stones, policy, value, found):
    net = read_net(PEERS / f"{name}.npz")
    cells = [row * side + column for row, column in stones]
    state = reduce(gomoku.play, cells, gomoku.initial_state(side, variant))
    priors, seen = net(state)
    assert seen == pytest.approx(value, abs=1e-5)
    assert {cell: priors[cell] for cell in policy} == pytest.approx(policy, abs=1e-5)
    root = PeerSearch(net).search(state, 400)
    for cell, (visits, q) in found.items():
        k = root.actions.tolist().index(cell)
        assert (root.visits[k], root.q[k]) == (visits, pytest.approx(q, abs=1e-5))


def random_net(side):
    """A net in the form of AlphaZero_Gomoku."""
    rng, cells = np.random.default_rng(1), side * side
    shapes = [(8, 4, 3, 3), (8, 8, 3, 3), (8, 8, 3, 3), (4, 8, 1, 1), (4 * cells, cells)]
    shapes += [(2, 8, 1, 1), (2 * cells, 8), (8, 1)]
    arrays = {}
    for k, shape in enumerate(shapes):
        arrays[f"w{2 * k:02}"] = rng.normal(0, 0.2, shape).astype(np.float32)
        arrays[f"w{2 * k + 1:02}"] = np.zeros(shape[0 if len(shape) == 4 else 1], np.float32)
    return PeerNet(arrays)


def test_a_manager_gets_legal_moves_on_its_board(capsys, monkeypatch):
    lines = ["START 7", "START 6", "INFO rule 0", "INFO rule 1", "BOARD", "2,2,1", "3,3,2", "DONE", "END"]
    monkeypatch.setattr("sys.stdin", iter(f"{line}\n" for line in lines))
    serve(PeerSearch(random_net(6)), 12)
    refused, ok, rule, move = capsys.readouterr().out.splitlines()
    assert (refused[:5], ok, rule[:5]) == ("ERROR", "OK", "ERROR")
    x, y = map(int, move.split(","))
    assert (x, y) not in ((2, 2), (3, 3))
    assert 0 <= min(x, y) <= max(x, y) < 6


def test_a_file_without_a_net_is_named(tmp_path):
    path = tmp_path / "other.npz"
    for make in (lambda: None, lambda: np.savez(path, other=np.zeros(3)), lambda: path.write_text("no")):
        make()
        with pytest.raises(ZugwerkError, match=r"other\.npz: no net of"):
            read_net(path)

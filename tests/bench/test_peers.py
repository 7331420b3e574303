"""Golden positions: what the unchanged code of both repositories finds. Their nets are no part of this project."""

from functools import reduce
from pathlib import Path

import pytest

from bench.peers import PeerSearch, read_net
from pipeline_src.games import gomoku

PEERS = Path(__file__).parents[3] / "shared" / "data" / "peers"
pytestmark = pytest.mark.skipif(not PEERS.is_dir(), reason="the nets of other repositories are not here")
FIVE = [(3, 3), (4, 4), (3, 4), (4, 3), (2, 5)]


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

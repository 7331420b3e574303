"""Time a move of the Gomoku players that know no net, in the middle of a game on 15x15 and on 9x9, on one thread."""

import statistics
from typing import Any

import numpy as np

from bench.measure import row, seconds
from pipeline_src.games import gomoku
from pipeline_src.games.gomoku.board import GomokuState
from pipeline_src.players.player import Player, Position
from pipeline_src.players.registry import make_player

PLAYERS = {"minimax2": "minimax:depth=2", "alphabeta2": "alphabeta:depth=2", "alphabeta4": "alphabeta:depth=4"} | {
    "mcts1000": "mcts:playouts=1000"
}
POSITIONS = 10


def middle(size: int, seed: int) -> GomokuState:
    """A position after four random stones and up to 16 that alpha-beta has placed."""
    player, rng = make_player("gomoku", "alphabeta:depth=2"), np.random.default_rng(seed)
    state: GomokuState = gomoku.initial_state(size)
    for ply in range(4 + int(rng.integers(16))):
        action = rng.choice(gomoku.legal_actions(state)) if ply < 4 else player.choose([Position(state, rng)])[0]
        after = gomoku.play(state, int(action))
        if gomoku.winner(after) is not None:
            break
        state = after
    return state


def measure() -> list[dict[str, Any]]:
    """``gomoku_SIZE_PLAYER_ms``: milliseconds a move, the mean over positions, each the median of three."""
    rows = []
    for size in (9, 15):
        states = [middle(size, seed) for seed in range(POSITIONS)]
        for name, text in PLAYERS.items():
            player = make_player("gomoku", text)
            rows.append(row(f"gomoku_{size}_{name}_ms", _a_move(player, states), None, None, "ms"))
    return rows


def _a_move(player: Player, states: list[GomokuState]) -> float:
    def once(state: GomokuState) -> float:
        position = Position(state, np.random.default_rng(0))
        return 1e3 * statistics.median(seconds(lambda: player.choose([position])) for _ in range(3))

    return statistics.mean(once(state) for state in states)

"""Labelled positions made up for tests: boards as in games, labels that follow from the clock and the square counts."""

from types import SimpleNamespace

import numpy as np

from pipeline_src.systems.search_depth.params import DepthGame
from pipeline_src.systems.search_depth.positions import write_positions

LOWEST, HIGHEST, DEPTHS = 3, 7, 8
SIZE = 10
CLOCK_MS, NODES_PER_MS = 1000.0, 1000.0


def synthetic(games=40, plies=30, seed=0):
    """Arrays by name: the less time is left and the fewer squares are empty, the fewer layers are reached."""
    rng = np.random.default_rng(seed)
    rows = games * plies
    ply = np.tile(np.arange(plies), games)
    board = np.ones((rows, SIZE * SIZE), np.int8)
    for row, arrows in enumerate(ply):
        squares = rng.permutation(SIZE * SIZE)
        board[row, squares[:4]], board[row, squares[4:8]], board[row, squares[8 : 8 + arrows]] = 3, 2, 0
    used = (ply / plies * rng.uniform(0.5, 1, rows)).astype(np.float32)
    deep = rng.integers(0, 3, rows)
    n = np.where(board == 1, np.clip(1 + deep[:, None] + rng.integers(0, 3, board.shape), 0, 9), 0).astype(np.uint8)
    reached = np.clip(np.rint(LOWEST + 5 * (1 - used) * (deep + 1) / 3 + rng.normal(0, 0.3, rows)), LOWEST, HIGHEST)
    needed = np.clip(reached - rng.integers(0, 3, rows), LOWEST, HIGHEST)
    by_depth = np.cumsum(np.full((rows, DEPTHS), 100, np.int64) * 3 ** np.arange(DEPTHS), 1)
    by_depth[np.arange(1, DEPTHS + 1) > reached[:, None]] = 0
    return {
        "n": n.reshape(rows, SIZE, SIZE),
        "used": used,
        "reached": reached.astype(np.uint8),
        "needed": needed.astype(np.uint8),
        "board": board.reshape(rows, SIZE, SIZE),
        "to_play": (ply % 2).astype(np.int8),
        "expandable": (2000 - 60 * ply).clip(2).astype(np.int32),
        "ply": ply.astype(np.int16),
        "game": np.repeat(np.arange(games, dtype=np.int32), plies),
        "nodes": by_depth.max(1) + 7,
        "nodes_by_depth": by_depth,
    }


def write_synthetic(folder, manifest=None, **how):
    """Write them as a data set; returns the arrays."""
    about = {"lowest": LOWEST, "highest": HIGHEST, "clock_ms": CLOCK_MS, "nodes_per_ms": NODES_PER_MS}
    arrays = synthetic(**how)
    write_positions(folder, arrays, about | (manifest or {}))
    return arrays


GAME = DepthGame(
    clock_ms=60,
    nodes_per_ms=1000,
    game_plies=60,
    engine="width=8,width3=4,width4=3,table_mb=1",
    simulations=4,
    plies=100,
    forward_nodes=100,
    lowest=2,
    highest=5,
    opening_plies=4,
)


def searcher(search, **more):
    """An engine of a function alone."""
    return SimpleNamespace(needs=lambda _state: [], search=search, **more)


def chooser(choose):
    """A chooser of depths by a function, which costs nothing."""
    return SimpleNamespace(needs=lambda _state: [], choose=choose, most_nodes=lambda _state: 0)


DEEPENING = GAME.player()
DEPTH1, DEPTH2 = GAME.player("depth=1"), GAME.player("depth=2")

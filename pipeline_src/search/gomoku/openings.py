"""Balanced openings of Gomoku, by our own search: a few stones near the middle that it calls level.

Random stones decide most games between players of equal strength: who moves first wins, whoever that is.
"""

import numpy as np

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import gomoku
from pipeline_src.games.gomoku.board import GomokuState
from pipeline_src.search.gomoku.engine import Engine
from pipeline_src.search.limits import Limit

NODES, BOUND = 60_000, 100.0
"""Positions that the judge looks at, and how far from 0 its value may be; 400 points are a factor of e in the odds."""
STONES = (4, 5, 6)
SPREAD = 4
"""Cells from the middle, in a row or column, that a stone may be away."""
TRIES = 10_000


def balanced_openings(size: int, variant: str, count: int, seed: int) -> list[GomokuState]:
    """Positions that an engine calls level, no two of them the same.

    Args:
        size: of the board, 5 at least.
        variant: see `games.gomoku.board.parse_variant`.
        count: how many positions.
        seed: of the stones.

    Raises:
        ZugwerkError: no such board or rule, or too few level positions among those drawn.
    """
    engine, rng = Engine(), np.random.default_rng([seed, size])
    found: dict[str, GomokuState] = {}
    for _ in range(TRIES):
        if len(found) == count:
            return list(found.values())
        state = _drawn(gomoku.initial_state(size, variant), rng)
        if gomoku.winner(state) is None and abs(engine.search(state, Limit(nodes=NODES)).value) <= BOUND:
            found[gomoku.to_fen(state)] = state
    if len(found) < count:
        raise ZugwerkError(f"{TRIES} random openings of {size}x{size}, and {len(found)} level ones among them")
    return list(found.values())


def _drawn(state: GomokuState, rng: np.random.Generator) -> GomokuState:
    size = state.board.shape[0]
    middle, spread = size // 2, min(SPREAD, size // 2)
    for _ in range(int(rng.choice(STONES))):
        legal = gomoku.legal_actions(state)
        near = np.maximum(abs(legal // size - middle), abs(legal % size - middle)) <= spread
        if gomoku.winner(state) is not None or not near.any():
            break
        state = gomoku.play(state, int(rng.choice(legal[near])))
    return state

"""Matches of a player of Connect6 against alpha-beta of four stones, a turn of either side.

``python -m bench.connect6 PLAYER --games 100 [--size 19]`` plays pairs with the sides swapped, each after three random
stones. The opponent, written for this, counts the rows of six cells that hold stones of one side alone, and looks at
the `WIDTH` cells whose rows change most.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from bench.othello import AlphaBeta, meet
from pipeline_src.errors import run_main
from pipeline_src.games import kernels
from pipeline_src.games.learnable.connect6 import LINE, SIDE, STONES
from pipeline_src.jit import njit

WORTH = np.array([0.0, 1.0, 4.0, 16.0, 120.0, 130.0, 0.0, 0.0])
"""Value of a row by the number of its stones; four are as good as five, since a turn has two."""
WIN, WIDTH, STONES_BEFORE = 1e6, 12, 3


@njit
def gains(board: npt.NDArray[np.int8], own: int, gain: npt.NDArray[np.float64]) -> tuple[float, int]:
    """Write what a stone of code ``own`` changes, float64 [N]; return own rows less others, and the most of own."""
    height, width, worth, most = board.shape[0], board.shape[1], 0.0, 0
    gain[:] = 0.0
    for d in range(4):
        down, right = (0, 1) if d == 0 else (1, d - 2)
        for y in range(height):
            for x in range(width):
                end_y, end_x = y + (LINE - 1) * down, x + (LINE - 1) * right
                if end_y >= height or not 0 <= end_x < width:
                    continue
                mine = theirs = 0
                for i in range(LINE):
                    code = board[y + i * down, x + i * right]
                    mine += code == own
                    theirs += code != 0 and code != own
                if mine and theirs:
                    continue
                worth += WORTH[mine] - WORTH[theirs]
                most, stones = max(most, mine), max(mine, theirs)
                for i in range(LINE):
                    gain[(y + i * down) * width + x + i * right] += WORTH[stones + 1] - WORTH[stones] + 0.01
    return worth, most


class Lines(AlphaBeta):
    """Knows Connect6."""

    def evaluate(self, state: Any) -> float:
        """See `AlphaBeta`."""
        over, result = kernels.outcome(state)
        if over:
            return float(WIN * result)
        worth, most = gains(state.board, int(state.turn[SIDE]) + 1, np.empty(state.board.size))
        left = 1 if state.turn[STONES] % 2 == 0 else 2  # stones in this turn; the first turn has but one
        return WIN / 2 if most + left >= LINE else worth

    def ordered(self, state: Any) -> list[int]:
        """See `AlphaBeta`."""
        gain = np.empty(state.board.size)
        gains(state.board, int(state.turn[SIDE]) + 1, gain)
        gain[state.board.ravel() != 0] = -1.0
        best = np.argsort(-gain - 1e-3 * self.rng.random(gain.size))[:WIDTH]
        return [int(cell) for cell in best if gain[cell] >= 0]


def main() -> None:
    """Meet alpha-beta."""
    meet("connect6", __doc__, Lines, 4, STONES_BEFORE)


if __name__ == "__main__":
    run_main(main)

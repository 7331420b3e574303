"""Matches of a player of Othello against alpha-beta of six plies.

``python -m bench.othello PLAYER --games 100`` plays pairs with the sides swapped, each after six random plies. The
opponent, written for this, counts corners (25) and moves (1 for each that it has more) and at the end discs (1,000 for
a win); it searches all moves, the corners first.
"""

import argparse
import json
import math
from typing import Any

import numpy as np

from bench.connect_four import play_pairs, random_opening
from pipeline_src.errors import run_main
from pipeline_src.games import kernels
from pipeline_src.games.learnable.othello import OVER, SIDE, STANDING, OthelloState, _turned, margin
from pipeline_src.games.rules import copy_state, legal_actions
from pipeline_src.jit import njit

CORNER, WIN = 25.0, 1000.0
PLIES = 6  # Random plies before a game


@njit
def evaluate(state: OthelloState) -> float:
    """Return the worth of a position to the side to move."""
    if state.turn[STANDING] == OVER:
        return WIN * float(np.sign(margin(state)))
    side, found, width = int(state.turn[SIDE]), 0.0, state.board.shape[1]
    for cell in range(state.board.size):
        row, column = cell // width, cell % width
        if row in (0, state.board.shape[0] - 1) and column in (0, width - 1) and state.board[row, column]:
            found += CORNER if state.board[row, column] == side + 1 else -CORNER
        found += 1.0 if _turned(state.board, side, row, column) else 0.0
        found -= 1.0 if _turned(state.board, 1 - side, row, column) else 0.0
    return found


class AlphaBeta:
    """Searches to a fixed depth; of equal moves the first in an order that is drawn. Knows Othello."""

    def __init__(self, depth: int, seed: int) -> None:
        """Draw that order by a seed."""
        self.depth, self.rng, self.nodes = depth, np.random.default_rng(seed), 0

    def choose(self, state: Any) -> int:
        """Return an action of an unfinished position."""
        return self._search(copy_state(state), self.depth, -math.inf, math.inf)[1]

    def evaluate(self, state: Any) -> float:
        """Return the worth of a position to the side to move."""
        return float(evaluate(state))

    def ordered(self, state: Any) -> list[int]:
        """Return the actions to look at, the better ones first."""
        last = state.board.shape[0] - 1
        corners = {row * (last + 1) + column for row in (0, last) for column in (0, last)}
        return sorted(map(int, self.rng.permutation(legal_actions(state))), key=lambda action: action not in corners)

    def _search(self, state: Any, depth: int, alpha: float, beta: float) -> tuple[float, int]:
        """The worth of a position to the side to move, and the best action."""
        self.nodes += 1
        if depth == 0 or kernels.outcome(state)[0]:
            return self.evaluate(state), -1
        best, chosen, side = -math.inf, -1, kernels.to_play(state)
        for action in self.ordered(state):
            kernels.play(state, action)
            low = max(alpha, best)
            if kernels.to_play(state) == side:  # it moves again
                value = self._search(state, depth - 1, low, beta)[0]
            else:
                value = -self._search(state, depth - 1, -beta, -low)[0]
            kernels.take_back(state, action)
            if value > best:
                best, chosen = value, action
            if best >= beta:
                break
        return best, chosen


def meet(name: str, about: str | None, maker: type[AlphaBeta], depth: int, plies: int) -> None:
    """Play pairs, each after so many random plies, as the command line says, and print one line of JSON."""
    from pipeline_src.arena.score import pair_score
    from pipeline_src.players.registry import make_player

    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("player", help=f"a player of {name}, e.g. mcts:nodes=1000 or net:{name}/net")
    parser.add_argument("--games", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--depth", type=int, default=depth)
    parser.add_argument("--size", type=int, help="of the board")
    asked = parser.parse_args()
    rngs = (np.random.default_rng((asked.seed, number)) for number in range(asked.games // 2))
    openings = (random_opening(rng, plies, name, asked.size) for rng in rngs)
    player, other = make_player(name, asked.player), maker(asked.depth, asked.seed)
    try:
        pairs = play_pairs(name, player, lambda: other.choose, openings, asked.size)
    finally:
        player.close()
    score = pair_score(pairs).as_metrics()
    print(json.dumps({"player": asked.player, "depth": asked.depth, **score, "positions": other.nodes, "pairs": pairs}))


def main() -> None:
    """Meet alpha-beta."""
    meet("othello", __doc__, AlphaBeta, 6, PLIES)


if __name__ == "__main__":
    run_main(main)

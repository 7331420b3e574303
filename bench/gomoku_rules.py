"""Random games of Gomoku a second on 15x15, stones in a shuffled order until one side has won, against C++ -O3."""

import numpy as np
import numpy.typing as npt

from bench.measure import Row, compiled, medians, row, seconds
from pipeline_src.games import kernels
from pipeline_src.games.gomoku import GomokuState, initial_state
from pipeline_src.games.kernels import below
from pipeline_src.jit import njit

GAMES = 20_000
SEED = 2020
REPEATS = 9


@njit(cache=True)
def play_games(
    state: GomokuState, games: int, random: npt.NDArray[np.uint64], order: npt.NDArray[np.int32]
) -> tuple[int, int]:
    """Return the plies of so many games, each played on ``state`` and taken back, and how many games were drawn."""
    plies, draws = 0, 0
    for _ in range(games):
        for i in range(order.size - 1, 0, -1):
            j = below(random, i + 1)
            order[i], order[j] = order[j], order[i]
        played = 0
        while not kernels.outcome(state)[0]:
            kernels.play(state, order[played])
            played += 1
        draws += kernels.outcome(state)[1] == 0
        plies += played
        for ply in range(played - 1, -1, -1):
            kernels.take_back(state, order[ply])
    return plies, draws


def measure() -> list[Row]:
    """``gomoku_random_games_per_s`` on one core; both sides play the same games."""
    state = initial_state()

    def run() -> tuple[int, int]:
        order = np.arange(state.board.size, dtype=np.int32)
        return play_games(state, GAMES, np.array([SEED], np.uint64), order)

    expected = run()
    with compiled("gomoku_rules") as (program, _):

        def cpp() -> float:
            assert program is not None
            plies, draws, taken = program(GAMES, SEED).split()
            assert (int(plies), int(draws)) == expected
            return GAMES / float(taken)

        rates = medians(lambda: GAMES / seconds(run), cpp if program else None, REPEATS)
    return [row("gomoku_random_games_per_s", *rates, "C++ -O3, the same games", "games/s")]

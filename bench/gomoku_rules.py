"""Random games of Gomoku a second on 15x15: stones in a shuffled order until somebody has won, beside C++ -O3."""

import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.measure import medians, row, seconds
from pipeline_src.games import kernels
from pipeline_src.games.gomoku.board import GomokuState
from pipeline_src.games.gomoku.setup import initial_state
from pipeline_src.jit import njit
from pipeline_src.search.mcts.xorshift import below

GAMES = 20_000
SEED = 2020
REPEATS = 9


@njit(cache=True)
def play_games(
    state: GomokuState, games: int, random: npt.NDArray[np.uint64], order: npt.NDArray[np.int32]
) -> tuple[int, int]:
    """Plies of so many games, each played on ``state`` and taken back, and how many of them were drawn."""
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


def measure() -> list[dict[str, Any]]:
    """``gomoku_random_games_per_s``, on one core; both sides play the same games."""
    state = initial_state()

    def run() -> tuple[int, int]:
        order = np.arange(state.board.size, dtype=np.int32)
        return play_games(state, GAMES, np.array([SEED], np.uint64), order)

    expected = run()

    def ours() -> float:
        return GAMES / seconds(run)

    compiler = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        return [row("gomoku_random_games_per_s", medians(ours, ours, REPEATS)[0], None, None, "games/s")]
    with tempfile.TemporaryDirectory() as folder:
        program = str(Path(folder) / "rules")
        source = str(Path(__file__).with_suffix(".cpp"))
        subprocess.run([compiler, "-std=c++20", "-O3", "-march=native", "-o", program, source], check=True)

        def cpp() -> float:
            words = [program, str(GAMES), str(SEED)]
            out = subprocess.run(words, check=True, capture_output=True, text=True).stdout.split()
            assert (int(out[0]), int(out[1])) == expected
            return GAMES / float(out[2])

        rates = medians(ours, cpp, REPEATS)
    return [row("gomoku_random_games_per_s", *rates, "C++ -O3, the same games", "games/s")]

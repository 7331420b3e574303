"""perft(2) of the Amazons from the start: every turn of the last ply generated and stored, beside C++ -O3."""

import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.measure import medians, row, seconds
from pipeline_src.games.amazons import board, moves
from pipeline_src.games.amazons.board import AmazonsState
from pipeline_src.games.amazons.perft import perft
from pipeline_src.jit import njit

PERFT_2 = 4_307_152


@njit(cache=True)
def perft2_stored(
    state: AmazonsState, scratch: npt.NDArray[np.int32], first: npt.NDArray[np.int32], last: npt.NDArray[np.int32]
) -> int:
    """perft(2) by generating and storing the last ply too."""
    squares, total = state.board.size, 0
    for i in range(moves.write_turns(state, scratch, first)):
        turn = first[i]
        start, to, arrow = turn // (squares * squares), turn // squares % squares, turn % squares
        moves.move_amazon(state, start, to)
        moves.shoot(state, arrow)
        total += moves.write_turns(state, scratch, last)
        moves.take_back(state, start, to, arrow)
    return total


def measure() -> list[dict[str, Any]]:
    """``amazons_perft2_ms``, stored; and counted, as `zugwerk amazons perft` does it."""
    state = board.initial_state()
    scratch, first = moves.buffers(state)
    last = np.empty_like(first)
    assert perft2_stored(state, scratch, first, last) == perft(state, 2) == PERFT_2

    def stored() -> float:
        return 1e3 * seconds(lambda: perft2_stored(state, scratch, first, last))

    def counted() -> float:
        return 1e3 * seconds(lambda: perft(state, 2))

    compiler = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        ours, also = medians(stored, counted, 21)
        rows = {"amazons_perft2_ms": ours, "amazons_perft2_counted_ms": also}
        return [row(name, ms, None, None, "ms") for name, ms in rows.items()]
    with tempfile.TemporaryDirectory() as folder:
        program = str(Path(folder) / "perft")
        source = str(Path(__file__).with_suffix(".cpp"))
        subprocess.run([compiler, "-O3", "-march=native", "-o", program, source], check=True)

        def cpp() -> float:
            out = subprocess.run([program, "15"], check=True, capture_output=True, text=True).stdout.split()
            assert int(out[0]) == PERFT_2
            return float(out[1])

        ours, reference = medians(stored, cpp, 9)
        also, _ = medians(counted, cpp, 9)
    name = "C++ -O3, mailbox, stored"
    return [
        row("amazons_perft2_ms", ours, reference, name, "ms"),
        row("amazons_perft2_counted_ms", also, reference, name, "ms"),
    ]

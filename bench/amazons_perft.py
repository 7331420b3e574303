"""perft(2) of the Amazons from the start, with every turn of the last ply generated and stored, against C++ -O3."""

import subprocess
from pathlib import Path

import numpy as np
import numpy.typing as npt

from bench.measure import Row, compiled, medians, row, seconds
from pipeline_src.games import amazons
from pipeline_src.games.amazons import AmazonsState, perft
from pipeline_src.jit import njit

PERFT_2 = 4_307_152


@njit(cache=True)
def perft2_stored(
    state: AmazonsState, scratch: npt.NDArray[np.int32], first: npt.NDArray[np.int32], last: npt.NDArray[np.int32]
) -> int:
    """Return perft(2), with the last ply generated and stored too."""
    squares, total = state.board.size, 0
    for i in range(amazons.write_turns(state, scratch, first)):
        turn = first[i]
        start, to, arrow = turn // (squares * squares), turn // squares % squares, turn % squares
        amazons.move_amazon(state, start, to)
        amazons.shoot(state, arrow)
        total += amazons.write_turns(state, scratch, last)
        amazons.take_back(state, start, to, arrow)
    return total


def measure() -> list[Row]:
    """``amazons_perft2_ms``, stored, and ``amazons_perft2_counted_ms``, counted as in `zugwerk amazons perft`."""
    state = amazons.initial_state()
    scratch, first = amazons.buffers(state)
    last = np.empty_like(first)
    assert perft2_stored(state, scratch, first, last) == perft(state, 2) == PERFT_2

    def stored() -> float:
        return 1e3 * seconds(lambda: perft2_stored(state, scratch, first, last))

    def counted() -> float:
        return 1e3 * seconds(lambda: perft(state, 2))

    with compiled(Path(__file__).with_suffix(".cpp")) as (program, _):

        def cpp() -> float:
            out = subprocess.run([program or "", "15"], check=True, capture_output=True, text=True).stdout.split()
            assert int(out[0]) == PERFT_2
            return float(out[1])

        ours, reference = medians(stored, cpp if program else stored, 9)
        also, _ = medians(counted, cpp if program else counted, 9)
    against = (reference, "C++ -O3, mailbox, stored", "ms") if program else (None, None, "ms")
    return [row("amazons_perft2_ms", ours, *against), row("amazons_perft2_counted_ms", also, *against)]

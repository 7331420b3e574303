"""Stage growing_board: self-play on one of the growing boards, starting from the best net of the next smaller one.

Reads ``artifacts/models/growing/<smaller>/best.pt``, or the last net there if none passed the gate. Writes the models
of all generations, ``NN.pt``, and ``best.pt`` into ``artifacts/models/growing/<size>/``, the games into
``artifacts/records/growing/<size>/``, and ``artifacts/reports/growing/boards/<size>.{json,csv}``. Killed and run again,
it resumes where it was.

Example: ``python -m pipeline_src.stages.growing_board --size 9``
"""

import argparse
import time

from pipeline_src.errors import ZugwerkError, run_main
from pipeline_src.parallel import Parallel
from pipeline_src.project.params import load
from pipeline_src.systems.gomoku_zero.params import setting_for
from pipeline_src.systems.growing_boards.growth import grow
from pipeline_src.systems.growing_boards.params import GrowingConvergence, read_board


def main() -> None:
    """Read the command line.

    Raises:
        ZugwerkError: bad params, no such board, or the smaller board's files are missing or damaged.
    """
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, required=True, help="side of the board, one of those in params.yaml")
    parser.add_argument("--minutes", type=float, help="begin no generation after so many; run again to go on")
    options = parser.parse_args()
    board, begun = read_board(options.size), time.perf_counter()
    done = grow(
        board,
        setting_for(board.size, board.variant),
        load(GrowingConvergence, "growing_convergence"),
        load(Parallel, "parallel"),
        go_on=lambda: options.minutes is None or time.perf_counter() - begun < 60 * options.minutes,
    )
    if not done:
        raise ZugwerkError(f"the {options.minutes:g} minutes are over; run the same command again to go on")


if __name__ == "__main__":
    run_main(main)

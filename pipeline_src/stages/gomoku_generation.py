"""Stage gomoku_generation: make one generation of Gomoku's self-play from the one before it.

Example: ``python -m pipeline_src.stages.gomoku_generation --number 2``

Reads ``artifacts/models/gomoku/<before>/`` and ``artifacts/samples/gomoku/<before>/``; the first generation has none
before it. Writes (``NN`` is the number in two digits) the games ``artifacts/records/gomoku/self_play/NN.parquet`` and
``.../gate/NN.parquet``, the replay window ``artifacts/samples/gomoku/NN/``, ``artifacts/models/gomoku/NN/`` and, under
``artifacts/reports/gomoku/generations/``, the metrics ``NN.json``, the losses ``NN.csv`` and ``NN.timings.json``.
Killed and run again, it resumes from ``work/gomoku/``.
"""

import argparse

from pipeline_src.errors import run_main
from pipeline_src.parallel import Parallel
from pipeline_src.project.params import load
from pipeline_src.systems.gomoku_zero.files import ARTIFACTS
from pipeline_src.systems.gomoku_zero.generation import run_generation
from pipeline_src.systems.gomoku_zero.params import read_setting


def main() -> None:
    """Read the command line.

    Raises:
        ZugwerkError: bad params, or the generation before is missing or damaged.
    """
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--number", required=True, type=int, help="from 1 on; each is made from the one before it")
    number = parser.parse_args().number
    if number < 1:
        parser.error("--number must be at least 1")
    setting = read_setting()
    run_generation(number, setting, load(Parallel, "parallel"), ARTIFACTS)


if __name__ == "__main__":
    run_main(main)

"""Stage report_positions: boards for the report, from sample games and from the nets' views of positions.

Reads models, records and samples of all systems; writes ``artifacts/reports/positions.json``, a list of examples whose
shape `pipeline_src.report.positions.file` tells. Which game is shown is drawn by the seed. Of a record only its number,
its moves and who won get there, and no name.
"""

import numpy as np

from pipeline_src import streams
from pipeline_src.errors import run_main
from pipeline_src.learning.torch_state import torch_threads
from pipeline_src.project.params import load, load_value
from pipeline_src.project.systems import by_word, open_function
from pipeline_src.report.positions.file import POSITIONS, write_examples
from pipeline_src.report.positions.params import ReportPositionsParams


def main() -> None:
    """Ask the nets, write.

    Raises:
        ZugwerkError: bad params, or a model, record or data set is missing or damaged; names the file and the stage
            that makes it.
    """
    params, seed = load(ReportPositionsParams, "report_positions"), load_value(int, "seed")

    def rng(example: str) -> np.random.Generator:
        return np.random.default_rng([seed, streams.REPORT_POSITIONS, *example.encode()])

    makers = [  # which read their params before any of them begins
        open_function(system.boards.function)(getattr(params, word))
        for word, system in by_word().items()
        if system.boards
    ]
    with torch_threads(1):  # a handful of positions; so no setting changes a bit
        write_examples(POSITIONS, [example for make in makers for example in make(rng)])


if __name__ == "__main__":
    run_main(main)

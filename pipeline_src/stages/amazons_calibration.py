"""Stage amazons_calibration: whether the residual net's win rates are right, by its games against itself.

Reads ``artifacts/models/amazons/residual/nets.pt``; writes the metrics ``artifacts/reports/amazons/calibration.json``
and the reliability curve ``calibration.csv``. A run after a kill plays only the missing games.
"""

from pathlib import Path

import pipeline_src.systems.amazons_net.players  # noqa: F401 - the search that calibration names
from pipeline_src.arena.calibration import calibration_stage
from pipeline_src.arena.runner import Board
from pipeline_src.errors import run_main
from pipeline_src.games import amazons
from pipeline_src.parallel import Parallel
from pipeline_src.project.params import load
from pipeline_src.systems.amazons_net.nets import load_nets

MODEL = Path("artifacts/models/amazons/residual/nets.pt")
REPORTS = Path("artifacts/reports/amazons")


def main() -> None:
    """Play and write.

    Raises:
        ZugwerkError: bad params, or no or damaged nets.
    """
    calibration_stage(
        Board(amazons.NAME, load_nets(MODEL).config.size),
        MODEL,
        REPORTS,
        "amazons_calibration",
        load(Parallel, "parallel"),
    )


if __name__ == "__main__":
    run_main(main)

"""Stage gomoku_calibration: whether the best player's win rates are right, by its games against itself.

Reads ``artifacts/models/gomoku/NN/best.pt`` of the last generation; writes the metrics
``artifacts/reports/gomoku/calibration.json`` and the reliability curve ``calibration.csv``. Killed and run
again, it plays only the missing games.
"""

from pathlib import Path

import pipeline_src.systems.gomoku_zero.player  # noqa: F401 - the search that calibration names
from pipeline_src.arena.calibration import calibration_stage
from pipeline_src.arena.runner import Board
from pipeline_src.errors import run_main
from pipeline_src.games import gomoku
from pipeline_src.parallel import Parallel
from pipeline_src.project.params import load, load_part
from pipeline_src.systems.gomoku_zero.files import GenerationFiles
from pipeline_src.systems.gomoku_zero.params import GomokuBoard, read_numbers

REPORTS = Path("artifacts/reports/gomoku")


def main() -> None:
    """Play and write.

    Raises:
        ZugwerkError: bad params, or no or a damaged model.
    """
    game, model = load_part(GomokuBoard, "gomoku_game"), GenerationFiles(read_numbers()[-1]).best
    calibration_stage(
        Board(gomoku.NAME, game.size, game.variant),
        model,
        REPORTS,
        "pipeline_src.stages.gomoku_calibration",
        load(Parallel, "parallel"),
    )


if __name__ == "__main__":
    run_main(main)

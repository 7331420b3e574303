"""Stage report_positions: boards for the report, from sample games and from the nets' views of positions.

Reads models, records and samples of all systems; writes ``artifacts/reports/positions.json``, a list of examples whose
shape `pipeline_src.report.positions.file` tells. Which game is shown is drawn by the seed. Of a record only its number,
its moves and who won get there, and no name.
"""

from pathlib import Path

import numpy as np

from pipeline_src import streams
from pipeline_src.errors import ZugwerkError, run_main
from pipeline_src.project.params import at, load, load_part, load_value, read_tree
from pipeline_src.report.positions.amazons import amazons_game, amazons_positions
from pipeline_src.report.positions.depth import depth_example
from pipeline_src.report.positions.file import POSITIONS, Example, write_examples
from pipeline_src.report.positions.gomoku import gomoku_examples, growing_examples
from pipeline_src.report.positions.joseki import joseki_example
from pipeline_src.report.positions.params import ReportPositionsParams
from pipeline_src.systems.amazons_net.evaluation_params import Pairing
from pipeline_src.systems.amazons_net.forward import torch_threads
from pipeline_src.systems.gomoku_zero.evaluation_params import GomokuPlayers
from pipeline_src.systems.gomoku_zero.params import read_numbers
from pipeline_src.systems.growing_boards.params import read_boards
from pipeline_src.systems.search_depth.params import DepthSplitParams

AMAZONS_MODELS = Path("artifacts/models/amazons")


def main() -> None:
    """Ask the nets, write.

    Raises:
        ZugwerkError: bad params, or a model, record or data set is missing or damaged; names the file and the stage
            that makes it.
    """
    params, seed = load(ReportPositionsParams, "report_positions"), load_value(int, "seed")
    _check_name("amazons.match", params.amazons.match, "amazons_match.matches")
    _check_name("gomoku.opponent", params.gomoku.opponent, "gomoku_evaluate.opponents")
    match = load(Pairing, f"amazons_match.matches.{params.amazons.match}")
    players = load_part(GomokuPlayers, "gomoku_evaluate")
    opponent = load_value(str, f"gomoku_evaluate.opponents.{params.gomoku.opponent}.player")
    shares, numbers, boards = load(DepthSplitParams, "depth_split").shares, read_numbers(), read_boards()
    models = {
        "published": AMAZONS_MODELS / load_value(str, "amazons_match.loss") / "nets.pt",
        "residual": AMAZONS_MODELS / "residual" / "nets.pt",
    }

    def rng(example: str) -> np.random.Generator:
        return np.random.default_rng([seed, streams.REPORT_POSITIONS, *example.encode()])

    with torch_threads(1):  # a handful of positions; so no setting changes a bit
        examples: list[Example] = [
            *amazons_positions(params.amazons, models, rng("amazons")),
            amazons_game(match, models, rng("game")),
            *gomoku_examples(params.gomoku, players, opponent, numbers[-1], rng("gomoku")),
            *growing_examples(boards[-1], params.growing.ply, params.gomoku.simulations, rng("growing")),
            joseki_example(params.joseki.ply, rng("joseki")),
            depth_example(params.depth, shares, seed, rng("depth")),
        ]
    write_examples(POSITIONS, examples)


def _check_name(key: str, name: str, mapping: str) -> None:
    known = at(read_tree(), mapping) or {}  # which names there are; one of them is read
    if name not in known:
        raise ZugwerkError(f"params.yaml: report_positions.{key}: no {name!r}; there are: {', '.join(known)}")


if __name__ == "__main__":
    run_main(main)

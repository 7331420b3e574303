"""Stage report_positions: boards for the report, from sample games and from the nets' views of positions.

Reads models, records and samples of all systems; writes ``artifacts/reports/positions.json``, a list of examples whose
shape `pipeline_src.report.examples` tells. Which game is shown is drawn by the seed. Of a record only its number, its
moves and who won get there, and no name.
"""

import importlib
from typing import Any

import numpy as np
from pydantic import Field, create_model

from pipeline_src import streams
from pipeline_src.project.params import Params, load, load_value
from pipeline_src.project.systems import by_word, module_of
from pipeline_src.report.examples import POSITIONS, write_examples

_FIELDS: dict[str, Any] = {
    word: (system.boards.params, Field(description=system.boards.about or system.boards.params.__doc__))
    for word, system in by_word().items()
    if system.boards
}
ReportPositionsParams = create_model(
    "ReportPositionsParams",
    __base__=Params,
    __doc__="Boards of the report. The seed draws their games; a ply beyond the end of a game becomes its last one.",
    **_FIELDS,
)


def main() -> None:
    """Ask the nets, write."""
    from pipeline_src.learning.torch_state import torch_threads

    params, seed = load(ReportPositionsParams, "report_positions"), load_value(int, "seed")

    def rng(example: str) -> np.random.Generator:
        return np.random.default_rng([seed, streams.REPORT_POSITIONS, *example.encode()])

    makers = [  # which read their params before any of them begins
        importlib.import_module(module_of(system, "boards")).boards(getattr(params, word))
        for word, system in by_word().items()
        if system.boards
    ]
    with torch_threads(1):  # a handful of positions; so no setting changes a bit
        write_examples(POSITIONS, [example for make in makers for example in make(rng)])

"""Params section ``report_positions``: which boards the report shows."""

from typing import Any

from pydantic import Field, create_model

from pipeline_src.project.params import Params
from pipeline_src.project.systems import by_word

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

"""The sections of params.yaml, the model that reads each, and the model and the JSON schema of the whole file."""

import inspect
import typing
from pathlib import Path
from typing import Annotated, Any, cast

from pydantic import Field, Strict, create_model

from pipeline_src.arena.calibration_params import CalibrationParams
from pipeline_src.errors import ZugwerkError
from pipeline_src.project.params import PARAMS_FILE, Count, Params, load, read_tree
from pipeline_src.project.systems import sections
from pipeline_src.report.positions.params import ReportPositionsParams
from pipeline_src.systems.gomoku_zero.params import read_numbers
from pipeline_src.systems.growing_boards.params import read_boards

SECTIONS: dict[str, Any] = {
    **sections(),
    "calibration": CalibrationParams,
    "report_positions": ReportPositionsParams,
}
"""The model of each section; the names in `Named` ones are the user's own."""


class TopLevel(Params):
    """Keys of params.yaml that are no sections."""

    profile: str
    """Name of the profile. It has no effect of its own."""
    seed: int
    """Seed of all random numbers."""
    torch_threads: Count
    """Number of CPU threads of torch. Another number may change the last bits of trained weights."""


def check_params(path: Path | str = PARAMS_FILE) -> None:
    """Refuse a params file with anything wrong in any section, whichever stages read it.

    Raises:
        ZugwerkError: no such file; or an unknown or missing key, or a wrong value, which the message names.
    """
    tree = read_tree(path)
    if unknown := tree.keys() - SECTIONS.keys() - TopLevel.model_fields.keys():
        raise ZugwerkError(f"{path}: {', '.join(sorted(map(str, unknown)))}: no such section")
    for name, field in TopLevel.model_fields.items():
        load(cast(Any, Annotated[field.annotation, *field.metadata, Strict()]), name, path)
    for name, kind in SECTIONS.items():
        load(kind, name, path)
    read_numbers(path)
    read_boards(path)


def about(kind: Any) -> str:
    """The docstring of a section's model, or of a mapping's values."""
    return inspect.getdoc(typing.get_args(kind)[1] if typing.get_args(kind) else kind) or ""


_FIELDS: dict[str, Any] = {name: (kind, Field(description=about(kind))) for name, kind in SECTIONS.items()}
ParamsFile = create_model("ParamsFile", __base__=TopLevel, **_FIELDS)
"""All of params.yaml."""


def json_schema(*, whole: bool = True) -> dict[str, Any]:
    """The JSON schema of params.yaml, or, not ``whole``, of a profile, which may leave out any key."""
    schema: dict[str, Any] = _tidied(ParamsFile.model_json_schema(), [] if whole else ["required"])
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _tidied(node: Any, without: list[str]) -> Any:
    """A schema without the titles that pydantic gives to all, and with descriptions as one line each."""
    if isinstance(node, dict):
        left_out = ["title", *without]  # a property of that name has a schema, a dict, as its value
        kept = {key: value for key, value in node.items() if key not in left_out or isinstance(value, dict)}
        return {key: _tidied(value, without) for key, value in kept.items()}
    if isinstance(node, list):
        return [_tidied(value, without) for value in node]
    return " ".join(node.split()).replace("``", "`") if isinstance(node, str) else node

"""The sections of params.yaml, the model that reads each, and the model and the JSON schema of the whole file."""

import inspect
import typing
from typing import Any

from pydantic import Field, create_model

from pipeline_src.parallel import Parallel
from pipeline_src.project.params import Count, Named, Params
from pipeline_src.records.crawl_params import CrawlParams
from pipeline_src.report.positions.params import ReportPositionsParams
from pipeline_src.search.amazons.params import AmazonsEngine
from pipeline_src.systems.amazons_net.evaluation_params import (
    AmazonsBaselinesParams,
    AmazonsEvaluateParams,
    AmazonsMatchParams,
)
from pipeline_src.systems.amazons_net.params import (
    AmazonsArchive,
    AmazonsCrawlParams,
    AmazonsModelsParams,
    AmazonsParseParams,
    AmazonsSamplesParams,
    AmazonsTrainParams,
)
from pipeline_src.systems.gomoku_zero.evaluation_params import GomokuEvaluateParams
from pipeline_src.systems.gomoku_zero.params import (
    GomokuGame,
    GomokuGate,
    GomokuGeneration,
    GomokuNet,
    GomokuSelfPlay,
    GomokuTrainParams,
)
from pipeline_src.systems.growing_boards.evaluation_params import GrowingEvaluateParams
from pipeline_src.systems.growing_boards.params import GrowingConvergence, GrowingFirst, GrowingLarger
from pipeline_src.systems.joseki.params import (
    JosekiBuildParams,
    JosekiCrawlParams,
    JosekiEvaluateParams,
    JosekiRecordsParams,
)
from pipeline_src.systems.search_depth.evaluation_params import DepthEvaluateParams, DepthMatchParams
from pipeline_src.systems.search_depth.params import DepthGame, DepthLabelParams, DepthSplitParams, DepthTrainParams

SECTIONS: dict[str, Any] = {
    "parallel": Parallel,
    "crawl": CrawlParams,
    "amazons_engine": AmazonsEngine,
    "amazons_archive": AmazonsArchive,
    "amazons_crawl": AmazonsCrawlParams,
    "amazons_parse": AmazonsParseParams,
    "amazons_samples": AmazonsSamplesParams,
    "amazons_models": AmazonsModelsParams,
    "amazons_train": AmazonsTrainParams,
    "amazons_baselines": AmazonsBaselinesParams,
    "amazons_evaluate": AmazonsEvaluateParams,
    "amazons_match": AmazonsMatchParams,
    "gomoku_game": GomokuGame,
    "gomoku_net": GomokuNet,
    "gomoku_self_play": GomokuSelfPlay,
    "gomoku_train": GomokuTrainParams,
    "gomoku_gate": GomokuGate,
    "gomoku_generations": Named[GomokuGeneration],
    "gomoku_evaluate": GomokuEvaluateParams,
    "growing_first": GrowingFirst,
    "growing_larger": Named[GrowingLarger],
    "growing_convergence": GrowingConvergence,
    "growing_net": GomokuNet,
    "growing_self_play": GomokuSelfPlay,
    "growing_train": GomokuTrainParams,
    "growing_gate": GomokuGate,
    "growing_evaluate": GrowingEvaluateParams,
    "joseki_crawl": JosekiCrawlParams,
    "joseki_records": JosekiRecordsParams,
    "joseki_build": JosekiBuildParams,
    "joseki_evaluate": JosekiEvaluateParams,
    "depth_game": DepthGame,
    "depth_label": DepthLabelParams,
    "depth_split": DepthSplitParams,
    "depth_train": DepthTrainParams,
    "depth_evaluate": DepthEvaluateParams,
    "depth_match": DepthMatchParams,
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


def about(kind: Any) -> str:
    """The docstring of a section's model; of a mapping, that of what it holds."""
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

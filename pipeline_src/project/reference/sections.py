"""What reads each section of params.yaml, and what its fields say about themselves."""

import ast
import dataclasses
import inspect
import itertools
import textwrap
import typing
from typing import Any

from pipeline_src.parallel import Parallel
from pipeline_src.project.reference.tables import sentence
from pipeline_src.records.crawl_params import CrawlParams
from pipeline_src.report.positions.params import ReportPositionsParams
from pipeline_src.search.amazons.params import AmazonsEngine
from pipeline_src.systems.amazons_net.params import (
    AmazonsArchive,
    AmazonsBaselinesParams,
    AmazonsCrawlParams,
    AmazonsEvaluateParams,
    AmazonsMatchParams,
    AmazonsParseParams,
    AmazonsSamplesParams,
    AmazonsTrainParams,
)
from pipeline_src.systems.gomoku_zero.params import (
    GomokuEvaluateParams,
    GomokuGame,
    GomokuGate,
    GomokuNet,
    GomokuSelfPlay,
    GomokuTrainParams,
)
from pipeline_src.systems.growing_boards.params import (
    GrowingConvergence,
    GrowingEvaluateParams,
    GrowingFirst,
    GrowingLarger,
)
from pipeline_src.systems.joseki.params import (
    JosekiBuildParams,
    JosekiCrawlParams,
    JosekiEvaluateParams,
    JosekiRecordsParams,
)
from pipeline_src.systems.search_depth.params import (
    DepthEvaluateParams,
    DepthGame,
    DepthLabelParams,
    DepthMatchParams,
    DepthSplitParams,
    DepthTrainParams,
)

SECTIONS: dict[str, Any] = {
    "parallel": Parallel,
    "crawl": CrawlParams,
    "amazons_engine": AmazonsEngine,
    "amazons_archive": AmazonsArchive,
    "amazons_crawl": AmazonsCrawlParams,
    "amazons_parse": AmazonsParseParams,
    "amazons_samples": AmazonsSamplesParams,
    "amazons_train": AmazonsTrainParams,
    "amazons_baselines": AmazonsBaselinesParams,
    "amazons_evaluate": AmazonsEvaluateParams,
    "amazons_match": AmazonsMatchParams,
    "gomoku_game": GomokuGame,
    "gomoku_net": GomokuNet,
    "gomoku_self_play": GomokuSelfPlay,
    "gomoku_train": GomokuTrainParams,
    "gomoku_gate": GomokuGate,
    "gomoku_generations": dict[str, Any],
    "gomoku_evaluate": GomokuEvaluateParams,
    "growing_first": GrowingFirst,
    "growing_larger": dict[str, GrowingLarger],
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
"""What reads each section of params.yaml; of the mappings, the keys are names of the user's own."""


def attribute_docs(kind: type) -> dict[str, str]:
    """The docstrings below a dataclass' fields, its parents' among them, by field."""
    found: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        if not dataclasses.is_dataclass(base):
            continue
        body = typing.cast(ast.ClassDef, ast.parse(textwrap.dedent(inspect.getsource(base))).body[0]).body
        for node, after in itertools.pairwise(body):
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and isinstance(after, ast.Expr):
                found[node.target.id] = sentence(typing.cast(str, typing.cast(ast.Constant, after.value).value))
    return found

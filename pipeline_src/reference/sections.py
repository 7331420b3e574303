"""What reads each section of params.yaml, and what its fields say about themselves."""

import ast
import dataclasses
import inspect
import itertools
import textwrap
import typing
from typing import Any

from pipeline_src.parallel import Parallel
from pipeline_src.params.amazons_archive import AmazonsArchive
from pipeline_src.params.amazons_baselines import AmazonsBaselinesParams
from pipeline_src.params.amazons_crawl import AmazonsCrawlParams
from pipeline_src.params.amazons_engine import AmazonsEngine
from pipeline_src.params.amazons_evaluate import AmazonsEvaluateParams
from pipeline_src.params.amazons_match import AmazonsMatchParams
from pipeline_src.params.amazons_parse import AmazonsParseParams
from pipeline_src.params.amazons_samples import AmazonsSamplesParams
from pipeline_src.params.amazons_train import AmazonsTrainParams
from pipeline_src.params.crawl import CrawlParams
from pipeline_src.params.depth_evaluate import DepthEvaluateParams
from pipeline_src.params.depth_game import DepthGame
from pipeline_src.params.depth_label import DepthLabelParams
from pipeline_src.params.depth_match import DepthMatchParams
from pipeline_src.params.depth_split import DepthSplitParams
from pipeline_src.params.depth_train import DepthTrainParams
from pipeline_src.params.gomoku_evaluate import GomokuEvaluateParams
from pipeline_src.params.gomoku_game import GomokuGame
from pipeline_src.params.gomoku_gate import GomokuGate
from pipeline_src.params.gomoku_net import GomokuNet
from pipeline_src.params.gomoku_self_play import GomokuSelfPlay
from pipeline_src.params.gomoku_train import GomokuTrainParams
from pipeline_src.params.growing_boards import GrowingFirst, GrowingLarger
from pipeline_src.params.growing_convergence import GrowingConvergence
from pipeline_src.params.growing_evaluate import GrowingEvaluateParams
from pipeline_src.params.joseki_build import JosekiBuildParams
from pipeline_src.params.joseki_crawl import JosekiCrawlParams
from pipeline_src.params.joseki_evaluate import JosekiEvaluateParams
from pipeline_src.params.joseki_records import JosekiRecordsParams
from pipeline_src.params.report_positions import ReportPositionsParams
from pipeline_src.reference.tables import sentence

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

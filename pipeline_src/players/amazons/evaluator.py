"""The static evaluation of the Amazons, with the weights of params.yaml if the file has them."""

from pipeline_src.project.params import PARAMS_FILE, load, read_tree
from pipeline_src.search.amazons import evaluation
from pipeline_src.search.amazons.evaluation import AmazonsEvaluator
from pipeline_src.search.amazons.params import AmazonsEngine


def amazons_engine() -> AmazonsEngine:
    """Return section ``amazons_engine`` of ./params.yaml, or the defaults if the file or the section is missing.

    Raises:
        ZugwerkError: the file or the section is malformed.
    """
    if PARAMS_FILE.exists() and "amazons_engine" in read_tree():
        return load(AmazonsEngine, "amazons_engine")
    return AmazonsEngine()


def make_evaluator() -> AmazonsEvaluator:
    """Return an evaluator for the functions of `search.evaluator`, for use in one thread.

    Raises:
        ZugwerkError: params.yaml is malformed.
    """
    return evaluation.make_evaluator(amazons_engine())

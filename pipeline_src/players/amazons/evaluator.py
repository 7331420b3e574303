"""Static evaluations by the name of the game, with the weights of params.yaml if the file has them."""

from typing import Any

from pipeline_src.errors import ZugwerkError
from pipeline_src.project.params import PARAMS_FILE, load, read_tree
from pipeline_src.search.amazons import evaluation as amazons
from pipeline_src.search.amazons.params import AmazonsEngine


def amazons_engine() -> AmazonsEngine:
    """Return section ``amazons_engine`` of ./params.yaml, or the defaults if the file or the section is missing.

    Raises:
        ZugwerkError: the file or the section is malformed.
    """
    if PARAMS_FILE.exists() and "amazons_engine" in read_tree():
        return load(AmazonsEngine, "amazons_engine")
    return AmazonsEngine()


def make_evaluator(game: str) -> Any:
    """Return an evaluator for the functions of `search.evaluator`, for use in one thread.

    Raises:
        ZugwerkError: the game has no evaluation, or params.yaml is malformed.
    """
    if game == "amazons":
        return amazons.make_evaluator(amazons_engine())
    raise ZugwerkError(f"there is no evaluation of the game {game!r}; there is one of: amazons")

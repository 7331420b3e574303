"""UCT iterations a second from the start position of the Amazons: each ranks all actions of a new node."""

from typing import Any

from bench.measure import medians, row, seconds
from pipeline_src.games.amazons.board import initial_state
from pipeline_src.search.amazons.evaluation import make_evaluator
from pipeline_src.search.limits import Limit
from pipeline_src.search.mcts.uct import Uct

ITERATIONS = 500


def measure() -> list[dict[str, Any]]:
    """``amazons_uct_iters_per_s``, with the default options, on one thread."""
    searcher, state = Uct(make_evaluator()), initial_state()

    def ours() -> float:
        return ITERATIONS / seconds(lambda: searcher.search(state, Limit(nodes=ITERATIONS)))

    rate, _ = medians(ours, ours, 5)
    return [row("amazons_uct_iters_per_s", rate, None, None, "iterations/s")]

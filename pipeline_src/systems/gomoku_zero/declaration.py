"""Gomoku from self-play declares itself."""

from collections.abc import Mapping
from functools import partial
from itertools import pairwise
from typing import Any

from pipeline_src.project.params import Count, Items, Named, Params, Whole
from pipeline_src.project.systems import (
    Boards,
    Claim,
    Figure,
    Flow,
    Sizes,
    System,
    Words,
    calibration_figures,
    training_bytes,
)
from pipeline_src.systems.gomoku_zero.evaluation_params import (
    GomokuEvaluateParams,
    data_words,
    player_words,
    teacher_words,
)
from pipeline_src.systems.gomoku_zero.params import (
    GomokuGame,
    GomokuGate,
    GomokuGeneration,
    GomokuNet,
    GomokuSelfPlay,
    GomokuTrainParams,
)

REPORT = "artifacts/reports/gomoku/evaluate.json"
SELF_PLAY = "its own games"
ANCHOR = "mcts:playouts=1000"
"""Player that has Elo 0."""
A_WEIGHT = 16
"""Bytes of a generation for each weight: the net, the best player, and the optimiser with two moments."""


class GomokuShown(Params):
    """A whole game of the best player, and positions of it."""

    plies: Items[Whole]
    """Numbers of stones on the board, one for each position."""
    opponent: str
    """Name in ``gomoku_evaluate.opponents``."""
    simulations: Count
    """Number of simulations of the search that is shown, also for growing boards."""


def _gomoku(
    words: str,
    unit: str,
    key: str,
    published: float | None = None,
    named: Mapping[str, Any] | None = None,
    player: Words = player_words,
) -> Figure:
    """A figure of gomoku_evaluate, and the keys of that section that its words name."""
    keys = {f"gomoku_evaluate.{name}": value for name, value in (named or {}).items()}
    return Figure(words, unit, REPORT, key, "gomoku_evaluate", published, data_words, player=player, named=keys)


def _gomoku_score(words: str, opponent: str, player: str) -> Figure:
    return _gomoku(words, "score", f"score_vs_{opponent}", named={f"opponents.{opponent}.player": player})


def _gomoku_time(words: str, unit: str, name: str, published: float | None = None) -> Figure:
    return Figure(words, unit, published=published, stage="gomoku_generation", data=SELF_PLAY, timing=name)


def weights(net: Mapping[str, Any], size: int) -> float:
    """Return the number of weights of a self-play net, in its convolutions and dense heads."""
    own = net[net["kind"]]
    if net["kind"] == "residual":
        widths = [own["stem_filters"], *own["widths"]]
        between = sum(9 * before * after for before, after in pairwise(widths))
        return float(between + sum(9 * width**2 * (2 * own["blocks"] - 1) for width in own["widths"]))
    if net["kind"] == "lines":
        return float(4 * own["window"] * own["units"] + own["units"] ** 2 + 32 * own["units"] + 11_500)
    widths = [1, *own["filters"]]
    layers = sum(9 * before * after for before, after in pairwise(widths))
    if own["head"] == "convolutional":
        return float(layers + 9 * widths[-1] * own["policy_planes"])
    return float(layers + own["policy_planes"] * size**4 + own["value_planes"] * size**2 * own["value_hidden"])


def training_memory(net: Mapping[str, Any], batch: int, size: int) -> float:
    """Return the bytes of a training of a self-play net; the line net has no convolutions."""
    own = net[net["kind"]]
    filters = sum(own.get("filters", ()))
    if net["kind"] == "residual":
        filters = own["stem_filters"] + sum(2 * own["blocks"] * width for width in own["widths"])
    return training_bytes(weights(net, size), batch * filters * size**2)


def _disk(stage: str, _item: str, params: Mapping[str, Any]) -> float:
    if stage not in ("gomoku_first", "gomoku_generation"):
        return 0.0
    size = params["gomoku_game"]["size"]
    window = params["gomoku_train"]["window"] * 2 * size**2  # a target of 16 bits for each cell
    return float(window + A_WEIGHT * weights(params["gomoku_net"], size))


def _memory(stage: str, _item: str, params: Mapping[str, Any], gpu: bool) -> float:
    if gpu or stage not in ("gomoku_first", "gomoku_generation"):
        return 0.0
    return training_memory(params["gomoku_net"], params["gomoku_train"]["batch"], params["gomoku_game"]["size"])


SYSTEM = System(
    name="gomoku_zero",
    title="Gomoku from self-play",
    source="Li et al.: Monte Carlo tree search and one residual network",
    summary=(
        "A net learns from games against itself, generation by generation. A new net replaces the best one if it wins "
        "the gate. Published on 15x15; the laptop profile begins on 9x9 and goes on to 15x15."
    ),
    page="how-it-works/gomoku-zero.md",
    word="gomoku",
    figures={
        "generations": _gomoku("generations of self-play", "generations", "generations", 28, player=teacher_words),
        "score_vs_mcts1000": _gomoku_score("score against MCTS, 1,000 playouts", "mcts1000", ANCHOR),
        "score_vs_minimax": _gomoku_score("score against minimax, 2 plies", "minimax", "minimax:depth=2"),
        "score_vs_alphabeta2": _gomoku_score("score against alpha-beta, 2 plies", "alphabeta2", "alphabeta:depth=2"),
        "score_vs_alphabeta4": _gomoku_score("score against alpha-beta, 4 plies", "alphabeta4", "alphabeta:depth=4"),
        # Of the models 1, 4, ..., 28, those from 13 on.
        "best_of_five_won": _gomoku(
            "rated models that won their best-of-five matches",
            "fraction of the models",
            "best_of_five_won",
            0.6,
            {"best_of": 5},
            player=partial(player_words, best=False),
        ),
        # About 4,000 were printed, on a scale whose zero was not.
        "elo_last": _gomoku(
            "Elo of the last model (MCTS, 1,000 playouts = 0)",
            "Elo",
            "elo_last",
            named={"anchor": "mcts1000", "opponents.mcts1000.player": ANCHOR},
        ),
        **calibration_figures("gomoku", "best player", data_words, teacher_words),
        "train_hours": _gomoku_time("time of self-play, training and gates", "hours", "train_hours", 48),
        "self_play_games_per_hour": _gomoku_time(
            "self-play games an hour", "games an hour", "self_play_games_per_hour"
        ),
    },
    claim=Claim(
        "28 generations in two days; six of ten rated models win their best-of-five matches",
        "best_of_five_won",
        0.6,
        "the depth of its opponents is not printed",
        run="score_vs_mcts1000",
    ),
    metrics=("score_vs_mcts1000", "elo_last"),
    params={
        "gomoku_game": GomokuGame,
        "gomoku_net": GomokuNet,
        "gomoku_self_play": GomokuSelfPlay,
        "gomoku_train": GomokuTrainParams,
        "gomoku_gate": GomokuGate,
        "gomoku_generations": Named[GomokuGeneration],
        "gomoku_evaluate": GomokuEvaluateParams,
    },
    charts="pipeline_src.report.charts.gomoku:charts",
    pictures=("gomoku-elo",),
    boards=Boards(GomokuShown, "pipeline_src.report.positions.gomoku:boards"),
    sizes=Sizes(
        _disk,
        _memory,
        {"gomoku_first": 760, "gomoku_generation": 760, "gomoku_evaluate": 830, "gomoku_calibration": 830},
    ),
    flow=Flow(
        "Bring Gomoku's generations up to date, one after another, then the tables and ratings; push and publish.",
        "Gomoku from self-play, a task for each generation, then its evaluation; runs when asked to.",
    ),
)

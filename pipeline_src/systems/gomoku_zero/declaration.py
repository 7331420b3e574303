"""Gomoku from self-play declares itself."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from pipeline_src.project.params import Count, Items, Named, Params, Whole
from pipeline_src.project.systems import (
    Boards,
    Claim,
    Figure,
    System,
    Words,
    calibration_figures,
)
from pipeline_src.selfplay.params import GateParams, GenerationParams, TrainParams
from pipeline_src.systems.gomoku_zero.params import (
    GomokuEvaluateParams,
    GomokuGame,
    GomokuNet,
    GomokuSelfPlay,
    data_words,
    origin_words,
    player_words,
)

REPORT = "artifacts/reports/gomoku/evaluate.json"
SELF_PLAY = "its own games"
ANCHOR = "mcts:playouts=1000"  # Player that has Elo 0


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
    one_run: bool = False,
) -> Figure:
    """A figure of gomoku_evaluate, and the keys of that section that its words name."""
    keys = {f"gomoku_evaluate.{name}": value for name, value in (named or {}).items()}
    return Figure(
        words, unit, REPORT, key, "gomoku_evaluate", published, data_words, player=player, named=keys, one_run=one_run
    )


def _gomoku_score(words: str, opponent: str, player: str) -> Figure:
    return _gomoku(words, "score", f"score_vs_{opponent}", named={f"opponents.{opponent}.player": player})


def _gomoku_time(words: str, unit: str, name: str, published: float | None = None) -> Figure:
    return Figure(words, unit, published=published, stage="gomoku_generation", data=SELF_PLAY, timing=name)


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
        "generations": _gomoku("generations of self-play", "generations", "generations", 28, player=origin_words),
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
            one_run=True,
        ),
        # About 4,000 were printed, on a scale whose zero was not.
        "elo_last": _gomoku(
            "Elo of the last model (MCTS, 1,000 playouts = 0)",
            "Elo",
            "elo_last",
            named={"anchor": "mcts1000", "opponents.mcts1000.player": ANCHOR},
        ),
        **calibration_figures("gomoku", "best player", data_words, origin_words),
        "train_hours": _gomoku_time("time of self-play, training and gates", "hours", "train_hours", 48),
        "self_play_games_per_hour": _gomoku_time(
            "self-play games an hour", "games an hour", "self_play_games_per_hour"
        ),
    },
    claim=Claim(
        "28 generations; models 25 and 28 win most games against minimax and alpha-beta, six of ten their best-of-five"
        " matches",
        "score_vs_alphabeta4",
        0.5,
        "with a smaller net, the line net, and L2 of 0; the published loop from nothing, one run; the printed"
        " alpha-beta has no depth",
        outcomes=("reproduced", "reproduced"),
        margin=0.05,
        profile="published_run",
    ),
    metrics=("score_vs_mcts1000", "elo_last"),
    params={
        "gomoku_game": GomokuGame,
        "gomoku_net": GomokuNet,
        "gomoku_self_play": GomokuSelfPlay,
        "gomoku_train": TrainParams,
        "gomoku_gate": GateParams,
        "gomoku_generations": Named[GenerationParams],
        "gomoku_evaluate": GomokuEvaluateParams,
    },
    pictures=("gomoku-elo",),
    boards=Boards(GomokuShown),
)

"""Self-learning on growing boards declares itself."""

from pipeline_src.project.params import Named
from pipeline_src.project.systems import Boards, Claim, Figure, PlyShown, System
from pipeline_src.selfplay.params import GateParams, TrainParams
from pipeline_src.systems.gomoku_zero.declaration import ANCHOR, SELF_PLAY
from pipeline_src.systems.gomoku_zero.params import GomokuNet, GomokuSelfPlay
from pipeline_src.systems.growing_boards.params import (
    GrowingConvergence,
    GrowingEvaluateParams,
    GrowingFirst,
    GrowingLarger,
    player_words,
)

REPORT = "artifacts/reports/growing/evaluate.json"
STRENGTHS = {
    "mcts1000": "MCTS, 1,000 playouts",
    "alphabeta2": "alpha-beta, 2 plies",
    "alphabeta4": "alpha-beta, 4 plies",
}


SYSTEM = System(
    name="growing_boards",
    title="Self-learning on growing boards",
    source="Patent application, 2021",
    summary=(
        "A net learns on a small board until it improves no more. Then its weights are carried over to a larger board."
    ),
    page="how-it-works/growing-boards.md",
    word="growing",
    figures={
        "sizes": Figure("board sizes learned in turn", "boards", REPORT, "sizes", "growing_evaluate", data=SELF_PLAY),
        **{
            f"line_net_time_to_{name}": Figure(
                f"line net, from 9x9 to 15x15: core seconds to half the points against {words}, as a share of those "
                "from scratch",
                "core seconds from scratch",
            )
            for name, words in STRENGTHS.items()
            if name != "mcts1000"  # which loses to the first net of either kind
        },
        "time_to_scratch_strength": Figure(
            "compute to reach the strength of training from scratch, as a share of its compute",
            "compute of training from scratch",
        ),
        "score_grown_vs_scratch": Figure(
            "grown net: score against the net trained from scratch, equal compute", "score"
        ),
        "score_vs_mcts1000": Figure(
            "largest board: score against MCTS, 1,000 playouts",
            "score",
            REPORT,
            "score_vs_mcts1000",
            "growing_evaluate",
            data=SELF_PLAY,
            player=player_words,
            named={"growing_evaluate.opponent": ANCHOR},
        ),
        "brain_time_losses": Figure("late moves of the brain", "moves"),
    },
    claim=Claim(
        "hidden layers carried over to a larger board; neither a figure nor a saving is printed",
        "line_net_time_to_alphabeta2",
        1.0,
        "with the line net, eight seeds a side; 1 is the time of training from scratch",
        run="score_vs_mcts1000",
        less=True,
        outcomes=("reproduced", "not reached"),
        logs=True,
        sample="seeds a side",
    ),
    metrics=("score_vs_mcts1000",),
    params={
        "growing_first": GrowingFirst,
        "growing_larger": Named[GrowingLarger],
        "growing_convergence": GrowingConvergence,
        "growing_net": GomokuNet,
        "growing_self_play": GomokuSelfPlay,
        "growing_train": TrainParams,
        "growing_gate": GateParams,
        "growing_evaluate": GrowingEvaluateParams,
    },
    pictures=("growing-line-net", *(f"growing-against-scratch-{boards}" for boards in ("6-9", "6-9-11", "6-9-11-15"))),
    boards=Boards(PlyShown, "A position on the largest board."),
)
